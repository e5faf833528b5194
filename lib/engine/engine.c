/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"
#include "lib/base/futex.h"
#include "lib/base/log.h"
#include "lib/engine/inside.h"

#define GIVE_TURNS  4   /* turns of work that giving back the baton may do before it leaves the rest to those it wakes */
#define GIVE_BUDGET 16  /* events of each poller in such a turn */
#define LOOK_EVERY  256 /* callers' mode: polls between two looks at descriptors and timers */

struct vcci_post {
    struct vcci_post *next;
    void (*fn)(void *arg);
    void *arg;
};

int vcci_engine_create(const struct vcci_engine_conf *conf, struct vcci_engine **engine_out)
{
    struct vcci_engine *engine = aligned_alloc(_Alignof(struct vcci_engine), sizeof *engine);
    if (!engine)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for the progress engine");
    memset(engine, 0, sizeof *engine);
    engine->conf = *conf;
    engine->heed = conf->threaded ? VCCI_BELL_FUTEX : VCCI_BELL_BITS;
    vcci_list_init(&engine->pollers);
    atomic_store(&engine->bell, &engine->own_bell);
    int err = vcci_loop_create(engine);
    if (err) {
        free(engine);
        return err;
    }
    *engine_out = engine;
    return 0;
}

void vcci_engine_destroy(struct vcci_engine *engine)
{
    vcci_engine_lock(engine);
    VCCI_ASSERT(vcci_list_empty(&engine->pollers));
    VCCI_ASSERT(atomic_load(&engine->callers) == 0);
    if (vcci_engine_lost(engine))
        vcci_log(VCCI_LOG_INFO, "%llu sleeps were ended by their safety net: somebody did not ring",
                 (unsigned long long)vcci_engine_lost(engine));
    vcci_baton_unlock(&engine->baton);
    vcci_loop_stop(engine);
    vcci_engine_lock(engine);
    while (atomic_load_explicit(&engine->posts, memory_order_relaxed)) /* one may post another */
        vcci_engine_run_posts(engine);
    vcci_baton_unlock(&engine->baton);
    vcci_loop_destroy(engine);
    free(engine);
}

/* ---- the baton ---- */

void vcci_engine_lock(struct vcci_engine *engine)
{
    vcci_baton_lock(&engine->baton);
}

void vcci_engine_unlock(struct vcci_engine *engine)
{
    vcci_engine_give(engine);
}

int vcci_engine_trylock(struct vcci_engine *engine)
{
    return vcci_baton_trylock(&engine->baton);
}

int vcci_engine_locked(const struct vcci_engine *engine)
{
    return vcci_baton_mine(&engine->baton);
}

/* Does somebody sleep, or will nobody be inside, so that the pollers must be looked at before the baton is given back? 1: work is
 * waiting. */
static int look_before_giving(struct vcci_engine *engine)
{
    if (atomic_load_explicit(vcci_engine_bell(engine), memory_order_relaxed) & engine->heed)
        return vcci_engine_arm(engine);
    if (engine->conf.threaded && !engine->busy && vcci_engine_wants(engine) && atomic_load(&engine->callers) == 0)
        return vcci_engine_settle(engine);
    return 0;
}

void vcci_engine_unlock_slow(struct vcci_engine *engine)
{
    for (int turn = 0; look_before_giving(engine); turn++) {
        if (turn == GIVE_TURNS) {
            vcci_loop_nudge(engine);
            break;
        }
        vcci_engine_poll(engine, GIVE_BUDGET);
    }
    vcci_baton_unlock(&engine->baton);
}

/* ---- the bell ---- */

void vcci_engine_set_bell(struct vcci_engine *engine, _Atomic uint32_t *word)
{
    vcci_engine_lock(engine);
    atomic_store(&engine->bell, word ? word : &engine->own_bell);
    vcci_engine_give(engine);
}

void vcci_engine_rouse(struct vcci_engine *engine)
{
    _Atomic uint32_t *bell = vcci_engine_bell(engine);
    if (!(atomic_load_explicit(bell, memory_order_relaxed) & VCCI_BELL_FUTEX))
        return;
    atomic_fetch_and(bell, ~VCCI_BELL_FUTEX);
    if (atomic_load(&engine->asleep) > 0)
        vcci_futex_wake_all(bell);
}

void vcci_engine_stir(struct vcci_engine *engine)
{
    vcci_engine_rouse(engine);
    if (!engine->conf.threaded && atomic_load_explicit(vcci_engine_bell(engine), memory_order_relaxed) & VCCI_BELL_POLL)
        vcci_loop_nudge(engine);
}

void vcci_engine_kick(struct vcci_engine *engine)
{
    atomic_thread_fence(memory_order_seq_cst);
    vcci_engine_stir(engine);
}

/* ---- pollers ---- */

int vcci_engine_poll(struct vcci_engine *engine, int budget)
{
    int handled = 0;
    VCCI_ASSERT(vcci_engine_locked(engine));
    VCCI_LIST_EACH_SAFE (it, tmp, &engine->pollers) {
        struct vcci_poller *poller = VCCI_CONTAINER(it, struct vcci_poller, node);
        handled += poller->ops->progress(poller, budget);
    }
    if (__builtin_expect(atomic_load_explicit(&engine->posts, memory_order_relaxed) != NULL, 0))
        vcci_engine_run_posts(engine);
    if (handled)
        vcci_engine_stir(engine);
    if (!engine->conf.threaded && !engine->running && ++engine->polls >= LOOK_EVERY)
        vcci_loop_run(engine, 0);
    return handled;
}

int vcci_engine_arm(struct vcci_engine *engine)
{
    int work = atomic_load_explicit(&engine->posts, memory_order_relaxed) != NULL;
    VCCI_LIST_EACH (it, &engine->pollers) {
        struct vcci_poller *poller = VCCI_CONTAINER(it, struct vcci_poller, node);
        work |= poller->ops->arm(poller);
    }
    if (work)
        vcci_engine_stir(engine);
    return work != 0;
}

int vcci_engine_settle(struct vcci_engine *engine)
{
    _Atomic uint32_t *bell = vcci_engine_bell(engine);
    int held = atomic_load_explicit(&engine->holds, memory_order_relaxed) > 0;
    if (held && !(atomic_load_explicit(bell, memory_order_relaxed) & VCCI_BELL_POLL))
        atomic_fetch_or(bell, VCCI_BELL_POLL);
    atomic_thread_fence(memory_order_seq_cst);
    if (vcci_engine_arm(engine)) {
        if (held)
            atomic_fetch_and(bell, ~VCCI_BELL_POLL);
        return 1;
    }
    if (engine->fds_off)
        vcci_loop_nudge(engine);
    return 0;
}

void vcci_engine_hold(struct vcci_engine *engine)
{
    int holds = atomic_load_explicit(&engine->holds, memory_order_relaxed);
    VCCI_ASSERT(vcci_engine_locked(engine));
    if (holds == 0) {
        atomic_store(&engine->holds, 1); /* (3) in inside.h */
    } else {
        atomic_store_explicit(&engine->holds, holds + 1, memory_order_relaxed);
    }
}

void vcci_engine_release(struct vcci_engine *engine)
{
    int holds = atomic_load_explicit(&engine->holds, memory_order_relaxed) - 1;
    VCCI_ASSERT(vcci_engine_locked(engine) && holds >= 0);
    atomic_store_explicit(&engine->holds, holds, memory_order_relaxed);
    _Atomic uint32_t *bell = vcci_engine_bell(engine);
    if (holds == 0 && engine->conf.threaded && atomic_load_explicit(bell, memory_order_relaxed) & VCCI_BELL_POLL)
        atomic_fetch_and(bell, ~VCCI_BELL_POLL);
}

/* ---- posts ---- */

int vcci_engine_post(struct vcci_engine *engine, void (*fn)(void *arg), void *arg)
{
    struct vcci_post *post = malloc(sizeof *post);
    if (!post)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory to post to the progress engine");
    *post = (struct vcci_post){.next = atomic_load_explicit(&engine->posts, memory_order_relaxed), .fn = fn, .arg = arg};
    while (!atomic_compare_exchange_weak_explicit(&engine->posts, &post->next, post, memory_order_release, memory_order_relaxed))
        ;
    vcci_loop_nudge(engine);
    return 0;
}

void vcci_engine_run_posts(struct vcci_engine *engine)
{
    struct vcci_post *newest = atomic_exchange_explicit(&engine->posts, NULL, memory_order_acquire), *oldest = NULL;
    if (!newest)
        return;
    while (newest) {
        struct vcci_post *post = newest;
        newest = post->next;
        post->next = oldest;
        oldest = post;
    }
    while (oldest) {
        struct vcci_post *post = oldest;
        oldest = post->next;
        post->fn(post->arg);
        free(post);
    }
    vcci_engine_stir(engine);
}
