/* SPDX-License-Identifier: BSD-3-Clause
 * Flat schedules: stages between waits, of several chunks interleaved as coll/flat_run.c may, ranks in random order. Vector
 * clocks say what signals order: clock[q] of a rank in a chunk is how many of q's nodes of that chunk are known to be over. */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

#define PHASES 3

struct flat_rank {
    uint32_t n_stages, *stages; /* as struct vcci_flat_plan */
    uint64_t *next;             /* [stages]: next chunk of each */
};
struct flat {
    struct flat_rank *ranks;
    uint32_t *clock;     /* [rank][place][rank] */
    uint32_t *given;     /* [rank][phase][place][rank]: the clock at that signal */
    uint64_t *signalled; /* [rank][phase]: chunks for which it was given */
    size_t n, places;
};

static uint32_t *clock_of(const struct flat *f, size_t rank, uint64_t chunk)
{
    return f->clock + (rank * f->places + chunk % f->places) * f->n;
}

static uint32_t *given_by(const struct flat *f, size_t rank, uint32_t phase, uint64_t chunk)
{
    return f->given + ((rank * PHASES + phase) * f->places + chunk % f->places) * f->n;
}

static int ordered(const struct sim_world *w, uint32_t rank, uint32_t node, uint32_t rank2, uint32_t node2, uint64_t chunk)
{
    if (rank == rank2)
        return node < node2;
    return clock_of(w->executor, rank2, chunk)[rank] > node;
}

static int is_wait(const struct vcci_sched *s, uint32_t node)
{
    return s->nodes[node].kind == VCCI_NODE_WAIT;
}

static int split(struct sim_world *w, const struct vcci_sched *s, struct flat_rank *r)
{
    r->stages = malloc((s->n_nodes + 2) * sizeof *r->stages);
    r->next = calloc(s->n_nodes + 2, sizeof *r->next);
    if (!r->stages || !r->next)
        exit(99);
    r->stages[0] = 0;
    r->n_stages = 1;
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        if (is_wait(s, i) && !(i && is_wait(s, i - 1)))
            r->stages[r->n_stages++] = i;
        for (uint32_t k = 0; k < s->nodes[i].n_succ; k++)
            if (s->succs[s->nodes[i].first_succ + k] <= i)
                return sim_fail(w, "node %u is emitted after its successor", i);
        if ((s->nodes[i].kind == VCCI_NODE_SIGNAL || is_wait(s, i)) && s->nodes[i].pair >= PHASES)
            return sim_fail(w, "more than %d signals a chunk", PHASES);
    }
    r->stages[r->n_stages] = s->n_nodes;
    return 0;
}

/* Are the WAITs at the stage's start satisfied? A rank never waits for itself. */
static int waits_over(const struct sim_world *w, const struct flat *f, int rank, uint32_t stage, uint64_t chunk)
{
    const struct vcci_sched *s = w->ranks[rank].sched;
    for (uint32_t i = f->ranks[rank].stages[stage]; i < s->n_nodes && is_wait(s, i); i++)
        for (int q = 0; q < w->c.size; q++)
            if (q != rank && (s->nodes[i].peer < 0 || s->nodes[i].peer == q) &&
                f->signalled[(size_t)q * PHASES + s->nodes[i].pair] <= chunk)
                return 0;
    return 1;
}

static int all_done(const struct sim_world *w, const struct flat *f, uint64_t chunk)
{
    for (int q = 0; q < w->c.size; q++)
        if (f->ranks[q].next[f->ranks[q].n_stages - 1] <= chunk)
            return 0;
    return 1;
}

static int can_run(const struct sim_world *w, const struct flat *f, int rank, uint32_t stage)
{
    const struct vcci_sched *s = w->ranks[rank].sched;
    const struct flat_rank *r = &f->ranks[rank];
    uint64_t chunk = r->next[stage];
    if (chunk >= s->n_chunks || (stage && chunk >= r->next[stage - 1]))
        return 0;
    if (!stage && (chunk >= r->next[r->n_stages - 1] + s->window || (chunk >= f->places && !all_done(w, f, chunk - f->places))))
        return 0;
    return waits_over(w, f, rank, stage, chunk);
}

static void join(uint32_t *clock, const uint32_t *other, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (other[i] > clock[i])
            clock[i] = other[i];
}

static int run_node(struct sim_world *w, struct flat *f, int rank, uint64_t chunk, uint32_t node)
{
    const struct vcci_node *n = &w->ranks[rank].sched->nodes[node];
    uint32_t *clock = clock_of(f, (size_t)rank, chunk);
    clock[rank] = node + 1;
    if (n->kind == VCCI_NODE_WAIT)
        for (int q = 0; q < w->c.size; q++)
            if (q != rank && (n->peer < 0 || n->peer == q))
                join(clock, given_by(f, (size_t)q, n->pair, chunk), f->n);
    if (n->kind == VCCI_NODE_SIGNAL) {
        memcpy(given_by(f, (size_t)rank, n->pair, chunk), clock, f->n * sizeof *clock);
        f->signalled[(size_t)rank * PHASES + n->pair] = chunk + 1;
    }
    return sim_move(w, rank, chunk, node, NULL);
}

static int run_stage(struct sim_world *w, struct flat *f, int rank, uint32_t stage)
{
    struct flat_rank *r = &f->ranks[rank];
    uint64_t chunk = r->next[stage];
    if (!stage) {
        memset(clock_of(f, (size_t)rank, chunk), 0, f->n * sizeof *f->clock);
        clock_of(f, (size_t)rank, chunk)[rank] = 1;
    }
    for (uint32_t i = r->stages[stage]; i < r->stages[stage + 1]; i++)
        if (run_node(w, f, rank, chunk, i))
            return -1;
    r->next[stage]++;
    return 0;
}

/* Picks a rank and a stage of it that can run, beginning anywhere; 0: there is none. */
static int pick(struct sim_world *w, struct flat *f, int *rank_out, uint32_t *stage_out)
{
    uint64_t x = sim_random(w);
    int start = (int)(x % (uint64_t)w->c.size);
    for (int i = 0; i < w->c.size; i++) {
        int rank = (start + i) % w->c.size;
        uint32_t n = f->ranks[rank].n_stages, first = (uint32_t)(x >> 32) % n;
        for (uint32_t k = 0; k < n; k++) {
            if (!can_run(w, f, rank, (first + k) % n))
                continue;
            *rank_out = rank;
            *stage_out = (first + k) % n;
            return 1;
        }
    }
    return 0;
}

/* Who must have been heard of before this rank may go: what the collective synchronises, also with no data. */
static int must_hear(const struct sim_world *w, int rank, int of)
{
    switch (w->c.algo->coll) {
    case VCCI_COLL_BCAST:
    case VCCI_COLL_SCATTER:
        return of == w->c.root;
    case VCCI_COLL_REDUCE:
    case VCCI_COLL_GATHER:
        return rank == w->c.root;
    default:
        return 1;
    }
}

static int check_end(struct sim_world *w, struct flat *f)
{
    uint64_t chunks = w->ranks[0].sched->n_chunks;
    if (!all_done(w, f, chunks - 1))
        return sim_fail(w, "deadlock");
    for (int r = 0; r < w->c.size; r++)
        for (int q = 0; q < w->c.size; q++)
            if (r != q && must_hear(w, r, q) && !clock_of(f, (size_t)r, chunks - 1)[q])
                return sim_fail(w, "rank %d ends without having heard of rank %d", r, q);
    return 0;
}

/* A symmetric schedule's promise: everybody signals and waits for everybody in every phase. */
static int check_symmetric(struct sim_world *w, const struct vcci_sched *s)
{
    for (uint32_t phase = 0; phase < s->n_phases; phase++) {
        int signals = 0, waits = 0;
        for (uint32_t i = 0; i < s->n_nodes; i++) {
            signals += s->nodes[i].kind == VCCI_NODE_SIGNAL && s->nodes[i].pair == phase;
            waits += is_wait(s, i) && s->nodes[i].pair == phase && s->nodes[i].peer < 0;
        }
        if (signals != 1 || !waits)
            return sim_fail(w, "rank %d says it is symmetric and is not", s->rank);
    }
    return 0;
}

int sim_flat(struct sim_world *w)
{
    struct flat f = {.n = (size_t)w->c.size, .places = w->c.slots};
    f.ranks = calloc(f.n, sizeof *f.ranks);
    f.clock = calloc(f.n * f.places * f.n, sizeof *f.clock);
    f.given = calloc(f.n * PHASES * f.places * f.n, sizeof *f.given);
    f.signalled = calloc(f.n * PHASES, sizeof *f.signalled);
    if (!f.ranks || !f.clock || !f.given || !f.signalled)
        exit(99);
    w->ordered = ordered;
    w->executor = &f;
    int err = 0, rank;
    uint32_t stage;
    for (int r = 0; r < w->c.size && !err; r++)
        err = split(w, w->ranks[r].sched, &f.ranks[r]) || (w->ranks[r].sched->symmetric && check_symmetric(w, w->ranks[r].sched));
    while (!err && pick(w, &f, &rank, &stage))
        err = run_stage(w, &f, rank, stage);
    if (!err)
        err = check_end(w, &f);
    for (int r = 0; r < w->c.size; r++) {
        free(f.ranks[r].stages);
        free(f.ranks[r].next);
    }
    free(f.ranks);
    free(f.clock);
    free(f.given);
    free(f.signalled);
    return err ? -1 : 0;
}
