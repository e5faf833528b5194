/* SPDX-License-Identifier: BSD-3-Clause
 * Allreduce by recursive halving and doubling: pairs exchange halves of what they have and sum one, and at the end hand the
 * sums out the same way back. Nearest partners first, so each partial sum is of adjacent ranks and rank order holds.
 * Rabenseifner, "Optimization of collective reduction operations", 2004. */
#include "coll/algo.h"
#include "coll/pat_exchange.h"

#define WINDOW 4u
#define PARTS  4u /* the messages are a half of a chunk and smaller */
#define LEVELS 31

struct state {
    struct vcci_builder *b;
    const struct vcci_chunks *c;
    const struct vcci_fold *f;
    enum vcci_space acc; /* where this rank's partial sum is: IN, later OUT */
    uint32_t sum;        /* node that made it */
    int levels;
    struct vcci_span kept[LEVELS], sent[LEVELS];
    uint32_t send[LEVELS], recv[LEVELS];
};

static int peer_of(const struct state *s, int level)
{
    return vcci_fold_rank(s->f, s->f->v ^ (1 << level));
}

/* OUT = the sum of this rank's and the peer's `span`; the peer's comes from the left or from the right. */
static void combine(struct state *s, int peer, struct vcci_span span, int left, uint8_t flags)
{
    struct vcci_ref theirs = vcci_part_scratch(s->c, vcci_scratch(s->b, span.len * s->c->type_bytes), span);
    struct vcci_ref mine = vcci_part(s->c, s->acc, 0, span), out = vcci_part(s->c, VCCI_OUT, 0, span);
    uint32_t recv = vcci_recv(s->b, peer, theirs),
             sum = vcci_reduce2(s->b, out, left ? theirs : mine, left ? mine : theirs, flags);
    vcci_after(s->b, sum, recv);
    vcci_after(s->b, sum, s->sum);
    s->sum = sum;
}

static void halve(struct state *s)
{
    struct vcci_span have = vcci_whole(s->c);
    for (int l = 0; l < s->levels; l++) {
        int high = (s->f->v >> l) & 1;
        struct vcci_span low_half = vcci_split(have.len, 2, 0), high_half = vcci_split(have.len, 2, 1);
        low_half.at += have.at;
        high_half.at += have.at;
        s->kept[l] = have = high ? high_half : low_half;
        s->sent[l] = high ? low_half : high_half;
        s->send[l] = vcci_send(s->b, peer_of(s, l), vcci_part(s->c, s->acc, 0, s->sent[l]));
        vcci_after(s->b, s->send[l], s->sum);
        combine(s, peer_of(s, l), have, high, l + 1 == s->levels ? VCCI_FINAL : 0);
        s->acc = VCCI_OUT;
    }
}

/* What this rank has at a level: the sum and all that came at the levels above. */
static void after_all(struct state *s, uint32_t node, int level)
{
    vcci_after(s->b, node, s->sum);
    for (int l = level + 1; l < s->levels; l++)
        vcci_after(s->b, node, s->recv[l]);
}

static void hand_out(struct state *s)
{
    for (int l = s->levels - 1; l >= 0; l--) {
        after_all(s, vcci_send(s->b, peer_of(s, l), vcci_part(s->c, VCCI_OUT, 0, s->kept[l])), l);
        s->recv[l] = vcci_recv(s->b, peer_of(s, l), vcci_part(s->c, VCCI_OUT, 0, s->sent[l]));
        vcci_after(s->b, s->recv[l], s->send[l]); /* it read these bytes */
        vcci_after(s->b, s->recv[l], s->sum);
    }
}

void vcci_allreduce_rabenseifner(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    struct vcci_fold f;
    if (vcci_algo_single(b, a))
        return;
    vcci_cut_messages(b, a, a->count, PARTS, WINDOW, &c);
    vcci_fold(&f, a->rank, a->size);
    struct state s = {.b = b, .c = &c, .f = &f, .acc = VCCI_IN, .sum = VCCI_NONE, .levels = vcci_rounds(f.core)};
    struct vcci_ref out = vcci_part(&c, VCCI_OUT, 0, vcci_whole(&c));
    if (f.role == VCCI_FOLD_GIVES) {
        uint32_t send = vcci_send(b, f.partner, vcci_part(&c, VCCI_IN, 0, vcci_whole(&c)));
        vcci_after(b, vcci_recv(b, f.partner, out), a->in_place ? send : VCCI_NONE);
        return;
    }
    if (f.role == VCCI_FOLD_TAKES) {
        combine(&s, f.partner, vcci_whole(&c), 0, 0);
        s.acc = VCCI_OUT;
    }
    halve(&s);
    hand_out(&s);
    if (f.role == VCCI_FOLD_TAKES)
        after_all(&s, vcci_send(b, f.partner, out), -1);
}
