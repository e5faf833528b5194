/* SPDX-License-Identifier: BSD-3-Clause
 * Bcast in shared memory: root puts a chunk into its slot, the others take it from there. Folklore. */
#include "coll/algo.h"

void vcci_bcast_flat(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    if (vcci_algo_single(b, a) || vcci_cut_flat(b, a, a->count, 1, &c))
        return;
    struct vcci_ref slot = vcci_part_scratch(&c, vcci_scratch(b, c.per * a->type_bytes), vcci_whole(&c));
    struct vcci_ref buf = vcci_part(&c, VCCI_OUT, 0, vcci_whole(&c));
    if (a->rank == a->root) {
        vcci_copy(b, slot, buf, 0);
        vcci_signal(b);
        return;
    }
    vcci_wait(b, a->root, 0);
    vcci_copy(b, buf, vcci_ref_of(a->root, slot), 0);
}
