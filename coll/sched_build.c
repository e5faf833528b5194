/* SPDX-License-Identifier: BSD-3-Clause
 * The builder: algorithms emit nodes and edges here; sched_freeze.c checks and flattens them. */
#include "coll/sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/sched_build.h"
#include "lib/base/err.h"

#define SCRATCH_ALIGN 64

struct vcci_builder *vcci_builder_create(const struct vcci_coll_args *a, const char *algo)
{
    struct vcci_builder *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->args = *a;
    b->algo = algo;
    b->n_chunks = 1;
    b->window = 1;
    b->last = VCCI_NONE;
    return b;
}

void vcci_builder_destroy(struct vcci_builder *b)
{
    if (!b)
        return;
    free(b->nodes);
    free(b->refs);
    free(b->edges);
    free(b);
}

static void fail(struct vcci_builder *b, int error, const char *why)
{
    if (b->error)
        return;
    b->error = error;
    snprintf(b->why, sizeof b->why, "%s", why);
}

void vcci_fail_build(struct vcci_builder *b, const char *why)
{
    fail(b, -VCCL_ERR_UNSUPPORTED, why);
}

/* Makes room for `more` elements of `bytes`; 0, or the builder has failed. */
static int grow(struct vcci_builder *b, void **array, uint32_t *cap, uint32_t n, uint32_t more, size_t bytes)
{
    if (b->error)
        return -1;
    if (*array && n + more <= *cap)
        return 0;
    uint32_t want = *cap ? 2 * *cap : 16;
    while (want < n + more)
        want *= 2;
    void *p = realloc(*array, want * bytes);
    if (!p) {
        fail(b, -VCCL_ERR_NO_MEMORY, "out of memory");
        return -1;
    }
    *array = p;
    *cap = want;
    return 0;
}

struct vcci_ref vcci_ref(enum vcci_space space, size_t base, size_t bytes)
{
    return (struct vcci_ref){.whose = -1, .space = (uint8_t)space, .base = base, .bytes = bytes, .total = bytes};
}

struct vcci_ref vcci_ref_chunked(enum vcci_space space, size_t base, size_t stride, size_t bytes, size_t total)
{
    return (struct vcci_ref){
        .whose = -1, .space = (uint8_t)space, .base = base, .stride = stride, .bytes = bytes, .total = total};
}

struct vcci_ref vcci_ref_of(int whose, struct vcci_ref ref)
{
    ref.whose = whose;
    return ref;
}

size_t vcci_scratch(struct vcci_builder *b, size_t bytes)
{
    size_t base = (b->scratch + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
    b->scratch = base + bytes;
    return base;
}

static uint32_t add_node(struct vcci_builder *b, enum vcci_node_kind kind, int peer, const struct vcci_ref *in, unsigned n_in,
                         const struct vcci_ref *out, unsigned n_out, uint8_t flags)
{
    if (grow(b, (void **)&b->nodes, &b->cap_nodes, b->n_nodes, 1, sizeof *b->nodes) ||
        grow(b, (void **)&b->refs, &b->cap_refs, b->n_refs, n_in + n_out, sizeof *b->refs))
        return VCCI_NONE;
    if (n_in > UINT16_MAX) {
        fail(b, -VCCL_ERR_UNSUPPORTED, "a node has more than 65535 inputs");
        return VCCI_NONE;
    }
    uint32_t id = b->n_nodes++;
    b->nodes[id] = (struct vcci_node){.kind = (uint8_t)kind,
                                      .flags = flags,
                                      .n_in = (uint16_t)n_in,
                                      .n_out = (uint16_t)n_out,
                                      .peer = peer,
                                      .first_ref = b->n_refs};
    if (n_in)
        memcpy(b->refs + b->n_refs, in, n_in * sizeof *in);
    if (n_out)
        memcpy(b->refs + b->n_refs + n_in, out, n_out * sizeof *out);
    b->n_refs += n_in + n_out;
    if (b->chained)
        vcci_after(b, id, b->last);
    b->last = id;
    return id;
}

/* The number of this message among those of a chunk to (or from) the same peer. */
static uint32_t count_pairs(const struct vcci_builder *b, enum vcci_node_kind kind, int peer)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n_nodes; i++)
        n += b->nodes[i].kind == kind && b->nodes[i].peer == peer;
    return n;
}

static uint32_t add_message(struct vcci_builder *b, enum vcci_node_kind kind, int peer, struct vcci_ref ref)
{
    if (peer < 0 || peer >= b->args.size || peer == b->args.rank)
        fail(b, -VCCL_ERR_INTERNAL, "a message names a rank that is not another rank of the communicator");
    uint32_t pair = count_pairs(b, kind, peer);
    int sends = kind == VCCI_NODE_SEND;
    uint32_t id = add_node(b, kind, peer, &ref, sends, &ref, !sends, 0);
    if (id != VCCI_NONE)
        b->nodes[id].pair = pair;
    return id;
}

uint32_t vcci_send(struct vcci_builder *b, int peer, struct vcci_ref src)
{
    return add_message(b, VCCI_NODE_SEND, peer, src);
}

uint32_t vcci_recv(struct vcci_builder *b, int peer, struct vcci_ref dst)
{
    return add_message(b, VCCI_NODE_RECV, peer, dst);
}

uint32_t vcci_copy(struct vcci_builder *b, struct vcci_ref dst, struct vcci_ref src, uint8_t flags)
{
    return add_node(b, VCCI_NODE_COPY, -1, &src, 1, &dst, 1, flags);
}

uint32_t vcci_reduce(struct vcci_builder *b, const struct vcci_ref *dsts, unsigned n_dsts, const struct vcci_ref *srcs, unsigned n_srcs,
                     uint8_t flags)
{
    if (n_dsts < 1 || n_dsts > 2 || n_srcs < 1)
        fail(b, -VCCL_ERR_INTERNAL, "a reduction needs one or two outputs and an input");
    return add_node(b, VCCI_NODE_REDUCE, -1, srcs, n_srcs, dsts, n_dsts, flags);
}

uint32_t vcci_reduce2(struct vcci_builder *b, struct vcci_ref dst, struct vcci_ref left, struct vcci_ref right, uint8_t flags)
{
    struct vcci_ref srcs[2] = {left, right};
    return vcci_reduce(b, &dst, 1, srcs, 2, flags);
}

uint32_t vcci_signal(struct vcci_builder *b)
{
    uint32_t id = add_node(b, VCCI_NODE_SIGNAL, -1, NULL, 0, NULL, 0, 0);
    if (id != VCCI_NONE)
        b->nodes[id].pair = b->n_signals++;
    return id;
}

uint32_t vcci_wait(struct vcci_builder *b, int peer, uint32_t signal)
{
    if (peer < -1 || peer >= b->args.size)
        fail(b, -VCCL_ERR_INTERNAL, "a wait names a rank that the communicator does not have");
    uint32_t id = add_node(b, VCCI_NODE_WAIT, peer, NULL, 0, NULL, 0, 0);
    if (id != VCCI_NONE)
        b->nodes[id].pair = signal;
    return id;
}

void vcci_after(struct vcci_builder *b, uint32_t node, uint32_t dep)
{
    if (node == VCCI_NONE || dep == VCCI_NONE)
        return;
    if (node >= b->n_nodes || dep >= b->n_nodes || node == dep) {
        fail(b, -VCCL_ERR_INTERNAL, "an edge names a node that is not there");
        return;
    }
    if (grow(b, (void **)&b->edges, &b->cap_edges, b->n_edges, 1, sizeof *b->edges))
        return;
    b->edges[b->n_edges++] = (struct vcci_edge){.from = dep, .to = node};
}

void vcci_chain(struct vcci_builder *b, int on)
{
    b->chained = on != 0;
}

void vcci_repeat(struct vcci_builder *b, uint64_t n_chunks, uint32_t window)
{
    if (b->n_nodes || b->repeated || !window)
        fail(b, -VCCL_ERR_INTERNAL, "vcci_repeat comes once, before the nodes, with a window of at least 1");
    b->repeated = 1;
    b->n_chunks = n_chunks;
    b->window = window;
}

void vcci_symmetric(struct vcci_builder *b)
{
    b->symmetric = 1;
}
