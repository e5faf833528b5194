/* SPDX-License-Identifier: BSD-3-Clause
 * Scatter down a binomial tree: each node gets its subtree's blocks as one message; two messages where ranks wrap round, so
 * that root sends in place. Folklore; Johnsson and Ho, "Optimum broadcasting and personalized communication in hypercubes",
 * 1989. */
#include "coll/algo.h"
#include "coll/pat_tree.h"

static void root(struct vcci_builder *b, const struct vcci_coll_args *a, const struct vcci_tree *t)
{
    size_t bytes = a->count * a->type_bytes;
    for (int i = t->n_children - 1; i >= 0; i--) {
        int child = vcci_actual(a, t->child[i]), span = t->child_span[i], first = vcci_before_wrap(a, t->child[i], span);
        vcci_send(b, child, vcci_ref(VCCI_IN, (size_t)child * bytes, (size_t)first * bytes));
        if (first < span)
            vcci_send(b, child, vcci_ref(VCCI_IN, 0, (size_t)(span - first) * bytes));
    }
    if (!a->in_place)
        vcci_copy(b, vcci_ref(VCCI_OUT, 0, bytes), vcci_ref(VCCI_IN, (size_t)a->rank * bytes, bytes), 0);
}

void vcci_scatter_binomial(struct vcci_builder *b, const struct vcci_coll_args *a)
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
        vcci_recv(b, parent, vcci_ref(VCCI_OUT, 0, bytes));
        return;
    }
    size_t base = vcci_scratch(b, (size_t)t.span * bytes);
    int first = t.parent == 0 ? vcci_before_wrap(a, v, t.span) : t.span;
    uint32_t have = vcci_recv(b, parent, vcci_ref(VCCI_SCRATCH, base, (size_t)first * bytes)), rest = VCCI_NONE;
    if (first < t.span)
        rest = vcci_recv(b, parent, vcci_ref(VCCI_SCRATCH, base + (size_t)first * bytes, (size_t)(t.span - first) * bytes));
    for (int i = t.n_children - 1; i >= -1; i--) {
        uint32_t node =
            i < 0 ? vcci_copy(b, vcci_ref(VCCI_OUT, 0, bytes), vcci_ref(VCCI_SCRATCH, base, bytes), 0)
                  : vcci_send(b, vcci_actual(a, t.child[i]),
                              vcci_ref(VCCI_SCRATCH, base + (size_t)(t.child[i] - v) * bytes, (size_t)t.child_span[i] * bytes));
        vcci_after(b, node, have);
        vcci_after(b, node, rest);
    }
}
