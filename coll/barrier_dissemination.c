/* SPDX-License-Identifier: BSD-3-Clause
 * Barrier by dissemination: in round k a rank tells the one 2^k further that it and the 2^k - 1 before it have come. Hensgen,
 * Finkel and Manber, "Two algorithms for barrier synchronization", 1988. */
#include "coll/algo.h"
#include "coll/pat_exchange.h"

void vcci_barrier_dissemination(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    uint32_t heard = VCCI_NONE;
    for (int k = 0; k < vcci_rounds(a->size); k++) {
        struct vcci_ref nothing = vcci_ref(VCCI_SCRATCH, 0, 0);
        uint32_t send = vcci_send(b, vcci_ring_at(a->rank, 1L << k, a->size), nothing);
        uint32_t recv = vcci_recv(b, vcci_ring_at(a->rank, -(1L << k), a->size), nothing);
        vcci_after(b, send, heard);
        vcci_after(b, recv, heard);
        heard = recv;
    }
}
