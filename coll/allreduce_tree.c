/* SPDX-License-Identifier: BSD-3-Clause
 * Allreduce up and down a binomial tree with root 0: sums keep rank order, chunks overlap. Folklore. */
#include "coll/algo.h"
#include "coll/pat_tree.h"

#define WINDOW 4u

void vcci_allreduce_tree(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    struct vcci_tree t;
    if (vcci_algo_single(b, a))
        return;
    vcci_cut_messages(b, a, a->count, 1, WINDOW, &c);
    vcci_tree_binomial(&t, a->rank, a->size);
    struct vcci_ref out = vcci_part(&c, VCCI_OUT, 0, vcci_whole(&c)), up = vcci_part(&c, VCCI_IN, 0, vcci_whole(&c));
    uint32_t have = VCCI_NONE;

    if (t.n_children) {
        struct vcci_ref srcs[VCCI_TREE_CHILDREN + 1] = {up};
        uint32_t recvs[VCCI_TREE_CHILDREN];
        for (int i = 0; i < t.n_children; i++) {
            srcs[i + 1] = vcci_part_scratch(&c, vcci_scratch(b, c.per * a->type_bytes), vcci_whole(&c));
            recvs[i] = vcci_recv(b, t.child[i], srcs[i + 1]);
        }
        up = out;
        have = vcci_reduce(b, &up, 1, srcs, (unsigned)t.n_children + 1, t.parent < 0 ? VCCI_FINAL : 0);
        for (int i = 0; i < t.n_children; i++)
            vcci_after(b, have, recvs[i]);
    }
    if (t.parent >= 0) {
        uint32_t send = vcci_send(b, t.parent, up);
        vcci_after(b, send, have);
        have = vcci_recv(b, t.parent, out);
        vcci_after(b, have, send);
    }
    for (int i = t.n_children - 1; i >= 0; i--)
        vcci_after(b, vcci_send(b, t.child[i], out), have);
}
