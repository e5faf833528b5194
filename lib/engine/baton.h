/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The baton: the lock of one engine. Taking and giving it back uncontended is two atomic operations. It differs from a plain
 * mutex in two ways: pollers that only try (a caller that spins takes it millions of times a second) stand back as soon as
 * somebody awake waits for it, so a waiter gets it within one poll; and it knows its owner, for assertions.
 */
#ifndef VCCI_ENGINE_BATON_H
#define VCCI_ENGINE_BATON_H

#include <stdatomic.h>
#include <stdint.h>

struct vcci_baton {
    _Alignas(64) _Atomic uint32_t state; /* 0 free, 1 held, 2 held and somebody may sleep on this word */
    _Atomic uint32_t claims;             /* threads awake in the slow path of lock: trylock leaves it to them */
    _Atomic uint32_t waiters;            /* threads in the slow path, awake or not */
    _Atomic uintptr_t owner;             /* vcci_baton_self() of the holder, 0: nobody */
};

/* An address that only this thread has. */
static inline uintptr_t vcci_baton_self(void)
{
    extern _Thread_local char vcci_baton_mark __attribute__((tls_model("initial-exec"), visibility("hidden")));
    return (uintptr_t)&vcci_baton_mark;
}

void vcci_baton_lock_slow(struct vcci_baton *baton);
void vcci_baton_wake(struct vcci_baton *baton);

static inline int vcci_baton_grab(struct vcci_baton *baton)
{
    uint32_t is = 0;
    if (!atomic_compare_exchange_strong_explicit(&baton->state, &is, 1, memory_order_acquire, memory_order_relaxed))
        return 0;
    atomic_store_explicit(&baton->owner, vcci_baton_self(), memory_order_relaxed);
    return 1;
}
static inline void vcci_baton_lock(struct vcci_baton *baton)
{
    if (!vcci_baton_grab(baton))
        vcci_baton_lock_slow(baton);
}
static inline int vcci_baton_trylock(struct vcci_baton *baton)
{
    if (atomic_load_explicit(&baton->state, memory_order_relaxed) || atomic_load_explicit(&baton->claims, memory_order_relaxed))
        return 0;
    return vcci_baton_grab(baton);
}
static inline void vcci_baton_unlock(struct vcci_baton *baton)
{
    atomic_store_explicit(&baton->owner, 0, memory_order_relaxed);
    if (atomic_exchange_explicit(&baton->state, 0, memory_order_release) == 2)
        vcci_baton_wake(baton);
}
static inline int vcci_baton_mine(const struct vcci_baton *baton)
{
    return atomic_load_explicit(&baton->owner, memory_order_relaxed) == vcci_baton_self();
}

#endif
