/* SPDX-License-Identifier: BSD-3-Clause
 * Allreduce in shared memory, one hand-over: everybody shows its operand and sums all in rank order. Folklore. */
#include "coll/algo.h"

void vcci_allreduce_flat(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    if (vcci_algo_single(b, a) || vcci_cut_flat(b, a, a->count, 1, &c))
        return;
    struct vcci_ref slot = vcci_part_scratch(&c, vcci_scratch(b, c.per * a->type_bytes), vcci_whole(&c));
    struct vcci_ref in = vcci_part(&c, VCCI_IN, 0, vcci_whole(&c)), out = vcci_part(&c, VCCI_OUT, 0, vcci_whole(&c));
    vcci_copy(b, slot, in, 0);
    vcci_signal(b);
    vcci_wait(b, -1, 0);
    vcci_reduce_slots(b, a, &out, 1, in, slot);
    vcci_symmetric(b);
}
