/* SPDX-License-Identifier: BSD-3-Clause
 * Which algorithm runs: a pure function of the call and of numbers that are the same on all ranks, so that all choose alike without a word. */
#ifndef VCCI_COLL_SELECT_H
#define VCCI_COLL_SELECT_H

#include <stddef.h>
#include <stdint.h>

#include "coll/sched.h"

/* The user's overrides (VCCL_COLL), the first that matches wins. */
struct vcci_rule {
    int coll;
    char algo[32];
    uint64_t min_bytes, max_bytes; /* of the block: count * type size */
};
#define VCCI_RULES_MAX 32
struct vcci_rules {
    int n;
    struct vcci_rule rule[VCCI_RULES_MAX];
};
/* "coll:algorithm[@min-max],…"; -VCCL_ERR_CONFIG with what is wrong and the names there are. "" gives no rules. */
int vcci_rules_parse(const char *text, struct vcci_rules *rules_out);

/* The cheapest algorithm that can do `a` (shared: all ranks share memory), or the one a rule names. *forced_out, may be NULL: a rule decided.
 * NULL with the error set if none can. rank and in_place of `a` are not looked at. */
const struct vcci_algo *vcci_select(const struct vcci_coll_args *a, int shared, const struct vcci_cost_params *p,
                                    const struct vcci_rules *rules, int *forced_out);

/* Table for people: size ranges and what runs in them for coll (-1: all) at `size` ranks. As snprintf. */
int vcci_select_report(int coll, int size, const struct vcci_cost_params *p, const struct vcci_rules *rules, char *buf, size_t cap);

#endif
