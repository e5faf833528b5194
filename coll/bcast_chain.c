/* SPDX-License-Identifier: BSD-3-Clause
 * Bcast down a chain of all ranks, chunk by chunk: every link carries the vector once. Folklore. */
#include "coll/algo.h"

#define WINDOW 8u

void vcci_bcast_chain(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    int v = vcci_virtual(a, a->rank);
    if (vcci_algo_single(b, a))
        return;
    vcci_cut_messages(b, a, a->count, 1, WINDOW, &c);
    struct vcci_ref buf = vcci_part(&c, VCCI_OUT, 0, vcci_whole(&c));
    uint32_t have = v ? vcci_recv(b, vcci_actual(a, v - 1), buf) : VCCI_NONE;
    if (v + 1 < a->size)
        vcci_after(b, vcci_send(b, vcci_actual(a, v + 1), buf), have);
}
