/* SPDX-License-Identifier: BSD-3-Clause
 * Bcast down a binomial tree, chunk by chunk. Folklore; Johnsson and Ho, "Optimum broadcasting and personalized communication
 * in hypercubes", 1989. */
#include "coll/algo.h"
#include "coll/pat_tree.h"

#define WINDOW 8u

void vcci_bcast_binomial(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    struct vcci_tree t;
    if (vcci_algo_single(b, a))
        return;
    vcci_cut_messages(b, a, a->count, 1, WINDOW, &c);
    vcci_tree_binomial(&t, vcci_virtual(a, a->rank), a->size);
    struct vcci_ref buf = vcci_part(&c, VCCI_OUT, 0, vcci_whole(&c));
    uint32_t have = t.parent < 0 ? VCCI_NONE : vcci_recv(b, vcci_actual(a, t.parent), buf);
    for (int i = t.n_children - 1; i >= 0; i--) /* the largest subtree has the longest way */
        vcci_after(b, vcci_send(b, vcci_actual(a, t.child[i]), buf), have);
}
