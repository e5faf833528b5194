/* SPDX-License-Identifier: BSD-3-Clause
 * Collectives: checks and the step from the caller's arguments to a plan's key and its two buffers. Each collective has one function that does so; the
 * blocking and the nonblocking call differ in how they run what comes out of it. */
#include <stdlib.h>
#include <string.h>

#include "lib/api/ctx.h"
#include "lib/api/op.h"
#include "lib/api/request.h"
#include "lib/api/result.h"
#include "lib/device/dtype.h"
#include "lib/device/reduce.h"

struct call {
    const char *name;
    struct vcci_comm *comm;
    struct vcci_plan_key key;
    const void *in;
    void *out;
    void *temp; /* a premultiplied input, owned */
};

/* ---- checks ---- */

static int open_call(struct call *c, const char *name, enum vcci_coll coll, vccl_comm_t handle)
{
    struct vcci_ctx *ctx = vcci_ctx_running(name);
    if (__builtin_expect(!ctx, 0))
        return -VCCL_ERR_STATE;
    c->comm = vcci_comm_find(ctx, handle, name);
    if (__builtin_expect(!c->comm, 0))
        return -VCCL_ERR_ARG;
    c->name = name;
    c->key = (struct vcci_plan_key){.coll = (uint8_t)coll};
    c->in = NULL;
    c->out = NULL;
    c->temp = NULL;
    return 0;
}

static int check_root(struct call *c, int root)
{
    c->key.root = root;
    if (__builtin_expect(root >= 0 && root < c->comm->size, 1))
        return 0;
    return vcci_fail(VCCL_ERR_ARG, "%s: root %d; the communicator has ranks 0 to %d", c->name, root, c->comm->size - 1);
}

/* Bytes of `count` elements; `blocks` such must fit in memory. */
static int check_count(const struct call *c, size_t count, vccl_datatype_t type, size_t blocks, size_t *bytes_out)
{
    size_t all;
    if (__builtin_expect(!vcci_dtype_valid(type), 0))
        return vcci_fail(VCCL_ERR_ARG, "%s: %d is not a datatype", c->name, (int)type);
    if (__builtin_expect(__builtin_mul_overflow(count, (size_t)vcci_dtype_bytes[type], bytes_out) ||
                             __builtin_mul_overflow(*bytes_out, blocks, &all) || all > PTRDIFF_MAX,
                         0))
        return vcci_fail(VCCL_ERR_ARG, "%s: %zu elements of %s for %zu ranks do not fit in memory", c->name, count, vcci_dtype_name(type),
                         blocks);
    return 0;
}

static int check_buffer(const struct call *c, const char *what, const void *buf, size_t bytes)
{
    if (__builtin_expect(buf != NULL || bytes == 0, 1))
        return 0;
    return vcci_fail(VCCL_ERR_ARG, "%s: %s is NULL, %zu bytes are needed", c->name, what, bytes);
}

static int not_in_place(const struct call *c, const char *what, const void *buf)
{
    if (__builtin_expect(buf != VCCL_IN_PLACE, 1))
        return 0;
    return vcci_fail(VCCL_ERR_ARG, "%s: VCCL_IN_PLACE is not allowed as %s here", c->name, what);
}

static int check_overlap(const struct call *c, const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const char *x = a, *y = b;
    if (__builtin_expect(!a_bytes || !b_bytes || x + a_bytes <= y || y + b_bytes <= x, 1))
        return 0;
    return vcci_fail(VCCL_ERR_ARG, "%s: the send buffer (%zu bytes at %p) and the receive buffer (%zu bytes at %p) overlap; use VCCL_IN_PLACE",
                     c->name, a_bytes, a, b_bytes, b);
}

/* Both buffers of a rank that uses both, neither in place. */
static int check_pair(struct call *c, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
    int err = check_buffer(c, "sendbuf", in, in_bytes);
    if (!err)
        err = not_in_place(c, "recvbuf", out);
    if (!err)
        err = check_buffer(c, "recvbuf", out, out_bytes);
    if (!err)
        err = check_overlap(c, in, in_bytes, out, out_bytes);
    c->in = in;
    c->out = out;
    return err;
}

/* ---- ops ---- */

/* The input of a premultiplied sum, scaled: in place where the caller gave it up, else in a buffer of our own. */
static int premultiply(struct call *c, const struct vcci_premul *p, size_t elements)
{
    vccl_datatype_t type = (vccl_datatype_t)c->key.type;
    if (c->in == NULL || elements == 0)
        return 0;
    if (!c->key.in_place) {
        c->temp = malloc(elements * vcci_dtype_bytes[type]);
        if (!c->temp)
            return vcci_fail(VCCL_ERR_NO_MEMORY, "%s: out of memory for %zu scaled elements", c->name, elements);
    }
    void *to = c->key.in_place ? (void *)(uintptr_t)c->in : c->temp;
    vcci_reduce_scale(to, c->in, elements, type, p->scalar);
    c->in = to;
    return 0;
}

/* Puts type and op into the key; scales the input of a premultiplied sum. */
static int apply_op(struct call *c, vccl_op_t op, vccl_datatype_t type, size_t count, size_t blocks)
{
    struct vcci_premul p;
    c->key.count = count;
    c->key.type = (uint8_t)type;
    c->key.op = (uint8_t)op;
    if (__builtin_expect(vcci_op_fits(op, type), 1))
        return 0;
    if (op > 0 && op < VCCL_OP_NR)
        return vcci_fail(VCCL_ERR_ARG, "%s: op %s is not defined for %s", c->name, vcci_op_name(op), vcci_dtype_name(type));
    int err = vcci_premul_find(op, type, &p);
    if (err)
        return vcci_fail(VCCL_ERR_ARG, err > 0 ? "%s: the op was made for another datatype than %s" : "%s: no such op (datatype %s)", c->name,
                         vcci_dtype_name(type));
    c->key.op = VCCL_SUM;
    return premultiply(c, &p, count * blocks);
}

/* ---- running ---- */

static vccl_result_t run(struct call *c)
{
    int err = vcci_coll_call(&c->comm->coll, &c->key, c->in, c->out, vcci_deadline(c->comm->ctx));
    if (__builtin_expect(c->temp != NULL, 0))
        free(c->temp);
    return vcci_result(err);
}

static void request_done(struct vcci_coll_op *op, int status)
{
    vcci_request_complete(VCCI_CONTAINER(op, struct vcci_request, op), status);
}

static vccl_result_t start(struct call *c, int err, vccl_request_t *req_out)
{
    struct vcci_request *req = NULL;
    if (!err && !req_out)
        err = vcci_fail(VCCL_ERR_ARG, "%s: req_out is NULL", c->name);
    if (!err && !(req = vcci_request_create(c->comm, VCCI_REQ_COLL)))
        err = -VCCL_ERR_NO_MEMORY;
    if (err) {
        free(c->temp);
        return vcci_result(err);
    }
    req->temp = c->temp;
    req->op.done = request_done;
    int rc = vcci_coll_start(&c->comm->coll, &req->op, &c->key, c->in, c->out);
    if (rc > 0) {
        *req_out = (vccl_request_t)(uintptr_t)req->handle;
        return VCCL_SUCCESS;
    }
    vcci_request_destroy(req);
    if (rc == 0)
        *req_out = VCCI_REQUEST_DONE;
    return vcci_result(rc);
}

/* ---- one function per collective ---- */

static int prepare_bcast(struct call *c, const char *name, void *buf, size_t count, vccl_datatype_t type, int root, vccl_comm_t comm)
{
    size_t bytes;
    int err = open_call(c, name, VCCI_COLL_BCAST, comm);
    if (err || (err = check_root(c, root)) || (err = check_count(c, count, type, 1, &bytes)) || (err = not_in_place(c, "buf", buf)) ||
        (err = check_buffer(c, "buf", buf, bytes)))
        return err;
    c->key.count = bytes;
    c->key.type = VCCL_BYTE;
    c->out = buf;
    return 0;
}

static int prepare_reduce(struct call *c, const char *name, const void *in, void *out, size_t count, vccl_datatype_t type, vccl_op_t op,
                          int root, vccl_comm_t comm)
{
    size_t bytes;
    int err = open_call(c, name, VCCI_COLL_REDUCE, comm);
    if (err || (err = check_root(c, root)) || (err = check_count(c, count, type, 1, &bytes)))
        return err;
    int is_root = c->comm->rank == root;
    if (in == VCCL_IN_PLACE) {
        if (!is_root)
            return not_in_place(c, "sendbuf", in);
        if ((err = not_in_place(c, "recvbuf", out)) || (err = check_buffer(c, "recvbuf", out, bytes)))
            return err;
        c->key.in_place = 1;
        c->in = c->out = out;
    } else if (is_root) {
        err = check_pair(c, in, bytes, out, bytes);
    } else {
        err = check_buffer(c, "sendbuf", in, bytes);
        c->in = in;
    }
    return err ? err : apply_op(c, op, type, count, 1);
}

static int prepare_allreduce(struct call *c, const char *name, const void *in, void *out, size_t count, vccl_datatype_t type, vccl_op_t op,
                             vccl_comm_t comm)
{
    size_t bytes;
    int err = open_call(c, name, VCCI_COLL_ALLREDUCE, comm);
    if (err || (err = check_count(c, count, type, 1, &bytes)))
        return err;
    if (in == VCCL_IN_PLACE) {
        if ((err = not_in_place(c, "recvbuf", out)) || (err = check_buffer(c, "recvbuf", out, bytes)))
            return err;
        c->key.in_place = 1;
        c->in = c->out = out;
    } else if ((err = check_pair(c, in, bytes, out, bytes))) {
        return err;
    }
    return apply_op(c, op, type, count, 1);
}

static int prepare_reduce_scatter(struct call *c, const char *name, const void *in, void *out, size_t count, vccl_datatype_t type,
                                  vccl_op_t op, vccl_comm_t comm)
{
    size_t bytes;
    int err = open_call(c, name, VCCI_COLL_REDUCE_SCATTER_BLOCK, comm);
    size_t n = err ? 0 : (size_t)c->comm->size;
    if (err || (err = check_count(c, count, type, n, &bytes)))
        return err;
    if (in == VCCL_IN_PLACE) {
        if ((err = not_in_place(c, "recvbuf", out)) || (err = check_buffer(c, "recvbuf", out, bytes)))
            return err;
        c->key.in_place = 1;
        c->in = c->out = out;
    } else if ((err = check_pair(c, in, bytes * n, out, bytes))) {
        return err;
    }
    return apply_op(c, op, type, count, n);
}

/* What one rank sends must be as long as what the other receives. */
static int check_equal(const struct call *c, size_t sends, size_t receives)
{
    if (__builtin_expect(sends == receives, 1))
        return 0;
    return vcci_fail(VCCL_ERR_ARG, "%s: a rank sends %zu bytes but %zu are to be received from it", c->name, sends, receives);
}

static void blocks(struct call *c, size_t bytes)
{
    c->key.count = bytes;
    c->key.type = VCCL_BYTE;
}

struct side {
    const void *buf;
    size_t count;
    vccl_datatype_t type;
};

static int prepare_gather(struct call *c, const char *name, struct side s, struct side r, int root, vccl_comm_t comm)
{
    size_t sends = 0, receives = 0, n;
    int err = open_call(c, name, VCCI_COLL_GATHER, comm);
    if (err || (err = check_root(c, root)))
        return err;
    n = (size_t)c->comm->size;
    int is_root = c->comm->rank == root, in_place = s.buf == VCCL_IN_PLACE;
    if (in_place && !is_root)
        return not_in_place(c, "sendbuf", s.buf);
    if ((!in_place && (err = check_count(c, s.count, s.type, n, &sends))) ||
        (is_root && (err = check_count(c, r.count, r.type, n, &receives))))
        return err;
    blocks(c, in_place ? receives : sends);
    if (!is_root) {
        c->in = s.buf;
        return check_buffer(c, "sendbuf", s.buf, sends);
    }
    if (!in_place)
        return (err = check_equal(c, sends, receives)) ? err : check_pair(c, s.buf, sends, (void *)(uintptr_t)r.buf, receives * n);
    c->key.in_place = 1;
    c->out = (void *)(uintptr_t)r.buf;
    c->in = (char *)c->out + receives * (size_t)root;
    return (err = not_in_place(c, "recvbuf", r.buf)) ? err : check_buffer(c, "recvbuf", r.buf, receives * n);
}

static int prepare_scatter(struct call *c, const char *name, struct side s, struct side r, int root, vccl_comm_t comm)
{
    size_t sends = 0, receives = 0, n;
    int err = open_call(c, name, VCCI_COLL_SCATTER, comm);
    if (err || (err = check_root(c, root)))
        return err;
    n = (size_t)c->comm->size;
    int is_root = c->comm->rank == root, in_place = r.buf == VCCL_IN_PLACE;
    if (in_place && !is_root)
        return not_in_place(c, "recvbuf", r.buf);
    if ((!in_place && (err = check_count(c, r.count, r.type, n, &receives))) ||
        (is_root && (err = check_count(c, s.count, s.type, n, &sends))))
        return err;
    blocks(c, in_place ? sends : receives);
    if (!is_root) {
        c->out = (void *)(uintptr_t)r.buf;
        return check_buffer(c, "recvbuf", r.buf, receives);
    }
    if ((err = not_in_place(c, "sendbuf", s.buf)))
        return err;
    if (!in_place)
        return (err = check_equal(c, sends, receives)) ? err : check_pair(c, s.buf, sends * n, (void *)(uintptr_t)r.buf, receives);
    c->key.in_place = 1;
    c->in = s.buf;
    c->out = (char *)(uintptr_t)s.buf + sends * (size_t)root;
    return check_buffer(c, "sendbuf", s.buf, sends * n);
}

/* allgather and alltoall: everybody sends and receives. */
static int prepare_all(struct call *c, const char *name, enum vcci_coll coll, struct side s, struct side r, vccl_comm_t comm)
{
    size_t sends = 0, receives = 0, n;
    int err = open_call(c, name, coll, comm);
    if (err)
        return err;
    n = (size_t)c->comm->size;
    if ((err = check_count(c, r.count, r.type, n, &receives)))
        return err;
    blocks(c, receives);
    if (s.buf == VCCL_IN_PLACE) {
        if ((err = not_in_place(c, "recvbuf", r.buf)) || (err = check_buffer(c, "recvbuf", r.buf, receives * n)))
            return err;
        c->key.in_place = 1;
        c->out = (void *)(uintptr_t)r.buf;
        c->in = (char *)c->out + (coll == VCCI_COLL_ALLGATHER ? receives * (size_t)c->comm->rank : 0);
        return 0;
    }
    if ((err = check_count(c, s.count, s.type, n, &sends)) || (err = check_equal(c, sends, receives)))
        return err;
    return check_pair(c, s.buf, coll == VCCI_COLL_ALLTOALL ? sends * n : sends, (void *)(uintptr_t)r.buf, receives * n);
}

/* ---- the calls ---- */

#define SEND_SIDE ((struct side){sendbuf, sendcount, sendtype})
#define RECV_SIDE ((struct side){recvbuf, recvcount, recvtype})

API vccl_result_t vccl_barrier(vccl_comm_t comm)
{
    struct call c;
    int err = open_call(&c, "vccl_barrier", VCCI_COLL_BARRIER, comm);
    return err ? vcci_result(err) : run(&c);
}

API vccl_result_t vccl_ibarrier(vccl_comm_t comm, vccl_request_t *req_out)
{
    struct call c = {0};
    return start(&c, open_call(&c, "vccl_ibarrier", VCCI_COLL_BARRIER, comm), req_out);
}

API vccl_result_t vccl_bcast(void *buf, size_t count, vccl_datatype_t datatype, int root, vccl_comm_t comm)
{
    struct call c;
    int err = prepare_bcast(&c, "vccl_bcast", buf, count, datatype, root, comm);
    return err ? vcci_result(err) : run(&c);
}

API vccl_result_t vccl_ibcast(void *buf, size_t count, vccl_datatype_t datatype, int root, vccl_comm_t comm, vccl_request_t *req_out)
{
    struct call c = {0};
    return start(&c, prepare_bcast(&c, "vccl_ibcast", buf, count, datatype, root, comm), req_out);
}

API vccl_result_t vccl_reduce(const void *sendbuf, void *recvbuf, size_t count, vccl_datatype_t datatype, vccl_op_t op, int root,
                              vccl_comm_t comm)
{
    struct call c;
    int err = prepare_reduce(&c, "vccl_reduce", sendbuf, recvbuf, count, datatype, op, root, comm);
    return err ? vcci_result(err) : run(&c);
}

API vccl_result_t vccl_ireduce(const void *sendbuf, void *recvbuf, size_t count, vccl_datatype_t datatype, vccl_op_t op, int root,
                               vccl_comm_t comm, vccl_request_t *req_out)
{
    struct call c = {0};
    return start(&c, prepare_reduce(&c, "vccl_ireduce", sendbuf, recvbuf, count, datatype, op, root, comm), req_out);
}

API vccl_result_t vccl_allreduce(const void *sendbuf, void *recvbuf, size_t count, vccl_datatype_t datatype, vccl_op_t op,
                                 vccl_comm_t comm)
{
    struct call c;
    int err = prepare_allreduce(&c, "vccl_allreduce", sendbuf, recvbuf, count, datatype, op, comm);
    return err ? vcci_result(err) : run(&c);
}

API vccl_result_t vccl_iallreduce(const void *sendbuf, void *recvbuf, size_t count, vccl_datatype_t datatype, vccl_op_t op,
                                  vccl_comm_t comm, vccl_request_t *req_out)
{
    struct call c = {0};
    return start(&c, prepare_allreduce(&c, "vccl_iallreduce", sendbuf, recvbuf, count, datatype, op, comm), req_out);
}

API vccl_result_t vccl_reduce_scatter_block(const void *sendbuf, void *recvbuf, size_t recvcount, vccl_datatype_t datatype,
                                            vccl_op_t op, vccl_comm_t comm)
{
    struct call c;
    int err = prepare_reduce_scatter(&c, "vccl_reduce_scatter_block", sendbuf, recvbuf, recvcount, datatype, op, comm);
    return err ? vcci_result(err) : run(&c);
}

API vccl_result_t vccl_ireduce_scatter_block(const void *sendbuf, void *recvbuf, size_t recvcount, vccl_datatype_t datatype,
                                             vccl_op_t op, vccl_comm_t comm, vccl_request_t *req_out)
{
    struct call c = {0};
    return start(&c, prepare_reduce_scatter(&c, "vccl_ireduce_scatter_block", sendbuf, recvbuf, recvcount, datatype, op, comm), req_out);
}

API vccl_result_t vccl_gather(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                              vccl_datatype_t recvtype, int root, vccl_comm_t comm)
{
    struct call c;
    int err = prepare_gather(&c, "vccl_gather", SEND_SIDE, RECV_SIDE, root, comm);
    return err ? vcci_result(err) : run(&c);
}

API vccl_result_t vccl_igather(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                               vccl_datatype_t recvtype, int root, vccl_comm_t comm, vccl_request_t *req_out)
{
    struct call c = {0};
    return start(&c, prepare_gather(&c, "vccl_igather", SEND_SIDE, RECV_SIDE, root, comm), req_out);
}

API vccl_result_t vccl_scatter(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                               vccl_datatype_t recvtype, int root, vccl_comm_t comm)
{
    struct call c;
    int err = prepare_scatter(&c, "vccl_scatter", SEND_SIDE, RECV_SIDE, root, comm);
    return err ? vcci_result(err) : run(&c);
}

API vccl_result_t vccl_iscatter(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                                vccl_datatype_t recvtype, int root, vccl_comm_t comm, vccl_request_t *req_out)
{
    struct call c = {0};
    return start(&c, prepare_scatter(&c, "vccl_iscatter", SEND_SIDE, RECV_SIDE, root, comm), req_out);
}

API vccl_result_t vccl_allgather(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                                 vccl_datatype_t recvtype, vccl_comm_t comm)
{
    struct call c;
    int err = prepare_all(&c, "vccl_allgather", VCCI_COLL_ALLGATHER, SEND_SIDE, RECV_SIDE, comm);
    return err ? vcci_result(err) : run(&c);
}

API vccl_result_t vccl_iallgather(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                                  vccl_datatype_t recvtype, vccl_comm_t comm, vccl_request_t *req_out)
{
    struct call c = {0};
    return start(&c, prepare_all(&c, "vccl_iallgather", VCCI_COLL_ALLGATHER, SEND_SIDE, RECV_SIDE, comm), req_out);
}

API vccl_result_t vccl_alltoall(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                                vccl_datatype_t recvtype, vccl_comm_t comm)
{
    struct call c;
    int err = prepare_all(&c, "vccl_alltoall", VCCI_COLL_ALLTOALL, SEND_SIDE, RECV_SIDE, comm);
    return err ? vcci_result(err) : run(&c);
}

API vccl_result_t vccl_ialltoall(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, void *recvbuf, size_t recvcount,
                                 vccl_datatype_t recvtype, vccl_comm_t comm, vccl_request_t *req_out)
{
    struct call c = {0};
    return start(&c, prepare_all(&c, "vccl_ialltoall", VCCI_COLL_ALLTOALL, SEND_SIDE, RECV_SIDE, comm), req_out);
}
