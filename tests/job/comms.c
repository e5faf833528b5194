/* SPDX-License-Identifier: BSD-3-Clause
 * Communicators: dup, split in every way, their message spaces kept apart, many made and freed, threads on communicators of their own. */
#include <pthread.h>
#include <stdlib.h>

#include "lib/api/ctx.h"
#include "tests/harness/job.h"

static int splits(void)
{
    int me = job_rank(), n = job_size(), rank, size, sum;
    for (int ways = 1; ways <= n && ways <= 5; ways++) {
        vccl_comm_t comm;
        OK(vccl_comm_split(VCCL_COMM_WORLD, me % ways, -me, &comm)); /* ranks in reverse */
        OK(vccl_comm_rank(comm, &rank));
        OK(vccl_comm_size(comm, &size));
        int members = (n - me % ways + ways - 1) / ways;
        CHECK(size == members && rank == members - 1 - me / ways, "%d of %d in %d ways", rank, size, ways);
        OK(vccl_allreduce(&me, &sum, 1, VCCL_INT32, VCCL_SUM, comm));
        int want = 0;
        for (int r = me % ways; r < n; r += ways)
            want += r;
        CHECK(sum == want, "sum over the group is %d, not %d", sum, want);
        OK(vccl_comm_free(&comm));
    }
    vccl_comm_t none;
    OK(vccl_comm_split(VCCL_COMM_WORLD, me == 0 ? VCCL_UNDEFINED : 1, 0, &none));
    CHECK((none == VCCL_COMM_NULL) == (me == 0), "undefined color");
    if (me)
        OK(vccl_comm_free(&none));
    OK(vccl_comm_split_shared(VCCL_COMM_WORLD, 0, &none));
    OK(vccl_comm_size(none, &size));
    CHECK(size == n, "%d ranks share memory", size);
    OK(vccl_comm_free(&none));
    return 0;
}

/* The same source and tag on two communicators: each gets its own. */
static int apart(void)
{
    int me = job_rank(), n = job_size(), right = (me + 1) % n, left = (me + n - 1) % n, x = 1, y = 2, p = 0, q = 0;
    vccl_comm_t a, b;
    vccl_request_t reqs[2];
    OK(vccl_comm_dup(VCCL_COMM_WORLD, &a));
    OK(vccl_comm_dup(a, &b));
    OK(vccl_isend(&x, 1, VCCL_INT32, right, 0, a, &reqs[0]));
    OK(vccl_isend(&y, 1, VCCL_INT32, right, 0, b, &reqs[1]));
    OK(vccl_recv(&q, 1, VCCL_INT32, VCCL_ANY_SOURCE, VCCL_ANY_TAG, b, VCCL_STATUS_IGNORE));
    OK(vccl_recv(&p, 1, VCCL_INT32, left, 0, a, VCCL_STATUS_IGNORE));
    OK(vccl_waitall(2, reqs, VCCL_STATUSES_IGNORE));
    CHECK(p == 1 && q == 2, "%d and %d", p, q);
    OK(vccl_comm_free(&a));
    OK(vccl_allreduce(&x, &p, 1, VCCL_INT32, VCCL_SUM, b));
    CHECK(p == n, "%d", p);
    OK(vccl_comm_free(&b));
    return 0;
}

static int many(void)
{
    enum { N = 40 };
    vccl_comm_t comms[N];
    int one = 1, sum;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i++)
            OK(vccl_comm_dup(i ? comms[i - 1] : VCCL_COMM_WORLD, &comms[i]));
        for (int i = 0; i < N; i++) {
            OK(vccl_allreduce(&one, &sum, 1, VCCL_INT32, VCCL_SUM, comms[i]));
            CHECK(sum == job_size(), "communicator %d: %d", i, sum);
        }
        for (int i = 0; i < N; i++)
            OK(vccl_comm_free(&comms[i]));
    }
    return 0;
}

/* Nonblocking collectives on two communicators, waited for in opposite orders by even and odd ranks. */
static int crossed(void)
{
    int me = job_rank(), n = job_size(), p, q;
    vccl_comm_t a, b;
    vccl_request_t ra, rb;
    OK(vccl_comm_dup(VCCL_COMM_WORLD, &a));
    OK(vccl_comm_dup(VCCL_COMM_WORLD, &b));
    for (int i = 0; i < 200; i++) {
        int x = me + i, y = me * i;
        if (me % 2) {
            OK(vccl_iallreduce(&x, &p, 1, VCCL_INT32, VCCL_SUM, a, &ra));
            OK(vccl_iallreduce(&y, &q, 1, VCCL_INT32, VCCL_SUM, b, &rb));
            OK(vccl_wait(&ra, VCCL_STATUS_IGNORE));
            OK(vccl_wait(&rb, VCCL_STATUS_IGNORE));
        } else {
            OK(vccl_iallreduce(&y, &q, 1, VCCL_INT32, VCCL_SUM, b, &rb));
            OK(vccl_iallreduce(&x, &p, 1, VCCL_INT32, VCCL_SUM, a, &ra));
            OK(vccl_wait(&rb, VCCL_STATUS_IGNORE));
            OK(vccl_wait(&ra, VCCL_STATUS_IGNORE));
        }
        CHECK(p == n * (n - 1) / 2 + n * i && q == n * (n - 1) / 2 * i, "round %d: %d %d", i, p, q);
    }
    OK(vccl_comm_free(&a));
    OK(vccl_comm_free(&b));
    return 0;
}

struct worker {
    pthread_t thread;
    struct vcci_ctx *ctx;
    vccl_comm_t comm;
    int failed;
};

static int work(vccl_comm_t comm)
{
    int rank, size, sum;
    OK(vccl_comm_rank(comm, &rank));
    OK(vccl_comm_size(comm, &size));
    for (int i = 0; i < 300; i++) {
        int x = rank * i, got = -1, right = (rank + 1) % size, left = (rank + size - 1) % size;
        OK(vccl_allreduce(&x, &sum, 1, VCCL_INT32, VCCL_SUM, comm));
        CHECK(sum == size * (size - 1) / 2 * i, "round %d: %d", i, sum);
        OK(vccl_sendrecv(&x, 1, VCCL_INT32, right, i, &got, 1, VCCL_INT32, left, i, comm, VCCL_STATUS_IGNORE));
        CHECK(got == left * i, "round %d: message brought %d", i, got);
    }
    return 0;
}

static void *worker(void *arg)
{
    struct worker *w = arg;
    vcci_ctx_mine = w->ctx; /* in a fake job each rank's threads belong to its context */
    w->failed = work(w->comm);
    return NULL;
}

static int threads(void)
{
    enum { T = 4 };
    struct worker w[T];
    for (int t = 0; t < T; t++) {
        w[t] = (struct worker){.ctx = vcci_ctx_mine};
        OK(vccl_comm_dup(VCCL_COMM_WORLD, &w[t].comm));
    }
    for (int t = 0; t < T; t++)
        CHECK(pthread_create(&w[t].thread, NULL, worker, &w[t]) == 0, "thread %d", t);
    int failed = 0;
    for (int t = 0; t < T; t++) {
        pthread_join(w[t].thread, NULL);
        failed |= w[t].failed;
    }
    for (int t = 0; t < T && !failed; t++)
        OK(vccl_comm_free(&w[t].comm));
    return failed;
}

static int comms(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    if (splits() || apart() || many() || crossed() || threads())
        return 1;
    if (job_rank() == 0)
        printf("comms: all well on %d ranks\n", job_size());
    return 0;
}

int main(int argc, char **argv)
{
    return job_main(argc, argv, comms);
}
