/* SPDX-License-Identifier: BSD-3-Clause
 * Reduce_scatter_block: everybody sends everybody its operand of that rank's block; each sums its own in one pass in rank
 * order. Folklore; Thakur, Rabenseifner and Gropp, "Optimization of collective communication operations in MPICH", 2005. */
#include <stdlib.h>

#include "coll/algo.h"

#define WINDOW 2u

void vcci_reduce_scatter_block_pairwise(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    struct vcci_chunks c;
    size_t bytes = a->count * a->type_bytes;
    int n = a->size;
    if (vcci_algo_single(b, a))
        return;
    struct vcci_ref *srcs = malloc((size_t)n * sizeof *srcs);
    uint32_t *nodes = malloc(2 * (size_t)n * sizeof *nodes), n_nodes = 0;
    if (!srcs || !nodes) {
        vcci_fail_build(b, "out of memory");
        free(srcs);
        free(nodes);
        return;
    }
    vcci_cut_messages(b, a, a->count, 1, WINDOW, &c);
    srcs[a->rank] = vcci_part(&c, VCCI_IN, (size_t)a->rank * bytes, vcci_whole(&c));
    for (int i = 1; i < n; i++) {
        int to = vcci_ring_at(a->rank, i, n), from = vcci_ring_at(a->rank, -i, n);
        srcs[from] = vcci_part_scratch(&c, vcci_scratch(b, c.per * a->type_bytes), vcci_whole(&c));
        uint32_t send = vcci_send(b, to, vcci_part(&c, VCCI_IN, (size_t)to * bytes, vcci_whole(&c)));
        if (a->in_place && to == 0)
            nodes[n_nodes++] = send; /* the sum overwrites what it reads */
        nodes[n_nodes++] = vcci_recv(b, from, srcs[from]);
    }
    struct vcci_ref out = vcci_part(&c, VCCI_OUT, 0, vcci_whole(&c));
    uint32_t sum = vcci_reduce(b, &out, 1, srcs, (unsigned)n, VCCI_FINAL);
    for (uint32_t i = 0; i < n_nodes; i++)
        vcci_after(b, sum, nodes[i]);
    free(srcs);
    free(nodes);
}
