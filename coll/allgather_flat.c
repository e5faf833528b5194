/* SPDX-License-Identifier: BSD-3-Clause
 * Allgather in shared memory: everybody shows its block and takes all others'. Folklore. */
#include "coll/algo.h"

void vcci_allgather_flat(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    size_t bytes = a->count * a->type_bytes;
    if (vcci_algo_single(b, a) || vcci_cut_flat(b, a, a->count, 1, &c))
        return;
    struct vcci_ref slot = vcci_part_scratch(&c, vcci_scratch(b, c.per * a->type_bytes), vcci_whole(&c));
    struct vcci_ref in = vcci_part(&c, VCCI_IN, 0, vcci_whole(&c));
    vcci_copy(b, slot, in, 0);
    vcci_signal(b);
    if (!a->in_place)
        vcci_copy(b, vcci_part(&c, VCCI_OUT, (size_t)a->rank * bytes, vcci_whole(&c)), in, 0);
    vcci_wait(b, -1, 0);
    for (int i = 1; i < a->size; i++) {
        int peer = vcci_ring_at(a->rank, i, a->size);
        vcci_copy(b, vcci_part(&c, VCCI_OUT, (size_t)peer * bytes, vcci_whole(&c)), vcci_ref_of(peer, slot), 0);
    }
    vcci_symmetric(b);
}
