/* SPDX-License-Identifier: BSD-3-Clause
 * The collectives of one communicator: finds the plan and runs it, flat or by messages, blocking or not. */
#ifndef VCCI_COLL_COLL_H
#define VCCI_COLL_COLL_H

#include "coll/flat.h"
#include "coll/plan.h"
#include "p2p/p2p.h"

struct vcci_coll_comm {
    struct vcci_engine *engine;
    struct vcci_port *port; /* exact; NULL on a communicator of one rank */
    struct vcci_plans plans;
    struct vcci_flat flat;
    uint32_t seq;           /* of the next call that runs by messages */
    _Atomic int failed;     /* -(vccl_result_t) that revoked the communicator, 0 */
};

/* One nonblocking collective, embedded in its owner's object. */
struct vcci_coll_op {
    struct vcci_flat_run flat;
    struct vcci_plan *plan;
    struct vcci_coll_comm *comm;
    void (*done)(struct vcci_coll_op *op, int status); /* baton held, never before start returns */
};

/* Blocking; no baton. deadline_ns 0: none. */
int vcci_coll_call(struct vcci_coll_comm *c, const struct vcci_plan_key *key, const void *in, void *out, int64_t deadline_ns);
/* Nonblocking; takes the baton. 0: over already (done not called), 1: under way, < 0. op->done is set by the caller. */
int vcci_coll_start(struct vcci_coll_comm *c, struct vcci_coll_op *op, const struct vcci_plan_key *key, const void *in, void *out);

#endif
