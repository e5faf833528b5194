/* SPDX-License-Identifier: BSD-3-Clause
 * Makes the n-th allocation or system call of the library fail. The linker sends the calls of the program's own objects through
 * here (FAULT_WRAP in local.mk); those inside libc and other shared libraries are left alone. */
#ifndef VCCI_TESTS_FAULT_NTH_H
#define VCCI_TESTS_FAULT_NTH_H

enum nth_mode { NTH_ONCE, NTH_FOREVER };

/* From now on, over all threads, call number n (1 is the next) fails, with NTH_FOREVER every later one too. */
void nth_arm(long n, enum nth_mode mode);
/* Nothing fails any more. Nonzero if something did since nth_arm. */
int nth_disarm(void);
/* What failed last: "malloc", "open", ... */
const char *nth_what(void);

/* Runs scenario(arg) with call 1, 2, 3, ... failing until a run has no failing call left, once each and once for ever. A run in
 * which a call failed must return < 0 with a sentence, or 0 if it did without; the last must return 0. None may leave a
 * descriptor open. */
void nth_loop(const char *name, int (*scenario)(void *arg), void *arg);

#endif
