/* SPDX-License-Identifier: BSD-3-Clause
 * Reduce_scatter_block in shared memory: everybody's slot holds its operands of everybody's block; each sums its own in rank
 * order. Folklore. */
#include "coll/algo.h"

void vcci_reduce_scatter_block_flat(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    size_t bytes = a->count * a->type_bytes, n = (size_t)a->size, me = (size_t)a->rank;
    if (vcci_algo_single(b, a) || vcci_cut_flat(b, a, a->count, n, &c))
        return;
    size_t piece = c.per * a->type_bytes, base = vcci_scratch(b, n * piece);
    for (int i = 1; i < a->size; i++) {
        size_t peer = (size_t)vcci_ring_at(a->rank, i, a->size);
        vcci_copy(b, vcci_part_scratch(&c, base + peer * piece, vcci_whole(&c)),
                  vcci_part(&c, VCCI_IN, peer * bytes, vcci_whole(&c)), 0);
    }
    vcci_signal(b);
    vcci_wait(b, -1, 0);
    struct vcci_ref out = vcci_part(&c, VCCI_OUT, 0, vcci_whole(&c));
    vcci_reduce_slots(b, a, &out, 1, vcci_part(&c, VCCI_IN, me * bytes, vcci_whole(&c)),
                      vcci_part_scratch(&c, base + me * piece, vcci_whole(&c)));
    vcci_symmetric(b);
}
