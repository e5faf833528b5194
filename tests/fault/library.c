/* SPDX-License-Identifier: BSD-3-Clause
 * Every allocation and system call of the whole library fails, once and for ever: a rank alone from start to end, and two ranks in the middle of their work. What fails must be an
 * error with a sentence; nothing may crash, hang, give wrong data or leave a descriptor open. */
#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/api/ctx.h"
#include "lib/base/env.h"
#include "lib/base/err.h"
#include "tests/fault/nth.h"
#include "tests/unit/unit.h"

#define LARGE 300000 /* elements: rendezvous and several chunks */

/* First failure of a list of calls; later ones are still made. */
static void note(int *first, vccl_result_t got)
{
    if (got != VCCL_SUCCESS && !*first)
        *first = -(int)got;
}

static void expect(int *first, int right, const char *what)
{
    if (!right && !*first)
        ck_abort_msg("%s brought wrong data and no error", what);
}

/* ---- one rank ---- */

static void alone_messages(int *first)
{
    int x = 7, y = 0, flag;
    vccl_request_t req = VCCL_REQUEST_NULL;
    note(first, vccl_isend(&x, 1, VCCL_INT32, 0, 1, VCCL_COMM_SELF, &req));
    if (*first)
        return;
    note(first, vccl_iprobe(0, 1, VCCL_COMM_SELF, &flag, VCCL_STATUS_IGNORE));
    note(first, vccl_recv(&y, 1, VCCL_INT32, 0, 1, VCCL_COMM_SELF, VCCL_STATUS_IGNORE));
    expect(first, y == 7, "a message to oneself");
    note(first, vccl_wait(&req, VCCL_STATUS_IGNORE));
}

static void alone_calls(int *first)
{
    float a[4] = {1, 2, 3, 4}, b[4] = {0}, two = 2;
    vccl_comm_t comm = VCCL_COMM_NULL;
    vccl_op_t op = VCCL_OP_NULL;
    vccl_request_t req = VCCL_REQUEST_NULL;
    void *p = NULL;
    note(first, vccl_allreduce(a, b, 4, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD));
    expect(first, b[3] == 4, "allreduce");
    note(first, vccl_iallreduce(a, b, 4, VCCL_FLOAT32, VCCL_AVG, VCCL_COMM_SELF, &req));
    note(first, vccl_wait(&req, VCCL_STATUS_IGNORE));
    if (vccl_op_create_premul_sum(&two, VCCL_FLOAT32, &op) == VCCL_SUCCESS) {
        note(first, vccl_allreduce(a, b, 4, VCCL_FLOAT32, op, VCCL_COMM_WORLD));
        expect(first, b[3] == 8, "premultiplied sum");
        note(first, vccl_op_free(&op));
    }
    vccl_result_t got = vccl_comm_dup(VCCL_COMM_WORLD, &comm);
    note(first, got);
    if (got == VCCL_SUCCESS) {
        note(first, vccl_barrier(comm));
        note(first, vccl_comm_free(&comm));
    }
    got = vccl_mem_alloc(100000, &p);
    note(first, got);
    if (got == VCCL_SUCCESS)
        note(first, vccl_mem_free(p));
}

static int alone(void *arg)
{
    struct vcci_boot *boot;
    struct vcci_ctx *ctx;
    int first = 0;
    (void)arg;
    int err = vcci_boot_open_solo(&boot);
    if (err || (err = vcci_ctx_create(boot, &ctx)))
        return err;
    vcci_ctx_mine = ctx;
    alone_calls(&first);
    alone_messages(&first);
    err = vcci_ctx_destroy(ctx);
    vcci_ctx_mine = NULL;
    if (ctx->state != VCCI_CTX_OVER) { /* a request is still open: it can only be left */
        nth_disarm();
        ck_abort_msg("finalize refused: %s", vcci_err_text());
    }
    free(ctx);
    return first ? first : err;
}

START_TEST(one_rank)
{
    nth_loop("one rank", alone, NULL);
}
END_TEST

/* ---- two ranks ---- */

struct pair {
    struct vcci_fake_job *job;
    pthread_barrier_t ready, worked;
    float *data[2][3];
    int failed[2];
};
struct side {
    struct pair *pair;
    int rank;
};

static void exchange(int *first, int rank, float *out, float *in, size_t n)
{
    out[n - 1] = (float)(rank + 1);
    in[n - 1] = 0;
    vccl_result_t got = vccl_sendrecv(out, n, VCCL_FLOAT32, 1 - rank, 3, in, n, VCCL_FLOAT32, 1 - rank, 3, VCCL_COMM_WORLD, VCCL_STATUS_IGNORE);
    note(first, got);
    if (got == VCCL_SUCCESS)
        UNIT_HOLDS(in[n - 1] == (float)(2 - rank));
}

static void sum(int *first, int rank, float *out, float *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (float)(rank + 1);
    vccl_result_t got = vccl_allreduce(out, in, n, VCCL_FLOAT32, VCCL_SUM, VCCL_COMM_WORLD);
    note(first, got);
    if (got == VCCL_SUCCESS)
        UNIT_HOLDS(in[0] == 3 && in[n - 1] == 3);
}

static void work(int *first, const struct side *s)
{
    float *out = s->pair->data[s->rank][0], *in = s->pair->data[s->rank][1];
    vccl_comm_t comm = VCCL_COMM_NULL;
    exchange(first, s->rank, out, in, 1);
    exchange(first, s->rank, out, in, 2000);
    exchange(first, s->rank, out, in, LARGE);
    sum(first, s->rank, out, in, 2);
    sum(first, s->rank, out, in, LARGE);
    vccl_result_t got = vccl_comm_dup(VCCL_COMM_WORLD, &comm);
    note(first, got);
    if (got == VCCL_SUCCESS)
        note(first, vccl_comm_free(&comm));
}

static void *rank_main(void *arg)
{
    struct side *s = arg;
    struct vcci_boot *boot;
    struct vcci_ctx *ctx;
    int first = 0;
    ck_assert_int_eq(vcci_boot_open_fake(s->pair->job, s->rank, &boot), 0);
    ck_assert_int_eq(vcci_ctx_create(boot, &ctx), 0);
    vcci_ctx_mine = ctx;
    pthread_barrier_wait(&s->pair->ready);
    pthread_barrier_wait(&s->pair->ready); /* armed */
    work(&first, s);
    UNIT_HOLDS(!first || vccl_last_error()[0]);
    s->pair->failed[s->rank] = first;
    pthread_barrier_wait(&s->pair->worked);
    pthread_barrier_wait(&s->pair->worked); /* disarmed */
    vcci_ctx_destroy(ctx);
    vcci_ctx_mine = NULL;
    free(ctx);
    return NULL;
}

static int descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;
    ck_assert_ptr_nonnull(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* One job in which call n fails; nonzero if one did. */
static int job_with_fault(struct pair *p, long n, enum nth_mode mode)
{
    pthread_t threads[2];
    struct side sides[2] = {{p, 0}, {p, 1}};
    int before = descriptors();
    ck_assert_int_eq(vcci_fake_job_create(2, &p->job), 0);
    for (int r = 0; r < 2; r++)
        ck_assert_int_eq(pthread_create(&threads[r], NULL, rank_main, &sides[r]), 0);
    pthread_barrier_wait(&p->ready);
    nth_arm(n, mode);
    pthread_barrier_wait(&p->ready);
    pthread_barrier_wait(&p->worked);
    int hit = nth_disarm();
    pthread_barrier_wait(&p->worked);
    for (int r = 0; r < 2; r++)
        pthread_join(threads[r], NULL);
    vcci_fake_job_destroy(p->job);
    ck_assert_msg(hit || (!p->failed[0] && !p->failed[1]), "call %ld: failed (%d, %d) although nothing was made to fail", n, p->failed[0],
                  p->failed[1]);
    ck_assert_msg(descriptors() == before, "call %ld (%s): %d descriptors are open, before %d", n, nth_what(), descriptors(), before);
    return hit;
}

static void two_ranks_in(enum nth_mode mode)
{
    struct vcci_env env;
    struct pair p;
    setenv("VCCL_TIMEOUT", "0.2", 1);
    ck_assert_int_eq(vcci_env_load(&env), 0);
    pthread_barrier_init(&p.ready, NULL, 3);
    pthread_barrier_init(&p.worked, NULL, 3);
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < 2; k++)
            p.data[r][k] = calloc(LARGE, sizeof(float));
    for (long n = 1; job_with_fault(&p, n, mode); n++)
        ;
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < 2; k++)
            free(p.data[r][k]);
}

START_TEST(two_ranks_once)
{
    two_ranks_in(NTH_ONCE);
}
END_TEST

START_TEST(two_ranks_for_ever)
{
    two_ranks_in(NTH_FOREVER);
}
END_TEST

UNIT_MAIN("fault/library", one_rank, two_ranks_once, two_ranks_for_ever)
