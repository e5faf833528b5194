/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks that do not agree, or do not come: each case ends in an error that names who and what on every rank that waits, the communicator is revoked, and others go on.
 * Run with VCCL_TIMEOUT=1. */
#include <string.h>
#include <unistd.h>

#include "tests/harness/job.h"

static _Thread_local float a[1000], b[8000]; /* ranks may be threads */

static int says(const char *word)
{
    CHECK(strstr(vccl_last_error(), word), "\"%s\" is not in: %s", word, vccl_last_error());
    return 0;
}

/* After a failure: the communicator refuses, can be freed, and the world still works. */
static int dead_but_freed(vccl_comm_t *comm)
{
    float x = 1, y = 0;
    vccl_request_t req;
    vccl_result_t got = vccl_allreduce(&x, &y, 1, VCCL_FLOAT32, VCCL_SUM, *comm);
    CHECK(got != VCCL_SUCCESS, "a revoked communicator still works");
    got = vccl_ibarrier(*comm, &req);
    CHECK(got != VCCL_SUCCESS, "a revoked communicator still works");
    OK(vccl_comm_free(comm));
    OK(vccl_allreduce(&x, &y, 1, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD));
    CHECK(y == (float)job_size(), "the world gives %g", (double)y);
    return 0;
}

/* Rank 1 calls something else than all others. */
static int other_call(int what)
{
    int odd = job_rank() == 1;
    vccl_comm_t comm;
    OK(vccl_comm_dup(VCCL_COMM_WORLD, &comm));
    vccl_result_t got;
    switch (what) {
    case 0:
        got = odd ? vccl_barrier(comm) : vccl_allreduce(a, b, 2, VCCL_FLOAT32, VCCL_SUM, comm);
        break;
    case 1: got = vccl_allreduce(a, b, 2, VCCL_FLOAT32, odd ? VCCL_MAX : VCCL_SUM, comm); break;
    case 2: got = vccl_allreduce(a, b, odd ? 3 : 2, VCCL_FLOAT32, VCCL_SUM, comm); break;
    case 3: got = vccl_allreduce(a, b, 1000, odd ? VCCL_INT32 : VCCL_FLOAT32, VCCL_SUM, comm); break;
    default:
        got = odd ? vccl_allgather(a, 100, VCCL_FLOAT32, b, 100, VCCL_FLOAT32, comm)
                  : vccl_alltoall(b + 2000, 100, VCCL_FLOAT32, b, 100, VCCL_FLOAT32, comm);
    }
    CHECK(got == VCCL_ERR_MISMATCH, "case %d gave %d: %s", what, (int)got, got ? vccl_last_error() : "success");
    if (says("rank") || dead_but_freed(&comm))
        return 1;
    return 0;
}

/* Rank 1 does not come to a collective: the others are told who is missing. */
static int nobody_comes(void)
{
    vccl_comm_t comm;
    OK(vccl_comm_dup(VCCL_COMM_WORLD, &comm));
    if (job_rank() != 1) {
        vccl_result_t got = vccl_allreduce(a, b, 100, VCCL_FLOAT32, VCCL_SUM, comm);
        CHECK(got == VCCL_ERR_TIMEOUT, "a collective without rank 1 gave %d", (int)got);
        if (job_size() == 2 && says("rank 1"))
            return 1;
    } else {
        usleep(600000); /* the barrier's own second must outlast the others' */
    }
    OK(vccl_barrier(VCCL_COMM_WORLD));
    if (job_rank() == 1)
        CHECK(vccl_barrier(comm) == VCCL_ERR_TIMEOUT, "the late rank does not learn: %s", vccl_last_error());
    return dead_but_freed(&comm);
}

/* Nobody sends: the receive is called off, and the communicator goes on. */
static int nothing_sent(void)
{
    int x = 0, y = job_rank(), n = job_size(), right = (y + 1) % n, left = (y + n - 1) % n;
    vccl_status_t s;
    vccl_request_t req;
    FAILS(VCCL_ERR_TIMEOUT, vccl_recv(&x, 1, VCCL_INT32, left, 77, VCCL_COMM_WORLD, &s));
    FAILS(VCCL_ERR_TIMEOUT, vccl_probe(left, 77, VCCL_COMM_WORLD, &s));
    OK(vccl_irecv(&x, 1, VCCL_INT32, left, 78, VCCL_COMM_WORLD, &req));
    FAILS(VCCL_ERR_TIMEOUT, vccl_wait(&req, &s));
    OK(vccl_barrier(VCCL_COMM_WORLD));
    OK(vccl_send(&y, 1, VCCL_INT32, right, 78, VCCL_COMM_WORLD)); /* it was still under way */
    OK(vccl_wait(&req, &s));
    CHECK(x == left, "received %d", x);
    OK(vccl_barrier(VCCL_COMM_WORLD));
    return 0;
}

static int mismatch(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (int what = 0; what < 5; what++)
        if (other_call(what))
            return 1;
    if (nobody_comes() || nothing_sent())
        return 1;
    if (job_rank() == 0)
        printf("mismatch: every disagreement was named on %d ranks\n", job_size());
    return 0;
}

int main(int argc, char **argv)
{
    return job_main(argc, argv, mismatch);
}
