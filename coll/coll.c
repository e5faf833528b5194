/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll.h"

#include <stdio.h>

#include "lib/base/err.h"

static int revoked(const struct vcci_coll_comm *c)
{
    return vcci_fail(VCCL_ERR_REVOKED, "an earlier collective on this communicator failed (%s); only freeing it works",
                     vccl_strerror((vccl_result_t)-c->failed));
}

/* ---- by messages; baton held ---- */

static int start_messages(struct vcci_coll_comm *c, struct vcci_plan *plan, const void *in, void *out,
                          void (*done)(struct vcci_run *, int), void *owner)
{
    struct vcci_list *n = vcci_list_pop(&plan->idle);
    struct vcci_run *run = n ? VCCI_CONTAINER(n, struct vcci_run, node) : NULL;
    if (!run) {
        int err = vcci_run_create(plan->sched, &run);
        if (err)
            return err;
    }
    vcci_list_init(&run->node);
    run->in = in;
    run->out = out;
    run->port = c->port;
    run->seq = c->seq++;
    run->sig = plan->sig;
    run->done = done;
    run->owner = owner;
    int rc = vcci_run_start(run);
    if (rc > 0)
        atomic_fetch_add_explicit(&plan->busy, 1, memory_order_relaxed);
    else
        vcci_list_push(&plan->idle, &run->node);
    return rc;
}

static void give_back(struct vcci_plan *plan, struct vcci_run *run)
{
    vcci_list_push(&plan->idle, &run->node);
    atomic_fetch_sub_explicit(&plan->busy, 1, memory_order_release);
}

/* A blocking call that waits for its run. */
struct blocking {
    struct vcci_plan *plan;
    _Atomic int over;
    int status;
    char text[256]; /* a failure's sentence, from the thread that found it */
};

static void blocking_done(struct vcci_run *run, int status)
{
    struct blocking *b = run->owner;
    give_back(b->plan, run);
    b->status = status;
    if (status)
        snprintf(b->text, sizeof b->text, "%s", vcci_err_text());
    atomic_store_explicit(&b->over, 1, memory_order_release);
}

static int blocking_ready(void *arg)
{
    return atomic_load_explicit(&((struct blocking *)arg)->over, memory_order_acquire);
}

static int call_messages(struct vcci_coll_comm *c, struct vcci_plan *plan, const void *in, void *out, int64_t deadline_ns)
{
    struct blocking b = {.plan = plan};
    struct vcci_waiter w = {.ready = blocking_ready, .arg = &b};
    vcci_engine_lock(c->engine);
    int rc = start_messages(c, plan, in, out, blocking_done, &b);
    vcci_engine_unlock(c->engine);
    if (rc <= 0)
        return rc;
    if (vcci_engine_wait(c->engine, &w, deadline_ns)) {
        int err = vcci_fail(VCCL_ERR_TIMEOUT, "%s, number %u on its communicator, did not end in time", vcci_coll_name(plan->sched->coll),
                            c->seq - 1);
        vcci_engine_lock(c->engine);
        vcci_port_revoke(c->port, err);
        vcci_engine_unlock(c->engine);
        vcci_engine_wait(c->engine, &w, 0); /* until nothing can touch the buffers any more */
        return err;
    }
    if (b.status)
        vcci_err_set_text(b.text[0] ? b.text : vccl_strerror((vccl_result_t)-b.status));
    return b.status;
}

int vcci_coll_call(struct vcci_coll_comm *c, const struct vcci_plan_key *key, const void *in, void *out, int64_t deadline_ns)
{
    if (__builtin_expect(c->failed, 0))
        return revoked(c);
    struct vcci_plan *plan = vcci_plans_get(&c->plans, key);
    if (__builtin_expect(!plan, 0))
        return c->plans.error;
    int err = plan->flat ? vcci_flat_call(&c->flat, plan->flat, in, out, deadline_ns) : call_messages(c, plan, in, out, deadline_ns);
    if (__builtin_expect(err, 0))
        c->failed = err;
    return err;
}

/* ---- nonblocking ---- */

static int no_fd(struct vcci_poller *p)
{
    (void)p;
    return -1; /* the bell wakes us */
}

static int arm(struct vcci_poller *p)
{
    return vcci_flat_arm(&VCCI_CONTAINER(p, struct vcci_coll_comm, poller)->flat);
}

static int progress(struct vcci_poller *p, int budget)
{
    (void)budget; /* a queue's step is bounded by what the peers have given */
    return vcci_flat_progress(&VCCI_CONTAINER(p, struct vcci_coll_comm, poller)->flat);
}

static const struct vcci_poller_ops flat_poller = {.name = "flat", .fd = no_fd, .arm = arm, .progress = progress};

void vcci_coll_close(struct vcci_coll_comm *c)
{
    if (c->polled)
        vcci_engine_remove(c->engine, &c->poller);
    c->polled = 0;
    vcci_plans_fini(&c->plans);
    vcci_flat_close(&c->flat);
}

static void op_over(struct vcci_coll_op *op, int status)
{
    if (status)
        op->comm->failed = status;
    vcci_engine_release(op->comm->engine);
    op->done(op, status);
}

static void flat_done(struct vcci_flat_run *run, int status)
{
    struct vcci_coll_op *op = VCCI_CONTAINER(run, struct vcci_coll_op, flat);
    atomic_fetch_sub_explicit(&op->plan->busy, 1, memory_order_release);
    op_over(op, status);
}

static void messages_done(struct vcci_run *run, int status)
{
    struct vcci_coll_op *op = run->owner;
    give_back(op->plan, run);
    op_over(op, status);
}

static int start(struct vcci_coll_comm *c, struct vcci_coll_op *op, const void *in, void *out)
{
    if (!op->plan->flat)
        return start_messages(c, op->plan, in, out, messages_done, op);
    if (!c->polled) {
        c->poller.ops = &flat_poller;
        vcci_engine_add(c->engine, &c->poller);
        c->polled = 1;
    }
    op->flat = (struct vcci_flat_run){.plan = op->plan->flat, .in = in, .out = out, .done = flat_done};
    int rc = vcci_flat_start(&c->flat, &op->flat);
    if (rc > 0)
        atomic_fetch_add_explicit(&op->plan->busy, 1, memory_order_relaxed);
    return rc;
}

int vcci_coll_start(struct vcci_coll_comm *c, struct vcci_coll_op *op, const struct vcci_plan_key *key, const void *in, void *out)
{
    if (c->failed)
        return revoked(c);
    vcci_engine_lock(c->engine);
    op->comm = c;
    op->plan = vcci_plans_get(&c->plans, key);
    int rc = op->plan ? start(c, op, in, out) : c->plans.error;
    if (rc > 0)
        vcci_engine_hold(c->engine); /* peers ring us even while no call is inside */
    else if (rc < 0)
        c->failed = rc;
    vcci_engine_unlock(c->engine);
    return rc;
}
