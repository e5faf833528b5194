/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the algorithms share, and their list. An algorithm is a file coll/<collective>_<algorithm>.c with the one function that
 * emits its nodes, a line here, and a cost in coll/cost.c.
 *
 * Every algorithm does what vcci_algo_single does when there is one rank, and cuts its vector into chunks (struct
 * vcci_chunks): the nodes it emits are for one chunk, whole elements, and no chunk touches another's bytes of IN and OUT. */
#ifndef VCCI_COLL_ALGO_H
#define VCCI_COLL_ALGO_H

#include "coll/pat_ring.h"
#include "coll/sched.h"

/* X(collective, algorithm, flat, commutative only, source): vcci_<collective>_<algorithm> builds it, …_cost estimates it */
#define VCCI_ALGO_TABLE(X)                                                                                                          \
    X(BARRIER, barrier, flat, 1, 0, "folklore: a flag per rank")                                                                    \
    X(BARRIER, barrier, dissemination, 0, 0, "Hensgen, Finkel, Manber 1988")                                                        \
    X(BCAST, bcast, flat, 1, 0, "folklore: root's shared slot")                                                                     \
    X(BCAST, bcast, binomial, 0, 0, "folklore; Johnsson, Ho 1989")                                                                  \
    X(BCAST, bcast, chain, 0, 0, "folklore: pipeline")                                                                              \
    X(BCAST, bcast, scatter_allgather, 0, 0, "van de Geijn et al. 1994")                                                            \
    X(REDUCE, reduce, flat, 1, 0, "folklore: root sums shared slots")                                                               \
    X(REDUCE, reduce, flat_rsg, 1, 0, "reduce-scatter and gather in shared slots; Rabenseifner 2004")                               \
    X(REDUCE, reduce, binomial, 0, 0, "folklore; Johnsson, Ho 1989")                                                                \
    X(REDUCE, reduce, rsg, 0, 1, "ring reduce-scatter and gather; Rabenseifner 2004")                                               \
    X(ALLREDUCE, allreduce, flat, 1, 0, "folklore: everybody sums all shared slots")                                                \
    X(ALLREDUCE, allreduce, flat_rsag, 1, 0, "reduce-scatter and allgather in shared slots; Rabenseifner 2004")                     \
    X(ALLREDUCE, allreduce, recursive_doubling, 0, 0, "Thakur, Rabenseifner, Gropp 2005")                                           \
    X(ALLREDUCE, allreduce, rabenseifner, 0, 0, "Rabenseifner 2004, nearest partner first")                                         \
    X(ALLREDUCE, allreduce, ring, 0, 1, "Patarasuk, Yuan 2009")                                                                     \
    X(ALLREDUCE, allreduce, tree, 0, 0, "folklore: binomial reduce and bcast, pipelined")                                           \
    X(GATHER, gather, flat, 1, 0, "folklore: shared slots")                                                                         \
    X(GATHER, gather, linear, 0, 0, "folklore")                                                                                     \
    X(GATHER, gather, binomial, 0, 0, "folklore; Johnsson, Ho 1989")                                                                \
    X(SCATTER, scatter, flat, 1, 0, "folklore: root's shared slot")                                                                 \
    X(SCATTER, scatter, linear, 0, 0, "folklore")                                                                                   \
    X(SCATTER, scatter, binomial, 0, 0, "folklore; Johnsson, Ho 1989")                                                              \
    X(ALLGATHER, allgather, flat, 1, 0, "folklore: shared slots")                                                                   \
    X(ALLGATHER, allgather, ring, 0, 0, "folklore; Chan et al. 2007")                                                               \
    X(ALLGATHER, allgather, bruck, 0, 0, "Bruck et al. 1997")                                                                       \
    X(ALLTOALL, alltoall, flat, 1, 0, "folklore: shared slots")                                                                     \
    X(ALLTOALL, alltoall, pairwise, 0, 0, "folklore: a matching per step")                                                          \
    X(ALLTOALL, alltoall, bruck, 0, 0, "Bruck et al. 1997")                                                                         \
    X(REDUCE_SCATTER_BLOCK, reduce_scatter_block, flat, 1, 0, "folklore: shared slots")                                             \
    X(REDUCE_SCATTER_BLOCK, reduce_scatter_block, pairwise, 0, 0, "folklore; Thakur, Rabenseifner, Gropp 2005")                     \
    X(REDUCE_SCATTER_BLOCK, reduce_scatter_block, ring, 0, 1, "Patarasuk, Yuan 2009")                                               \
    X(REDUCE_SCATTER_BLOCK, reduce_scatter_block, halving, 0, 1, "recursive halving; Thakur, Rabenseifner, Gropp 2005")

#define X(id, coll, algo, flat, commutative, source)                                                                                \
    vcci_algo_fn vcci_##coll##_##algo;                                                                                              \
    double vcci_##coll##_##algo##_cost(const struct vcci_coll_args *a, const struct vcci_cost_params *p);
VCCI_ALGO_TABLE(X)
#undef X

/* `count` elements cut into n chunks of `per` elements (the last may have fewer). */
struct vcci_chunks {
    size_t count, per, type_bytes;
    uint64_t n;
};
/* At most `most` elements a chunk, as even as can be; `unit` elements (0, 1: any) divide the chunks where that leaves them
 * within `most`. */
void vcci_chunks_cut(struct vcci_chunks *c, size_t count, size_t type_bytes, size_t most, size_t unit);
/* The elements [s.at, s.at + s.len) of every chunk (in the last one what there is of them) of the vector at byte `base` of IN
 * or OUT … */
struct vcci_ref vcci_part(const struct vcci_chunks *c, enum vcci_space space, size_t base, struct vcci_span s);
/* … and as much SCRATCH at byte `base`. */
struct vcci_ref vcci_part_scratch(const struct vcci_chunks *c, size_t base, struct vcci_span s);
/* All of every chunk. */
static inline struct vcci_span vcci_whole(const struct vcci_chunks *c)
{
    return (struct vcci_span){.at = 0, .len = c->per};
}

/* One rank: OUT = IN, or nothing. 1 if that is all there is to do. */
int vcci_algo_single(struct vcci_builder *b, const struct vcci_coll_args *a);

/* For flat algorithms: cuts a vector of `count` elements so that `pieces` chunks fit a slot; repeats and chains. -1: cannot
 * (the build fails). */
int vcci_cut_flat(struct vcci_builder *b, const struct vcci_coll_args *a, size_t count, size_t pieces, struct vcci_chunks *c_out);
/* Elements of one piece that a slot has room for. */
size_t vcci_flat_room(const struct vcci_coll_args *a, size_t pieces);
/* For algorithms of messages: cuts a vector of which one message carries about a `parts`-th; `window` chunks under way. */
void vcci_cut_messages(struct vcci_builder *b, const struct vcci_coll_args *a, size_t count, size_t parts, uint32_t window,
                       struct vcci_chunks *c_out);

/* n_dsts outputs = the sum over all ranks in rank order of `slot` of their SCRATCH; of this rank: `own`. */
void vcci_reduce_slots(struct vcci_builder *b, const struct vcci_coll_args *a, const struct vcci_ref *dsts, unsigned n_dsts,
                       struct vcci_ref own, struct vcci_ref slot);

/* Ranks renumbered so that root is 0, and back. */
static inline int vcci_virtual(const struct vcci_coll_args *a, int rank)
{
    return vcci_ring_at(rank, -(long)a->root, a->size);
}
static inline int vcci_actual(const struct vcci_coll_args *a, int v)
{
    return vcci_ring_at(v, a->root, a->size);
}
/* Of the virtual ranks [v, v + span), how many come before the wrap from rank n-1 to rank 0; all if it is not among them. */
static inline int vcci_before_wrap(const struct vcci_coll_args *a, int v, int span)
{
    int left = a->size - a->root - v;
    return left <= 0 || left >= span ? span : left;
}

#endif
