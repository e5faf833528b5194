/* SPDX-License-Identifier: BSD-3-Clause
 * Plans: a call's schedule, made once and kept. A bounded cache per communicator; a repeated call finds its plan and allocates nothing. */
#ifndef VCCI_COLL_PLAN_H
#define VCCI_COLL_PLAN_H

#include "coll/flat.h"
#include "coll/sched_run.h"
#include "coll/select.h"

struct vcci_plan_key {
    size_t count;
    int32_t root;
    uint8_t coll, type, op, in_place;
};
struct vcci_plan {
    struct vcci_plan_key key;
    struct vcci_list lru;
    struct vcci_plan *hash_next;
    const struct vcci_algo *algo;
    struct vcci_sched *sched;
    struct vcci_flat_plan *flat; /* NULL: the engine runs it */
    struct vcci_list idle;       /* vcci_run objects not in use */
    uint32_t sig;
    _Atomic uint32_t busy;       /* runs under way: not evicted */
};

#define VCCI_PLAN_BUCKETS 64u
#define VCCI_PLANS_MAX 128u
struct vcci_plans {
    struct vcci_plan *last;      /* of the call before: looked at first */
    struct vcci_plan *buckets[VCCI_PLAN_BUCKETS];
    struct vcci_list lru;        /* oldest first */
    unsigned n;
    /* what plans are made from */
    int rank, size, shared;
    size_t slot_bytes;
    uint32_t slots;
    struct vcci_cost_params costs;
    const struct vcci_rules *rules;
    int explain;
    int error;                   /* why the last vcci_plans_find gave NULL */
};

void vcci_plans_init(struct vcci_plans *plans, int rank, int size, int shared, const struct vcci_cost_params *costs,
                     const struct vcci_rules *rules);
void vcci_plans_fini(struct vcci_plans *plans); /* no run under way */

/* The plan for key; makes it if need be. NULL with the error set. The communicator's owner thread. */
struct vcci_plan *vcci_plans_find(struct vcci_plans *plans, const struct vcci_plan_key *key);

static inline struct vcci_plan *vcci_plans_get(struct vcci_plans *plans, const struct vcci_plan_key *key)
{
    struct vcci_plan *p = plans->last;
    if (p && p->key.count == key->count && p->key.root == key->root && p->key.coll == key->coll && p->key.type == key->type &&
        p->key.op == key->op && p->key.in_place == key->in_place)
        return p;
    return vcci_plans_find(plans, key);
}

/* A frozen schedule for key by a named algorithm (NULL: select) on `rank` of `size`, outside any communicator: vccl_query and tests. */
int vcci_plan_schedule(const struct vcci_plan_key *key, const char *algo, int rank, int size, const struct vcci_cost_params *costs,
                       struct vcci_sched **sched_out);

#endif
