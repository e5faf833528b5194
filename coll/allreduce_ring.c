/* SPDX-License-Identifier: BSD-3-Clause
 * Allreduce on a ring: each part of a chunk travels round once and is summed, then once more and is handed out. The order of a
 * sum is the ring's, so the op must commute. Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
 * workstations", 2009; chunks overlap. */
#include "coll/algo.h"

#define WINDOW 4u

void vcci_allreduce_ring(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    int n = a->size, next = vcci_ring_at(a->rank, 1, n), prev = vcci_ring_at(a->rank, -1, n);
    if (vcci_algo_single(b, a))
        return;
    vcci_cut_messages(b, a, a->count, (size_t)n, WINDOW, &c);
    size_t most = vcci_split(c.per, n, 0).len * a->type_bytes; /* bytes of the longest part */
    size_t buf[2] = {vcci_scratch(b, most), vcci_scratch(b, most)};
    uint32_t send[2] = {VCCI_NONE, VCCI_NONE}; /* of this step and of the one before, by its parity */
    uint32_t sum = VCCI_NONE, first_send = VCCI_NONE;

    struct vcci_ref carry = vcci_part(&c, VCCI_IN, 0, vcci_split(c.per, n, a->rank)); /* what the next step sends on */
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
        carry = last ? vcci_part(&c, VCCI_OUT, 0, part) : theirs;
        uint32_t next_sum = vcci_reduce2(b, carry, theirs, vcci_part(&c, VCCI_IN, 0, part), last ? VCCI_FINAL : 0);
        vcci_after(b, next_sum, recv);
        vcci_after(b, next_sum, sum); /* in part order; so any recv below comes after all reads of IN */
        sum = next_sum;
    }

    uint32_t have = sum;
    for (int s = 0; s < n - 1; s++) {
        struct vcci_span part = vcci_split(c.per, n, vcci_ring_at(a->rank, -s, n));
        vcci_after(b, vcci_send(b, next, carry), have);
        carry = vcci_part(&c, VCCI_OUT, 0, part);
        have = vcci_recv(b, prev, carry);
        vcci_after(b, have, sum);
        vcci_after(b, have, s == 0 ? first_send : VCCI_NONE); /* in place it overwrites what that sends */
    }
}
