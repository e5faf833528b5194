/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The progress engine: one libev loop per context, its background thread, and the baton that says who may move things on.
 *
 * The baton is one mutex. Whoever holds it owns the loop, the pollers and everything in p2p/ and coll/run that hangs off this
 * context. The background thread holds it except while it sleeps in the kernel's poll. Callers take it with vcci_engine_lock.
 *
 * The bell is one 32-bit word per context in memory that its peers map (p2p/board.h). Peers publish what they have for us, then
 * look at the word and ring (futex or wake pipe) only if it says that we sleep. So a process awake costs its peers one load.
 */
#ifndef VCCI_ENGINE_ENGINE_H
#define VCCI_ENGINE_ENGINE_H

#include <stdatomic.h>
#include <stdint.h>

#include "lib/base/list.h"

struct vcci_engine;
struct vcci_poller;

/* One transport's part in the loop. All are called with the baton held; none may block or call vcci_engine_wait. */
struct vcci_poller_ops {
    const char *name;
    int (*fd)(struct vcci_poller *);                   /* to sleep on, or -1 where the bell wakes us */
    int (*arm)(struct vcci_poller *);                  /* 0: something will wake us; 1: work is waiting, do not sleep */
    int (*progress)(struct vcci_poller *, int budget); /* handles at most budget events, returns how many */
};
struct vcci_poller {
    const struct vcci_poller_ops *ops;
    struct vcci_list node; /* the engine's */
    void *ev;              /* the engine's */
};

struct vcci_engine_conf {
    int threaded;    /* 0: VCCL_PROGRESS=caller */
    int64_t spin_ns; /* before yielding */
    int yields;      /* before sleeping */
};

/* Bits of the bell word. The bits above them count and mean nothing to peers. */
#define VCCI_BELL_FUTEX 1u /* a caller sleeps in futex_wait on the word itself: clear the bit, futex_wake_all */
#define VCCI_BELL_POLL 2u /* the background thread sleeps in libev, operations are under way: clear the bit, write the wake pipe */
#define VCCI_BELL_BITS (VCCI_BELL_FUTEX | VCCI_BELL_POLL)

/* Creates the loop; with `threaded` also its thread (all signals blocked, 256 KiB stack). */
int vcci_engine_create(const struct vcci_engine_conf *conf, struct vcci_engine **engine_out);
/* Stops the thread, runs what is still posted, and frees all. No caller may be inside; pollers have been removed. Timers still
 * there are freed. The bell is not touched any more once this has returned. */
void vcci_engine_destroy(struct vcci_engine *engine);

/* From now on the bell is *word (before, and after NULL: a word inside the engine). Called before there are peers, and after
 * them. No caller inside. */
void vcci_engine_set_bell(struct vcci_engine *engine, _Atomic uint32_t *word);
/* Write end of the wake pipe that peers open through /proc/<pid>/fd/<fd> and write one byte to. Owned by the engine. */
int vcci_engine_wake_fd(const struct vcci_engine *engine);

void vcci_engine_lock(struct vcci_engine *engine); /* takes the baton; not recursive */
void vcci_engine_unlock(struct vcci_engine *engine);
int vcci_engine_trylock(struct vcci_engine *engine);      /* 1: taken */
int vcci_engine_locked(const struct vcci_engine *engine); /* does this thread hold it (for assertions) */

/* Baton held. A poller is not removed from inside another's progress. Adding fails only where there is a descriptor:
 * -VCCL_ERR_NO_MEMORY. */
int vcci_engine_add(struct vcci_engine *engine, struct vcci_poller *poller);
void vcci_engine_remove(struct vcci_engine *engine, struct vcci_poller *poller);

/* Polls every poller once (baton held). Returns events handled. */
int vcci_engine_poll(struct vcci_engine *engine, int budget);

/* Operations under way that peers' events must move on even while no caller is inside: 0 <-> positive decides whether the bell is
 * armed (VCCI_BELL_POLL) when the last caller leaves or the baton is given back with none inside. For operations that outlive the
 * call that began them: a blocking call does not hold, else peers ring for it in the moment before it waits. Baton held. */
void vcci_engine_hold(struct vcci_engine *engine);
void vcci_engine_release(struct vcci_engine *engine);

/* What a caller waits for. */
struct vcci_waiter {
    int (*ready)(void *arg);   /* nonzero: over. Called without the baton, often; must be cheap and may itself make progress */
    void (*park)(void *arg);   /* may be NULL: about to sleep; tell whoever must ring (then ready is asked once more) */
    void (*unpark)(void *arg); /* may be NULL: awake again */
    void *arg;
};
/* Waits until ready() says so: polls the pollers itself whenever the baton is free, spins, yields, then sleeps on the bell; while
 * callers sleep the background thread still serves the loop's descriptors and timers and wakes them after it handled anything.
 * Without a background thread the caller runs the loop itself. 0, or -VCCL_ERR_TIMEOUT once vcci_now_ns() >= deadline_ns (0:
 * never; text is the caller's job). Not under the baton. Any number of threads at once. */
int vcci_engine_wait(struct vcci_engine *engine, const struct vcci_waiter *waiter, int64_t deadline_ns);

/* Wakes callers asleep in vcci_engine_wait of this context so that they ask ready() again. Any thread. Needed by whoever makes
 * another thread's ready() true outside of a poller's progress, a post or a timer: those kick by themselves. A fence and a load
 * when nobody sleeps. */
void vcci_engine_kick(struct vcci_engine *engine);
/* How often a sleep was ended by its safety net (100 ms) although something was waiting: 0 unless a peer died while it rang. Any
 * thread. */
uint64_t vcci_engine_lost(const struct vcci_engine *engine);

/* Runs fn(arg) in the loop soon, baton held. The only call that other libraries' callbacks may use. Any thread.
 * -VCCL_ERR_NO_MEMORY. */
int vcci_engine_post(struct vcci_engine *engine, void (*fn)(void *arg), void *arg);

/* A timer in the loop: fn(arg) every period_ns until stopped. Baton held for both. */
struct vcci_timer;
int vcci_timer_start(struct vcci_engine *engine, int64_t period_ns, void (*fn)(void *arg), void *arg,
                     struct vcci_timer **timer_out);
void vcci_timer_stop(struct vcci_timer *timer);

#endif
