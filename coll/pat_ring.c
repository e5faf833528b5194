/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/pat_ring.h"

struct vcci_span vcci_split(size_t count, int n, int i)
{
    size_t parts = (size_t)n, k = (size_t)i, len = count / parts, longer = count % parts;
    return (struct vcci_span){.at = k * len + (k < longer ? k : longer), .len = len + (k < longer)};
}

int vcci_ring_at(int rank, long steps, int n)
{
    long at = ((long)rank + steps) % n;
    return (int)(at < 0 ? at + n : at);
}
