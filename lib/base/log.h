/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCCI_BASE_LOG_H
#define VCCI_BASE_LOG_H

#include <stdatomic.h>

enum vcci_log_level { VCCI_LOG_ERROR, VCCI_LOG_WARN, VCCI_LOG_INFO, VCCI_LOG_DEBUG };

/* One line on stderr, in one write: "vccl: rank 3: text\n" (without the rank until it is known). Levels above the limit (VCCL_LOG, default
 * warn) cost one compare. Never stdout. Any thread. */
void vcci_log(enum vcci_log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void vcci_log_limit(enum vcci_log_level limit);
void vcci_log_rank(int rank); /* this thread's rank, -1: none; threads without one use the process's first */
extern _Atomic int vcci_log_limit_now;
#define VCCI_DEBUG(...)                                                                                                             \
    ((atomic_load_explicit(&vcci_log_limit_now, memory_order_relaxed) >= VCCI_LOG_DEBUG) ? vcci_log(VCCI_LOG_DEBUG, __VA_ARGS__)     \
                                                                                         : (void)0)

#endif
