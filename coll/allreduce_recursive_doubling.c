/* SPDX-License-Identifier: BSD-3-Clause
 * Allreduce by recursive doubling: in each round pairs exchange all they have. Nearest partners first, so each partial sum is
 * of adjacent ranks and rank order holds. Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations
 * in MPICH", 2005. */
#include "coll/algo.h"
#include "coll/pat_exchange.h"

#define WINDOW 4u

struct state {
    struct vcci_builder *b;
    struct vcci_ref in, out, buf[2];
    struct vcci_ref acc; /* what this rank has: IN, later OUT */
    uint32_t last;       /* node that made it */
    uint32_t freed[2];   /* node after which buf may be written again */
    int turn;
};

/* acc = the two in rank order; the peer's comes from the left or from the right. `sent` reads acc until it is over. */
static void combine(struct state *s, int peer, int left, uint32_t sent, uint8_t flags)
{
    struct vcci_ref theirs = s->buf[s->turn];
    uint32_t recv = vcci_recv(s->b, peer, theirs);
    vcci_after(s->b, recv, s->freed[s->turn]);
    uint32_t sum = vcci_reduce2(s->b, s->out, left ? theirs : s->acc, left ? s->acc : theirs, flags);
    vcci_after(s->b, sum, recv);
    vcci_after(s->b, sum, s->last);
    vcci_after(s->b, sum, sent);
    s->freed[s->turn] = s->last = sum;
    s->turn ^= 1;
    s->acc = s->out;
}

void vcci_allreduce_recursive_doubling(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    struct vcci_fold f;
    if (vcci_algo_single(b, a))
        return;
    vcci_cut_messages(b, a, a->count, 1, WINDOW, &c);
    vcci_fold(&f, a->rank, a->size);
    struct state s = {.b = b, .last = VCCI_NONE, .freed = {VCCI_NONE, VCCI_NONE}};
    s.in = s.acc = vcci_part(&c, VCCI_IN, 0, vcci_whole(&c));
    s.out = vcci_part(&c, VCCI_OUT, 0, vcci_whole(&c));
    if (f.role == VCCI_FOLD_GIVES) {
        uint32_t send = vcci_send(b, f.partner, s.in);
        vcci_after(b, vcci_recv(b, f.partner, s.out), a->in_place ? send : VCCI_NONE);
        return;
    }
    for (int i = 0; i < 2; i++)
        s.buf[i] = vcci_part_scratch(&c, vcci_scratch(b, c.per * a->type_bytes), vcci_whole(&c));
    if (f.role == VCCI_FOLD_TAKES)
        combine(&s, f.partner, 0, VCCI_NONE, 0);
    for (int mask = 1; mask < f.core; mask *= 2) {
        int peer = vcci_fold_rank(&f, f.v ^ mask);
        uint32_t send = vcci_send(b, peer, s.acc);
        vcci_after(b, send, s.last);
        combine(&s, peer, (f.v & mask) != 0, send, mask * 2 == f.core ? VCCI_FINAL : 0);
    }
    if (f.role == VCCI_FOLD_TAKES)
        vcci_after(b, vcci_send(b, f.partner, s.out), s.last);
}
