/* SPDX-License-Identifier: BSD-3-Clause
 * Reduce of long vectors: each part of a chunk is summed on its way round a ring, and the ranks where the sums end send them
 * to root. The order of a sum is the ring's, so the op must commute. Rabenseifner, "Optimization of collective reduction
 * operations", 2004, with a ring for the halving. */
#include "coll/algo.h"

#define WINDOW 4u

/* Root takes the sums from where they lie: rank r has part r + 1. In place they overwrite operands that `read` is the last to
 * use. */
static void gather(struct vcci_builder *b, const struct vcci_coll_args *a, const struct vcci_chunks *c, uint32_t sum,
                   uint32_t first_send)
{
    for (int i = 1; i < a->size; i++) {
        int peer = vcci_ring_at(a->rank, i, a->size);
        struct vcci_span part = vcci_split(c->per, a->size, vcci_ring_at(peer, 1, a->size));
        uint32_t recv = vcci_recv(b, peer, vcci_part(c, VCCI_OUT, 0, part));
        vcci_after(b, recv, a->in_place ? sum : VCCI_NONE);
        vcci_after(b, recv, a->in_place ? first_send : VCCI_NONE);
    }
}

void vcci_reduce_rsg(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    int n = a->size, next = vcci_ring_at(a->rank, 1, n), prev = vcci_ring_at(a->rank, -1, n);
    if (vcci_algo_single(b, a))
        return;
    vcci_cut_messages(b, a, a->count, (size_t)n, WINDOW, &c);
    size_t most = vcci_split(c.per, n, 0).len * a->type_bytes;
    size_t buf[2] = {vcci_scratch(b, most), vcci_scratch(b, most)};
    uint32_t send[2] = {VCCI_NONE, VCCI_NONE}, sum = VCCI_NONE, first_send = VCCI_NONE;
    struct vcci_ref carry = vcci_part(&c, VCCI_IN, 0, vcci_split(c.per, n, a->rank));
    for (int s = 0; s < n - 1; s++) {
        struct vcci_span part = vcci_split(c.per, n, vcci_ring_at(a->rank, -s - 1, n));
        struct vcci_ref theirs = vcci_part_scratch(&c, buf[s % 2], part);
        send[s % 2] = vcci_send(b, next, carry);
        vcci_after(b, send[s % 2], sum);
        if (s == 0)
            first_send = send[0];
        uint32_t recv = vcci_recv(b, prev, theirs);
        vcci_after(b, recv, s > 1 ? send[(s - 1) % 2] : VCCI_NONE); /* it sent what this buffer held */
        int last = s == n - 2;
        carry = last && a->rank == a->root ? vcci_part(&c, VCCI_OUT, 0, part) : theirs;
        uint32_t next_sum = vcci_reduce2(b, carry, theirs, vcci_part(&c, VCCI_IN, 0, part), last ? VCCI_FINAL : 0);
        vcci_after(b, next_sum, recv);
        vcci_after(b, next_sum, sum);
        sum = next_sum;
    }
    if (a->rank == a->root)
        gather(b, a, &c, sum, first_send);
    else
        vcci_after(b, vcci_send(b, a->root, carry), sum);
}
