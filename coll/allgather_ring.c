/* SPDX-License-Identifier: BSD-3-Clause
 * Allgather on a ring: everybody passes on what came last. Folklore; Chan et al., "Collective communication: theory, practice,
 * and experience", 2007. */
#include "coll/algo.h"

#define WINDOW 4u

void vcci_allgather_ring(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    size_t bytes = a->count * a->type_bytes;
    int n = a->size, next = vcci_ring_at(a->rank, 1, n), prev = vcci_ring_at(a->rank, -1, n);
    if (vcci_algo_single(b, a))
        return;
    vcci_cut_messages(b, a, a->count, 1, WINDOW, &c);
    struct vcci_ref carry = vcci_part(&c, VCCI_IN, 0, vcci_whole(&c));
    uint32_t have = VCCI_NONE;
    for (int s = 0; s < n - 1; s++) {
        vcci_after(b, vcci_send(b, next, carry), have);
        carry = vcci_part(&c, VCCI_OUT, (size_t)vcci_ring_at(a->rank, -s - 1, n) * bytes, vcci_whole(&c));
        have = vcci_recv(b, prev, carry);
    }
    if (!a->in_place)
        vcci_copy(b, vcci_part(&c, VCCI_OUT, (size_t)a->rank * bytes, vcci_whole(&c)), vcci_part(&c, VCCI_IN, 0, vcci_whole(&c)),
                  0);
}
