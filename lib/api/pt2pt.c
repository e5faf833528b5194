/* SPDX-License-Identifier: BSD-3-Clause
 * Point to point. */
#include <string.h>

#include "lib/api/ctx.h"
#include "lib/api/request.h"
#include "lib/api/result.h"
#include "lib/device/dtype.h"

void vcci_fill_status(const struct vcci_xfer *xfer, int err, vccl_status_t *status)
{
    status->source = xfer->got_peer;
    status->tag = (int)xfer->got_tag;
    status->error = (vccl_result_t)-err;
    status->bytes = xfer->got_bytes < xfer->bytes ? xfer->got_bytes : xfer->bytes;
}

/* ---- arguments ---- */

static int check_data(const char *call, const void *buf, size_t count, vccl_datatype_t type, size_t *bytes_out)
{
    if (!vcci_dtype_valid(type))
        return vcci_fail(VCCL_ERR_ARG, "%s: %d is not a datatype", call, (int)type);
    if (__builtin_mul_overflow(count, (size_t)vcci_dtype_bytes[type], bytes_out) || *bytes_out > PTRDIFF_MAX)
        return vcci_fail(VCCL_ERR_ARG, "%s: %zu elements of %s do not fit in memory", call, count, vcci_dtype_name(type));
    if (!buf && *bytes_out)
        return vcci_fail(VCCL_ERR_ARG, "%s: the buffer is NULL and count is %zu", call, count);
    return 0;
}

/* peer: a rank, VCCL_PROC_NULL, or for receives VCCL_ANY_SOURCE. */
static int check_peer(const struct vcci_comm *comm, const char *call, int peer, int tag, int receives)
{
    if ((peer < 0 && peer != VCCL_PROC_NULL && !(receives && peer == VCCL_ANY_SOURCE)) || peer >= comm->size)
        return vcci_fail(VCCL_ERR_ARG, "%s: rank %d; the communicator has ranks 0 to %d", call, peer, comm->size - 1);
    if (tag < 0 && !(receives && tag == VCCL_ANY_TAG))
        return vcci_fail(VCCL_ERR_ARG, "%s: tag %d; tags are 0 to %d", call, tag, VCCL_TAG_MAX);
    return 0;
}

/* One side of a message after all checks. */
struct side {
    struct vcci_comm *comm;
    void *buf;
    size_t bytes;
    int peer, tag;
};

static int check(const char *call, const void *buf, size_t count, vccl_datatype_t type, int peer, int tag, int receives,
                 vccl_comm_t handle, struct side *out)
{
    struct vcci_ctx *ctx = vcci_ctx_running(call);
    if (!ctx)
        return -VCCL_ERR_STATE;
    out->comm = vcci_comm_find(ctx, handle, call);
    if (!out->comm)
        return -VCCL_ERR_ARG;
    out->buf = (void *)(uintptr_t)buf;
    out->peer = peer;
    out->tag = tag;
    int err = check_data(call, buf, count, type, &out->bytes);
    return err ? err : check_peer(out->comm, call, peer, tag, receives);
}

static void fill(struct vcci_xfer *x, const struct side *s, void (*done)(struct vcci_xfer *, int))
{
    memset(x, 0, sizeof *x);
    x->done = done;
    x->buf = s->buf;
    x->bytes = s->bytes;
    x->peer = s->peer;
    x->tag = (uint32_t)s->tag;
}

static void null_status(vccl_status_t *status)
{
    if (status)
        *status = (vccl_status_t){.source = VCCL_PROC_NULL, .tag = VCCL_ANY_TAG, .error = VCCL_SUCCESS, .bytes = 0};
}

/* ---- blocking ---- */

struct blocking {
    struct vcci_xfer xfer;
    _Atomic int over;
    int status;
    char text[256]; /* a failure's sentence, from the thread that found it */
};

static void blocking_done(struct vcci_xfer *xfer, int status)
{
    struct blocking *b = VCCI_CONTAINER(xfer, struct blocking, xfer);
    b->status = status;
    if (status)
        strncpy(b->text, vcci_err_text(), sizeof b->text - 1);
    atomic_store_explicit(&b->over, 1, memory_order_release);
}

static int blocking_ready(void *arg)
{
    return atomic_load_explicit(&((struct blocking *)arg)->over, memory_order_acquire);
}

typedef int post_fn(struct vcci_port *, struct vcci_xfer *);

/* Posts; 0 or < 0: over, 1: b->over will be set. */
static int begin(struct blocking *b, const struct side *s, post_fn *post)
{
    struct vcci_engine *engine = s->comm->ctx->engine;
    fill(&b->xfer, s, blocking_done);
    b->xfer.waited = 1;
    atomic_init(&b->over, 0);
    b->text[0] = 0;
    vcci_engine_lock(engine);
    int rc = post(s->comm->port, &b->xfer);
    vcci_engine_unlock(engine);
    if (rc <= 0) {
        b->status = rc;
        atomic_store_explicit(&b->over, 1, memory_order_relaxed);
    }
    return rc;
}

/* Out of time: the receive is called off; a send, or a receive that has matched, cannot be, so the communicator's messages are revoked. */
static int give_up(struct blocking *b, const struct side *s, const char *call)
{
    struct vcci_ctx *ctx = s->comm->ctx;
    struct vcci_waiter w = {.ready = blocking_ready, .arg = b};
    int err = vcci_fail(VCCL_ERR_TIMEOUT, "%s: rank %d, tag %d, %zu bytes: the peer did not come within %g s", call, s->peer, s->tag,
                        s->bytes, ctx->timeout);
    vcci_engine_lock(ctx->engine);
    int off = blocking_ready(b) || vcci_p2p_cancel(&b->xfer);
    if (!off)
        vcci_port_revoke(s->comm->port, err);
    vcci_engine_unlock(ctx->engine);
    if (!off)
        vcci_engine_wait(ctx->engine, &w, 0); /* until nothing can touch the buffer any more */
    return err;
}

static int finish(struct blocking *b, const struct side *s, const char *call)
{
    struct vcci_ctx *ctx = s->comm->ctx;
    struct vcci_waiter w = {.ready = blocking_ready, .arg = b};
    if (!blocking_ready(b) && vcci_engine_wait(ctx->engine, &w, vcci_deadline(ctx)))
        return give_up(b, s, call);
    if (b->text[0])
        vcci_err_set_text(b->text);
    else if (b->status && !vcci_err_text()[0])
        vcci_fail((vccl_result_t)-b->status, "%s: rank %d, tag %d, %zu bytes: %s", call, s->peer, s->tag, s->bytes,
                  vccl_strerror((vccl_result_t)-b->status));
    return b->status;
}

API vccl_result_t vccl_send(const void *buf, size_t count, vccl_datatype_t datatype, int dest, int tag, vccl_comm_t comm)
{
    struct side s;
    struct blocking b;
    int err = check("vccl_send", buf, count, datatype, dest, tag, 0, comm, &s);
    if (err || dest == VCCL_PROC_NULL)
        return vcci_result(err);
    begin(&b, &s, vcci_p2p_send);
    return vcci_result(finish(&b, &s, "vccl_send"));
}

API vccl_result_t vccl_recv(void *buf, size_t count, vccl_datatype_t datatype, int source, int tag, vccl_comm_t comm,
                            vccl_status_t *status)
{
    struct side s;
    struct blocking b;
    int err = check("vccl_recv", buf, count, datatype, source, tag, 1, comm, &s);
    if (err)
        return vcci_result(err);
    if (source == VCCL_PROC_NULL) {
        null_status(status);
        return VCCL_SUCCESS;
    }
    begin(&b, &s, vcci_p2p_recv);
    err = finish(&b, &s, "vccl_recv");
    if (status && (!err || err == -VCCL_ERR_TRUNCATE))
        vcci_fill_status(&b.xfer, err, status);
    return vcci_result(err);
}

API vccl_result_t vccl_sendrecv(const void *sendbuf, size_t sendcount, vccl_datatype_t sendtype, int dest, int sendtag, void *recvbuf,
                                size_t recvcount, vccl_datatype_t recvtype, int source, int recvtag, vccl_comm_t comm,
                                vccl_status_t *status)
{
    struct side out, in;
    struct blocking sends, receives;
    int err = check("vccl_sendrecv", sendbuf, sendcount, sendtype, dest, sendtag, 0, comm, &out);
    if (!err)
        err = check("vccl_sendrecv", recvbuf, recvcount, recvtype, source, recvtag, 1, comm, &in);
    if (!err && out.bytes && in.bytes && (char *)out.buf < (char *)in.buf + in.bytes && (char *)in.buf < (char *)out.buf + out.bytes)
        err = vcci_fail(VCCL_ERR_ARG, "vccl_sendrecv: the send and the receive buffer overlap");
    if (err)
        return vcci_result(err);
    if (source == VCCL_PROC_NULL)
        null_status(status);
    else
        begin(&receives, &in, vcci_p2p_recv);
    if (dest != VCCL_PROC_NULL) {
        begin(&sends, &out, vcci_p2p_send);
        err = finish(&sends, &out, "vccl_sendrecv");
    }
    if (source != VCCL_PROC_NULL) {
        int got = finish(&receives, &in, "vccl_sendrecv");
        if (status && (!got || got == -VCCL_ERR_TRUNCATE))
            vcci_fill_status(&receives.xfer, got, status);
        err = err ? err : got;
    }
    return vcci_result(err);
}

/* ---- nonblocking ---- */

static void request_done(struct vcci_xfer *xfer, int status)
{
    vcci_request_complete(VCCI_CONTAINER(xfer, struct vcci_request, xfer), status);
}

static int start(const struct side *s, int kind, post_fn *post, vccl_request_t *req_out)
{
    struct vcci_engine *engine = s->comm->ctx->engine;
    struct vcci_request *req = vcci_request_create(s->comm, kind);
    if (!req)
        return -VCCL_ERR_NO_MEMORY;
    fill(&req->xfer, s, request_done);
    vcci_engine_lock(engine);
    int rc = post(s->comm->port, &req->xfer);
    vcci_engine_unlock(engine);
    if (rc <= 0)
        vcci_request_complete(req, rc);
    if (rc == 0 && kind == VCCI_REQ_SEND) {
        vcci_request_destroy(req);
        *req_out = VCCI_REQUEST_DONE;
        return 0;
    }
    if (rc < 0 && rc != -VCCL_ERR_TRUNCATE) { /* nothing was begun: the call itself fails */
        vcci_request_destroy(req);
        return rc;
    }
    *req_out = (vccl_request_t)(uintptr_t)req->handle;
    return 0;
}

API vccl_result_t vccl_isend(const void *buf, size_t count, vccl_datatype_t datatype, int dest, int tag, vccl_comm_t comm,
                             vccl_request_t *req_out)
{
    struct side s;
    int err = check("vccl_isend", buf, count, datatype, dest, tag, 0, comm, &s);
    if (!err && !req_out)
        err = vcci_fail(VCCL_ERR_ARG, "vccl_isend: req_out is NULL");
    if (!err && dest == VCCL_PROC_NULL)
        *req_out = VCCI_REQUEST_DONE;
    else if (!err)
        err = start(&s, VCCI_REQ_SEND, vcci_p2p_send, req_out);
    return vcci_result(err);
}

API vccl_result_t vccl_irecv(void *buf, size_t count, vccl_datatype_t datatype, int source, int tag, vccl_comm_t comm,
                             vccl_request_t *req_out)
{
    struct side s;
    int err = check("vccl_irecv", buf, count, datatype, source, tag, 1, comm, &s);
    if (!err && !req_out)
        err = vcci_fail(VCCL_ERR_ARG, "vccl_irecv: req_out is NULL");
    if (err)
        return vcci_result(err);
    if (source != VCCL_PROC_NULL)
        return vcci_result(start(&s, VCCI_REQ_RECV, vcci_p2p_recv, req_out));
    struct vcci_request *req = vcci_request_create(s.comm, VCCI_REQ_RECV);
    if (!req)
        return VCCL_ERR_NO_MEMORY;
    req->xfer.got_peer = VCCL_PROC_NULL;
    req->xfer.got_tag = (uint32_t)VCCL_ANY_TAG;
    vcci_request_complete(req, 0);
    *req_out = (vccl_request_t)(uintptr_t)req->handle;
    return VCCL_SUCCESS;
}

/* ---- probe ---- */

struct probe {
    struct vcci_port *port;
    struct vcci_engine *engine;
    struct vcci_xfer xfer;
    int found;
};

static int probe_ready(void *arg)
{
    struct probe *p = arg;
    vcci_engine_lock(p->engine);
    p->found = vcci_p2p_probe(p->port, &p->xfer);
    if (!p->found) {
        vcci_engine_poll(p->engine, 64);
        p->found = vcci_p2p_probe(p->port, &p->xfer);
    }
    vcci_engine_unlock(p->engine);
    return p->found;
}

static void hold(struct vcci_engine *engine, void (*fn)(struct vcci_engine *))
{
    vcci_engine_lock(engine);
    fn(engine);
    vcci_engine_unlock(engine);
}

static int probe(const char *call, int source, int tag, vccl_comm_t comm, int wait, int *flag_out, vccl_status_t *status)
{
    struct side s;
    int err = check(call, NULL, 0, VCCL_BYTE, source, tag, 1, comm, &s);
    if (err)
        return err;
    *flag_out = 1;
    if (source == VCCL_PROC_NULL) {
        null_status(status);
        return 0;
    }
    struct vcci_ctx *ctx = s.comm->ctx;
    struct probe p = {.port = s.comm->port, .engine = ctx->engine};
    fill(&p.xfer, &s, NULL);
    if (!probe_ready(&p) && wait) {
        struct vcci_waiter w = {.ready = probe_ready, .arg = &p};
        hold(ctx->engine, vcci_engine_hold); /* nothing is posted, yet peers must ring us */
        err = vcci_engine_wait(ctx->engine, &w, vcci_deadline(ctx));
        hold(ctx->engine, vcci_engine_release);
        if (err)
            return vcci_fail(VCCL_ERR_TIMEOUT, "%s: no message from rank %d with tag %d within %g s", call, source, tag, ctx->timeout);
    }
    *flag_out = p.found;
    if (p.found && status) {
        p.xfer.bytes = p.xfer.got_bytes;
        vcci_fill_status(&p.xfer, 0, status);
    }
    return 0;
}

API vccl_result_t vccl_probe(int source, int tag, vccl_comm_t comm, vccl_status_t *status)
{
    int flag;
    return vcci_result(probe("vccl_probe", source, tag, comm, 1, &flag, status));
}

API vccl_result_t vccl_iprobe(int source, int tag, vccl_comm_t comm, int *flag_out, vccl_status_t *status)
{
    if (!flag_out && vcci_ctx_running("vccl_iprobe"))
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_iprobe: flag_out is NULL"));
    int flag = 0, err = probe("vccl_iprobe", source, tag, comm, 0, &flag, status);
    if (!err)
        *flag_out = flag;
    return vcci_result(err);
}

API vccl_result_t vccl_get_count(const vccl_status_t *status, vccl_datatype_t datatype, size_t *count_out)
{
    if (!status || !count_out)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_get_count: %s is NULL", status ? "count_out" : "status"));
    if (!vcci_dtype_valid(datatype))
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_get_count: %d is not a datatype", (int)datatype));
    if (status->bytes % vcci_dtype_bytes[datatype])
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_get_count: %zu bytes are not a whole number of %s", status->bytes,
                                     vcci_dtype_name(datatype)));
    *count_out = status->bytes / vcci_dtype_bytes[datatype];
    return VCCL_SUCCESS;
}
