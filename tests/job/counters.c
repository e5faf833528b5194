/* SPDX-License-Identifier: BSD-3-Clause
 * What repeats exactly is counted: a call made before allocates nothing, a message is copied as often as it must be, ranks that are awake ring no bells. */
#include <stdlib.h>
#include <string.h>

#include "tests/harness/job.h"

enum { CALLS = 500 };
static _Thread_local char report[8192];

/* One counter of this process; -1: there is no such. */
static long long counter(const char *name)
{
    size_t len;
    if (vccl_query("counters", report, sizeof report, &len) != VCCL_SUCCESS)
        return -1;
    size_t n = strlen(name);
    for (const char *line = report; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, name, n) && (line[n] == ' ' || line[n] == '\t'))
            return atoll(line + n);
    }
    return -1;
}

static int repeat(float *in, float *out, size_t count)
{
    int n = job_size(), me = job_rank(), right = (me + 1) % n, left = (me + n - 1) % n;
    OK(vccl_allreduce(in, out, count, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD));
    OK(vccl_bcast(out, count, VCCL_FLOAT32, 0, VCCL_COMM_WORLD));
    OK(vccl_barrier(VCCL_COMM_WORLD));
    vccl_request_t req;
    OK(vccl_iallreduce(in, out, count, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD, &req));
    OK(vccl_wait(&req, VCCL_STATUS_IGNORE));
    OK(vccl_irecv(out, count, VCCL_FLOAT32, left, 0, VCCL_COMM_WORLD, &req));
    OK(vccl_barrier(VCCL_COMM_WORLD)); /* every message finds its receive */
    OK(vccl_send(in, count, VCCL_FLOAT32, right, 0, VCCL_COMM_WORLD));
    OK(vccl_wait(&req, VCCL_STATUS_IGNORE));
    return 0;
}

static int no_allocations(float *in, float *out)
{
    static const size_t counts[] = {1, 100, 5000, 200000};
    for (size_t k = 0; k < 4; k++) {
        for (int i = 0; i < 40; i++)
            if (repeat(in, out, counts[k]))
                return 1;
        long long allocs = counter("allocs"), built = counter("sched_built");
        CHECK(allocs >= 0 && built > 0, "no counters in:\n%s", report);
        int calls = counts[k] > 5000 ? 40 : CALLS;
        for (int i = 0; i < calls; i++)
            if (repeat(in, out, counts[k]))
                return 1;
        CHECK(counter("allocs") == allocs && counter("sched_built") == built, "%d repeated calls of %zu elements made %lld allocations and %lld schedules",
              calls, counts[k], counter("allocs") - allocs, counter("sched_built") - built);
    }
    return 0;
}

/* Alone: what goes through p2p is exactly what was sent, the flat calls are exactly those made. */
static int exact(float *in)
{
    long long sent = counter("bytes_sent"), flat = counter("coll_flat"), msgs = counter("msgs_inline");
    int x = 1, y = 0;
    vccl_request_t req;
    for (int i = 0; i < CALLS; i++) {
        OK(vccl_isend(&x, 1, VCCL_INT32, 0, 0, VCCL_COMM_SELF, &req));
        OK(vccl_recv(&y, 1, VCCL_INT32, 0, 0, VCCL_COMM_SELF, VCCL_STATUS_IGNORE));
        OK(vccl_wait(&req, VCCL_STATUS_IGNORE));
        OK(vccl_allreduce(VCCL_IN_PLACE, in, 4, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_SELF));
    }
    CHECK(counter("bytes_sent") - sent == CALLS * 4 && counter("msgs_inline") - msgs == CALLS && counter("coll_flat") - flat == CALLS,
          "%d messages of 4 bytes and as many sums: %lld bytes, %lld messages, %lld collectives", CALLS, counter("bytes_sent") - sent,
          counter("msgs_inline") - msgs, counter("coll_flat") - flat);
    return 0;
}

static int counters(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    float *in = calloc(200000, sizeof *in), *out = calloc(200000, sizeof *out);
    CHECK(in && out, "no memory");
    if (no_allocations(in, out) || (job_size() == 1 && exact(in)))
        return 1;
    if (job_rank() == 0)
        printf("counters: repeated calls allocate nothing on %d ranks\n", job_size());
    free(in);
    free(out);
    return 0;
}

int main(int argc, char **argv)
{
    return job_main(argc, argv, counters);
}
