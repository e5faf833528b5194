/* SPDX-License-Identifier: BSD-3-Clause
 * Alltoall by pairs: in each step every rank exchanges with one other, a few steps at a time. Both ends of a pair are in the
 * same step, so in place a block may be overwritten as soon as it is sent. Folklore; the matching is that of a round-robin
 * tournament. */
#include "coll/algo.h"
#include "coll/pat_exchange.h"

#define WINDOW 2u
#define STEPS  8 /* under way at once */

void vcci_alltoall_pairwise(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    size_t bytes = a->count * a->type_bytes, buf[STEPS] = {0};
    uint32_t sent[STEPS], had[STEPS]; /* nodes of the last step in each place */
    if (vcci_algo_single(b, a))
        return;
    vcci_cut_messages(b, a, a->count, 1, WINDOW, &c);
    for (int i = 0; i < STEPS; i++) {
        sent[i] = had[i] = VCCI_NONE;
        if (a->in_place && i < a->size - 1)
            buf[i] = vcci_scratch(b, c.per * a->type_bytes);
    }
    for (int s = 0, at = 0; s < a->size; s++) {
        int peer = vcci_match(a->rank, s, a->size);
        struct vcci_ref in = vcci_part(&c, VCCI_IN, (size_t)peer * bytes, vcci_whole(&c));
        struct vcci_ref out = vcci_part(&c, VCCI_OUT, (size_t)peer * bytes, vcci_whole(&c));
        if (peer == a->rank)
            continue;
        uint32_t send = vcci_send(b, peer, in);
        uint32_t recv = vcci_recv(b, peer, a->in_place ? vcci_part_scratch(&c, buf[at], vcci_whole(&c)) : out);
        for (int i = 0; i < 2; i++) {
            vcci_after(b, i ? recv : send, sent[at]);
            vcci_after(b, i ? recv : send, had[at]);
        }
        sent[at] = send;
        had[at] = recv;
        if (a->in_place) {
            had[at] = vcci_copy(b, out, vcci_part_scratch(&c, buf[at], vcci_whole(&c)), 0);
            vcci_after(b, had[at], recv);
            vcci_after(b, had[at], send);
        }
        at = at + 1 == STEPS ? 0 : at + 1;
    }
    if (!a->in_place) {
        size_t me = (size_t)a->rank * bytes;
        vcci_copy(b, vcci_part(&c, VCCI_OUT, me, vcci_whole(&c)), vcci_part(&c, VCCI_IN, me, vcci_whole(&c)), 0);
    }
}
