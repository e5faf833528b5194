/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCCI_BASE_CLOCK_H
#define VCCI_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t vcci_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Tells the core that this is a spin loop. */
static inline void vcci_cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#else
    __asm__ volatile("" ::: "memory");
#endif
}

#endif
