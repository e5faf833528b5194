/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The schedule: what one rank does in one collective, as a DAG of nodes. No pointer, link or queue pair appears in it; buffers are symbolic until a run binds
 * them. One frozen schedule is executed by the engine (coll/sched_run), lowered to a flat program over shared memory (coll/sched_flat), proved by the tests
 * for all ranks at once (tests/sim), and drawn (coll/sched_dump).
 *
 * Chunks. A schedule is one chunk's template, run for chunks k = 0 … n_chunks-1 of which at most `window` are under way. Only refs depend on k.
 */
#ifndef VCCI_COLL_SCHED_H
#define VCCI_COLL_SCHED_H

#include <stddef.h>
#include <stdint.h>

#include "include/vccl.h"

#define VCCI_COLL_TABLE(X)                                                                                                          \
    X(BARRIER, "barrier") X(BCAST, "bcast") X(REDUCE, "reduce") X(ALLREDUCE, "allreduce") X(GATHER, "gather")                        \
    X(SCATTER, "scatter") X(ALLGATHER, "allgather") X(ALLTOALL, "alltoall") X(REDUCE_SCATTER_BLOCK, "reduce_scatter_block")
enum vcci_coll {
#define X(id, name) VCCI_COLL_##id,
    VCCI_COLL_TABLE(X)
#undef X
    VCCI_COLL_NR
};
const char *vcci_coll_name(enum vcci_coll coll);
int vcci_coll_by_name(const char *name); /* -1: none */

/* What a run binds. Bytes that each rank may touch (b = count * type size, n = size):
 *              IN                              OUT
 * barrier      -                               -
 * bcast        -                               b, the caller's buf (root reads it, the others write it)
 * reduce       b                               b on root, nothing elsewhere
 * allreduce    b                               b
 * gather       b                               n*b on root
 * scatter      n*b on root                     b
 * allgather    b                               n*b
 * alltoall     n*b                             n*b
 * red_scat_b   n*b                             b
 * In place (args.in_place) IN and OUT alias: reduce (root), allreduce: IN = OUT. gather (root): IN = OUT + root*b. scatter (root): OUT = IN + root*b. allgather: IN =
 * OUT + rank*b. alltoall: IN = OUT. reduce_scatter_block: OUT = IN (its first b bytes). An algorithm must be right under that aliasing when in_place is set, must not
 * write IN otherwise, and must not copy a range onto itself. in_place is per rank: for the rooted ones only root's may be set. */
enum vcci_space { VCCI_IN, VCCI_OUT, VCCI_SCRATCH };

/* In chunk k a ref means `len(k) = min(bytes, max(0, total - k*bytes))` bytes
 *   IN, OUT:  at base + k*stride
 *   SCRATCH:  at base + (k mod window)*(the schedule's scratch bytes)
 * Without chunks (n_chunks 1): bytes == total, stride unused. */
struct vcci_ref {
    int32_t whose; /* -1: mine; else the SCRATCH of that rank, read-only, flat schedules only */
    uint8_t space;
    size_t base, stride, bytes, total;
};

#define VCCI_NODE_TABLE(X)                                                                                                          \
    X(SEND)        /* in[0] to peer: its pair-th message of this chunk to that peer                                           */    \
    X(RECV)        /* into out[0] from peer                                                                                    */    \
    X(COPY)        /* in[0] to out[0]; same length; no overlap                                                                 */    \
    X(REDUCE)      /* out[0], and out[1] if given = in[0] op in[1] op … in this order; out[0] may be exactly one of the in      */    \
    X(SIGNAL)      /* flat: all that I did before is visible to whoever WAITs for my signal number `pair` of this chunk        */    \
    X(WAIT)        /* flat: for peer's signal number `pair` of this chunk; peer -1: everybody's                                 */
enum vcci_node_kind {
#define X(id) VCCI_NODE_##id,
    VCCI_NODE_TABLE(X)
#undef X
    VCCI_NODE_NR
};
const char *vcci_node_name(enum vcci_node_kind kind);

#define VCCI_FINAL 1u /* node flag on REDUCE and COPY: out holds final result elements (AVG divides here, premultiplied ops are done) */

struct vcci_node {
    uint8_t kind, flags;
    uint16_t n_in, n_out;
    int32_t peer;
    uint32_t pair;
    uint32_t pairs;               /* messages of a chunk between me and peer in this direction: chunk k's pair is k*pairs + pair */
    uint32_t first_ref;           /* refs: in … then out … */
    uint32_t first_succ, n_succ, n_deps;
};

struct vcci_sched { /* frozen: immutable and shareable */
    enum vcci_coll coll;
    const char *algo;
    int rank, size;
    uint8_t flat;                 /* no SEND or RECV: may be lowered to a flat program */
    uint8_t symmetric;            /* flat, and every rank signals and waits for everybody (set by the builder of the algorithm) */
    uint32_t n_phases;            /* flat: signals per chunk over all ranks (most) */
    uint32_t n_nodes, n_refs, n_succs;
    struct vcci_node *nodes;
    struct vcci_ref *refs;
    uint32_t *succs;              /* node ids */
    uint64_t n_chunks;
    uint32_t window;
    size_t scratch;               /* bytes per chunk in the window; flat: of every rank's shared slot */
    vccl_datatype_t type;
    vccl_op_t op;
    int refcount;
};

/* What an algorithm sees. */
struct vcci_coll_args {
    enum vcci_coll coll;
    int rank, size, root;         /* root 0 where there is none */
    size_t count;                 /* elements per block (b / type size); 0 is allowed and must still synchronise as the collective does */
    vccl_datatype_t type;
    size_t type_bytes;
    vccl_op_t op;                 /* VCCL_OP_NULL where there is none */
    uint8_t commutes;             /* 0: keep rank order 0 … n-1 in every sum */
    uint8_t in_place;
    /* the space a flat schedule has: bytes in a rank's slot, and the number of slots (bound on window) */
    size_t slot_bytes;
    uint32_t slots;
    size_t chunk_bytes;           /* wanted size of a pipelined message, engine schedules (0: the builder's default) */
};

/* ---- builder: an algorithm is one function that emits nodes; errors stick and come out of freeze ---- */
struct vcci_builder;
typedef void vcci_algo_fn(struct vcci_builder *b, const struct vcci_coll_args *a);

struct vcci_builder *vcci_builder_create(const struct vcci_coll_args *a, const char *algo); /* NULL: no memory */
void vcci_builder_destroy(struct vcci_builder *b);

/* Whole-message ref: bytes at base of one of my spaces. */
struct vcci_ref vcci_ref(enum vcci_space space, size_t base, size_t bytes);
/* Chunked: len(k) bytes at base + k*stride, total over all chunks `total`. */
struct vcci_ref vcci_ref_chunked(enum vcci_space space, size_t base, size_t stride, size_t bytes, size_t total);
/* The same range of rank `whose`'s SCRATCH. */
struct vcci_ref vcci_ref_of(int whose, struct vcci_ref ref);
/* Reserves scratch (per chunk; 64-byte aligned within the chunk's part) and returns its base. */
size_t vcci_scratch(struct vcci_builder *b, size_t bytes);

/* Each returns the node's id. `after` edges are the caller's, unless the builder chains. */
uint32_t vcci_send(struct vcci_builder *b, int peer, struct vcci_ref src);
uint32_t vcci_recv(struct vcci_builder *b, int peer, struct vcci_ref dst);
uint32_t vcci_copy(struct vcci_builder *b, struct vcci_ref dst, struct vcci_ref src, uint8_t flags);
uint32_t vcci_reduce(struct vcci_builder *b, const struct vcci_ref *dsts, unsigned n_dsts, const struct vcci_ref *srcs, unsigned n_srcs,
                     uint8_t flags);
/* dst = a op b */
uint32_t vcci_reduce2(struct vcci_builder *b, struct vcci_ref dst, struct vcci_ref left, struct vcci_ref right, uint8_t flags);
uint32_t vcci_signal(struct vcci_builder *b);                           /* my next signal of this chunk: number 0, 1, …   */
uint32_t vcci_wait(struct vcci_builder *b, int peer, uint32_t signal); /* peer -1: everybody                            */
#define VCCI_NONE UINT32_MAX /* as a node id: nothing, edges to it are ignored */
void vcci_after(struct vcci_builder *b, uint32_t node, uint32_t dep);   /* node starts when dep is complete              */
void vcci_chain(struct vcci_builder *b, int on);                        /* on: each new node comes after the one before  */
void vcci_repeat(struct vcci_builder *b, uint64_t n_chunks, uint32_t window); /* default 1, 1. Called once, before nodes */
void vcci_symmetric(struct vcci_builder *b);                            /* flat: every rank signals and waits for all    */
void vcci_fail_build(struct vcci_builder *b, const char *why);          /* this algorithm cannot do these arguments      */

/* Checks (acyclic, refs in bounds of IN, OUT and scratch, lengths of in and out agree in every chunk, edges name nodes, only reads name a
 * peer's scratch) and flattens. Destroys the builder. 0, or < 0 with the text. Reference count 1. */
int vcci_freeze(struct vcci_builder *b, struct vcci_sched **sched_out);
struct vcci_sched *vcci_sched_get(struct vcci_sched *sched);
void vcci_sched_put(struct vcci_sched *sched);

/* Offset and length of a ref in chunk k. */
static inline size_t vcci_ref_len(const struct vcci_ref *r, uint64_t k)
{
    size_t at = k * r->bytes;
    return at >= r->total ? 0 : r->total - at < r->bytes ? r->total - at : r->bytes;
}
static inline size_t vcci_ref_offset(const struct vcci_sched *s, const struct vcci_ref *r, uint64_t k)
{
    return r->space == VCCI_SCRATCH ? r->base + (k % s->window) * s->scratch : r->base + k * r->stride;
}

/* ---- the table of algorithms (coll/algo_table.c): adding one is one line there and one file ---- */
struct vcci_cost_params { /* nanoseconds; costs per link class, shipped or calibrated */
    double alpha_flat, beta_flat;   /* a flat hand-over; a byte through shared memory                */
    double alpha_msg, beta_msg;     /* an engine-run message; a byte of it                            */
    double gamma;                   /* a byte reduced                                                 */
    double alpha_switch;            /* a context switch, where ranks outnumber cores                  */
    double crowd;                   /* ranks per core, at least 1                                     */
};
/* The shipped costs for `ranks` ranks of one host on `cores` cores. */
void vcci_cost_default(int ranks, int cores, struct vcci_cost_params *params_out);
struct vcci_algo {
    const char *name;
    enum vcci_coll coll;
    uint8_t flat;            /* needs all ranks in shared memory */
    uint8_t commutative_only;
    const char *source;      /* paper and year, or "folklore" */
    vcci_algo_fn *build;
    /* estimated nanoseconds; < 0: cannot do these arguments */
    double (*cost)(const struct vcci_coll_args *a, const struct vcci_cost_params *p);
};
extern const struct vcci_algo vcci_algos[];
extern const unsigned vcci_algos_nr;
const struct vcci_algo *vcci_algo_find(enum vcci_coll coll, const char *name); /* NULL: none */

/* ---- dump (coll/sched_dump.c) ---- as snprintf ---- */
int vcci_sched_text(const struct vcci_sched *s, char *buf, size_t cap);
int vcci_sched_dot(const struct vcci_sched *s, char *buf, size_t cap);

#endif
