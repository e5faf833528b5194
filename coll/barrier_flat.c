/* SPDX-License-Identifier: BSD-3-Clause
 * Barrier in shared memory: everybody raises its flag and waits for all flags. Folklore. */
#include "coll/algo.h"

void vcci_barrier_flat(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    if (vcci_algo_single(b, a))
        return;
    if (!a->slots) {
        vcci_fail_build(b, "the ranks do not share memory");
        return;
    }
    vcci_chain(b, 1);
    vcci_signal(b);
    vcci_wait(b, -1, 0);
    vcci_symmetric(b);
}
