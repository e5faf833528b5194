/* SPDX-License-Identifier: BSD-3-Clause
 * Every collective, type, op, root, in place or not, blocking or not, at counts around all edges, against a plain reference that each rank computes from what it knows the
 * others put in.
 * matrix [seed [sample [collective]]]: with a sample only about one case in so many is run. */
#include <complex.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/job.h"
#include "tests/job/value.h"

enum coll { BARRIER, BCAST, REDUCE, ALLREDUCE, GATHER, SCATTER, ALLGATHER, ALLTOALL, REDUCE_SCATTER, NR };
static const char *const names[] = {"barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall",
                                    "reduce_scatter_block"};

struct a_case {
    enum coll coll;
    vccl_datatype_t type;
    vccl_op_t op;
    size_t count;
    int root, in_place, nonblocking, rank, size;
    vccl_comm_t comm;
};

#define GUARD 64

static int blocks_in(const struct a_case *c)
{
    return c->coll == SCATTER ? (c->rank == c->root ? c->size : 0) : c->coll == ALLTOALL || c->coll == REDUCE_SCATTER ? c->size : 1;
}

static int blocks_out(const struct a_case *c)
{
    switch (c->coll) {
    case REDUCE: return c->rank == c->root;
    case GATHER: return c->rank == c->root ? c->size : 0;
    case ALLGATHER:
    case ALLTOALL: return c->size;
    default: return 1;
    }
}

/* Element i of what `rank` puts in. */
static struct value input(const struct a_case *c, int rank, size_t i)
{
    return value_make(c->type, c->op, rank, c->size, i);
}

/* Element i of what this rank must have in the end. */
static struct value expected(const struct a_case *c, size_t i)
{
    size_t block = c->count ? i / c->count : 0, at = c->count ? i % c->count : 0;
    switch (c->coll) {
    case BCAST: return input(c, c->root, i);
    case GATHER:
    case ALLGATHER: return input(c, (int)block, at);
    case SCATTER: return input(c, c->root, (size_t)c->rank * c->count + i);
    case ALLTOALL: return input(c, (int)block, (size_t)c->rank * c->count + at);
    default: break;
    }
    size_t from = c->coll == REDUCE_SCATTER ? (size_t)c->rank * c->count + i : i;
    struct value v = input(c, 0, from);
    for (int r = 1; r < c->size; r++)
        v = value_combine(c->op, v, input(c, r, from));
    return c->op == VCCL_AVG ? value_divide(c->type, v, c->size) : v;
}

static vccl_result_t call(const struct a_case *c, const void *in, void *out, vccl_request_t *req)
{
    size_t n = c->count;
    vccl_datatype_t t = c->type;
    switch (c->coll) {
    case BARRIER: return c->nonblocking ? vccl_ibarrier(c->comm, req) : vccl_barrier(c->comm);
    case BCAST: return c->nonblocking ? vccl_ibcast(out, n, t, c->root, c->comm, req) : vccl_bcast(out, n, t, c->root, c->comm);
    case REDUCE:
        return c->nonblocking ? vccl_ireduce(in, out, n, t, c->op, c->root, c->comm, req)
                              : vccl_reduce(in, out, n, t, c->op, c->root, c->comm);
    case ALLREDUCE:
        return c->nonblocking ? vccl_iallreduce(in, out, n, t, c->op, c->comm, req) : vccl_allreduce(in, out, n, t, c->op, c->comm);
    case GATHER:
        return c->nonblocking ? vccl_igather(in, n, t, out, n, t, c->root, c->comm, req)
                              : vccl_gather(in, n, t, out, n, t, c->root, c->comm);
    case SCATTER:
        return c->nonblocking ? vccl_iscatter(in, n, t, out, n, t, c->root, c->comm, req)
                              : vccl_scatter(in, n, t, out, n, t, c->root, c->comm);
    case ALLGATHER:
        return c->nonblocking ? vccl_iallgather(in, n, t, out, n, t, c->comm, req) : vccl_allgather(in, n, t, out, n, t, c->comm);
    case ALLTOALL:
        return c->nonblocking ? vccl_ialltoall(in, n, t, out, n, t, c->comm, req) : vccl_alltoall(in, n, t, out, n, t, c->comm);
    default:
        return c->nonblocking ? vccl_ireduce_scatter_block(in, out, n, t, c->op, c->comm, req)
                              : vccl_reduce_scatter_block(in, out, n, t, c->op, c->comm);
    }
}

static void put(const struct a_case *c, unsigned char *buf, size_t first, size_t n, size_t at)
{
    size_t bytes = value_bytes(c->type);
    for (size_t i = 0; i < n; i++)
        value_store(c->type, input(c, c->rank, first + i), buf + (at + i) * bytes);
}

/* Fills the buffers of an in-place call: the contribution lies where its result (or its part of it) goes. */
static void put_in_place(const struct a_case *c, unsigned char *out, const void **in_arg, void **out_arg)
{
    size_t n = c->count, all = n * (size_t)c->size;
    *in_arg = VCCL_IN_PLACE;
    *out_arg = out;
    if (c->coll == GATHER || c->coll == ALLGATHER)
        put(c, out, 0, n, (size_t)c->rank * n);
    else if (c->coll == SCATTER || c->coll == ALLTOALL || c->coll == REDUCE_SCATTER)
        put(c, out, 0, all, 0);
    else
        put(c, out, 0, n, 0);
    if (c->coll == SCATTER) {
        *in_arg = out;
        *out_arg = VCCL_IN_PLACE;
    }
}

static int compare(const struct a_case *c, const unsigned char *out, size_t elements)
{
    size_t bytes = value_bytes(c->type);
    for (size_t i = 0; i < elements; i++) {
        struct value want = expected(c, i), got = value_load(c->type, out + i * bytes);
        CHECK(value_equal(c->type, want, got), "%s %s %s count %zu root %d%s%s: element %zu is %g (%g, %d), not %g (%g, %d)", names[c->coll],
              vccl_type_name(c->type), c->op ? vccl_op_name(c->op) : "", c->count, c->root, c->in_place ? " in place" : "",
              c->nonblocking ? " nonblocking" : "", i, creal(got.z), cimag(got.z), got.index, creal(want.z), cimag(want.z), want.index);
    }
    return 0;
}

static int run_case(const struct a_case *c, unsigned char *in, unsigned char *out)
{
    size_t bytes = value_bytes(c->type), block = c->count * bytes, n_in = (size_t)blocks_in(c), n_out = (size_t)blocks_out(c);
    int rooted = c->coll == REDUCE || c->coll == GATHER || c->coll == SCATTER;
    int mine = c->in_place && (!rooted || c->rank == c->root);
    size_t room = block * (mine ? (size_t)c->size : n_out);
    vccl_request_t req = VCCL_REQUEST_NULL;
    const void *in_arg = in;
    void *out_arg = out + GUARD;
    memset(out, 0xa5, room + 2 * GUARD);
    if (mine)
        put_in_place(c, out + GUARD, &in_arg, &out_arg);
    else if (c->coll == BCAST && c->rank == c->root)
        put(c, out + GUARD, 0, c->count, 0);
    else if (c->coll != BCAST && c->coll != BARRIER)
        put(c, in, 0, n_in * c->count, 0);
    OK(call(c, in_arg, out_arg, &req));
    if (c->nonblocking)
        OK(vccl_wait(&req, VCCL_STATUS_IGNORE));
    for (int i = 0; i < GUARD; i++)
        CHECK(out[i] == 0xa5 && out[GUARD + room + i] == 0xa5, "%s wrote outside its buffer (count %zu)", names[c->coll], c->count);
    if (c->coll == BARRIER)
        return 0;
    const unsigned char *result = out + GUARD + (c->coll == SCATTER && mine ? block * (size_t)c->root : 0);
    return compare(c, result, n_out * c->count);
}

/* ---- the walk ---- */

static const size_t counts[] = {0, 1, 2, 3, 5, 8, 17, 64, 100, 1000, 4099, 33333};

static int reduces(enum coll c)
{
    return c == REDUCE || c == ALLREDUCE || c == REDUCE_SCATTER;
}

static int roots_of(const struct a_case *c)
{
    return c->coll == BCAST || c->coll == REDUCE || c->coll == GATHER || c->coll == SCATTER ? c->size : 1;
}

struct walk {
    uint64_t random;
    unsigned sample, cases;
    unsigned char *in, *out;
};

/* All roots (beyond 8 ranks three of them), in place or not. */
static int walk_roots(struct walk *w, struct a_case c)
{
    int n = roots_of(&c);
    for (int root = 0; root < n; root++) {
        if (n > 8 && root != 0 && root != n / 2 && root != n - 1)
            continue;
        for (int in_place = 0; in_place < 2; in_place++) {
            if (in_place && (c.coll == BCAST || c.coll == BARRIER))
                continue;
            if (job_random(&w->random) % w->sample)
                continue;
            c.root = root;
            c.in_place = in_place;
            c.nonblocking = job_random(&w->random) % 3 == 0;
            w->cases++;
            if (run_case(&c, w->in, w->out))
                return 1;
        }
    }
    return 0;
}

static int walk_counts(struct walk *w, struct a_case c)
{
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        c.count = c.coll == BARRIER ? 0 : counts[i];
        /* the long ones for a few types only: what is new there does not depend on the type */
        if (counts[i] > 1000 && c.type != VCCL_FLOAT32 && c.type != VCCL_COMPLEX128 && c.type != VCCL_BFLOAT16 && c.type != VCCL_INT8)
            continue;
        if (counts[i] > 1000 && reduces(c.coll) && c.op != VCCL_SUM && c.op != VCCL_AVG)
            continue;
        if (walk_roots(w, c))
            return 1;
        if (c.coll == BARRIER)
            break;
    }
    return 0;
}

static int matrix(int argc, char **argv)
{
    struct a_case c = {.rank = job_rank(), .size = job_size(), .comm = VCCL_COMM_WORLD};
    struct walk w = {.random = argc > 1 ? strtoull(argv[1], NULL, 0) : 1, .sample = argc > 2 ? (unsigned)atoi(argv[2]) : 1};
    size_t most = (size_t)c.size * 33333 * 16 + 2 * GUARD;
    w.in = malloc(most);
    w.out = malloc(most);
    CHECK(w.in && w.out && w.sample, "no memory for %zu bytes", most);
    for (int coll = 0; coll < NR; coll++) {
        c.coll = (enum coll)coll;
        if (argc > 3 && strcmp(argv[3], names[coll]))
            continue;
        for (int t = 1; t < VCCL_DATATYPE_NR; t++) {
            c.type = (vccl_datatype_t)t;
            for (int op = reduces(c.coll) ? 1 : 0; op < (reduces(c.coll) ? (int)VCCL_OP_NR : 1); op++) {
                c.op = (vccl_op_t)op;
                if ((reduces(c.coll) && !value_op_fits(c.op, c.type)) || (c.coll == BARRIER && t > 1))
                    continue;
                if (walk_counts(&w, c))
                    return 1;
            }
        }
    }
    if (c.rank == 0)
        printf("matrix: %u cases on %d ranks agree with the reference\n", w.cases, c.size);
    free(w.in);
    free(w.out);
    return 0;
}

int main(int argc, char **argv)
{
    return job_main(argc, argv, matrix);
}
