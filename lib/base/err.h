/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCCI_BASE_ERR_H
#define VCCI_BASE_ERR_H

#include "include/vccl.h"

/* Inside the library a function returns 0 (done), a positive number (in flight) or -(vccl_result_t). Whoever first knows the cause calls
 * vcci_fail once; callers pass the number on. */

/* Stores the sentence for this thread (cut at 511 bytes) and returns -result. Does not allocate. Any thread. */
int vcci_fail(vccl_result_t result, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same with ": <strerror(err)> (errno <err>)" appended. */
int vcci_fail_errno(vccl_result_t result, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* This thread's sentence; "" if none. Owned by the thread. */
const char *vcci_err_text(void);
/* Carries a sentence from one thread to another (a request that failed in the progress thread). */
void vcci_err_set_text(const char *text);

/* Says on stderr what invariant broke, and aborts the process. */
#define VCCI_ASSERT(cond) ((cond) ? (void)0 : vcci_broken(#cond, __FILE__, __LINE__))
_Noreturn void vcci_broken(const char *what, const char *file, int line);

#endif
