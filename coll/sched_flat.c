/* SPDX-License-Identifier: BSD-3-Clause
 * Lowering a frozen schedule to a flat program: stages between waits, a kernel, a place for the scratch. */
#include "coll/flat.h"

#include <stdlib.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "lib/base/stat.h"
#include "lib/device/dtype.h"

static int is_wait(const struct vcci_sched *s, uint32_t node)
{
    return s->nodes[node].kind == VCCI_NODE_WAIT;
}

/* A stage begins where a WAIT follows something that is none. */
static uint32_t split(const struct vcci_sched *s, uint32_t *stages)
{
    uint32_t n = 0;
    if (stages)
        stages[0] = 0;
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        if (!is_wait(s, i) || (i && is_wait(s, i - 1)))
            continue;
        n++;
        if (stages)
            stages[n] = i;
    }
    if (stages)
        stages[n + 1] = s->n_nodes;
    return n + 1;
}

/* A flat program runs its nodes in the order they were emitted: every edge must point forward. */
static int check_order(const struct vcci_sched *s)
{
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const struct vcci_node *n = &s->nodes[i];
        if (n->kind == VCCI_NODE_SEND || n->kind == VCCI_NODE_RECV)
            return vcci_fail(VCCL_ERR_INTERNAL, "schedule %s/%s has messages and cannot be flat", vcci_coll_name(s->coll), s->algo);
        for (uint32_t k = 0; k < n->n_succ; k++)
            if (s->succs[n->first_succ + k] <= i)
                return vcci_fail(VCCL_ERR_INTERNAL, "schedule %s/%s: node %u is emitted after its successor", vcci_coll_name(s->coll),
                                 s->algo, i);
    }
    if (s->n_phases > VCCI_FLAT_PHASES)
        return vcci_fail(VCCL_ERR_INTERNAL, "schedule %s/%s signals %u times a chunk, at most %u can be", vcci_coll_name(s->coll), s->algo,
                         s->n_phases, VCCI_FLAT_PHASES);
    return 0;
}

/* Is there a hand-over large enough to ask how it is written? */
static int shows_much(const struct vcci_sched *s)
{
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const struct vcci_node *n = &s->nodes[i];
        for (unsigned k = n->n_in; k < (unsigned)n->n_in + n->n_out; k++) {
            const struct vcci_ref *r = &s->refs[n->first_ref + k];
            if (r->space == VCCI_SCRATCH && r->bytes >= VCCI_FLAT_AROUND_MIN)
                return 1;
        }
    }
    return 0;
}

/* Bytes that the run writes into OUT. */
static uint64_t result_bytes(const struct vcci_sched *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const struct vcci_node *n = &s->nodes[i];
        for (unsigned k = n->n_in; k < (unsigned)n->n_in + n->n_out; k++)
            if (s->refs[n->first_ref + k].space == VCCI_OUT)
                sum += s->refs[n->first_ref + k].total;
    }
    return sum;
}

static uint64_t last_cache_bytes(void)
{
    long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return l3 > 0 ? (uint64_t)l3 : 32u << 20;
}

static uint8_t place_of(const struct vcci_sched *s)
{
    if (s->n_chunks != 1 || s->scratch > VCCI_FLAT_POCKET_BYTES)
        return VCCI_FLAT_SLOT;
    return s->scratch <= VCCI_FLAT_LINE_BYTES && s->n_phases <= 1 ? VCCI_FLAT_LINE : VCCI_FLAT_POCKET;
}

int vcci_flat_lower(struct vcci_sched *sched, uint32_t sig, struct vcci_flat_plan **plan_out)
{
    int err = check_order(sched);
    if (err)
        return err;
    uint32_t n_stages = split(sched, NULL);
    struct vcci_flat_plan *p = calloc(1, sizeof *p + (n_stages + 1) * sizeof p->stages[0] + sizeof *p->habit);
    if (!p)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for a flat program of %u stages", n_stages);
    VCCI_COUNT(allocs, 1);
    split(sched, p->stages);
    if (shows_much(sched))
        p->habit = (struct vcci_flat_habit *)(void *)&p->stages[n_stages + 1];
    p->n_stages = n_stages;
    p->sched = vcci_sched_get(sched);
    p->sig = sig;
    p->type_bytes = vcci_dtype_valid(sched->type) ? vcci_dtype_bytes[sched->type] : 1;
    p->place = place_of(sched);
    p->stream = result_bytes(sched) >= last_cache_bytes();
    p->average = sched->op == VCCL_AVG;
    if (sched->op != VCCL_OP_NULL) {
        p->reduce = vcci_reduce_find(sched->op, sched->type);
        p->reduce_stream = vcci_reduce_stream_find(sched->op, sched->type);
    }
    *plan_out = p;
    return 0;
}

void vcci_flat_plan_destroy(struct vcci_flat_plan *plan)
{
    if (!plan)
        return;
    vcci_sched_put(plan->sched);
    free(plan);
}
