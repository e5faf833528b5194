/* SPDX-License-Identifier: BSD-3-Clause
 * Reduce in shared memory, two hand-overs: everybody sums one part of each chunk, root gathers the parts. The slots are those
 * of allreduce_flat_rsag. Rabenseifner, "Optimization of collective reduction operations", 2004, with shared slots for
 * messages. */
#include "coll/algo.h"

/* Root takes the parts that the others have summed. */
static void gather(struct vcci_builder *b, const struct vcci_coll_args *a, const struct vcci_chunks *c, size_t base)
{
    vcci_wait(b, -1, 1);
    for (int i = 1; i < a->size; i++) {
        int peer = vcci_ring_at(a->rank, i, a->size);
        struct vcci_span s = vcci_split(c->per, a->size, peer);
        vcci_copy(b, vcci_part(c, VCCI_OUT, 0, s), vcci_ref_of(peer, vcci_part(c, VCCI_SCRATCH, base, s)), 0);
    }
}

void vcci_reduce_flat_rsg(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    if (vcci_algo_single(b, a) || vcci_cut_flat(b, a, a->count, 1, &c))
        return;
    size_t base = vcci_scratch(b, c.per * a->type_bytes);
    struct vcci_span own = vcci_split(c.per, a->size, a->rank);
    struct vcci_span before = {0, own.at}, after = {own.at + own.len, c.per - own.at - own.len};
    vcci_copy(b, vcci_part(&c, VCCI_SCRATCH, base, before), vcci_part(&c, VCCI_IN, 0, before), 0);
    vcci_copy(b, vcci_part(&c, VCCI_SCRATCH, base, after), vcci_part(&c, VCCI_IN, 0, after), 0);
    vcci_signal(b);
    vcci_wait(b, -1, 0);
    struct vcci_ref slot = vcci_part(&c, VCCI_SCRATCH, base, own);
    struct vcci_ref sum = a->rank == a->root ? vcci_part(&c, VCCI_OUT, 0, own) : slot;
    vcci_reduce_slots(b, a, &sum, 1, vcci_part(&c, VCCI_IN, 0, own), slot);
    vcci_signal(b);
    if (a->rank == a->root)
        gather(b, a, &c, base);
}
