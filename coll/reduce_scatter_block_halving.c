/* SPDX-License-Identifier: BSD-3-Clause
 * Reduce_scatter_block by recursive halving: pairs exchange halves of their blocks, farthest partners first, so everybody ends
 * with its own block. Partial sums are of ranks that are not adjacent, so the op must commute. Thakur, Rabenseifner and Gropp,
 * "Optimization of collective communication operations in MPICH", 2005. */
#include "coll/algo.h"
#include "coll/pat_exchange.h"

struct state {
    struct vcci_builder *b;
    const struct vcci_coll_args *a;
    struct vcci_fold f;
    size_t bytes;
    enum vcci_space acc; /* the partial sums of the blocks from rank `first` on lie at `base` there */
    size_t base;
    int first;
    uint32_t sum; /* node that made them */
};

/* The blocks of the ranks that [v, w) stand for, in the partial sums. */
static struct vcci_ref blocks(const struct state *s, int v, int w)
{
    int from = v < s->f.core ? vcci_fold_rank(&s->f, v) : s->a->size, to = w < s->f.core ? vcci_fold_rank(&s->f, w) : s->a->size;
    return vcci_ref(s->acc, s->base + (size_t)(from - s->first) * s->bytes, (size_t)(to - from) * s->bytes);
}

/* Receives operands for the blocks `mine` and sums them where they arrive, which becomes the partial sums. */
static void combine(struct state *s, int peer, struct vcci_ref mine, int first)
{
    size_t base = vcci_scratch(s->b, mine.bytes);
    struct vcci_ref theirs = vcci_ref(VCCI_SCRATCH, base, mine.bytes);
    uint32_t recv = vcci_recv(s->b, peer, theirs), sum = vcci_reduce2(s->b, theirs, mine, theirs, 0);
    vcci_after(s->b, sum, recv);
    vcci_after(s->b, sum, s->sum);
    s->sum = sum;
    s->acc = VCCI_SCRATCH;
    s->base = base;
    s->first = first;
}

/* The last exchange: the own block's sum goes to OUT, the one of a rank that sat out to that rank. */
static void finish(struct state *s, int peer, struct vcci_ref mine, uint32_t first_send)
{
    struct vcci_ref theirs = vcci_ref(VCCI_SCRATCH, vcci_scratch(s->b, mine.bytes), mine.bytes);
    uint32_t recv = vcci_recv(s->b, peer, theirs);
    for (int i = 0; i < (s->f.role == VCCI_FOLD_TAKES ? 2 : 1); i++) {
        struct vcci_ref left = vcci_ref(mine.space, mine.base + (size_t)i * s->bytes, s->bytes);
        struct vcci_ref right = vcci_ref(VCCI_SCRATCH, theirs.base + (size_t)i * s->bytes, s->bytes);
        struct vcci_ref to = i ? right : vcci_ref(VCCI_OUT, 0, s->bytes);
        uint32_t sum = vcci_reduce2(s->b, to, left, right, VCCI_FINAL);
        vcci_after(s->b, sum, recv);
        vcci_after(s->b, sum, s->sum);
        vcci_after(s->b, sum, first_send); /* in place, OUT is the first block of IN, which that reads */
        if (i)
            vcci_after(s->b, vcci_send(s->b, s->f.partner, to), sum);
    }
}

void vcci_reduce_scatter_block_halving(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct state s = {.b = b, .a = a, .bytes = a->count * a->type_bytes, .acc = VCCI_IN, .sum = VCCI_NONE};
    struct vcci_ref all = vcci_ref(VCCI_IN, 0, (size_t)a->size * s.bytes);
    uint32_t first_send = VCCI_NONE;
    if (vcci_algo_single(b, a))
        return;
    vcci_fold(&s.f, a->rank, a->size);
    if (s.f.role == VCCI_FOLD_GIVES) {
        uint32_t send = vcci_send(b, s.f.partner, all);
        vcci_after(b, vcci_recv(b, s.f.partner, vcci_ref(VCCI_OUT, 0, s.bytes)), a->in_place ? send : VCCI_NONE);
        return;
    }
    if (s.f.role == VCCI_FOLD_TAKES)
        combine(&s, s.f.partner, all, 0);
    for (int half = s.f.core / 2, low = 0; half >= 1; half /= 2) {
        int high = (s.f.v & half) != 0, peer = vcci_fold_rank(&s.f, s.f.v ^ half), mine = high ? low + half : low;
        uint32_t send = vcci_send(b, peer, high ? blocks(&s, low, low + half) : blocks(&s, low + half, low + 2 * half));
        vcci_after(b, send, s.sum);
        if (first_send == VCCI_NONE)
            first_send = send;
        if (half > 1)
            combine(&s, peer, blocks(&s, mine, mine + half), vcci_fold_rank(&s.f, mine));
        else
            finish(&s, peer, blocks(&s, mine, mine + 1), a->in_place ? first_send : VCCI_NONE);
        low = mine;
    }
}
