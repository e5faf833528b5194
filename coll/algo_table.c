/* SPDX-License-Identifier: BSD-3-Clause
 * The table of algorithms; its lines are in coll/algo.h. */
#include "coll/algo.h"

const struct vcci_algo vcci_algos[] = {
#define X(id, coll_name, algo_name, is_flat, commutative, from)                                                                     \
    {.name = #algo_name,                                                                                                            \
     .coll = VCCI_COLL_##id,                                                                                                        \
     .flat = is_flat,                                                                                                               \
     .commutative_only = commutative,                                                                                               \
     .source = from,                                                                                                                \
     .build = vcci_##coll_name##_##algo_name,                                                                                       \
     .cost = vcci_##coll_name##_##algo_name##_cost},
    VCCI_ALGO_TABLE(X)
#undef X
};
const unsigned vcci_algos_nr = sizeof vcci_algos / sizeof vcci_algos[0];
