/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/pat_tree.h"

void vcci_tree_binomial(struct vcci_tree *t, int v, int n)
{
    t->parent = v ? v & (v - 1) : -1;
    t->n_children = 0;
    for (long reach = 1; (v & reach) == 0 && v + reach < n; reach *= 2) {
        int child = v + (int)reach;
        t->child[t->n_children] = child;
        t->child_span[t->n_children++] = n - child < reach ? n - child : (int)reach;
    }
    t->span = 1;
    for (int i = 0; i < t->n_children; i++)
        t->span += t->child_span[i];
}
