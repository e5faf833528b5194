/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/pat_exchange.h"

int vcci_rounds(int n)
{
    int rounds = 0;
    while (rounds < 31 && (1L << rounds) < n)
        rounds++;
    return rounds;
}

int vcci_is_pow2(int n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

void vcci_fold(struct vcci_fold *f, int rank, int n)
{
    f->core = 1;
    while (f->core <= n / 2)
        f->core *= 2;
    f->extra = n - f->core;
    f->role = VCCI_FOLD_NONE;
    f->partner = -1;
    f->v = rank - f->extra;
    if (rank >= 2 * f->extra)
        return;
    f->role = rank % 2 ? VCCI_FOLD_GIVES : VCCI_FOLD_TAKES;
    f->partner = rank % 2 ? rank - 1 : rank + 1;
    f->v = rank % 2 ? -1 : rank / 2;
}

int vcci_fold_rank(const struct vcci_fold *f, int v)
{
    return v < f->extra ? 2 * v : v + f->extra;
}

int vcci_match(int rank, int step, int n)
{
    return step >= rank ? step - rank : step - rank + n;
}
