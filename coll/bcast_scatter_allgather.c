/* SPDX-License-Identifier: BSD-3-Clause
 * Bcast of long vectors: scatter down a binomial tree, then allgather round a ring that leaves out what the tree brought
 * already. van de Geijn et al., "On optimizing collective communication", 1994; the shortened ring is folklore. */
#include <stdlib.h>

#include "coll/algo.h"
#include "coll/pat_tree.h"

/* The parts of virtual ranks [v, v + span). */
static struct vcci_ref parts(const struct vcci_coll_args *a, int v, int span)
{
    struct vcci_span first = vcci_split(a->count, a->size, v), last = vcci_split(a->count, a->size, v + span - 1);
    return vcci_ref(VCCI_OUT, first.at * a->type_bytes, (last.at + last.len - first.at) * a->type_bytes);
}

static int inside(const struct vcci_tree *t, int v, int part)
{
    return part >= v && part < v + t->span;
}

/* One node per part says when this rank has it; the tree brought those of the own subtree. */
static void ring(struct vcci_builder *b, const struct vcci_coll_args *a, const struct vcci_tree *mine, int v, uint32_t scattered,
                 uint32_t *have)
{
    int n = a->size, next = vcci_ring_at(v, 1, n), prev = vcci_ring_at(v, -1, n);
    struct vcci_tree theirs;
    vcci_tree_binomial(&theirs, next, n);
    for (int i = 0; i < n; i++)
        have[i] = inside(mine, v, i) ? scattered : VCCI_NONE;
    for (int s = 0; s < n - 1; s++) {
        int out = vcci_ring_at(v, -s, n), in = vcci_ring_at(v, -s - 1, n);
        if (!inside(&theirs, next, out))
            vcci_after(b, vcci_send(b, vcci_actual(a, next), parts(a, out, 1)), have[out]);
        if (!inside(mine, v, in))
            have[in] = vcci_recv(b, vcci_actual(a, prev), parts(a, in, 1));
    }
}

void vcci_bcast_scatter_allgather(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_tree t;
    int v = vcci_virtual(a, a->rank);
    if (vcci_algo_single(b, a))
        return;
    uint32_t *have = malloc((size_t)a->size * sizeof *have);
    if (!have) {
        vcci_fail_build(b, "out of memory");
        return;
    }
    vcci_tree_binomial(&t, v, a->size);
    uint32_t scattered = t.parent < 0 ? VCCI_NONE : vcci_recv(b, vcci_actual(a, t.parent), parts(a, v, t.span));
    for (int i = t.n_children - 1; i >= 0; i--)
        vcci_after(b, vcci_send(b, vcci_actual(a, t.child[i]), parts(a, t.child[i], t.child_span[i])), scattered);
    ring(b, a, &t, v, scattered, have);
    free(have);
}
