/* SPDX-License-Identifier: BSD-3-Clause
 * Gather: everybody sends its block to root. Folklore. */
#include "coll/algo.h"

void vcci_gather_linear(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    size_t bytes = a->count * a->type_bytes;
    if (vcci_algo_single(b, a))
        return;
    if (a->rank != a->root) {
        vcci_send(b, a->root, vcci_ref(VCCI_IN, 0, bytes));
        return;
    }
    for (int i = 1; i < a->size; i++) {
        int peer = vcci_ring_at(a->rank, i, a->size);
        vcci_recv(b, peer, vcci_ref(VCCI_OUT, (size_t)peer * bytes, bytes));
    }
    if (!a->in_place)
        vcci_copy(b, vcci_ref(VCCI_OUT, (size_t)a->rank * bytes, bytes), vcci_ref(VCCI_IN, 0, bytes), 0);
}
