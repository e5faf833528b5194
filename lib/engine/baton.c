/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/engine/baton.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/clock.h"

#define SPINS 64 /* a few microseconds: longer than any turn of the pollers should hold it, shorter than a sleep */

_Thread_local char vcci_baton_mark __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The word is private to the process, so this does not use lib/base/futex.h, whose words may be shared (and cost the kernel a
 * page lookup). */
static void word_wait(_Atomic uint32_t *word, uint32_t expected)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, NULL, NULL, 0);
}

void vcci_baton_wake(struct vcci_baton *baton)
{
    syscall(SYS_futex, &baton->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* Spins, then sleeps. Whoever has slept takes it with state 2, because it cannot know whether it was the last sleeper. */
void vcci_baton_lock_slow(struct vcci_baton *baton)
{
    uint32_t held = 1;
    atomic_fetch_add_explicit(&baton->waiters, 1, memory_order_relaxed);
    for (;;) {
        atomic_fetch_add_explicit(&baton->claims, 1, memory_order_relaxed);
        int got = 0;
        for (int i = 0; i < SPINS && !got; i++) {
            uint32_t is = atomic_load_explicit(&baton->state, memory_order_relaxed);
            got = !is &&
                  atomic_compare_exchange_weak_explicit(&baton->state, &is, held, memory_order_acquire, memory_order_relaxed);
            if (!got)
                vcci_cpu_relax();
        }
        atomic_fetch_sub_explicit(&baton->claims, 1, memory_order_relaxed);
        held = 2;
        if (got || atomic_exchange_explicit(&baton->state, held, memory_order_acquire) == 0)
            break;
        word_wait(&baton->state, held);
    }
    atomic_fetch_sub_explicit(&baton->waiters, 1, memory_order_relaxed);
    atomic_store_explicit(&baton->owner, vcci_baton_self(), memory_order_relaxed);
}
