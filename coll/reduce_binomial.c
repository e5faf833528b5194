/* SPDX-License-Identifier: BSD-3-Clause
 * Reduce up a binomial tree, chunk by chunk; each node sums itself and its children in one pass. Ops that commute use a tree
 * with its root at `root`, others one with root 0, which keeps rank order and sends the result on. Folklore; Johnsson and Ho,
 * "Optimum broadcasting and personalized communication in hypercubes", 1989. */
#include "coll/algo.h"
#include "coll/pat_tree.h"

#define WINDOW 4u

static struct vcci_ref room(struct vcci_builder *b, const struct vcci_chunks *c)
{
    return vcci_part_scratch(c, vcci_scratch(b, c->per * c->type_bytes), vcci_whole(c));
}

/* Sums what the children send into `to`; returns the node. `from` numbers virtual ranks. */
static uint32_t sum(struct vcci_builder *b, const struct vcci_coll_args *a, const struct vcci_chunks *c,
                    const struct vcci_tree *t, int from, struct vcci_ref to)
{
    struct vcci_ref srcs[VCCI_TREE_CHILDREN + 1] = {vcci_part(c, VCCI_IN, 0, vcci_whole(c))};
    uint32_t recvs[VCCI_TREE_CHILDREN];
    for (int i = 0; i < t->n_children; i++) {
        srcs[i + 1] = room(b, c);
        recvs[i] = vcci_recv(b, vcci_ring_at(t->child[i], from, a->size), srcs[i + 1]);
    }
    uint32_t node = vcci_reduce(b, &to, 1, srcs, (unsigned)t->n_children + 1, t->parent < 0 ? VCCI_FINAL : 0);
    for (int i = 0; i < t->n_children; i++)
        vcci_after(b, node, recvs[i]);
    return node;
}

void vcci_reduce_binomial(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    struct vcci_tree t;
    if (vcci_algo_single(b, a))
        return;
    vcci_cut_messages(b, a, a->count, 1, WINDOW, &c);
    int top = a->commutes ? a->root : 0, is_root = a->rank == a->root;
    vcci_tree_binomial(&t, vcci_ring_at(a->rank, -top, a->size), a->size);
    struct vcci_ref out = vcci_part(&c, VCCI_OUT, 0, vcci_whole(&c)), up = vcci_part(&c, VCCI_IN, 0, vcci_whole(&c));
    uint32_t have = VCCI_NONE, sent = VCCI_NONE;
    if (t.n_children) {
        up = is_root && t.parent < 0 ? out : room(b, &c);
        have = sum(b, a, &c, &t, top, up);
    }
    if (t.parent >= 0)
        sent = vcci_send(b, vcci_ring_at(t.parent, top, a->size), up);
    else if (!is_root)
        sent = vcci_send(b, a->root, up);
    vcci_after(b, sent, have);
    if (is_root && t.parent >= 0) {
        uint32_t recv = vcci_recv(b, top, out); /* in place it overwrites the operand */
        vcci_after(b, recv, have);
        vcci_after(b, recv, sent);
    }
}
