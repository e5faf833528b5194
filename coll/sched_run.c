/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/sched_run.h"

#include <stdlib.h>
#include <string.h>

#include "coll/sig.h"
#include "lib/base/copy.h"
#include "lib/base/err.h"
#include "lib/base/stat.h"
#include "lib/device/dtype.h"

struct vcci_run_xfer {
    struct vcci_xfer xfer;
    struct vcci_run *run;
    uint32_t slot, node;
};

static int is_message(const struct vcci_node *n)
{
    return n->kind == VCCI_NODE_SEND || n->kind == VCCI_NODE_RECV;
}

int vcci_run_create(struct vcci_sched *s, struct vcci_run **run_out)
{
    struct vcci_run *r = calloc(1, sizeof *r);
    size_t w = s->window, n = s->n_nodes ? s->n_nodes : 1, most_in = 1;
    if (!r)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for a run");
    r->sched = vcci_sched_get(s);
    r->xfer_of = calloc(n, sizeof *r->xfer_of);
    for (uint32_t i = 0; r->xfer_of && i < s->n_nodes; i++) {
        r->xfer_of[i] = r->n_messages;
        r->n_messages += is_message(&s->nodes[i]);
        if (s->nodes[i].n_in > most_in)
            most_in = s->nodes[i].n_in;
    }
    r->ready_cap = (uint32_t)(w * n);
    r->xfers = calloc(w * (r->n_messages ? r->n_messages : 1), sizeof *r->xfers);
    r->deps = malloc(w * n * sizeof *r->deps);
    r->left = malloc(w * sizeof *r->left);
    r->chunk = malloc(w * sizeof *r->chunk);
    r->srcs = malloc(most_in * sizeof *r->srcs);
    r->ready = malloc(r->ready_cap * sizeof *r->ready);
    r->scratch = malloc(w * s->scratch + 1);
    VCCI_COUNT(allocs, 9);
    if (!r->xfer_of || !r->xfers || !r->deps || !r->left || !r->chunk || !r->srcs || !r->ready || !r->scratch) {
        vcci_run_destroy(r);
        return vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for a run of %u nodes with %zu bytes of scratch", s->n_nodes,
                         w * s->scratch);
    }
    r->type_bytes = vcci_dtype_valid(s->type) ? vcci_dtype_bytes[s->type] : 1;
    if (s->op != VCCL_OP_NULL)
        r->reduce = vcci_reduce_find(s->op, s->type);
    *run_out = r;
    return 0;
}

void vcci_run_destroy(struct vcci_run *r)
{
    if (!r)
        return;
    vcci_sched_put(r->sched);
    free(r->xfer_of);
    free(r->xfers);
    free(r->deps);
    free(r->left);
    free(r->chunk);
    free(r->srcs);
    free(r->ready);
    free(r->scratch);
    free(r);
}

static void *address(const struct vcci_run *r, const struct vcci_ref *ref, uint64_t k)
{
    size_t at = vcci_ref_offset(r->sched, ref, k);
    if (ref->space == VCCI_IN)
        return (uint8_t *)(uintptr_t)r->in + at;
    return (ref->space == VCCI_OUT ? (uint8_t *)r->out : r->scratch) + at;
}

static void push(struct vcci_run *r, uint32_t slot, uint32_t node)
{
    uint32_t at = r->ready_head + r->ready_n++;
    r->ready[at >= r->ready_cap ? at - r->ready_cap : at] = (uint64_t)slot << 32 | node;
}

static void start_chunk(struct vcci_run *r)
{
    const struct vcci_sched *s = r->sched;
    uint32_t slot = (uint32_t)(r->next_chunk % s->window);
    r->chunk[slot] = r->next_chunk++;
    r->left[slot] = s->n_nodes;
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        r->deps[(size_t)slot * s->n_nodes + i] = s->nodes[i].n_deps;
        if (!s->nodes[i].n_deps)
            push(r, slot, i);
    }
}

/* Starts the chunks whose turn it is. A chunk's scratch is that of place k mod window, so it waits for the one that had this
 * place, though others may end before. */
static void start_chunks(struct vcci_run *r)
{
    while (r->next_chunk < r->sched->n_chunks && r->left[r->next_chunk % r->sched->window] == 0)
        start_chunk(r);
}

static void node_over(struct vcci_run *r, uint32_t slot, uint32_t node)
{
    const struct vcci_sched *s = r->sched;
    const struct vcci_node *n = &s->nodes[node];
    uint32_t *deps = r->deps + (size_t)slot * s->n_nodes;
    for (uint32_t k = 0; k < n->n_succ; k++) {
        uint32_t next = s->succs[n->first_succ + k];
        if (--deps[next] == 0)
            push(r, slot, next);
    }
    if (--r->left[slot])
        return;
    r->chunks_over++;
    start_chunks(r);
}

static void average(const struct vcci_run *r, const struct vcci_node *n, void *buf, size_t bytes)
{
    if (r->sched->op == VCCL_AVG && (n->flags & VCCI_FINAL))
        vcci_reduce_average(buf, bytes / r->type_bytes, r->sched->type, r->sched->size);
}

static void compute(struct vcci_run *r, const struct vcci_node *n, uint64_t k)
{
    const struct vcci_ref *ref = &r->sched->refs[n->first_ref];
    size_t bytes = vcci_ref_len(ref, k);
    void *dst = address(r, &ref[n->n_in], k);
    if (!bytes)
        return;
    if (n->kind == VCCI_NODE_COPY) {
        vcci_copy_bytes(dst, address(r, ref, k), bytes);
    } else {
        for (unsigned i = 0; i < n->n_in; i++)
            r->srcs[i] = address(r, &ref[i], k);
        r->reduce(dst, r->srcs, n->n_in, bytes / r->type_bytes);
    }
    average(r, n, dst, bytes);
    if (n->n_out == 2)
        vcci_copy_bytes(address(r, &ref[n->n_in + 1], k), dst, bytes);
}

static void drain(struct vcci_run *r);

/* What came must be what this rank thinks it is calling, and as long. */
static int check_received(const struct vcci_run_xfer *x, int status)
{
    const struct vcci_xfer *f = &x->xfer;
    if (status && status != -VCCL_ERR_TRUNCATE)
        return status;
    if (f->got_sig != x->run->sig)
        return vcci_sig_mismatch(x->run->sched->rank, x->run->sig, f->peer, f->got_sig);
    if (status || f->got_bytes != f->bytes)
        return vcci_fail(VCCL_ERR_MISMATCH, "rank %d expected %zu bytes of rank %d in %s, %zu came", x->run->sched->rank, f->bytes, f->peer,
                         vcci_coll_name(x->run->sched->coll), f->got_bytes);
    return 0;
}

static void message_done(struct vcci_xfer *xfer, int status)
{
    struct vcci_run_xfer *x = VCCI_CONTAINER(xfer, struct vcci_run_xfer, xfer);
    struct vcci_run *r = x->run;
    r->inflight--;
    if (r->sched->nodes[x->node].kind == VCCI_NODE_RECV)
        status = check_received(x, status);
    if (status && !r->status)
        r->status = status;
    if (!r->status)
        node_over(r, x->slot, x->node);
    drain(r);
}

/* 0 done, 1 in flight, < 0 */
static int post(struct vcci_run *r, uint32_t slot, uint32_t node, uint64_t k)
{
    const struct vcci_node *n = &r->sched->nodes[node];
    const struct vcci_ref *ref = &r->sched->refs[n->first_ref];
    struct vcci_run_xfer *x = &r->xfers[(size_t)slot * r->n_messages + r->xfer_of[node]];
    memset(x, 0, sizeof *x);
    x->run = r;
    x->slot = slot;
    x->node = node;
    x->xfer.done = message_done;
    x->xfer.buf = address(r, ref, k);
    x->xfer.bytes = vcci_ref_len(ref, k);
    x->xfer.peer = n->peer;
    x->xfer.tag = (uint32_t)(k * n->pairs + n->pair);
    x->xfer.seq = r->seq;
    x->xfer.sig = r->sig;
    x->xfer.waited = 1; /* by a blocking call, or coll.c holds the engine for the whole operation */
    if (n->kind == VCCI_NODE_SEND)
        return vcci_p2p_send(r->port, &x->xfer);
    int err = vcci_p2p_recv(r->port, &x->xfer);
    return err > 0 ? err : check_received(x, err);
}

static void finish(struct vcci_run *r)
{
    r->over = 1;
    VCCI_COUNT(coll_sched, 1);
    if (!r->starting)
        r->done(r, r->status);
}

/* Executes what is ready; ends the run when all chunks are over, or, after a failure, once nothing is in flight. */
static void drain(struct vcci_run *r)
{
    while (r->ready_n && !r->status) {
        uint64_t item = r->ready[r->ready_head];
        uint32_t slot = (uint32_t)(item >> 32), node = (uint32_t)item;
        r->ready_head = r->ready_head + 1 == r->ready_cap ? 0 : r->ready_head + 1;
        r->ready_n--;
        const struct vcci_node *n = &r->sched->nodes[node];
        if (!is_message(n)) {
            compute(r, n, r->chunk[slot]);
            node_over(r, slot, node);
            continue;
        }
        int rc = post(r, slot, node, r->chunk[slot]);
        if (rc < 0)
            r->status = rc;
        else if (rc == 0)
            node_over(r, slot, node);
        else
            r->inflight++;
    }
    if (r->over)
        return;
    if (r->status && !r->failing) {
        r->failing = 1;
        vcci_port_revoke(r->port, r->status); /* calls message_done for all that is in flight, now or once it is quiet */
        if (r->over)
            return;
    }
    if (r->inflight == 0 && (r->status || r->chunks_over == r->sched->n_chunks))
        finish(r);
}

int vcci_run_start(struct vcci_run *r)
{
    r->ready_head = r->ready_n = r->inflight = 0;
    r->next_chunk = r->chunks_over = 0;
    r->status = 0;
    r->over = r->failing = 0;
    r->starting = 1;
    if (r->sched->n_nodes == 0)
        r->chunks_over = r->sched->n_chunks;
    memset(r->left, 0, r->sched->window * sizeof *r->left);
    if (r->sched->n_nodes)
        start_chunks(r);
    drain(r);
    r->starting = 0;
    if (!r->over)
        return 1;
    return r->status;
}
