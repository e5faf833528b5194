/* SPDX-License-Identifier: BSD-3-Clause
 * What vccl_perf can run: one row for each collective and point-to-point pattern. */
#include "tools/perf.h"

#define WINDOW 64 /* messages in flight of `bandwidth` */

/* Out of place, or VCCL_IN_PLACE where this rank takes part in place. */
static const void *send_of(const struct perf_run *r)
{
    return perf_in_place(r) ? VCCL_IN_PLACE : r->send;
}

static vccl_result_t finish(vccl_result_t begun, vccl_request_t *req)
{
    return begun == VCCL_SUCCESS ? vccl_wait(req, VCCL_STATUS_IGNORE) : begun;
}

static vccl_result_t barrier_call(const struct perf_run *r)
{
    vccl_request_t req;

    return r->nonblocking ? finish(vccl_ibarrier(VCCL_COMM_WORLD, &req), &req) : vccl_barrier(VCCL_COMM_WORLD);
}

static vccl_result_t bcast_call(const struct perf_run *r)
{
    void *buf = r->rank == r->root ? r->send : r->recv;
    vccl_request_t req;

    return r->nonblocking ? finish(vccl_ibcast(buf, r->count, r->type, r->root, VCCL_COMM_WORLD, &req), &req)
                          : vccl_bcast(buf, r->count, r->type, r->root, VCCL_COMM_WORLD);
}

static vccl_result_t reduce_call(const struct perf_run *r)
{
    vccl_request_t req;

    return r->nonblocking
               ? finish(vccl_ireduce(send_of(r), r->recv, r->count, r->type, r->op, r->root, VCCL_COMM_WORLD, &req), &req)
               : vccl_reduce(send_of(r), r->recv, r->count, r->type, r->op, r->root, VCCL_COMM_WORLD);
}

static vccl_result_t allreduce_call(const struct perf_run *r)
{
    vccl_request_t req;

    return r->nonblocking ? finish(vccl_iallreduce(send_of(r), r->recv, r->count, r->type, r->op, VCCL_COMM_WORLD, &req), &req)
                          : vccl_allreduce(send_of(r), r->recv, r->count, r->type, r->op, VCCL_COMM_WORLD);
}

static vccl_result_t gather_call(const struct perf_run *r)
{
    vccl_request_t req;

    if (!r->nonblocking)
        return vccl_gather(send_of(r), r->count, r->type, r->recv, r->count, r->type, r->root, VCCL_COMM_WORLD);
    return finish(vccl_igather(send_of(r), r->count, r->type, r->recv, r->count, r->type, r->root, VCCL_COMM_WORLD, &req), &req);
}

static vccl_result_t scatter_call(const struct perf_run *r)
{
    void *recv = r->in_place && r->rank == r->root ? VCCL_IN_PLACE : r->recv;
    vccl_request_t req;

    if (!r->nonblocking)
        return vccl_scatter(r->send, r->count, r->type, recv, r->count, r->type, r->root, VCCL_COMM_WORLD);
    return finish(vccl_iscatter(r->send, r->count, r->type, recv, r->count, r->type, r->root, VCCL_COMM_WORLD, &req), &req);
}

static vccl_result_t allgather_call(const struct perf_run *r)
{
    vccl_request_t req;

    if (!r->nonblocking)
        return vccl_allgather(send_of(r), r->count, r->type, r->recv, r->count, r->type, VCCL_COMM_WORLD);
    return finish(vccl_iallgather(send_of(r), r->count, r->type, r->recv, r->count, r->type, VCCL_COMM_WORLD, &req), &req);
}

static vccl_result_t alltoall_call(const struct perf_run *r)
{
    vccl_request_t req;

    if (!r->nonblocking)
        return vccl_alltoall(send_of(r), r->count, r->type, r->recv, r->count, r->type, VCCL_COMM_WORLD);
    return finish(vccl_ialltoall(send_of(r), r->count, r->type, r->recv, r->count, r->type, VCCL_COMM_WORLD, &req), &req);
}

static vccl_result_t reduce_scatter_block_call(const struct perf_run *r)
{
    vccl_request_t req;

    if (!r->nonblocking)
        return vccl_reduce_scatter_block(send_of(r), r->recv, r->count, r->type, r->op, VCCL_COMM_WORLD);
    return finish(vccl_ireduce_scatter_block(send_of(r), r->recv, r->count, r->type, r->op, VCCL_COMM_WORLD, &req), &req);
}

/* To the next rank, from the previous one. */
static vccl_result_t sendrecv_call(const struct perf_run *r)
{
    int next = (r->rank + 1) % r->size, previous = (r->rank + r->size - 1) % r->size;
    vccl_request_t reqs[2];
    vccl_result_t rc;

    if (!r->nonblocking)
        return vccl_sendrecv(r->send, r->count, r->type, next, 0, r->recv, r->count, r->type, previous, 0, VCCL_COMM_WORLD,
                             VCCL_STATUS_IGNORE);
    rc = vccl_irecv(r->recv, r->count, r->type, previous, 0, VCCL_COMM_WORLD, &reqs[0]);
    if (rc == VCCL_SUCCESS)
        rc = vccl_isend(r->send, r->count, r->type, next, 0, VCCL_COMM_WORLD, &reqs[1]);
    return rc == VCCL_SUCCESS ? vccl_waitall(2, reqs, VCCL_STATUSES_IGNORE) : rc;
}

static vccl_result_t send_one(const struct perf_run *r, int to)
{
    vccl_request_t req;

    return r->nonblocking ? finish(vccl_isend(r->send, r->count, r->type, to, 0, VCCL_COMM_WORLD, &req), &req)
                          : vccl_send(r->send, r->count, r->type, to, 0, VCCL_COMM_WORLD);
}

static vccl_result_t recv_one(const struct perf_run *r, int from)
{
    vccl_request_t req;

    return r->nonblocking ? finish(vccl_irecv(r->recv, r->count, r->type, from, 0, VCCL_COMM_WORLD, &req), &req)
                          : vccl_recv(r->recv, r->count, r->type, from, 0, VCCL_COMM_WORLD, VCCL_STATUS_IGNORE);
}

/* There and back between ranks 0 and 1. */
static vccl_result_t pingpong_call(const struct perf_run *r)
{
    vccl_result_t rc;

    if (r->rank > 1)
        return VCCL_SUCCESS;
    if (r->size == 1)
        return sendrecv_call(r);
    rc = r->rank == 0 ? send_one(r, 1) : recv_one(r, 0);
    if (rc == VCCL_SUCCESS)
        rc = r->rank == 0 ? recv_one(r, 1) : send_one(r, 0);
    return rc;
}

/* A window of messages from rank 0 to rank 1, then an empty answer. */
static vccl_result_t bandwidth_call(const struct perf_run *r)
{
    vccl_request_t reqs[WINDOW];
    vccl_result_t rc = VCCL_SUCCESS;

    if (r->rank > 1)
        return VCCL_SUCCESS;
    if (r->size == 1) {
        for (int i = 0; i < WINDOW && rc == VCCL_SUCCESS; i++)
            rc = sendrecv_call(r);
        return rc;
    }
    for (int i = 0; i < WINDOW && rc == VCCL_SUCCESS; i++)
        rc = r->rank == 0 ? vccl_isend(r->send, r->count, r->type, 1, 0, VCCL_COMM_WORLD, &reqs[i])
                          : vccl_irecv(r->recv, r->count, r->type, 0, 0, VCCL_COMM_WORLD, &reqs[i]);
    if (rc == VCCL_SUCCESS)
        rc = vccl_waitall(WINDOW, reqs, VCCL_STATUSES_IGNORE);
    if (rc != VCCL_SUCCESS)
        return rc;
    return r->rank == 0 ? vccl_recv(NULL, 0, VCCL_BYTE, 1, 1, VCCL_COMM_WORLD, VCCL_STATUS_IGNORE)
                        : vccl_send(NULL, 0, VCCL_BYTE, 0, 1, VCCL_COMM_WORLD);
}

static int source_none(const struct perf_run *r, int block)
{
    (void)r, (void)block;
    return PERF_NOTHING;
}

static int source_result(const struct perf_run *r, int block)
{
    (void)block;
    return r->coll->flags & PERF_ROOT && r->rank != r->root ? PERF_NOTHING : PERF_RESULT;
}

static int source_root(const struct perf_run *r, int block)
{
    (void)block;
    return r->rank == r->root && (r->in_place || !(r->coll->flags & PERF_SEND_BLOCKS)) ? PERF_NOTHING : r->root;
}

static int source_block(const struct perf_run *r, int block)
{
    return r->coll->flags & PERF_ROOT && r->rank != r->root ? PERF_NOTHING : block;
}

static int source_previous(const struct perf_run *r, int block)
{
    (void)block;
    return (r->rank + r->size - 1) % r->size;
}

static int source_pair(const struct perf_run *r, int block)
{
    (void)block;
    return r->rank > 1 ? PERF_NOTHING : r->size == 1 ? 0 : 1 - r->rank;
}

static int source_sender(const struct perf_run *r, int block)
{
    (void)block;
    return r->size == 1 || r->rank == 1 ? 0 : PERF_NOTHING;
}

static double bus_one(double n)
{
    (void)n;
    return 1;
}

static double bus_others(double n)
{
    return (n - 1) / n;
}

static double bus_twice(double n)
{
    return 2 * (n - 1) / n;
}

const struct perf_coll perf_colls[] = {
    {"barrier", PERF_NO_BYTES, 1, bus_one, barrier_call, source_none},
    {"bcast", PERF_ROOT, 1, bus_one, bcast_call, source_root},
    {"reduce", PERF_ROOT | PERF_OP | PERF_IN_PLACE, 1, bus_one, reduce_call, source_result},
    {"allreduce", PERF_OP | PERF_IN_PLACE, 1, bus_twice, allreduce_call, source_result},
    {"gather", PERF_ROOT | PERF_IN_PLACE | PERF_RECV_BLOCKS, 1, bus_others, gather_call, source_block},
    {"scatter", PERF_ROOT | PERF_IN_PLACE | PERF_SEND_BLOCKS, 1, bus_others, scatter_call, source_root},
    {"allgather", PERF_IN_PLACE | PERF_RECV_BLOCKS, 1, bus_others, allgather_call, source_block},
    {"alltoall", PERF_IN_PLACE | PERF_SEND_BLOCKS | PERF_RECV_BLOCKS, 1, bus_others, alltoall_call, source_block},
    {"reduce_scatter_block", PERF_OP | PERF_IN_PLACE | PERF_SEND_BLOCKS, 1, bus_others, reduce_scatter_block_call, source_result},
    {"sendrecv", 0, 1, bus_one, sendrecv_call, source_previous},
    {"pingpong", 0, 2, bus_one, pingpong_call, source_pair},
    {"bandwidth", 0, WINDOW, bus_one, bandwidth_call, source_sender},
};
const int perf_coll_nr = sizeof perf_colls / sizeof *perf_colls;

size_t perf_send_elements(const struct perf_run *r)
{
    return r->coll->flags & PERF_SEND_BLOCKS ? r->count * (size_t)r->size : r->count;
}

size_t perf_recv_elements(const struct perf_run *r)
{
    return r->coll->flags & PERF_RECV_BLOCKS ? r->count * (size_t)r->size : r->count;
}

size_t perf_bytes(const struct perf_run *r)
{
    size_t send = perf_send_elements(r), recv = perf_recv_elements(r);

    return r->coll->flags & PERF_NO_BYTES ? 0 : (send > recv ? send : recv) * r->type_bytes;
}

int perf_in_place(const struct perf_run *r)
{
    unsigned flags = r->coll->flags;
    int root_only = flags & PERF_ROOT && (flags & PERF_OP || flags & PERF_RECV_BLOCKS);

    if (!r->in_place || (flags & PERF_ROOT && !root_only)) /* scatter's root keeps its input in the send buffer */
        return 0;
    return !root_only || r->rank == r->root;
}
