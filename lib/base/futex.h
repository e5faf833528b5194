/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCCI_BASE_FUTEX_H
#define VCCI_BASE_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

/* Sleeps while *word == expected, at most timeout_ns (< 0: for ever); may return early for no reason. The word may be in shared memory. */
void vcci_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t timeout_ns);
void vcci_futex_wake_all(_Atomic uint32_t *word);

#endif
