/* SPDX-License-Identifier: BSD-3-Clause
 * Scatter in shared memory: root's slot holds a piece for everybody. Folklore. */
#include "coll/algo.h"

void vcci_scatter_flat(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    size_t bytes = a->count * a->type_bytes, n = (size_t)a->size;
    if (vcci_algo_single(b, a) || vcci_cut_flat(b, a, a->count, n, &c))
        return;
    size_t piece = c.per * a->type_bytes, base = vcci_scratch(b, n * piece);
    struct vcci_ref out = vcci_part(&c, VCCI_OUT, 0, vcci_whole(&c));
    if (a->rank != a->root) {
        vcci_wait(b, a->root, 0);
        vcci_copy(b, out, vcci_ref_of(a->root, vcci_part_scratch(&c, base + (size_t)a->rank * piece, vcci_whole(&c))), 0);
        return;
    }
    for (int i = 1; i < a->size; i++) {
        size_t peer = (size_t)vcci_ring_at(a->rank, i, a->size);
        vcci_copy(b, vcci_part_scratch(&c, base + peer * piece, vcci_whole(&c)),
                  vcci_part(&c, VCCI_IN, peer * bytes, vcci_whole(&c)), 0);
    }
    vcci_signal(b);
    if (!a->in_place)
        vcci_copy(b, out, vcci_part(&c, VCCI_IN, (size_t)a->rank * bytes, vcci_whole(&c)), 0);
}
