/* SPDX-License-Identifier: BSD-3-Clause
 * Hash-consed expressions: equal expressions have equal ids. Of each the set and, where ranks must stay in order, the range of
 * ranks in it are known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

/* LEAF: an operand. SUM: left op right, rounded. INNER: the same inside a REDUCE of many, not rounded yet; ROUNDED ends that.
 * FINAL: marked as result. */
enum kind { NONE, LEAF, SUM, INNER, ROUNDED, FINAL };

struct expr {
    uint8_t kind;
    uint32_t a, b;
    uint32_t element, low, high; /* ranks [low, high) where order matters */
};
struct sim_exprs {
    struct expr *nodes;
    uint64_t *sets;                  /* [nodes][words] */
    uint32_t n, n_inner, cap, words; /* n_inner: those that are no leaves; they are in the table */
    uint32_t elements;               /* of each rank's operand */
    int size, commutes;
    uint32_t *table, *stamp, generation, table_size;
};

static void *grown(void *p, size_t n, size_t bytes)
{
    p = realloc(p, n * bytes);
    if (!p) {
        perror("tests/sim");
        exit(99);
    }
    return p;
}

struct sim_exprs *sim_exprs_create(void)
{
    return calloc(1, sizeof(struct sim_exprs));
}

void sim_exprs_destroy(struct sim_exprs *e)
{
    free(e->nodes);
    free(e->sets);
    free(e->table);
    free(e->stamp);
    free(e);
}

static uint32_t hash(uint32_t kind, uint32_t a, uint32_t b)
{
    uint64_t h = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u + kind * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
    h *= 0xc4ceb9fe1a85ec53u;
    return (uint32_t)(h >> 32);
}

static uint32_t *slot(struct sim_exprs *e, uint32_t kind, uint32_t a, uint32_t b)
{
    uint32_t i = hash(kind, a, b) & (e->table_size - 1);
    while (e->stamp[i] == e->generation) {
        const struct expr *x = &e->nodes[e->table[i]];
        if (x->kind == kind && x->a == a && x->b == b)
            break;
        i = (i + 1) & (e->table_size - 1);
    }
    if (e->stamp[i] != e->generation) {
        e->stamp[i] = e->generation;
        e->table[i] = 0;
    }
    return &e->table[i];
}

static void reserve_nodes(struct sim_exprs *e)
{
    if (e->n + 1 <= e->cap)
        return;
    e->cap = e->cap ? 2 * e->cap : 1024;
    e->nodes = grown(e->nodes, e->cap, sizeof *e->nodes);
    e->sets = grown(e->sets, (size_t)e->cap * e->words, sizeof *e->sets);
}

static void reserve(struct sim_exprs *e)
{
    reserve_nodes(e);
    if (2 * (e->n_inner + 1) <= e->table_size)
        return;
    e->table_size = e->table_size ? 2 * e->table_size : 4096;
    e->table = grown(e->table, e->table_size, sizeof *e->table);
    free(e->stamp);
    e->stamp = calloc(e->table_size, sizeof *e->stamp);
    if (!e->stamp)
        exit(99);
    e->generation = 1;
    for (uint32_t i = e->n - e->n_inner; i < e->n; i++)
        *slot(e, e->nodes[i].kind, e->nodes[i].a, e->nodes[i].b) = i;
}

/* A new id, or the one that is there (*is_new_out 0). */
static uint32_t cons(struct sim_exprs *e, uint32_t kind, uint32_t a, uint32_t b, int *is_new_out)
{
    reserve(e);
    uint32_t *at = slot(e, kind, a, b);
    *is_new_out = *at == 0;
    if (!*at) {
        *at = e->n++;
        e->n_inner++;
        e->nodes[*at] = (struct expr){.kind = (uint8_t)kind, .a = a, .b = b};
        memset(e->sets + (size_t)*at * e->words, 0, e->words * sizeof *e->sets);
    }
    return *at;
}

/* Leaves are all there from the start, in order, and need no looking up. */
static void make_leaves(struct sim_exprs *e)
{
    for (uint32_t r = 0; r < (uint32_t)e->size; r++)
        for (uint32_t i = 0; i < e->elements; i++) {
            reserve_nodes(e);
            e->nodes[e->n] = (struct expr){.kind = LEAF, .a = r, .b = i, .element = i, .low = r, .high = r + 1};
            memset(e->sets + (size_t)e->n * e->words, 0, e->words * sizeof *e->sets);
            e->sets[(size_t)e->n++ * e->words + r / 64] |= 1ull << r % 64;
        }
}

void sim_exprs_reset(struct sim_exprs *e, int size, size_t elements, int commutes)
{
    uint32_t words = ((uint32_t)size + 63) / 64;
    if (words != e->words) {
        e->words = words;
        e->cap = 0;
    }
    e->n = 1;
    e->n_inner = 0;
    e->size = size;
    e->elements = (uint32_t)elements;
    e->commutes = commutes;
    e->generation++;
    make_leaves(e);
}

uint32_t sim_leaf(const struct sim_exprs *e, int rank, size_t element)
{
    return 1 + (uint32_t)rank * e->elements + (uint32_t)element;
}

static uint32_t wrap(struct sim_exprs *e, enum kind kind, uint32_t of)
{
    int is_new;
    uint32_t id = cons(e, kind, of, 0, &is_new);
    struct expr *x = &e->nodes[id], *y = &e->nodes[of];
    x->element = y->element;
    x->low = y->low;
    x->high = y->high;
    memcpy(e->sets + (size_t)id * e->words, e->sets + (size_t)of * e->words, e->words * sizeof *e->sets);
    return id;
}

static uint32_t pair(struct sim_exprs *e, enum kind kind, uint32_t left, uint32_t right, const char **why_out)
{
    int is_new;
    if (e->commutes && left > right) { /* a op b is b op a, bit by bit */
        uint32_t t = left;
        left = right;
        right = t;
    }
    uint32_t id = cons(e, kind, left, right, &is_new);
    if (!is_new)
        return id;
    const struct expr *l = &e->nodes[left], *r = &e->nodes[right];
    struct expr *x = &e->nodes[id];
    x->element = l->element;
    x->low = l->low;
    x->high = r->high;
    if (l->kind == FINAL || r->kind == FINAL)
        *why_out = "sums what is marked as result already";
    else if (l->element != r->element)
        *why_out = "sums operands of different elements";
    else if (!e->commutes && l->high != r->low)
        *why_out = "sums out of rank order";
    for (uint32_t i = 0; i < e->words; i++) {
        uint64_t a = e->sets[(size_t)left * e->words + i], b = e->sets[(size_t)right * e->words + i];
        if (a & b)
            *why_out = "sums a rank's operand twice";
        e->sets[(size_t)id * e->words + i] = a | b;
    }
    return id;
}

uint32_t sim_sum(struct sim_exprs *e, const uint32_t *operands, unsigned n, const char **why_out)
{
    uint32_t sum = operands[0];
    for (unsigned i = 1; i < n; i++)
        sum = pair(e, n > 2 ? INNER : SUM, sum, operands[i], why_out);
    return n > 2 ? wrap(e, ROUNDED, sum) : sum;
}

uint32_t sim_final(struct sim_exprs *e, uint32_t value, const char **why_out)
{
    if (e->nodes[value].kind == FINAL)
        *why_out = "marks a result as result twice";
    return wrap(e, FINAL, value);
}

int sim_is_total(const struct sim_exprs *e, uint32_t value, size_t element, int bare)
{
    const struct expr *x = &e->nodes[value];
    int ranks = 0;
    for (uint32_t i = 0; value && i < e->words; i++)
        ranks += __builtin_popcountll(e->sets[(size_t)value * e->words + i]);
    return value && x->element == element && ranks == e->size && (bare || x->kind == FINAL);
}

int sim_is_leaf(const struct sim_exprs *e, uint32_t value, int rank, size_t element)
{
    const struct expr *x = &e->nodes[value];
    return value && x->kind == LEAF && x->a == (uint32_t)rank && x->b == (uint32_t)element;
}

struct out {
    char *buf;
    size_t cap, len;
};

static void put(struct out *o, const char *fmt, uint32_t a, uint32_t b)
{
    char word[48];
    size_t n = (size_t)snprintf(word, sizeof word, fmt, a, b);
    for (size_t i = 0; i < n; i++, o->len++)
        if (o->len + 1 < o->cap)
            o->buf[o->len] = word[i];
    if (o->cap)
        o->buf[o->len < o->cap ? o->len : o->cap - 1] = 0;
}

static void write_expr(const struct sim_exprs *e, uint32_t value, struct out *o)
{
    const struct expr *x = &e->nodes[value];
    if (o->len >= o->cap)
        return;
    if (!value)
        put(o, "nothing", 0, 0);
    else if (x->kind == LEAF)
        put(o, "%u[%u]", x->a, x->b);
    if (!value || x->kind == LEAF)
        return;
    put(o, x->kind == FINAL ? "final(" : "(", 0, 0);
    write_expr(e, x->a, o);
    if (x->kind == SUM || x->kind == INNER) {
        put(o, " ", 0, 0);
        write_expr(e, x->b, o);
    }
    put(o, ")", 0, 0);
}

int sim_text(const struct sim_exprs *e, uint32_t value, char *buf, size_t cap)
{
    struct out o = {buf, cap, 0};
    write_expr(e, value, &o);
    return (int)o.len;
}
