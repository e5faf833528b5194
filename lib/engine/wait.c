/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A caller's stay in the engine: poll, spin, yield, sleep. See inside.h for why no wake-up is lost. */
#include <sched.h>

#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "lib/base/futex.h"
#include "lib/engine/inside.h"

#define BATCH     64     /* polls between two looks at the clock while spinning */
#define POLITE_NS 5000   /* spun for so long: offer the core between batches, whom we wait for may be queued behind us */
#define BUDGET    64     /* events of each poller in a turn */
#define COUNT_ONE 0x100u /* in the bell's word, above its bits: see (2) in inside.h */
#define NET_NS                                                                                                                   \
    100000000 /* no sleep is longer, so that a peer killed between clearing our bell and ringing costs this and no more */

struct stay {
    struct vcci_engine *engine;
    const struct vcci_waiter *waiter;
    int64_t deadline_ns;
    int counted; /* in engine->callers */
};

static int ready(const struct stay *s)
{
    return s->waiter->ready(s->waiter->arg);
}

/* ---- in and out ---- */

/* Counts this thread, and keeps peers from ringing for the pollers that it polls. */
static void enter(struct stay *s)
{
    struct vcci_engine *engine = s->engine;
    if (!s->counted)
        atomic_fetch_add(&engine->callers, 1);
    s->counted = 1;
    _Atomic uint32_t *bell = vcci_engine_bell(engine);
    if (engine->conf.threaded && atomic_load_explicit(bell, memory_order_relaxed) & VCCI_BELL_POLL)
        atomic_fetch_and(bell, ~VCCI_BELL_POLL);
}

static void leave(struct stay *s)
{
    struct vcci_engine *engine = s->engine;
    if (!s->counted)
        return;
    int others = atomic_fetch_sub(&engine->callers, 1) - 1;
    if (!engine->conf.threaded) {
        if (others > 0)
            vcci_engine_kick(engine); /* somebody else must run the loop from here on */
    } else if (others == 0 && vcci_engine_wants(engine)) {
        vcci_engine_lock(engine);
        vcci_engine_give(engine);
    }
}

/* ---- asleep ---- */

static void park(const struct stay *s)
{
    if (s->waiter->park)
        s->waiter->park(s->waiter->arg);
}

static void unpark(const struct stay *s)
{
    if (s->waiter->unpark)
        s->waiter->unpark(s->waiter->arg);
}

static int64_t nap_ns(const struct stay *s, int64_t now_ns)
{
    return s->deadline_ns && s->deadline_ns - now_ns < NET_NS ? s->deadline_ns - now_ns : NET_NS;
}

/* Sets FUTEX; returns the word to sleep on. */
static uint32_t bell_doze(_Atomic uint32_t *bell)
{
    uint32_t word = atomic_load_explicit(bell, memory_order_relaxed);
    while (!(word & VCCI_BELL_FUTEX) && !atomic_compare_exchange_weak(bell, &word, (word + COUNT_ONE) | VCCI_BELL_FUTEX))
        ;
    if (!(word & VCCI_BELL_FUTEX))
        word = (word + COUNT_ONE) | VCCI_BELL_FUTEX;
    atomic_thread_fence(memory_order_seq_cst);
    return word;
}

/* The sleep ran into the net: was there something that should have ended it? */
static void check_lost(const struct stay *s, const _Atomic uint32_t *bell, uint32_t word)
{
    struct vcci_engine *engine = s->engine;
    if (atomic_load(bell) != word || !vcci_engine_trylock(engine))
        return;
    int work = vcci_engine_arm(engine);
    vcci_baton_unlock(&engine->baton);
    if ((work || ready(s)) && atomic_load(bell) == word)
        atomic_fetch_add(&engine->lost, 1);
}

/* Sleeps on the bell until rung or kicked; 0 if neither happened. */
static int doze(const struct stay *s, int64_t now_ns)
{
    struct vcci_engine *engine = s->engine;
    _Atomic uint32_t *bell = vcci_engine_bell(engine);
    uint32_t word = bell_doze(bell);
    park(s);
    vcci_engine_lock(engine);
    atomic_fetch_add(&engine->asleep, 1);
    int work = vcci_engine_arm(engine) || (!engine->conf.threaded && !engine->running);
    if (!work && engine->fds_off)
        vcci_loop_nudge(engine);
    vcci_baton_unlock(&engine->baton);
    int64_t nap = nap_ns(s, now_ns);
    int rung = 1;
    if (!work && !ready(s)) {
        vcci_futex_wait(bell, word, nap);
        rung = atomic_load_explicit(bell, memory_order_relaxed) != word;
        if (!rung && nap == NET_NS && vcci_now_ns() - now_ns >= NET_NS)
            check_lost(s, bell, word);
    }
    atomic_fetch_sub(&engine->asleep, 1);
    unpark(s);
    vcci_engine_rouse(engine); /* the bit must not stay set by us: peers would ring somebody awake */
    return rung;
}

/* Callers' mode: one caller runs the loop in its own thread, the others doze. Returns 0 if somebody else does. */
static int run_loop(const struct stay *s, int64_t now_ns)
{
    struct vcci_engine *engine = s->engine;
    _Atomic uint32_t *bell = vcci_engine_bell(engine);
    vcci_engine_lock(engine);
    if (engine->running) {
        vcci_engine_give(engine);
        return 0;
    }
    engine->running = 1;
    atomic_fetch_or(bell, VCCI_BELL_POLL);
    vcci_baton_unlock(&engine->baton);
    park(s);
    vcci_engine_lock(engine);
    int work = vcci_engine_arm(engine);
    vcci_baton_unlock(&engine->baton);
    work = work || ready(s);
    vcci_engine_lock(engine);
    vcci_loop_run(engine, work ? 0 : nap_ns(s, now_ns));
    engine->running = 0;
    atomic_fetch_and(bell, ~VCCI_BELL_POLL);
    vcci_engine_give(engine);
    unpark(s);
    return 1;
}

/* ---- awake ---- */

/* Polls and asks up to n times. 1: over; else 0, *handled_out += events. */
static int spin(const struct stay *s, int n, int *handled_out)
{
    struct vcci_engine *engine = s->engine;
    for (int i = 0; i < n; i++) {
        if (vcci_engine_trylock(engine)) {
            *handled_out += vcci_engine_poll(engine, BUDGET);
            vcci_engine_give(engine);
        }
        if (ready(s))
            return 1;
        vcci_cpu_relax();
    }
    return 0;
}

static int stay(struct stay *s)
{
    struct vcci_engine *engine = s->engine;
    const struct vcci_engine_conf *conf = &engine->conf;
    int64_t idle_since = 0;
    int yields = conf->yields, batch = conf->spin_ns > 0 ? BATCH : 1;
    for (;;) {
        int handled = 0;
        if (vcci_engine_wants(engine))
            enter(s);
        if (spin(s, batch, &handled))
            return 0;
        int64_t now_ns = vcci_now_ns();
        if (s->deadline_ns && now_ns >= s->deadline_ns)
            return -VCCL_ERR_TIMEOUT;
        if (handled || !idle_since) {
            idle_since = now_ns;
            yields = conf->yields;
        }
        if (now_ns - idle_since < conf->spin_ns) {
            if (now_ns - idle_since >= POLITE_NS)
                sched_yield();
            continue;
        }
        if (yields > 0) {
            yields--;
            batch = 1;
            sched_yield();
            continue;
        }
        batch = conf->spin_ns > 0 ? BATCH : 1;
        enter(s);
        if (!conf->threaded && run_loop(s, now_ns))
            continue;
        if (doze(s, now_ns))
            yields = conf->yields; /* what woke us may be the first of several: the next is worth a few yields again */
    }
}

int vcci_engine_wait(struct vcci_engine *engine, const struct vcci_waiter *waiter, int64_t deadline_ns)
{
    if (waiter->ready(waiter->arg))
        return 0;
    VCCI_ASSERT(!vcci_engine_locked(engine));
    struct stay s = {.engine = engine, .waiter = waiter, .deadline_ns = deadline_ns};
    int status = stay(&s);
    leave(&s);
    return status;
}

uint64_t vcci_engine_lost(const struct vcci_engine *engine)
{
    return atomic_load(&engine->lost);
}
