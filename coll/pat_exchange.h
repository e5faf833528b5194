/* SPDX-License-Identifier: BSD-3-Clause
 * Patterns of pairs: powers of two, folding what is left over, perfect matchings. Pure arithmetic. */
#ifndef VCCI_COLL_PAT_EXCHANGE_H
#define VCCI_COLL_PAT_EXCHANGE_H

/* Rounds that double from 1 to n or beyond: ceil(log2(n)); 0 for n 1. */
int vcci_rounds(int n);
int vcci_is_pow2(int n);

/* For exchanges that need a power of two: of the first 2*extra ranks each odd one hands its operand to its left neighbour and
 * sits out. The `core` ranks that are left are numbered by v in rank order, and each stands for adjacent ranks, so sums over
 * them keep rank order. */
enum vcci_fold_role { VCCI_FOLD_NONE, VCCI_FOLD_TAKES, VCCI_FOLD_GIVES };
struct vcci_fold {
    int core;    /* largest power of two <= n */
    int extra;   /* n - core */
    int role;    /* enum vcci_fold_role */
    int partner; /* whom a role is played with; -1 for VCCI_FOLD_NONE */
    int v;       /* -1 for VCCI_FOLD_GIVES */
};
void vcci_fold(struct vcci_fold *f, int rank, int n);
int vcci_fold_rank(const struct vcci_fold *f, int v);

/* Step s of n (0 … n-1): a matching in which each rank meets every rank, itself too, exactly once in n steps. */
int vcci_match(int rank, int step, int n);

#endif
