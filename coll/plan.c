/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/plan.h"

#include <stdlib.h>
#include <string.h>

#include "coll/sig.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/stat.h"
#include "lib/device/dtype.h"

void vcci_plans_init(struct vcci_plans *plans, int rank, int size, int shared, const struct vcci_cost_params *costs,
                     const struct vcci_rules *rules)
{
    memset(plans, 0, sizeof *plans);
    vcci_list_init(&plans->lru);
    plans->rank = rank;
    plans->size = size;
    plans->shared = shared;
    plans->costs = *costs;
    plans->rules = rules;
    plans->slot_bytes = vcci_flat_slot_bytes(size);
    plans->slots = shared ? VCCI_FLAT_SLOTS : 0;
}

static void destroy(struct vcci_plan *p)
{
    for (struct vcci_list *n = vcci_list_pop(&p->idle); n; n = vcci_list_pop(&p->idle))
        vcci_run_destroy(VCCI_CONTAINER(n, struct vcci_run, node));
    vcci_flat_plan_destroy(p->flat);
    vcci_sched_put(p->sched);
    free(p);
}

void vcci_plans_fini(struct vcci_plans *plans)
{
    for (struct vcci_list *n = vcci_list_pop(&plans->lru); n; n = vcci_list_pop(&plans->lru))
        destroy(VCCI_CONTAINER(n, struct vcci_plan, lru));
    plans->n = 0;
    plans->last = NULL;
}

static unsigned bucket(const struct vcci_plan_key *k)
{
    uint64_t h = k->count * 0x9e3779b97f4a7c15u ^ (uint64_t)(uint32_t)k->root << 32;
    h ^= (uint64_t)k->coll << 24 | (uint64_t)k->type << 16 | (uint64_t)k->op << 8 | k->in_place;
    h *= 0xff51afd7ed558ccdu;
    return (unsigned)(h >> 58) % VCCI_PLAN_BUCKETS;
}

static int same(const struct vcci_plan_key *a, const struct vcci_plan_key *b)
{
    return a->count == b->count && a->root == b->root && a->coll == b->coll && a->type == b->type && a->op == b->op &&
           a->in_place == b->in_place;
}

static struct vcci_coll_args args_of(const struct vcci_plan_key *key, int rank, int size)
{
    struct vcci_coll_args a = {.coll = (enum vcci_coll)key->coll,
                               .rank = rank,
                               .size = size,
                               .root = key->root,
                               .count = key->count,
                               .type = (vccl_datatype_t)key->type,
                               .type_bytes = vcci_dtype_valid((vccl_datatype_t)key->type) ? vcci_dtype_bytes[key->type] : 1,
                               .op = (vccl_op_t)key->op,
                               .commutes = 1,
                               .in_place = key->in_place,
                               .slot_bytes = vcci_flat_slot_bytes(size),
                               .slots = VCCI_FLAT_SLOTS};
    return a;
}

static int build(const struct vcci_algo *algo, const struct vcci_coll_args *a, struct vcci_sched **sched_out)
{
    struct vcci_builder *b = vcci_builder_create(a, algo->name);
    if (!b)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for a schedule");
    algo->build(b, a);
    return vcci_freeze(b, sched_out);
}

int vcci_plan_schedule(const struct vcci_plan_key *key, const char *name, int rank, int size, const struct vcci_cost_params *costs,
                       struct vcci_sched **sched_out)
{
    struct vcci_coll_args a = args_of(key, rank, size);
    const struct vcci_algo *algo = name ? vcci_algo_find(a.coll, name) : vcci_select(&a, 1, costs, NULL, NULL);
    if (!algo && name)
        return vcci_fail(VCCL_ERR_ARG, "%s has no algorithm \"%s\"", vcci_coll_name(a.coll), name);
    return algo ? build(algo, &a, sched_out) : -VCCL_ERR_UNSUPPORTED;
}

static void explain(const struct vcci_plans *plans, const struct vcci_plan *p, int forced)
{
    if (plans->explain && plans->rank == 0)
        vcci_log(VCCI_LOG_ERROR, "explain: %s of %zu x %s on %d ranks runs %s (%s), %u nodes, %llu chunks, %s",
                 vcci_coll_name(p->sched->coll), p->key.count,
                 p->key.type ? vcci_dtype_name((vccl_datatype_t)p->key.type) : "nothing", plans->size, p->algo->name,
                 p->flat ? "flat program in shared memory" : "messages", p->sched->n_nodes, (unsigned long long)p->sched->n_chunks,
                 forced ? "as VCCL_COLL says" : "cheapest by the cost table");
}

static void evict(struct vcci_plans *plans)
{
    VCCI_LIST_EACH(n, &plans->lru) {
        struct vcci_plan *p = VCCI_CONTAINER(n, struct vcci_plan, lru);
        if (atomic_load_explicit(&p->busy, memory_order_acquire))
            continue;
        struct vcci_plan **at = &plans->buckets[bucket(&p->key)];
        while (*at != p)
            at = &(*at)->hash_next;
        *at = p->hash_next;
        vcci_list_remove(&p->lru);
        if (plans->last == p)
            plans->last = NULL;
        destroy(p);
        plans->n--;
        return;
    }
}

static struct vcci_plan *make(struct vcci_plans *plans, const struct vcci_plan_key *key)
{
    struct vcci_coll_args a = args_of(key, plans->rank, plans->size);
    int forced = 0;
    a.slots = plans->slots;
    const struct vcci_algo *algo = vcci_select(&a, plans->shared, &plans->costs, plans->rules, &forced);
    struct vcci_plan *p = algo ? calloc(1, sizeof *p) : NULL;
    if (!p) {
        plans->error = algo ? vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for a plan") : -VCCL_ERR_UNSUPPORTED;
        return NULL;
    }
    VCCI_COUNT(allocs, 1);
    vcci_list_init(&p->idle);
    vcci_list_init(&p->lru);
    p->key = *key;
    p->algo = algo;
    p->sig = vcci_sig_make(&a);
    int err = build(algo, &a, &p->sched);
    if (!err && (p->sched->flat || plans->size == 1))
        err = vcci_flat_lower(p->sched, p->sig, &p->flat);
    if (err) {
        plans->error = err;
        destroy(p);
        return NULL;
    }
    explain(plans, p, forced);
    return p;
}

struct vcci_plan *vcci_plans_find(struct vcci_plans *plans, const struct vcci_plan_key *key)
{
    struct vcci_plan **head = &plans->buckets[bucket(key)], *p = *head;
    while (p && !same(&p->key, key))
        p = p->hash_next;
    if (p) {
        VCCI_COUNT(sched_hits, 1);
        vcci_list_remove(&p->lru);
    } else {
        if (plans->n >= VCCI_PLANS_MAX)
            evict(plans);
        p = make(plans, key);
        if (!p)
            return NULL;
        p->hash_next = *head;
        *head = p;
        plans->n++;
    }
    vcci_list_push(&plans->lru, &p->lru);
    plans->last = p;
    return p;
}
