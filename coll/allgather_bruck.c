/* SPDX-License-Identifier: BSD-3-Clause
 * Allgather of small blocks in log2(n) rounds: in round k a rank gets 2^k blocks from the one 2^k further. Bruck et al.,
 * "Efficient algorithms for all-to-all communications in multiport message-passing systems", 1997. */
#include "coll/algo.h"
#include "coll/pat_exchange.h"

void vcci_allgather_bruck(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    int n = a->size, rounds = vcci_rounds(n);
    size_t bytes = a->count * a->type_bytes;
    uint32_t have[32];
    if (vcci_algo_single(b, a))
        return;
    size_t base = vcci_scratch(b, (size_t)n * bytes); /* blocks of rank, rank + 1, … round the ring */
    struct vcci_ref own = vcci_ref(VCCI_IN, 0, bytes);
    have[0] = vcci_copy(b, vcci_ref(VCCI_SCRATCH, base, bytes), own, 0);
    for (int k = 0; k < rounds; k++) {
        int reach = 1 << k, blocks = n - reach < reach ? n - reach : reach;
        uint32_t send =
            vcci_send(b, vcci_ring_at(a->rank, -(long)reach, n), vcci_ref(VCCI_SCRATCH, base, (size_t)blocks * bytes));
        for (int i = 0; i <= k; i++)
            vcci_after(b, send, have[i]);
        have[k + 1] = vcci_recv(b, vcci_ring_at(a->rank, reach, n),
                                vcci_ref(VCCI_SCRATCH, base + (size_t)reach * bytes, (size_t)blocks * bytes));
    }

    size_t me = (size_t)a->rank, right = (size_t)(n - 1 - a->rank); /* blocks of higher ranks lie first, after the own one */
    uint32_t copies[2] = {
        vcci_copy(b, vcci_ref(VCCI_OUT, (me + 1) * bytes, right * bytes), vcci_ref(VCCI_SCRATCH, base + bytes, right * bytes), 0),
        vcci_copy(b, vcci_ref(VCCI_OUT, 0, me * bytes), vcci_ref(VCCI_SCRATCH, base + (right + 1) * bytes, me * bytes), 0)};
    for (int i = 1; i <= rounds; i++) {
        vcci_after(b, copies[0], have[i]);
        vcci_after(b, copies[1], have[i]);
    }
    if (!a->in_place)
        vcci_copy(b, vcci_ref(VCCI_OUT, me * bytes, bytes), own, 0);
}
