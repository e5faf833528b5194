/* SPDX-License-Identifier: BSD-3-Clause
 * The builder's inside, shared by sched_build.c and sched_freeze.c. */
#ifndef VCCI_COLL_SCHED_BUILD_H
#define VCCI_COLL_SCHED_BUILD_H

#include "coll/sched.h"

struct vcci_edge {
    uint32_t from, to;
};
struct vcci_builder {
    struct vcci_coll_args args;
    const char *algo;
    struct vcci_node *nodes;
    struct vcci_ref *refs;
    struct vcci_edge *edges;
    uint32_t n_nodes, cap_nodes, n_refs, cap_refs, n_edges, cap_edges;
    uint64_t n_chunks;
    uint32_t window;
    size_t scratch;
    uint32_t n_signals, last;
    uint8_t chained, symmetric, repeated;
    int error;                  /* 0, or the -(vccl_result_t) that freeze will return */
    char why[160];
};

#endif
