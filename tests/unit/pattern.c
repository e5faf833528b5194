/* SPDX-License-Identifier: BSD-3-Clause
 * The patterns of coll/pat_*, for every number of ranks from 1 to 257. */
#include <string.h>

#include "coll/pat_exchange.h"
#include "coll/pat_ring.h"
#include "coll/pat_tree.h"
#include "tests/unit/unit.h"

#define MOST 257
/* Check's own assertions tell the parent process of each success, which is too slow for millions. */
#define HOLDS(cond) ((cond) ? (void)0 : ck_abort_msg("%s", #cond))

START_TEST(splits)
{
    const size_t counts[] = {0, 1, 2, 3, 16, 17, 255, 256, 257, 1000, (size_t)1 << 40};
    for (int n = 1; n <= MOST; n++)
        for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
            size_t at = 0, longest = vcci_split(counts[c], n, 0).len;
            for (int i = 0; i < n; i++) {
                struct vcci_span s = vcci_split(counts[c], n, i);
                HOLDS(s.at == at);
                HOLDS(s.len == ((size_t)i < counts[c] % (size_t)n ? counts[c] / (size_t)n + 1 : counts[c] / (size_t)n));
                HOLDS(s.len <= longest);
                at += s.len;
            }
            HOLDS(at == counts[c]);
        }
}
END_TEST

START_TEST(rings)
{
    for (int n = 1; n <= MOST; n++)
        for (int r = 0; r < n; r++) {
            HOLDS(vcci_ring_at(r, 0, n) == r);
            HOLDS(vcci_ring_at(r, 1, n) == (r + 1) % n);
            HOLDS(vcci_ring_at(r, -1, n) == (r + n - 1) % n);
            HOLDS(vcci_ring_at(r, 3L * n + 2, n) == (r + 2) % n);
            for (long s = -2L * n; s <= 2L * n; s += 7)
                HOLDS(vcci_ring_at(vcci_ring_at(r, s, n), -s, n) == r);
        }
}
END_TEST

/* Subtrees partition what follows their node, parents and children agree, and nobody is deeper than log2(n). */
START_TEST(binomial_trees)
{
    for (int n = 1; n <= MOST; n++) {
        int seen[MOST] = {0};
        for (int v = 0; v < n; v++) {
            struct vcci_tree t, up;
            vcci_tree_binomial(&t, v, n);
            int at = v + 1, depth = 0;
            for (int i = 0; i < t.n_children; i++) {
                struct vcci_tree child;
                vcci_tree_binomial(&child, t.child[i], n);
                HOLDS(t.child[i] == at);
                HOLDS(child.parent == v);
                HOLDS(child.span == t.child_span[i]);
                at += t.child_span[i];
                seen[t.child[i]]++;
            }
            HOLDS(at == v + t.span);
            HOLDS((t.parent < 0) == (v == 0));
            for (int p = t.parent; p >= 0; p = up.parent, depth++)
                vcci_tree_binomial(&up, p, n);
            HOLDS(depth <= vcci_rounds(n));
            HOLDS((v ? 1 : t.span) == (v ? 1 : n));
        }
        for (int v = 1; v < n; v++)
            HOLDS(seen[v] == 1);
    }
}
END_TEST

START_TEST(largest_trees)
{
    struct vcci_tree t;
    vcci_tree_binomial(&t, 0, 0x7fffffff);
    HOLDS(t.span == 0x7fffffff);
    HOLDS(t.n_children == VCCI_TREE_CHILDREN);
    vcci_tree_binomial(&t, 0x7ffffffe, 0x7fffffff);
    HOLDS(t.n_children == 0);
}
END_TEST

START_TEST(rounds_and_powers)
{
    HOLDS(vcci_rounds(1) == 0);
    HOLDS(vcci_rounds(0x7fffffff) == 31);
    for (int n = 2; n <= MOST; n++) {
        int k = vcci_rounds(n);
        HOLDS((1 << k) >= n);
        HOLDS((1 << (k - 1)) < n);
        HOLDS(vcci_is_pow2(n) == (1 << k == n));
    }
}
END_TEST

START_TEST(folds)
{
    for (int n = 1; n <= MOST; n++) {
        int last = -1;
        for (int r = 0; r < n; r++) {
            struct vcci_fold f, partner;
            vcci_fold(&f, r, n);
            HOLDS(vcci_is_pow2(f.core) && f.core <= n && 2 * f.core > n);
            HOLDS(f.core + f.extra == n);
            if (f.role != VCCI_FOLD_NONE) {
                vcci_fold(&partner, f.partner, n);
                HOLDS(partner.partner == r);
                HOLDS(partner.role == (f.role == VCCI_FOLD_GIVES ? VCCI_FOLD_TAKES : VCCI_FOLD_GIVES));
                HOLDS(f.partner == (f.role == VCCI_FOLD_GIVES ? r - 1 : r + 1));
            }
            if (f.role == VCCI_FOLD_GIVES)
                continue;
            HOLDS(f.v == ++last);
            HOLDS(vcci_fold_rank(&f, f.v) == r);
        }
        struct vcci_fold any;
        vcci_fold(&any, 0, n);
        HOLDS(last + 1 == any.core);
    }
}
END_TEST

START_TEST(matchings)
{
    for (int n = 1; n <= MOST; n++)
        for (int r = 0; r < n; r++) {
            int met[MOST] = {0};
            for (int s = 0; s < n; s++) {
                int peer = vcci_match(r, s, n);
                HOLDS(peer >= 0);
                HOLDS(peer < n);
                HOLDS(vcci_match(peer, s, n) == r);
                met[peer]++;
            }
            for (int q = 0; q < n; q++)
                HOLDS(met[q] == 1);
        }
}
END_TEST

UNIT_MAIN("pattern", splits, rings, binomial_trees, largest_trees, rounds_and_powers, folds, matchings)
