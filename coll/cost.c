/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the algorithms cost, in nanoseconds: latency of hand-overs and messages on the longest path, bytes moved and summed by
 * the busiest rank. Ranks that share a core take turns: their bytes count `crowd` times, and each step on which ranks wait for
 * each other costs a turn of all of them. */
#include "coll/algo.h"
#include "coll/pat_exchange.h"

#define NEVER      (-1.0)
#define SCAN_SHARE 0.1 /* of alpha_flat: looking at one more rank's line */

void vcci_cost_default(int ranks, int cores, struct vcci_cost_params *params_out)
{
    *params_out = (struct vcci_cost_params){.alpha_flat = 200,
                                            .beta_flat = 0.05,
                                            .alpha_msg = 400,
                                            .beta_msg = 0.12,
                                            .gamma = 0.01,
                                            .alpha_switch = 1000,
                                            .crowd = cores > 0 && ranks > cores ? (double)ranks / cores : 1};
}

/* A call and the costs as the formulas below want them. */
struct terms {
    double n, bytes;    /* ranks; bytes of a block */
    double rounds;      /* log2(n), rounded up */
    double turn;        /* one step on which ranks wait for each other, where they share cores */
    double flat, msg;   /* a hand-over; a message */
    double copy, carry; /* a byte through shared memory; a byte of a message; both by every rank at once */
    double sum;         /* a byte summed by every rank at once */
    double alone;       /* the share of those that one rank pays while the others wait */
};

static struct terms terms_of(const struct vcci_coll_args *a, const struct vcci_cost_params *p)
{
    double crowd = p->crowd > 1 ? p->crowd : 1;
    struct terms t = {.n = a->size, .bytes = (double)a->count * (double)a->type_bytes, .rounds = vcci_rounds(a->size)};
    t.turn = crowd > 1 ? p->alpha_switch * crowd : 0;
    t.flat = p->alpha_flat * (1 + SCAN_SHARE * (t.n > 2 ? t.n - 2 : 0)) + t.turn;
    t.msg = p->alpha_msg + t.turn;
    t.copy = p->beta_flat * crowd;
    t.carry = p->beta_msg * crowd;
    t.sum = p->gamma * crowd;
    t.alone = 1 / crowd;
    return t;
}

/* Hand-overs of a flat algorithm: the first chunk's in full, of each further one what overlap does not hide. */
static double hand_overs(const struct vcci_coll_args *a, const struct terms *t, size_t pieces, int phases)
{
    size_t room = vcci_flat_room(a, pieces);
    double chunks = a->count ? (double)((a->count - 1) / room + 1) : 1;
    return phases * (t->flat + (chunks - 1) * t->flat / 4);
}

/* The flat ones: `moved` bytes copied and `summed` bytes summed by every rank; -1 without shared memory. */
static double flat(const struct vcci_coll_args *a, const struct terms *t, size_t pieces, int phases, double moved, double summed)
{
    if (a->size == 1)
        return 1;
    if (!vcci_flat_room(a, pieces))
        return NEVER;
    return hand_overs(a, t, pieces, phases) + moved * t->copy + summed * t->sum;
}

/* The others: messages on the longest path, bytes that a rank sends, receives and sums. */
static double messages(const struct vcci_coll_args *a, const struct terms *t, double steps, double carried, double summed)
{
    return a->size == 1 ? 2 : steps * t->msg + carried * t->carry + summed * t->sum;
}

static int unordered(const struct vcci_coll_args *a)
{
    return a->op == VCCL_OP_NULL || a->commutes || a->size == 1;
}

/* Ranks that recursive doubling and halving fold away first: two more steps with all bytes. */
static double folded(const struct vcci_coll_args *a)
{
    return vcci_is_pow2(a->size) ? 0 : 2;
}

/* A rank's messages to or from all others at once: of each but the first what it costs to issue it, and to switch to its peer. */
static double fan(const struct vcci_coll_args *a, const struct vcci_cost_params *p)
{
    return a->size > 2 ? (a->size - 2) * (p->alpha_msg + (p->crowd > 1 ? p->alpha_switch : 0)) : 0;
}

#define COST(name) double vcci_##name##_cost(const struct vcci_coll_args *a, const struct vcci_cost_params *p)

COST(barrier_flat)
{
    struct terms t = terms_of(a, p);
    return a->size == 1 ? 1 : a->slots ? t.flat : NEVER;
}

COST(barrier_dissemination)
{
    struct terms t = terms_of(a, p);
    return messages(a, &t, t.rounds, 0, 0);
}

COST(bcast_flat)
{
    struct terms t = terms_of(a, p);
    return flat(a, &t, 1, 1, t.bytes * (1 + t.alone / 4), 0);
}

COST(bcast_binomial)
{
    struct terms t = terms_of(a, p);
    return messages(a, &t, t.rounds, t.rounds * t.bytes, 0);
}

COST(bcast_chain)
{
    struct terms t = terms_of(a, p);
    return messages(a, &t, t.n - 1, 2 * t.bytes, 0) + t.bytes / 65536 * p->alpha_msg;
}

COST(bcast_scatter_allgather)
{
    struct terms t = terms_of(a, p);
    return messages(a, &t, t.rounds + t.n - 1, 3 * t.bytes * (t.n - 1) / t.n, 0);
}

COST(reduce_flat)
{
    struct terms t = terms_of(a, p);
    return flat(a, &t, 1, 1, t.bytes + (t.n - 1) * t.bytes * t.alone, t.n * t.bytes * t.alone);
}

COST(reduce_flat_rsg)
{
    struct terms t = terms_of(a, p);
    return flat(a, &t, 1, 2, t.bytes * (2 + t.alone * (t.n - 1) / t.n), t.bytes);
}

COST(reduce_binomial)
{
    struct terms t = terms_of(a, p);
    return messages(a, &t, t.rounds + (a->root && !unordered(a)), t.rounds * t.bytes, t.rounds * t.bytes);
}

COST(reduce_rsg)
{
    struct terms t = terms_of(a, p);
    return unordered(a) ? messages(a, &t, t.n, 3 * t.bytes * (t.n - 1) / t.n, t.bytes) : NEVER;
}

COST(allreduce_flat)
{
    struct terms t = terms_of(a, p);
    return flat(a, &t, 1, 1, t.n * t.bytes, t.n * t.bytes);
}

COST(allreduce_flat_rsag)
{
    struct terms t = terms_of(a, p);
    return flat(a, &t, 1, 2, t.bytes * (3 * t.n - 2) / t.n, t.bytes);
}

COST(allreduce_recursive_doubling)
{
    struct terms t = terms_of(a, p);
    double steps = vcci_rounds(a->size + 1) - 1 + folded(a); /* log2 of the power of two below */
    return messages(a, &t, steps, 2 * steps * t.bytes, steps * t.bytes);
}

COST(allreduce_rabenseifner)
{
    struct terms t = terms_of(a, p);
    double steps = vcci_rounds(a->size + 1) - 1;
    return messages(a, &t, 2 * steps + folded(a), (4 + folded(a)) * t.bytes, (1 + folded(a) / 2) * t.bytes);
}

COST(allreduce_ring)
{
    struct terms t = terms_of(a, p);
    return unordered(a) ? messages(a, &t, 2 * (t.n - 1), 4 * t.bytes * (t.n - 1) / t.n, t.bytes) : NEVER;
}

COST(allreduce_tree)
{
    struct terms t = terms_of(a, p);
    return messages(a, &t, 2 * t.rounds, 2 * t.rounds * t.bytes, t.rounds * t.bytes);
}

COST(gather_flat)
{
    struct terms t = terms_of(a, p);
    return flat(a, &t, 1, 1, t.bytes * (1 + t.n * t.alone), 0);
}

COST(gather_linear)
{
    struct terms t = terms_of(a, p);
    return messages(a, &t, 1, (t.n - 1) * t.bytes * t.alone, 0) + fan(a, p);
}

COST(gather_binomial)
{
    struct terms t = terms_of(a, p);
    return messages(a, &t, t.rounds, (1.5 * t.n - 1) * t.bytes, 0);
}

/* Blocks so large that their receivers, who then have the core, read them at the root, many ranks a core. */
static int read_in_place(const struct terms *t, const struct vcci_cost_params *p)
{
    return p->crowd > 2 && t->bytes >= 128 << 10;
}

COST(scatter_flat)
{
    struct terms t = terms_of(a, p);
    double chunks = t.bytes / (double)(a->slot_bytes ? a->slot_bytes : 1) * t.n;
    /* of a chunk each rank has but a piece: where many share a core, their turns cost more than the pieces */
    return flat(a, &t, (size_t)a->size, 1, t.bytes * (1 + t.n * t.alone), 0) + (read_in_place(&t, p) ? 4 * chunks * t.turn : 0);
}

COST(scatter_linear)
{
    struct terms t = terms_of(a, p);
    double carried = read_in_place(&t, p) ? 0.3 : 1;
    return messages(a, &t, 1, (t.n - 1) * t.bytes * t.alone * carried, 0) + fan(a, p);
}

COST(scatter_binomial)
{
    struct terms t = terms_of(a, p);
    return messages(a, &t, t.rounds, (1.5 * t.n - 1) * t.bytes, 0);
}

COST(allgather_flat)
{
    struct terms t = terms_of(a, p);
    return flat(a, &t, 1, 1, (t.n + 1) * t.bytes, 0);
}

COST(allgather_ring)
{
    struct terms t = terms_of(a, p);
    return messages(a, &t, t.n - 1, 2 * (t.n - 1) * t.bytes, 0);
}

COST(allgather_bruck)
{
    struct terms t = terms_of(a, p);
    return messages(a, &t, t.rounds, 2.5 * t.n * t.bytes, 0);
}

COST(alltoall_flat)
{
    struct terms t = terms_of(a, p);
    return flat(a, &t, (size_t)a->size, 1, (2 * t.n - 1) * t.bytes, 0);
}

COST(alltoall_pairwise)
{
    struct terms t = terms_of(a, p);
    return messages(a, &t, t.n - 1, 2 * (t.n - 1) * t.bytes, 0);
}

COST(alltoall_bruck)
{
    struct terms t = terms_of(a, p);
    return messages(a, &t, t.rounds, (t.rounds + 1) * t.n * t.bytes, 0) + t.n * 50;
}

COST(reduce_scatter_block_flat)
{
    struct terms t = terms_of(a, p);
    return flat(a, &t, (size_t)a->size, 1, 2 * (t.n - 1) * t.bytes, t.n * t.bytes);
}

COST(reduce_scatter_block_pairwise)
{
    struct terms t = terms_of(a, p);
    return messages(a, &t, 1, 2 * (t.n - 1) * t.bytes, t.n * t.bytes) + fan(a, p);
}

COST(reduce_scatter_block_ring)
{
    struct terms t = terms_of(a, p);
    return unordered(a) ? messages(a, &t, t.n - 1, 2 * (t.n - 1) * t.bytes, (t.n - 1) * t.bytes) : NEVER;
}

COST(reduce_scatter_block_halving)
{
    struct terms t = terms_of(a, p);
    double steps = vcci_rounds(a->size + 1) - 1;
    return unordered(a) ? messages(a, &t, steps + folded(a), (2 + folded(a)) * t.n * t.bytes, (1 + folded(a) / 2) * t.n * t.bytes)
                        : NEVER;
}
