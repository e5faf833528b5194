/* SPDX-License-Identifier: BSD-3-Clause
 * Reduce_scatter_block on a ring: each block's sum travels round once and ends with its owner. The order of a sum is the
 * ring's, so the op must commute. Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
 * 2009; chunks overlap. */
#include "coll/algo.h"

#define WINDOW 4u

void vcci_reduce_scatter_block_ring(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    size_t bytes = a->count * a->type_bytes;
    int n = a->size, next = vcci_ring_at(a->rank, 1, n), prev = vcci_ring_at(a->rank, -1, n);
    if (vcci_algo_single(b, a))
        return;
    vcci_cut_messages(b, a, a->count, 1, WINDOW, &c);
    size_t buf[2] = {vcci_scratch(b, c.per * a->type_bytes), vcci_scratch(b, c.per * a->type_bytes)};
    uint32_t send[2] = {VCCI_NONE, VCCI_NONE}, sum = VCCI_NONE, first_send = VCCI_NONE;
    struct vcci_ref carry = vcci_part(&c, VCCI_IN, (size_t)prev * bytes, vcci_whole(&c));
    for (int s = 0; s < n - 1; s++) {
        size_t block = (size_t)vcci_ring_at(a->rank, -s - 2, n);
        struct vcci_ref theirs = vcci_part_scratch(&c, buf[s % 2], vcci_whole(&c));
        send[s % 2] = vcci_send(b, next, carry);
        vcci_after(b, send[s % 2], sum);
        if (s == 0)
            first_send = send[0];
        uint32_t recv = vcci_recv(b, prev, theirs);
        vcci_after(b, recv, s > 1 ? send[(s - 1) % 2] : VCCI_NONE); /* it sent what this buffer held */
        int last = s == n - 2;
        carry = last ? vcci_part(&c, VCCI_OUT, 0, vcci_whole(&c)) : theirs;
        uint32_t next_sum =
            vcci_reduce2(b, carry, theirs, vcci_part(&c, VCCI_IN, block * bytes, vcci_whole(&c)), last ? VCCI_FINAL : 0);
        vcci_after(b, next_sum, recv);
        vcci_after(b, next_sum, sum);
        vcci_after(b, next_sum, last && a->in_place ? first_send : VCCI_NONE); /* OUT is the first block of IN */
        sum = next_sum;
    }
}
