/* SPDX-License-Identifier: BSD-3-Clause
 * Spoils one place of the schedules, to see that the check finds it. */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

static int moves_data(const struct vcci_sched *s, const struct vcci_node *n)
{
    return n->n_in + n->n_out && s->refs[n->first_ref].total > 0;
}

/* Is there a way from node `from` to node `to` besides the edge itself? */
static int reaches(const struct vcci_sched *s, uint32_t from, uint32_t to, int direct)
{
    const struct vcci_node *n = &s->nodes[from];
    for (uint32_t k = 0; k < n->n_succ; k++) {
        uint32_t next = s->succs[n->first_succ + k];
        if ((next == to && direct) || (next != to && reaches(s, next, to, 1)))
            return 1;
    }
    return 0;
}

/* Does the edge order two nodes that use the same bytes, so that nothing is right without it? */
static int conflicts(const struct vcci_sched *s, uint32_t from, uint32_t to)
{
    const struct vcci_node *a = &s->nodes[from], *b = &s->nodes[to];
    for (unsigned i = 0; i < (unsigned)a->n_in + a->n_out; i++)
        for (unsigned k = 0; k < (unsigned)b->n_in + b->n_out; k++) {
            const struct vcci_ref *x = &s->refs[a->first_ref + i], *y = &s->refs[b->first_ref + k];
            if ((i >= a->n_in || k >= b->n_in) && x->space == y->space && x->whose == y->whose && x->total && y->total &&
                x->base < y->base + y->bytes && y->base < x->base + x->bytes)
                return 1;
        }
    return 0;
}

static int drop_edge(struct vcci_sched *s, uint32_t node, uint32_t *countdown)
{
    struct vcci_node *n = &s->nodes[node];
    for (uint32_t k = 0; k < n->n_succ; k++) {
        uint32_t *at = &s->succs[n->first_succ + k], to = *at;
        if (s->flat || !conflicts(s, node, to) || reaches(s, node, to, 0) || (*countdown)--)
            continue;
        memmove(at, at + 1, (n->n_succ - k - 1) * sizeof *at);
        n->n_succ--;
        s->nodes[to].n_deps--;
        return 1;
    }
    return 0;
}

/* Moves one ref of the node by an element, where there is room; 1 done. */
static int shift(const struct sim_world *w, const struct vcci_sched *s, struct vcci_ref *r, int do_it)
{
    const struct sim_rank *rank = &w->ranks[s->rank];
    size_t tb = w->c.type_bytes, room = r->space == VCCI_IN ? rank->n_in : r->space == VCCI_OUT ? rank->n_out : s->scratch / tb;
    int left = r->base >= tb, right = s->n_chunks == 1 && (r->base + r->total) / tb < room;
    if (do_it)
        r->base = left ? r->base - tb : r->base + tb;
    return left || right;
}

/* Does the node write scratch, for others to see? */
static int shows(const struct vcci_sched *s, const struct vcci_node *n)
{
    for (unsigned i = n->n_in; i < (unsigned)n->n_in + n->n_out; i++)
        if (s->refs[n->first_ref + i].space == VCCI_SCRATCH && moves_data(s, n))
            return 1;
    return 0;
}

/* Exchanges what two nodes do; the edges stay. */
static void exchange(struct vcci_node *a, struct vcci_node *b)
{
    struct vcci_node x = *a, y = *b;
    *a = y;
    *b = x;
    a->first_succ = x.first_succ, a->n_succ = x.n_succ, a->n_deps = x.n_deps;
    b->first_succ = y.first_succ, b->n_succ = y.n_succ, b->n_deps = y.n_deps;
}

/* Spoils this node if it is one where the mutation can be done and the countdown says it is its turn. */
static int spoil(struct sim_world *w, struct vcci_sched *s, uint32_t node, uint32_t *countdown)
{
    struct vcci_node *n = &s->nodes[node];
    struct vcci_ref *refs = s->refs + n->first_ref, ref;
    int data = moves_data(s, n);
    switch (w->c.mutation) {
    case SIM_DROP_EDGE:
        return drop_edge(s, node, countdown);
    case SIM_SWAP_OPERANDS:
        if (n->kind != VCCI_NODE_REDUCE || n->n_in < 2 || !data || w->c.commutes || (*countdown)--)
            return 0;
        ref = refs[0];
        refs[0] = refs[1];
        refs[1] = ref;
        return 1;
    case SIM_SHIFT_REF:
        for (unsigned i = 0; data && i < (unsigned)n->n_in + n->n_out; i++)
            if (shift(w, s, &refs[i], 0) && !(*countdown)--)
                return shift(w, s, &refs[i], 1);
        return 0;
    case SIM_DROP_FINAL:
        if (!data || !(n->flags & VCCI_FINAL) || (*countdown)--)
            return 0;
        n->flags = 0;
        return 1;
    case SIM_DROP_WAIT: /* a rank never waits for itself */
        if (n->kind != VCCI_NODE_WAIT || (*countdown)--)
            return 0;
        n->peer = s->rank;
        return 1;
    case SIM_EARLY_SIGNAL:
        if (n->kind != VCCI_NODE_SIGNAL || !node || !shows(s, n - 1) || (*countdown)--)
            return 0;
        exchange(n - 1, n);
        return 1;
    case SIM_WRONG_PEER:
        if (n->kind != VCCI_NODE_SEND || s->size < 3 || (*countdown)--)
            return 0;
        n->peer = (n->peer + 1) % s->size;
        return 1;
    default:
        return 0;
    }
}

int sim_mutate(struct sim_world *w)
{
    uint32_t countdown = w->c.mutant;
    for (int r = 0; r < w->c.size; r++)
        for (uint32_t i = 0; i < w->ranks[r].sched->n_nodes; i++)
            if (spoil(w, w->ranks[r].sched, i, &countdown))
                return 1;
    return 0;
}
