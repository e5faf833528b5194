/* SPDX-License-Identifier: BSD-3-Clause
 * Alltoall of small blocks in log2(n) rounds: the block for the i-th next rank travels the ones of i, 2^k ranks at a time.
 * Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing systems", 1997. Blocks are
 * packed from wherever they came to lie; nothing is unpacked between rounds. */
#include <stdlib.h>

#include "coll/algo.h"
#include "coll/pat_exchange.h"

struct place {
    enum vcci_space space;
    size_t at;
};
struct state {
    struct vcci_builder *b;
    const struct vcci_coll_args *a;
    struct place *place; /* [i]: where the block that goes (or has come) i ranks is now */
    size_t bytes;
    uint32_t last; /* copies run one after the other: what comes after the last has them all behind it */
};

static void copy(struct state *s, enum vcci_space to, size_t at, struct place from, size_t bytes)
{
    uint32_t node = vcci_copy(s->b, vcci_ref(to, at, bytes), vcci_ref(from.space, from.at, bytes), 0);
    vcci_after(s->b, node, s->last);
    s->last = node;
}

/* Packs the blocks with this bit into scratch at `base`, runs of adjacent ones in one copy; returns the number of bytes. */
static size_t pack(struct state *s, int bit, size_t base)
{
    size_t packed = 0, run = 0;
    struct place from = {0};
    for (int i = bit; i < s->a->size; i++) {
        if (!(i & bit))
            continue;
        if (run && (s->place[i].space != from.space || s->place[i].at != from.at + run * s->bytes)) {
            copy(s, VCCI_SCRATCH, base + packed, from, run * s->bytes);
            packed += run * s->bytes;
            run = 0;
        }
        if (!run)
            from = s->place[i];
        run++;
    }
    copy(s, VCCI_SCRATCH, base + packed, from, run * s->bytes);
    return packed + run * s->bytes;
}

static void round_of(struct state *s, int bit)
{
    size_t blocks = 0;
    for (int i = bit; i < s->a->size; i++)
        blocks += (i & bit) != 0;
    size_t out = vcci_scratch(s->b, blocks * s->bytes), in = vcci_scratch(s->b, blocks * s->bytes);
    size_t bytes = pack(s, bit, out);
    uint32_t send = vcci_send(s->b, vcci_ring_at(s->a->rank, bit, s->a->size), vcci_ref(VCCI_SCRATCH, out, bytes));
    vcci_after(s->b, send, s->last);
    uint32_t recv = vcci_recv(s->b, vcci_ring_at(s->a->rank, -(long)bit, s->a->size), vcci_ref(VCCI_SCRATCH, in, bytes));
    vcci_after(s->b, recv, s->last);
    s->last = recv;
    for (int i = bit, k = 0; i < s->a->size; i++)
        if (i & bit)
            s->place[i] = (struct place){VCCI_SCRATCH, in + (size_t)k++ * s->bytes};
}

void vcci_alltoall_bruck(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    int n = a->size;
    if (vcci_algo_single(b, a))
        return;
    struct state s = {.b = b, .a = a, .bytes = a->count * a->type_bytes, .last = VCCI_NONE};
    s.place = malloc((size_t)n * sizeof *s.place);
    if (!s.place) {
        vcci_fail_build(b, "out of memory");
        return;
    }
    for (int i = 0; i < n; i++)
        s.place[i] = (struct place){VCCI_IN, (size_t)vcci_ring_at(a->rank, i, n) * s.bytes};
    for (int bit = 1, k = 0; k < vcci_rounds(n); k++, bit *= 2)
        round_of(&s, bit);
    for (int i = a->in_place ? 1 : 0; i < n; i++)
        copy(&s, VCCI_OUT, (size_t)vcci_ring_at(a->rank, -i, n) * s.bytes, s.place[i], s.bytes);
    free(s.place);
}
