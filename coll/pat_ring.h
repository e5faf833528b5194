/* SPDX-License-Identifier: BSD-3-Clause
 * Patterns on a ring, and how a vector is cut. Pure arithmetic of rank and size. */
#ifndef VCCI_COLL_PAT_RING_H
#define VCCI_COLL_PAT_RING_H

#include <stddef.h>

struct vcci_span {
    size_t at, len;
};
/* Part i of n of `count` elements: whole, adjacent, in order; the first count % n of them are one element longer. */
struct vcci_span vcci_split(size_t count, int n, int i);

/* The rank `steps` (of any sign) after `rank` on a ring of n. */
int vcci_ring_at(int rank, long steps, int n);

#endif
