/* SPDX-License-Identifier: BSD-3-Clause
 * Trees over virtual ranks 0 … n-1 with root 0. Pure arithmetic. */
#ifndef VCCI_COLL_PAT_TREE_H
#define VCCI_COLL_PAT_TREE_H

#define VCCI_TREE_CHILDREN 31 /* most children that an int's worth of ranks can give one node */

/* The binomial tree: v's subtree is [v, v + span), its children's subtrees follow v in order and adjacent. So a sum of v's own
 * operand and its children's partial sums, first child first, keeps rank order. */
struct vcci_tree {
    int parent;                       /* -1: v is the root */
    int span;                         /* nodes in v's subtree, v included */
    int n_children;
    int child[VCCI_TREE_CHILDREN];    /* nearest (smallest subtree) first */
    int child_span[VCCI_TREE_CHILDREN];
};
void vcci_tree_binomial(struct vcci_tree *t, int v, int n);

#endif
