/* SPDX-License-Identifier: BSD-3-Clause
 * The symbolic check of all algorithms: `schedules` runs the matrix and the mutations that must be found; `schedules 'CASE'`
 * replays a case as it was printed; `schedules -n SEED` runs the matrix from another seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

#define SMALL 8 /* up to there all roots and counts; above, a sample */

static struct sim_exprs *exprs;
static uint64_t state;
static long n_cases, n_failed;

static uint64_t draw(uint64_t below)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

static int is_sum(const struct vcci_algo *a)
{
    return a->coll == VCCI_COLL_REDUCE || a->coll == VCCI_COLL_ALLREDUCE || a->coll == VCCI_COLL_REDUCE_SCATTER_BLOCK;
}

static int is_rooted(const struct vcci_algo *a)
{
    return a->coll == VCCI_COLL_BCAST || a->coll == VCCI_COLL_REDUCE || a->coll == VCCI_COLL_GATHER ||
           a->coll == VCCI_COLL_SCATTER;
}

/* Every rank's slot holds a piece for everybody. */
static int has_pieces(const struct vcci_algo *a)
{
    return a->coll == VCCI_COLL_SCATTER || a->coll == VCCI_COLL_ALLTOALL || a->coll == VCCI_COLL_REDUCE_SCATTER_BLOCK;
}

static void run(const struct sim_case *c)
{
    char why[512], text[512];
    n_cases++;
    if (!sim_run(c, exprs, why, sizeof why, NULL))
        return;
    sim_print(c, text, sizeof text);
    if (n_failed++ < 20)
        printf("FAILED '%s'\n       %s\n", text, why);
}

/* Space for chunks of a few elements, so that a short vector has many. */
static void make_tight(struct sim_case *c)
{
    static const size_t elements[] = {1, 2, 3, 5, 9, 17, 32};
    static const uint32_t slots[] = {1, 2, 3, 8};
    size_t few = elements[draw(sizeof elements / sizeof *elements)] * c->type_bytes;
    c->slot_bytes = few * (has_pieces(c->algo) ? (size_t)c->size : 1) + (size_t)draw(c->type_bytes);
    c->slots = slots[draw(4)];
    c->chunk_bytes = few;
}

static void vary(struct sim_case *c, int tight)
{
    static const size_t types[] = {1, 4, 8, 16};
    c->type_bytes = types[draw(4)];
    c->slot_bytes = 128u << 10;
    c->slots = 8;
    c->chunk_bytes = 0;
    if (tight)
        make_tight(c);
    c->seed = draw(1u << 30);
}

static size_t some_count(int size)
{
    size_t n = (size_t)size;
    const size_t counts[] = {1, 2, 3, n - 1, n, n + 1, 2 * n + 1, 17, 33, 3 * n + 2};
    return counts[draw(n > 100 ? 3 : sizeof counts / sizeof *counts)];
}

static void small(const struct vcci_algo *algo, int size, int commutes, int in_place)
{
    const size_t counts[] = {0, 1, 2, 3, (size_t)size - 1, (size_t)size + 1, 17, 4 * (size_t)size + 3};
    for (int root = 0; root < (is_rooted(algo) ? size : 1); root++)
        for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++)
            for (int tight = 0; tight < 3; tight++) {
                struct sim_case c = {
                    .algo = algo, .size = size, .root = root, .commutes = commutes, .in_place = in_place, .count = counts[i]};
                vary(&c, tight);
                run(&c);
            }
}

static void large(const struct vcci_algo *algo, int size, int commutes, int in_place)
{
    const int roots[] = {0, 1, size - 1, (int)draw((uint64_t)size)};
    for (int i = 0; i < (size > 24 ? 1 : 2); i++) {
        struct sim_case c = {.algo = algo, .size = size, .commutes = commutes, .in_place = in_place, .count = some_count(size)};
        c.root = is_rooted(algo) ? roots[draw(4)] : 0;
        if (draw(16) == 0)
            c.count = 0;
        vary(&c, draw(2) == 0);
        run(&c);
    }
}

static void matrix(const struct vcci_algo *algo, int size)
{
    int most_in_place = algo->coll == VCCI_COLL_BARRIER || algo->coll == VCCI_COLL_BCAST ? SIM_NOBODY
                        : is_rooted(algo)                                                ? SIM_EVERYBODY
                                                                                         : SIM_SOME;
    for (int commutes = is_sum(algo) && !algo->commutative_only ? 0 : 1; commutes < 2; commutes++)
        for (int in_place = 0; in_place <= most_in_place; in_place++) {
            if (size <= SMALL)
                small(algo, size, commutes, in_place);
            else
                large(algo, size, commutes, in_place);
        }
}

/* Long vectors of few ranks: the chunk sizes that are used in earnest. */
static void long_vectors(const struct vcci_algo *algo)
{
    for (int size = 2; size <= 5; size += 3) {
        struct sim_case c = {
            .algo = algo, .size = size, .root = 1, .commutes = 1, .in_place = (int)draw(2), .count = 9000 + draw(500)};
        if (algo->coll == VCCI_COLL_BARRIER)
            return;
        vary(&c, 0);
        c.type_bytes = 16;
        run(&c);
    }
}

/* ---- mutations ---- */

/* Every place of a few cases is spoiled in turn; every one must be found. */
static void mutate(const struct vcci_algo *algo, int kind, int size, int in_place)
{
    static const char *const names[SIM_MUTATION_NR] = {"",
                                                       "a missing edge",
                                                       "swapped operands",
                                                       "a wrong offset",
                                                       "a missing FINAL",
                                                       "a missing WAIT",
                                                       "an early SIGNAL",
                                                       "a wrong peer"};
    char why[512], text[512];
    struct sim_case c = {.algo = algo,
                         .size = size,
                         .root = size - 1,
                         .commutes = algo->commutative_only,
                         .in_place = in_place,
                         .count = 7,
                         .type_bytes = 4,
                         .slot_bytes = 4096,
                         .slots = 4,
                         .mutation = kind};
    int possible = 1;
    for (c.mutant = 0; possible; c.mutant++) {
        c.seed = draw(1u << 30);
        int err = sim_run(&c, exprs, why, sizeof why, &possible);
        if (!possible)
            break;
        n_cases++;
        sim_print(&c, text, sizeof text);
        if (!err && n_failed++ < 20)
            printf("FAILED '%s'\n       %s was not found\n", text, names[kind]);
    }
}

static void mutations(void)
{
    for (unsigned i = 0; i < vcci_algos_nr; i++)
        for (int kind = 1; kind < SIM_MUTATION_NR; kind++)
            for (int size = 2; size <= 5; size++)
                for (int in_place = 0; in_place < 2; in_place++)
                    if (vcci_algos[i].coll != VCCI_COLL_BARRIER || kind == SIM_DROP_WAIT || kind == SIM_WRONG_PEER)
                        mutate(&vcci_algos[i], kind, size, in_place);
}

static int replay(const char *text)
{
    struct sim_case c;
    char why[512];
    int mutated = 0;
    if (sim_parse(text, &c)) {
        fprintf(stderr, "schedules: \"%s\" is not a case\n", text);
        return 2;
    }
    int err = sim_run(&c, exprs, why, sizeof why, &mutated);
    printf("%s%s\n", err ? why : "right", c.mutation && !mutated ? " (there is no such mutant)" : "");
    return err ? 1 : 0;
}

int main(int argc, char **argv)
{
    static const int sizes[] = {127, 128, 257};
    exprs = sim_exprs_create();
    if (!exprs)
        return 99;
    if (argc == 2)
        return replay(argv[1]);
    state = argc == 3 && !strcmp(argv[1], "-n") ? strtoull(argv[2], NULL, 10) : 1;
    for (unsigned i = 0; i < vcci_algos_nr; i++) {
        for (int size = 1; size <= 64; size++)
            matrix(&vcci_algos[i], size);
        for (int k = 0; k < 3; k++)
            matrix(&vcci_algos[i], sizes[k]);
        long_vectors(&vcci_algos[i]);
    }
    long whole = n_cases;
    mutations();
    printf("%ld cases and %ld mutants of %u algorithms, %ld failed\n", whole, n_cases - whole, vcci_algos_nr, n_failed);
    sim_exprs_destroy(exprs);
    return n_failed != 0;
}
