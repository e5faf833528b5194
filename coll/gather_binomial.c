/* SPDX-License-Identifier: BSD-3-Clause
 * Gather up a binomial tree: each node collects its subtree's blocks and sends them on as one message; two messages where
 * ranks wrap round, so that root receives in place. Folklore; Johnsson and Ho, "Optimum broadcasting and personalized
 * communication in hypercubes", 1989. */
#include "coll/algo.h"
#include "coll/pat_tree.h"

static void receive_at_root(struct vcci_builder *b, const struct vcci_coll_args *a, int v, int span)
{
    size_t bytes = a->count * a->type_bytes;
    int child = vcci_actual(a, v), first = vcci_before_wrap(a, v, span);
    vcci_recv(b, child, vcci_ref(VCCI_OUT, (size_t)child * bytes, (size_t)first * bytes));
    if (first < span)
        vcci_recv(b, child, vcci_ref(VCCI_OUT, 0, (size_t)(span - first) * bytes));
}

static void root(struct vcci_builder *b, const struct vcci_coll_args *a, const struct vcci_tree *t)
{
    size_t bytes = a->count * a->type_bytes;
    for (int i = 0; i < t->n_children; i++)
        receive_at_root(b, a, t->child[i], t->child_span[i]);
    if (!a->in_place)
        vcci_copy(b, vcci_ref(VCCI_OUT, (size_t)a->rank * bytes, bytes), vcci_ref(VCCI_IN, 0, bytes), 0);
}

void vcci_gather_binomial(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_tree t;
    size_t bytes = a->count * a->type_bytes;
    int v = vcci_virtual(a, a->rank);
    if (vcci_algo_single(b, a))
        return;
    vcci_tree_binomial(&t, v, a->size);
    if (t.parent < 0) {
        root(b, a, &t);
        return;
    }
    int parent = vcci_actual(a, t.parent);
    if (!t.n_children) {
        vcci_send(b, parent, vcci_ref(VCCI_IN, 0, bytes));
        return;
    }
    size_t base = vcci_scratch(b, (size_t)t.span * bytes);
    uint32_t nodes[VCCI_TREE_CHILDREN + 1];
    int first = t.parent == 0 ? vcci_before_wrap(a, v, t.span) : t.span;
    for (int i = 0; i < t.n_children; i++)
        nodes[i] = vcci_recv(b, vcci_actual(a, t.child[i]),
                             vcci_ref(VCCI_SCRATCH, base + (size_t)(t.child[i] - v) * bytes, (size_t)t.child_span[i] * bytes));
    nodes[t.n_children] = vcci_copy(b, vcci_ref(VCCI_SCRATCH, base, bytes), vcci_ref(VCCI_IN, 0, bytes), 0);
    uint32_t up = vcci_send(b, parent, vcci_ref(VCCI_SCRATCH, base, (size_t)first * bytes)), rest = VCCI_NONE;
    if (first < t.span)
        rest = vcci_send(b, parent, vcci_ref(VCCI_SCRATCH, base + (size_t)first * bytes, (size_t)(t.span - first) * bytes));
    for (int i = 0; i <= t.n_children; i++) {
        vcci_after(b, up, nodes[i]);
        vcci_after(b, rest, nodes[i]);
    }
}
