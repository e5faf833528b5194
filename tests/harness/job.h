/* SPDX-License-Identifier: BSD-3-Clause
 * Lets one test program be a rank of a real job (under vcclrun, or alone) or, with VCCL_JOB_FAKE=N in the environment, all N ranks of a job as threads of one process, where
 * debuggers and sanitizers see everything. */
#ifndef VCCI_TESTS_HARNESS_JOB_H
#define VCCI_TESTS_HARNESS_JOB_H

#include <stdint.h>
#include <stdio.h>

#include "include/vccl.h"

/* What a rank runs between vccl_init and vccl_finalize; nonzero fails the test. */
typedef int job_fn(int argc, char **argv);
/* main: starts, runs fn on every rank, ends; returns the exit status. argc and argv are main's. */
int job_main(int argc, char **argv, job_fn *fn);

/* This rank of VCCL_COMM_WORLD, and their number. */
int job_rank(void);
int job_size(void);

/* Says on stderr what differs, with file, line and rank, and fails the rank (returns 1 from the enclosing function). */
#define CHECK(cond, ...)                                                                                                            \
    do {                                                                                                                            \
        if (!(cond)) {                                                                                                              \
            job_complain(__FILE__, __LINE__, #cond, __VA_ARGS__);                                                                   \
            return 1;                                                                                                               \
        }                                                                                                                           \
    } while (0)
void job_complain(const char *file, int line, const char *cond, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
#define OK(call) CHECK((call) == VCCL_SUCCESS, "%s", vccl_last_error())
#define FAILS(code, call)                                                                                                           \
    do {                                                                                                                            \
        vccl_result_t fails_got = (call);                                                                                           \
        CHECK(fails_got == (code) && vccl_last_error()[0], "%s gave %d (%s), expected %d", #call, (int)fails_got, vccl_last_error(), \
              (int)(code));                                                                                                         \
    } while (0)

/* A small generator with a state of one's own. */
static inline uint32_t job_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

#endif
