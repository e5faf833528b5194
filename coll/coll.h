/* SPDX-License-Identifier: BSD-3-Clause
 * The collectives of one communicator: finds the plan and runs it, flat or by messages, blocking or not. */
#ifndef VCCI_COLL_COLL_H
#define VCCI_COLL_COLL_H

#include "coll/flat.h"
#include "coll/plan.h"
#include "p2p/p2p.h"

struct vcci_coll_comm {
    struct vcci_engine *engine;
    struct vcci_poller poller; /* of the flat queue; in the engine once a nonblocking flat collective was started */
    uint8_t polled;
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

/* Takes the poller out of the engine, frees plans and flat area. Nothing under way. Baton held. */
void vcci_coll_close(struct vcci_coll_comm *c);

/* Blocking; no baton. deadline_ns 0: none. */
int vcci_coll_call(struct vcci_coll_comm *c, const struct vcci_plan_key *key, const void *in, void *out, int64_t deadline_ns);
/* Nonblocking; takes the baton. 0: over already (done not called), 1: under way, < 0. op->done is set by the caller. */
int vcci_coll_start(struct vcci_coll_comm *c, struct vcci_coll_op *op, const struct vcci_plan_key *key, const void *in, void *out);

#endif
