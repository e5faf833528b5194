/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The symbolic check: builds the schedules of all ranks for one call, runs them in this process in an order chosen by a seed,
 * and proves that the result is right. A value is not a number but the expression that made it (expr.c), so a sum's order, and
 * that each operand is in it once, are seen.
 *
 * Races do not depend on luck: each element knows who wrote it last and who has read it since, and an access must be ordered
 * after those by the schedule itself: by a path of edges on its rank, or, in flat schedules, by signals and waits (vector
 * clocks). So one run finds a missing edge in whatever order it went. */
#ifndef VCCI_TESTS_SIM_H
#define VCCI_TESTS_SIM_H

#include <stddef.h>
#include <stdint.h>

#include "coll/sched.h"

#define SIM_NONE UINT32_MAX

enum sim_in_place { SIM_NOBODY, SIM_EVERYBODY, SIM_SOME }; /* rooted: EVERYBODY is root; SOME by seed */
enum sim_mutation {
    SIM_AS_BUILT,
    SIM_DROP_EDGE,
    SIM_SWAP_OPERANDS,
    SIM_SHIFT_REF,
    SIM_DROP_FINAL,
    SIM_DROP_WAIT,
    SIM_EARLY_SIGNAL,
    SIM_WRONG_PEER,
    SIM_MUTATION_NR
};

struct sim_case {
    const struct vcci_algo *algo;
    int size, root, commutes, in_place;
    size_t count, type_bytes;
    size_t slot_bytes, chunk_bytes;
    uint32_t slots;
    uint64_t seed;
    int mutation;    /* enum sim_mutation */
    uint32_t mutant; /* which of the places where it can be done */
};

/* ---- expressions (expr.c) ---- */
struct sim_exprs;
struct sim_exprs *sim_exprs_create(void);
void sim_exprs_destroy(struct sim_exprs *e);
void sim_exprs_reset(struct sim_exprs *e, int size, size_t elements, int commutes); /* elements: of each rank's operand */
/* Ids of values; 0 is no value. NULL in *why_out: fine. */
uint32_t sim_leaf(const struct sim_exprs *e, int rank, size_t element);
uint32_t sim_sum(struct sim_exprs *e, const uint32_t *operands, unsigned n, const char **why_out); /* one REDUCE */
uint32_t sim_final(struct sim_exprs *e, uint32_t value, const char **why_out);
/* Is it FINAL (`bare`: or need not be) and the sum of that element over all ranks. */
int sim_is_total(const struct sim_exprs *e, uint32_t value, size_t element, int bare);
int sim_is_leaf(const struct sim_exprs *e, uint32_t value, int rank, size_t element);
int sim_text(const struct sim_exprs *e, uint32_t value, char *buf, size_t cap); /* as snprintf */

/* ---- the world of one case (world.c) ---- */
struct sim_cell {
    uint32_t value;
    uint32_t w_rank, w_node, w_chunk; /* last writer; w_node SIM_NONE: none */
    uint32_t readers;                 /* list of those since; SIM_NONE */
};
struct sim_reader {
    uint32_t rank, node, chunk, next;
};
struct sim_rank {
    struct vcci_sched *sched;
    int in_place;
    struct sim_cell *user, *scratch;
    size_t n_user, in_at, out_at, n_in, n_out, n_scratch; /* elements */
    size_t places, stride;                                /* scratch: chunks that have a part of their own, elements of a part */
};
struct sim_world {
    struct sim_case c;
    struct vcci_coll_args args; /* rank 0's */
    struct sim_rank *ranks;
    struct sim_exprs *exprs;
    struct sim_reader *readers;
    size_t n_readers, cap_readers;
    uint64_t random;
    /* Is the earlier access (rank, node) ordered before (rank2, node2), both of this chunk? The executor's. */
    int (*ordered)(const struct sim_world *w, uint32_t rank, uint32_t node, uint32_t rank2, uint32_t node2, uint64_t chunk);
    void *executor;
    int failed, built, mutated;
    char why[512];
};
int sim_fail(struct sim_world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* -1; keeps the first */
uint64_t sim_random(struct sim_world *w);
/* Moves one node's data. `payload` (SEND: filled, RECV: taken), may be NULL otherwise. 0 or -1. */
int sim_move(struct sim_world *w, int rank, uint64_t chunk, uint32_t node, uint32_t *payload);
/* The case as one line that sim_parse reads. */
int sim_print(const struct sim_case *c, char *buf, size_t cap);
int sim_parse(const char *text, struct sim_case *c_out); /* 0 or -1 */
/* Runs a case; 0, or -1 and the reason in why. *mutated_out, may be NULL: the mutation was possible. */
int sim_run(const struct sim_case *c, struct sim_exprs *exprs, char *why, size_t cap, int *mutated_out);

/* ---- executors ---- 0 or -1 */
int sim_engine(struct sim_world *w); /* engine.c: messages */
int sim_flat(struct sim_world *w);   /* flat.c: shared memory */

/* Does w->c.mutation; 1 done, 0 there is no such place. (mutate.c) */
int sim_mutate(struct sim_world *w);

#endif
