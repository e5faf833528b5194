/* SPDX-License-Identifier: BSD-3-Clause
 * One case: builds all ranks' schedules, gives them memory with the aliasing of sched.h, moves data with every access checked,
 * compares the result. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"
#include "tests/sim/sim.h"

int sim_fail(struct sim_world *w, const char *fmt, ...)
{
    va_list ap;
    if (w->failed)
        return -1;
    w->failed = 1;
    va_start(ap, fmt);
    vsnprintf(w->why, sizeof w->why, fmt, ap);
    va_end(ap);
    return -1;
}

uint64_t sim_random(struct sim_world *w)
{
    uint64_t z = w->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* ---- the case as text ---- */

int sim_print(const struct sim_case *c, char *buf, size_t cap)
{
    return snprintf(
        buf, cap,
        "%s/%s size=%d root=%d count=%zu bytes=%zu commutes=%d in_place=%d slot=%zu slots=%u chunk=%zu seed=%llu mutation=%d "
        "mutant=%u",
        vcci_coll_name(c->algo->coll), c->algo->name, c->size, c->root, c->count, c->type_bytes, c->commutes, c->in_place,
        c->slot_bytes, c->slots, c->chunk_bytes, (unsigned long long)c->seed, c->mutation, c->mutant);
}

int sim_parse(const char *text, struct sim_case *c)
{
    char coll[64], algo[64];
    unsigned long long seed;
    int n =
        sscanf(text,
               "%63[^/]/%63s size=%d root=%d count=%zu bytes=%zu commutes=%d in_place=%d slot=%zu slots=%u chunk=%zu seed=%llu "
               "mutation=%d mutant=%u",
               coll, algo, &c->size, &c->root, &c->count, &c->type_bytes, &c->commutes, &c->in_place, &c->slot_bytes, &c->slots,
               &c->chunk_bytes, &seed, &c->mutation, &c->mutant);
    c->seed = seed;
    c->algo = NULL;
    for (unsigned i = 0; n == 14 && i < vcci_algos_nr; i++)
        if (!strcmp(vcci_coll_name(vcci_algos[i].coll), coll) && !strcmp(vcci_algos[i].name, algo))
            c->algo = &vcci_algos[i];
    return c->algo ? 0 : -1;
}

/* ---- what the collectives mean ---- */

static int is_sum(enum vcci_coll coll)
{
    return coll == VCCI_COLL_REDUCE || coll == VCCI_COLL_ALLREDUCE || coll == VCCI_COLL_REDUCE_SCATTER_BLOCK;
}

static int is_rooted(enum vcci_coll coll)
{
    return coll == VCCI_COLL_BCAST || coll == VCCI_COLL_REDUCE || coll == VCCI_COLL_GATHER || coll == VCCI_COLL_SCATTER;
}

/* Elements of IN and OUT, and where they begin when they alias: the table in sched.h. */
static void shape(const struct sim_case *c, int rank, struct sim_rank *r)
{
    size_t b = c->count, nb = b * (size_t)c->size, root = rank == c->root, at = (size_t)rank * b;
    switch (c->algo->coll) {
    case VCCI_COLL_BARRIER:
        r->n_in = r->n_out = 0;
        break;
    case VCCI_COLL_BCAST:
        r->n_in = 0, r->n_out = b;
        break;
    case VCCI_COLL_REDUCE:
        r->n_in = b, r->n_out = root ? b : 0;
        break;
    case VCCI_COLL_GATHER:
        r->n_in = b, r->n_out = root ? nb : 0;
        break;
    case VCCI_COLL_SCATTER:
        r->n_in = root ? nb : 0, r->n_out = b;
        break;
    case VCCI_COLL_ALLGATHER:
        r->n_in = b, r->n_out = nb;
        break;
    case VCCI_COLL_ALLTOALL:
        r->n_in = r->n_out = nb;
        break;
    case VCCI_COLL_REDUCE_SCATTER_BLOCK:
        r->n_in = nb, r->n_out = b;
        break;
    default:
        r->n_in = r->n_out = b;
        break;
    }
    r->in_at = 0;
    r->out_at = r->n_in;
    r->n_user = r->n_in + r->n_out;
    if (!r->in_place)
        return;
    r->in_at = c->algo->coll == VCCI_COLL_GATHER || c->algo->coll == VCCI_COLL_ALLGATHER ? at : 0;
    r->out_at = c->algo->coll == VCCI_COLL_SCATTER ? at : 0;
    r->n_user = r->n_in > r->n_out ? r->n_in : r->n_out;
}

static int in_place(struct sim_world *w, int rank)
{
    enum vcci_coll coll = w->c.algo->coll;
    if (coll == VCCI_COLL_BARRIER || coll == VCCI_COLL_BCAST || w->c.in_place == SIM_NOBODY)
        return 0;
    if (is_rooted(coll))
        return rank == w->c.root;
    return w->c.in_place == SIM_EVERYBODY || sim_random(w) & 1;
}

static int check_element(struct sim_world *w, int rank, size_t i, uint32_t v)
{
    const struct sim_case *c = &w->c;
    size_t b = c->count, me = (size_t)rank;
    int bare = c->size == 1 && w->ranks[rank].in_place;
    switch (c->algo->coll) {
    case VCCI_COLL_BCAST:
        return sim_is_leaf(w->exprs, v, c->root, i);
    case VCCI_COLL_REDUCE:
    case VCCI_COLL_ALLREDUCE:
        return sim_is_total(w->exprs, v, i, bare);
    case VCCI_COLL_REDUCE_SCATTER_BLOCK:
        return sim_is_total(w->exprs, v, me * b + i, bare);
    case VCCI_COLL_SCATTER:
        return sim_is_leaf(w->exprs, v, c->root, me * b + i);
    case VCCI_COLL_ALLTOALL:
        return sim_is_leaf(w->exprs, v, (int)(i / b), me * b + i % b);
    default:
        return sim_is_leaf(w->exprs, v, (int)(i / b), i % b);
    }
}

static int check_rank(struct sim_world *w, int rank)
{
    const struct sim_rank *r = &w->ranks[rank], *zero = &w->ranks[0];
    char text[200];
    for (size_t i = 0; i < r->n_user; i++) {
        uint32_t v = r->user[i].value;
        int out = i >= r->out_at && i < r->out_at + r->n_out, in = i >= r->in_at && i < r->in_at + r->n_in;
        if (!out && in && !sim_is_leaf(w->exprs, v, rank, i - r->in_at))
            return sim_fail(w, "rank %d: element %zu of the input was written", rank, i - r->in_at);
        if (out && !check_element(w, rank, i - r->out_at, v)) {
            sim_text(w->exprs, v, text, sizeof text);
            return sim_fail(w, "rank %d: element %zu of the result is %s", rank, i - r->out_at, text);
        }
        if (out && w->c.algo->coll == VCCI_COLL_ALLREDUCE && v != zero->user[i - r->out_at + zero->out_at].value) {
            sim_text(w->exprs, v, text, sizeof text);
            return sim_fail(w, "ranks 0 and %d sum element %zu in different orders: %s", rank, i - r->out_at, text);
        }
    }
    return 0;
}

/* ---- access ---- */

static struct sim_cell *cells(struct sim_world *w, int rank, const struct vcci_ref *ref, uint64_t chunk, size_t len)
{
    struct sim_rank *r = &w->ranks[ref->whose < 0 ? rank : ref->whose];
    size_t tb = w->c.type_bytes, at = ref->base;
    if (ref->space != VCCI_SCRATCH)
        at += chunk * ref->stride;
    if (at % tb || len % tb) {
        sim_fail(w, "rank %d: a ref splits an element", rank);
        return NULL;
    }
    size_t first = at / tb, n = len / tb, room = ref->space == VCCI_IN ? r->n_in : ref->space == VCCI_OUT ? r->n_out : r->stride;
    if (first + n > room) {
        sim_fail(w, "rank %d: chunk %llu leaves its buffer", rank, (unsigned long long)chunk);
        return NULL;
    }
    if (ref->space == VCCI_SCRATCH)
        return r->scratch + chunk % r->places * r->stride + first;
    return r->user + (ref->space == VCCI_IN ? r->in_at : r->out_at) + first;
}

static int race(struct sim_world *w, int rank, uint64_t chunk, uint32_t node, int writes, uint32_t rank2, uint64_t chunk2,
                uint32_t node2)
{
    return sim_fail(
        w,
        "rank %d chunk %llu node %u (%s) %s what rank %u chunk %llu node %u (%s) uses, and no edge, signal or window orders them",
        rank, (unsigned long long)chunk, node, vcci_node_name(w->ranks[rank].sched->nodes[node].kind),
        writes ? "writes" : "reads", rank2, (unsigned long long)chunk2, node2,
        vcci_node_name(w->ranks[rank2].sched->nodes[node2].kind));
}

/* Is what was done before ordered before this access? Scratch of another chunk is: its place was free. User memory of another
 * chunk never is. */
static int follows(struct sim_world *w, int rank, uint64_t chunk, uint32_t node, int scratch, uint32_t rank2, uint32_t chunk2,
                   uint32_t node2)
{
    if (chunk2 != (uint32_t)chunk)
        return scratch;
    return (rank2 == (uint32_t)rank && node2 == node) || w->ordered(w, rank2, node2, (uint32_t)rank, node, chunk);
}

static int touch(struct sim_world *w, int rank, uint64_t chunk, uint32_t node, int scratch, int writes, struct sim_cell *cell)
{
    if (cell->w_node != SIM_NONE && !follows(w, rank, chunk, node, scratch, cell->w_rank, cell->w_chunk, cell->w_node))
        return race(w, rank, chunk, node, writes, cell->w_rank, cell->w_chunk, cell->w_node);
    if (writes) {
        for (uint32_t i = cell->readers; i != SIM_NONE; i = w->readers[i].next)
            if (!follows(w, rank, chunk, node, scratch, w->readers[i].rank, w->readers[i].chunk, w->readers[i].node))
                return race(w, rank, chunk, node, writes, w->readers[i].rank, w->readers[i].chunk, w->readers[i].node);
        cell->readers = SIM_NONE;
        cell->w_rank = (uint32_t)rank;
        cell->w_node = node;
        cell->w_chunk = (uint32_t)chunk;
        return 0;
    }
    if (!cell->value || (scratch && cell->w_chunk != (uint32_t)chunk)) /* what another chunk left in scratch is nobody's */
        return sim_fail(w, "rank %d chunk %llu node %u (%s) reads what nobody wrote", rank, (unsigned long long)chunk, node,
                        vcci_node_name(w->ranks[rank].sched->nodes[node].kind));
    if (w->n_readers == w->cap_readers) {
        w->cap_readers = w->cap_readers ? 2 * w->cap_readers : 4096;
        w->readers = realloc(w->readers, w->cap_readers * sizeof *w->readers);
        if (!w->readers)
            exit(99);
    }
    w->readers[w->n_readers] = (struct sim_reader){(uint32_t)rank, node, (uint32_t)chunk, cell->readers};
    cell->readers = (uint32_t)w->n_readers++;
    return 0;
}

static int write_cell(struct sim_world *w, int rank, uint64_t chunk, const struct vcci_node *n, int scratch,
                      struct sim_cell *cell, uint32_t v)
{
    if (touch(w, rank, chunk, (uint32_t)(n - w->ranks[rank].sched->nodes), scratch, 1, cell))
        return -1;
    cell->value = v;
    return 0;
}

/* COPY, REDUCE and SEND of element i: the value. 0 if that failed. */
static uint32_t compute(struct sim_world *w, int rank, uint64_t chunk, const struct vcci_node *n, struct sim_cell **in, size_t i,
                        uint32_t *operands)
{
    const struct vcci_ref *refs = w->ranks[rank].sched->refs + n->first_ref;
    const char *why = NULL;
    for (unsigned k = 0; k < n->n_in; k++) {
        if (touch(w, rank, chunk, (uint32_t)(n - w->ranks[rank].sched->nodes), refs[k].space == VCCI_SCRATCH, 0, in[k] + i))
            return 0;
        operands[k] = in[k][i].value;
    }
    uint32_t v = n->kind == VCCI_NODE_REDUCE ? sim_sum(w->exprs, operands, n->n_in, &why) : operands[0];
    if (n->flags & VCCI_FINAL)
        v = sim_final(w->exprs, v, &why);
    if (!why)
        return v;
    sim_fail(w, "rank %d chunk %llu node %u %s", rank, (unsigned long long)chunk, (uint32_t)(n - w->ranks[rank].sched->nodes),
             why);
    return 0;
}

/* An output may be exactly one of a REDUCE's inputs, and overlaps no input otherwise. */
static int check_overlap(struct sim_world *w, int rank, const struct vcci_node *n, struct sim_cell **at, size_t len)
{
    for (unsigned o = n->n_in; o < (unsigned)n->n_in + n->n_out; o++)
        for (unsigned k = 0; len && k < o; k++)
            if (at[k] < at[o] + len && at[o] < at[k] + len &&
                !(at[k] == at[o] && k < n->n_in && o == n->n_in && n->kind == VCCI_NODE_REDUCE))
                return sim_fail(w, "rank %d: a node's output overlaps its input or other output", rank);
    return 0;
}

int sim_move(struct sim_world *w, int rank, uint64_t chunk, uint32_t node, uint32_t *payload)
{
    const struct vcci_sched *s = w->ranks[rank].sched;
    const struct vcci_node *n = &s->nodes[node];
    const struct vcci_ref *refs = s->refs + n->first_ref;
    unsigned n_refs = (unsigned)n->n_in + n->n_out;
    struct sim_cell *at[2 * 260];
    uint32_t operands[260];
    if (!n_refs)
        return 0;
    if (n_refs > 2 * 260 || n->n_in > 260)
        return sim_fail(w, "a node has %u refs", n_refs);
    size_t bytes = vcci_ref_len(&refs[0], chunk), len = bytes / w->c.type_bytes;
    for (unsigned i = 0; i < n_refs; i++) {
        if (vcci_ref_len(&refs[i], chunk) != bytes)
            return sim_fail(w, "rank %d chunk %llu node %u: lengths differ", rank, (unsigned long long)chunk, node);
        at[i] = bytes ? cells(w, rank, &refs[i], chunk, bytes) : NULL;
        if (bytes && !at[i])
            return -1;
    }
    if (check_overlap(w, rank, n, at, len))
        return -1;
    for (size_t i = 0; i < len; i++) {
        uint32_t v = n->kind == VCCI_NODE_RECV ? payload[i] : compute(w, rank, chunk, n, at, i, operands);
        if (!v)
            return -1;
        if (n->kind == VCCI_NODE_SEND)
            payload[i] = v;
        for (unsigned o = n->n_in; o < n_refs; o++)
            if (write_cell(w, rank, chunk, n, refs[o].space == VCCI_SCRATCH, at[o] + i, v))
                return -1;
    }
    return 0;
}

/* ---- life of a world ---- */

static int build(struct sim_world *w, int rank)
{
    struct vcci_coll_args a = w->args;
    struct sim_rank *r = &w->ranks[rank];
    r->in_place = in_place(w, rank);
    a.rank = rank;
    a.in_place = (uint8_t)r->in_place;
    struct vcci_builder *b = vcci_builder_create(&a, w->c.algo->name);
    if (!b)
        exit(99);
    w->c.algo->build(b, &a);
    if (vcci_freeze(b, &r->sched))
        return sim_fail(w, "rank %d: %s", rank, vcci_err_text());
    shape(&w->c, rank, r);
    return 0;
}

static struct sim_cell *new_cells(size_t n)
{
    struct sim_cell *c = malloc((n + 1) * sizeof *c);
    if (!c)
        exit(99);
    for (size_t i = 0; i < n; i++)
        c[i] = (struct sim_cell){.w_node = SIM_NONE, .readers = SIM_NONE};
    return c;
}

/* Operands are leaves; bcast's is root's buffer. */
static void fill(struct sim_world *w, int rank)
{
    struct sim_rank *r = &w->ranks[rank];
    const struct vcci_sched *s = r->sched;
    r->user = new_cells(r->n_user);
    for (size_t i = 0; i < r->n_in; i++)
        r->user[r->in_at + i].value = sim_leaf(w->exprs, rank, i);
    for (size_t i = 0; w->c.algo->coll == VCCI_COLL_BCAST && rank == w->c.root && i < r->n_out; i++)
        r->user[r->out_at + i].value = sim_leaf(w->exprs, rank, i);
    r->places = w->c.algo->flat && w->c.size > 1 ? w->c.slots : s->window;
    r->stride = (s->scratch + w->c.type_bytes - 1) / w->c.type_bytes;
    r->n_scratch = r->places * r->stride;
    r->scratch = new_cells(r->n_scratch);
}

static int check_alike(struct sim_world *w)
{
    const struct vcci_sched *s = w->ranks[0].sched;
    for (int r = 1; r < w->c.size; r++) {
        const struct vcci_sched *t = w->ranks[r].sched;
        if (t->n_chunks != s->n_chunks || t->window != s->window)
            return sim_fail(w, "ranks 0 and %d cut the vector differently", r);
        if (t->flat != s->flat || t->symmetric != s->symmetric)
            return sim_fail(w, "ranks 0 and %d differ in what kind of schedule it is", r);
        if (s->flat && (t->scratch != s->scratch || t->n_phases != s->n_phases))
            return sim_fail(w, "ranks 0 and %d differ in their slots or signals", r);
    }
    return 0;
}

static void args_of(const struct sim_case *c, struct vcci_coll_args *a)
{
    *a = (struct vcci_coll_args){.coll = c->algo->coll,
                                 .size = c->size,
                                 .root = is_rooted(c->algo->coll) ? c->root : 0,
                                 .count = c->algo->coll == VCCI_COLL_BARRIER ? 0 : c->count,
                                 .type = VCCL_BYTE,
                                 .type_bytes = c->type_bytes,
                                 .op = is_sum(c->algo->coll) ? VCCL_SUM : VCCL_OP_NULL,
                                 .commutes = (uint8_t)c->commutes,
                                 .slot_bytes = c->slot_bytes,
                                 .slots = c->slots,
                                 .chunk_bytes = c->chunk_bytes};
}

static int run(struct sim_world *w)
{
    for (int r = 0; r < w->c.size; r++)
        if (build(w, r))
            return -1;
    w->built = 1;
    if (w->c.mutation)
        w->mutated = sim_mutate(w);
    if (w->c.mutation && !w->mutated)
        return 0;
    if (check_alike(w))
        return -1;
    for (int r = 0; r < w->c.size; r++)
        fill(w, r);
    if (w->ranks[0].sched->flat ? sim_flat(w) : sim_engine(w))
        return -1;
    for (int r = 0; r < w->c.size; r++)
        if (check_rank(w, r))
            return -1;
    return 0;
}

int sim_run(const struct sim_case *c, struct sim_exprs *exprs, char *why, size_t cap, int *mutated_out)
{
    struct sim_world w = {.c = *c, .exprs = exprs, .random = c->seed};
    args_of(c, &w.args);
    w.c.root = w.args.root;
    w.c.count = w.args.count;
    int parts = c->algo->coll == VCCI_COLL_SCATTER || c->algo->coll == VCCI_COLL_ALLTOALL ||
                c->algo->coll == VCCI_COLL_REDUCE_SCATTER_BLOCK;
    sim_exprs_reset(exprs, c->size, w.c.count * (parts ? (size_t)c->size : 1), c->commutes);
    w.ranks = calloc((size_t)c->size, sizeof *w.ranks);
    if (!w.ranks)
        exit(99);
    int err = run(&w);
    snprintf(why, cap, "%s", w.why);
    for (int r = 0; r < c->size; r++) {
        vcci_sched_put(w.ranks[r].sched);
        free(w.ranks[r].user);
        free(w.ranks[r].scratch);
    }
    free(w.ranks);
    free(w.readers);
    if (mutated_out)
        *mutated_out = w.mutated;
    return err;
}
