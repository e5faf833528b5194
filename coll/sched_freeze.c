/* SPDX-License-Identifier: BSD-3-Clause
 * Freeze: checks what a builder emitted and lays nodes, refs and successors in flat arrays. */
#include "coll/sched.h"

#include <stdlib.h>
#include <string.h>

#include "coll/sched_build.h"
#include "lib/base/err.h"
#include "lib/base/stat.h"

/* Bytes of IN and OUT that the collective may touch on this rank: the table in sched.h. */
static void space_bytes(const struct vcci_coll_args *a, size_t *in_out, size_t *out_out)
{
    size_t b = a->count * a->type_bytes, nb = b * (size_t)a->size;
    int root = a->rank == a->root;
    size_t in = b, out = b;
    switch (a->coll) {
    case VCCI_COLL_BARRIER: in = out = 0; break;
    case VCCI_COLL_BCAST: in = 0; break;
    case VCCI_COLL_REDUCE: out = root ? b : 0; break;
    case VCCI_COLL_GATHER: out = root ? nb : 0; break;
    case VCCI_COLL_SCATTER: in = root ? nb : 0; break;
    case VCCI_COLL_ALLGATHER: out = nb; break;
    case VCCI_COLL_ALLTOALL: in = out = nb; break;
    case VCCI_COLL_REDUCE_SCATTER_BLOCK: in = nb; break;
    default: break;
    }
    *in_out = in;
    *out_out = out;
}

static int bad(const struct vcci_builder *b, uint32_t node, const char *what)
{
    return vcci_fail(VCCL_ERR_INTERNAL, "schedule %s/%s, rank %d of %d, node %u: %s", vcci_coll_name(b->args.coll), b->algo,
                     b->args.rank, b->args.size, node, what);
}

/* The last byte a ref reaches in its space over all chunks, exclusive; scratch: within one chunk's part. */
static size_t ref_end(const struct vcci_ref *r)
{
    if (!r->total || !r->bytes)
        return 0;
    if (r->space == VCCI_SCRATCH)
        return r->base + (r->total < r->bytes ? r->total : r->bytes);
    size_t full = (r->total - 1) / r->bytes; /* full chunks before the last one */
    size_t last = r->base + full * r->stride + (r->total - full * r->bytes);
    size_t before = full ? r->base + (full - 1) * r->stride + r->bytes : 0;
    return last > before ? last : before;
}

static int check_ref(const struct vcci_builder *b, uint32_t id, const struct vcci_ref *r, int writes)
{
    size_t in, out;
    space_bytes(&b->args, &in, &out);
    size_t have = r->space == VCCI_IN ? in : r->space == VCCI_OUT ? out : b->scratch;
    if (r->space > VCCI_SCRATCH)
        return bad(b, id, "unknown space");
    if (ref_end(r) > have)
        return bad(b, id, "a ref leaves its buffer");
    if (r->bytes && (r->total + r->bytes - 1) / r->bytes > b->n_chunks)
        return bad(b, id, "a ref needs more chunks than there are");
    if (r->whose != -1 && (r->space != VCCI_SCRATCH || writes || r->whose < 0 || r->whose >= b->args.size))
        return bad(b, id, "only a peer's scratch may be named, and only to read it");
    if (writes && r->space == VCCI_IN && !b->args.in_place)
        return bad(b, id, "writes the caller's input");
    return 0;
}

/* In- and outputs of one node must be as long as each other in every chunk. */
static int check_lengths(const struct vcci_builder *b, uint32_t id, const struct vcci_node *n)
{
    const struct vcci_ref *r = b->refs + n->first_ref;
    for (unsigned i = 1; i < (unsigned)n->n_in + n->n_out; i++) {
        if (r[i].total != r[0].total || (r[i].bytes != r[0].bytes && b->n_chunks > 1))
            return bad(b, id, "inputs and outputs differ in length");
    }
    if (b->args.type_bytes && n->kind == VCCI_NODE_REDUCE && (r[0].total % b->args.type_bytes || r[0].bytes % b->args.type_bytes))
        return bad(b, id, "a reduction splits an element");
    return 0;
}

static int check_nodes(struct vcci_builder *b, int *flat_out)
{
    int messages = 0, flats = 0;
    for (uint32_t i = 0; i < b->n_nodes; i++) {
        const struct vcci_node *n = &b->nodes[i];
        messages |= n->kind == VCCI_NODE_SEND || n->kind == VCCI_NODE_RECV;
        flats |= n->kind == VCCI_NODE_SIGNAL || n->kind == VCCI_NODE_WAIT;
        for (unsigned k = 0; k < (unsigned)n->n_in + n->n_out; k++) {
            const struct vcci_ref *r = &b->refs[n->first_ref + k];
            int err = check_ref(b, i, r, k >= n->n_in);
            if (err)
                return err;
            flats |= r->whose != -1;
        }
        int err = check_lengths(b, i, n);
        if (err)
            return err;
    }
    if (messages && flats)
        return bad(b, 0, "messages and signals in one schedule");
    if (b->symmetric && messages)
        return bad(b, 0, "only flat schedules are symmetric");
    *flat_out = flats;
    return 0;
}

/* Counts each node's dependencies and lays the successors out; Kahn's algorithm proves that there is no cycle. */
static int flatten(struct vcci_builder *b, struct vcci_sched *s)
{
    for (uint32_t i = 0; i < b->n_edges; i++) {
        s->nodes[b->edges[i].from].n_succ++;
        s->nodes[b->edges[i].to].n_deps++;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        s->nodes[i].first_succ = at;
        at += s->nodes[i].n_succ;
        s->nodes[i].n_succ = 0;
    }
    for (uint32_t i = 0; i < b->n_edges; i++) {
        struct vcci_node *from = &s->nodes[b->edges[i].from];
        s->succs[from->first_succ + from->n_succ++] = b->edges[i].to;
    }
    uint32_t *deps = malloc((2 * (size_t)s->n_nodes + 1) * sizeof *deps), *queue = deps + s->n_nodes, head = 0, tail = 0;
    if (!deps)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory freezing a schedule of %u nodes", s->n_nodes);
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        deps[i] = s->nodes[i].n_deps;
        if (!deps[i])
            queue[tail++] = i;
    }
    while (head < tail) {
        const struct vcci_node *n = &s->nodes[queue[head++]];
        for (uint32_t k = 0; k < n->n_succ; k++)
            if (--deps[s->succs[n->first_succ + k]] == 0)
                queue[tail++] = s->succs[n->first_succ + k];
    }
    free(deps);
    return tail == s->n_nodes ? 0 : bad(b, 0, "the edges form a cycle");
}

static void count_message_pairs(struct vcci_sched *s)
{
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        struct vcci_node *n = &s->nodes[i];
        if (n->kind == VCCI_NODE_SIGNAL && n->pair + 1 > s->n_phases)
            s->n_phases = n->pair + 1;
        if (n->kind == VCCI_NODE_WAIT && n->pair + 1 > s->n_phases)
            s->n_phases = n->pair + 1;
        if (n->kind != VCCI_NODE_SEND && n->kind != VCCI_NODE_RECV)
            continue;
        uint32_t most = 0;
        for (uint32_t k = 0; k < s->n_nodes; k++)
            if (s->nodes[k].kind == n->kind && s->nodes[k].peer == n->peer && s->nodes[k].pair >= most)
                most = s->nodes[k].pair + 1;
        n->pairs = most;
    }
}

static struct vcci_sched *allocate(const struct vcci_builder *b)
{
    size_t nodes = b->n_nodes * sizeof(struct vcci_node), refs = b->n_refs * sizeof(struct vcci_ref);
    struct vcci_sched *s = calloc(1, sizeof *s + refs + nodes + b->n_edges * sizeof(uint32_t));
    if (!s)
        return NULL;
    VCCI_COUNT(allocs, 1);
    s->refs = (struct vcci_ref *)(s + 1);
    s->nodes = (struct vcci_node *)(s->refs + b->n_refs);
    s->succs = (uint32_t *)(s->nodes + b->n_nodes);
    if (refs)
        memcpy(s->refs, b->refs, refs);
    if (nodes)
        memcpy(s->nodes, b->nodes, nodes);
    s->n_nodes = b->n_nodes;
    s->n_refs = b->n_refs;
    s->n_succs = b->n_edges;
    s->coll = b->args.coll;
    s->algo = b->algo;
    s->rank = b->args.rank;
    s->size = b->args.size;
    s->symmetric = b->symmetric;
    s->n_chunks = b->n_chunks;
    s->window = b->window;
    s->scratch = b->scratch; /* not rounded: what fits a cache line runs in one */
    s->type = b->args.type;
    s->op = b->args.op;
    s->refcount = 1;
    return s;
}

static int freeze(struct vcci_builder *b, struct vcci_sched **sched_out)
{
    int flat = 0;
    if (b->error)
        return vcci_fail((vccl_result_t)-b->error, "%s/%s cannot be built for %d ranks and %zu elements: %s",
                         vcci_coll_name(b->args.coll), b->algo, b->args.size, b->args.count, b->why);
    int err = check_nodes(b, &flat);
    if (err)
        return err;
    if (flat && (b->scratch > b->args.slot_bytes || b->window > b->args.slots))
        return bad(b, 0, "needs a larger slot or more of them than there are");
    struct vcci_sched *s = allocate(b);
    if (!s)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for a schedule of %u nodes", b->n_nodes);
    s->flat = (uint8_t)flat;
    if ((err = flatten(b, s))) {
        free(s);
        return err;
    }
    count_message_pairs(s);
    VCCI_COUNT(sched_built, 1);
    *sched_out = s;
    return 0;
}

int vcci_freeze(struct vcci_builder *b, struct vcci_sched **sched_out)
{
    int err = freeze(b, sched_out);
    vcci_builder_destroy(b);
    return err;
}

struct vcci_sched *vcci_sched_get(struct vcci_sched *sched)
{
    __atomic_fetch_add(&sched->refcount, 1, __ATOMIC_RELAXED);
    return sched;
}

void vcci_sched_put(struct vcci_sched *sched)
{
    if (sched && __atomic_sub_fetch(&sched->refcount, 1, __ATOMIC_ACQ_REL) == 0)
        free(sched);
}
