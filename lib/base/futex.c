/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/futex.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/stat.h"

/* Not FUTEX_PRIVATE: waiter and waker may be two processes. errno is the caller's. */
void vcci_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns)
{
    struct timespec t = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    int saved = errno;

    VCCI_COUNT(futex_sleeps, 1);
    syscall(SYS_futex, word, FUTEX_WAIT, expected, timeout_ns < 0 ? NULL : &t, NULL, 0);
    errno = saved;
}

void vcci_futex_wake_all(_Atomic uint32_t *word)
{
    int saved = errno;

    VCCI_COUNT(futex_wakes, 1);
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    errno = saved;
}
