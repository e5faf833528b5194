/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of lib/engine share among themselves; nobody else includes it.
 *
 * Who moves things on. A caller is a thread inside vcci_engine_wait; it is counted in `callers` before it may sleep. While
 * callers > 0 they poll the pollers, or, asleep on the bell, are rung by peers (VCCI_BELL_FUTEX), and the background thread
 * serves only descriptors, timers and posts. With callers == 0 and operations held the pollers are "settled": VCCI_BELL_POLL is
 * set and every poller armed, so that a peer's ring wakes the background thread.
 *
 * Why no wake-up is lost. A peer does: P1 publish; P2 full fence; P3 load the bell, and if a bit is set clear it and ring.
 *
 * 1. Settling, with the baton: S1 set VCCI_BELL_POLL; S2 full fence; S3 arm() looks at what was published. Either S3 sees P1 and
 * we do not sleep, or, both sides being fenced, P3 sees S1 and the peer writes the wake pipe, whose byte stays until it is read,
 * so it does not matter when the background thread gets to its poll.
 *
 * 2. A caller going to sleep: C1 set VCCI_BELL_FUTEX, giving word W; C2 full fence; C3 park; C4 with the baton: asleep += 1, arm();
 * C5 ready(); C6 futex_wait(W). Against peers as in 1. A ring between C1 and C6 changes the word, so C6 does not sleep. The word
 * cannot change back: only another caller's C1 sets the bit again, and then it also raises the count in the upper bits.
 * Against a thread of ours that handles events with the baton and so makes ready() true: it had the baton before C4, then C5 sees
 * the effect, or after, then it sees the bit of C1, clears it and wakes. vcci_engine_kick, without the baton, fences as a peer.
 * Clearing the bit from inside the process leaves out futex_wake when asleep is 0. That is: clear, load asleep; against: asleep
 * += 1, the kernel's compare. All are sequentially consistent, so one sees the other.
 *
 * 3. Duty changes hands. The last caller that leaves: callers -= 1; load holds; if any, settle. An operation that is begun: holds
 * = 1; load callers as the baton is given back; if none, settle. Again one sees the other. The background thread settles before
 * each poll of its own unless callers > 0, and then the last of those will.
 *
 * 4. Work that a thread of ours makes for a poller (a message to itself) is nobody's event, so nobody rings. Giving the baton back
 * looks at the pollers if somebody sleeps who counted on them, which the bell's bits say, and otherwise settles.
 *
 * 5. While `busy` is set nobody settles. The background thread, which sets and clears it with the baton, does not poll without a
 * bound then: it naps, looks at the pollers itself, and settles before its first unbounded poll.
 */
#ifndef VCCI_ENGINE_INSIDE_H
#define VCCI_ENGINE_INSIDE_H

#include <stdatomic.h>
#include <stdint.h>

#include "lib/base/list.h"
#include "lib/engine/baton.h"
#include "lib/engine/engine.h"

struct vcci_loop; /* loop.c: everything that is libev's */
struct vcci_post;

struct vcci_engine {
    struct vcci_baton baton;
    /* under the baton */
    struct vcci_list pollers;
    int running; /* a thread is inside the loop, or (callers' mode) about to enter it */
    int busy;    /* the application comes in often: the bell stays unarmed, the background thread looks in from time to time */
    unsigned turns;                /* how often others than the loop gave the baton back */
    int fds_off;                   /* pollers' descriptors are not watched, because callers poll them */
    unsigned polls;                /* turns since the loop was last looked into (callers' mode) */
    _Atomic int holds, fd_pollers; /* written under the baton, read by anyone */
    struct vcci_loop *loop;
    struct vcci_engine_conf conf;
    uint32_t heed; /* bits of the bell that say that somebody of this process sleeps and counts on whoever gives the baton back */
    _Atomic(_Atomic uint32_t *) bell;
    _Atomic uint32_t own_bell;
    _Atomic(struct vcci_post *) posts; /* newest first */
    _Alignas(64) _Atomic int callers;  /* counted inside vcci_engine_wait */
    _Atomic int asleep;                /* of them, in or near futex_wait */
    _Atomic uint64_t lost;             /* wake-ups that only the safety net brought */
};

/* loop.c */
int vcci_loop_create(struct vcci_engine *engine);
void vcci_loop_stop(struct vcci_engine *engine); /* ends the thread */
void vcci_loop_destroy(struct vcci_engine *engine);
void vcci_loop_nudge(struct vcci_engine *engine); /* out of the kernel's poll, at once or before it gets there. Any thread */
/* Runs libev once in this thread, for at most timeout_ns (0: without sleeping). Baton held and given away while the kernel polls;
 * running is set. */
void vcci_loop_run(struct vcci_engine *engine, int64_t timeout_ns);

/* engine.c, baton held */
int vcci_engine_arm(struct vcci_engine *engine);    /* arms all pollers: 1 if work is waiting (or was found and done) */
int vcci_engine_settle(struct vcci_engine *engine); /* (1) above: 1 if work is waiting, then nothing is set */
void vcci_engine_run_posts(struct vcci_engine *engine);
void vcci_engine_stir(struct vcci_engine *engine);  /* something was handled: callers asleep must ask ready() again */
void vcci_engine_rouse(struct vcci_engine *engine); /* clears FUTEX, wakes those of this process that sleep on it. Any thread */
void vcci_engine_unlock_slow(struct vcci_engine *engine);

static inline _Atomic uint32_t *vcci_engine_bell(const struct vcci_engine *engine)
{
    return atomic_load_explicit(&engine->bell, memory_order_acquire);
}
/* Is there anything that must be settled when no caller is inside? */
static inline int vcci_engine_wants(const struct vcci_engine *engine)
{
    return atomic_load_explicit(&engine->holds, memory_order_seq_cst) ||
           atomic_load_explicit(&engine->fd_pollers, memory_order_seq_cst);
}
/* Gives the baton back, after whatever must be done first so that nothing is slept through. */
static inline void vcci_engine_give(struct vcci_engine *engine)
{
    engine->turns++;
    if (__builtin_expect(atomic_load_explicit(vcci_engine_bell(engine), memory_order_relaxed) & engine->heed, 0) ||
        __builtin_expect(vcci_engine_wants(engine), 0))
        vcci_engine_unlock_slow(engine);
    else
        vcci_baton_unlock(&engine->baton);
}

#endif
