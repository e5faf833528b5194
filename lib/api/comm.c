/* SPDX-License-Identifier: BSD-3-Clause
 * Communicators. */
#include <stdlib.h>
#include <string.h>

#include "lib/api/ctx.h"
#include "lib/api/result.h"
#include "lib/base/env.h"

struct vcci_comm *vcci_comm_find_slow(struct vcci_ctx *ctx, vccl_comm_t handle, const char *call)
{
    if (handle == VCCL_COMM_WORLD)
        return ctx->world;
    if (handle == VCCL_COMM_SELF)
        return ctx->self;
    struct vcci_comm *comm = vcci_handles_get(&ctx->comms_table, (uint64_t)(uintptr_t)handle);
    if (!comm)
        vcci_fail(VCCL_ERR_ARG, handle ? "%s: %p is not a communicator, or one that was freed" : "%s: the communicator is VCCL_COMM_NULL", call,
                  (void *)handle);
    return comm;
}

static int open_ports(struct vcci_comm *comm)
{
    struct vcci_ctx *ctx = comm->ctx;
    vcci_engine_lock(ctx->engine);
    int err = vcci_port_open(ctx->p2p, comm->ctxid, comm->world, comm->rank, comm->size, 0, &comm->port);
    if (!err && comm->size > 1)
        err = vcci_port_open(ctx->p2p, comm->ctxid + 1, comm->world, comm->rank, comm->size, 1, &comm->coll.port);
    vcci_engine_unlock(ctx->engine);
    return err;
}

int vcci_comm_create(struct vcci_ctx *ctx, const int *world, int rank, int size, uint64_t ctxid, const struct vcci_shm_addr *shared,
                     struct vcci_shm_addr *addr_out, struct vcci_comm **comm_out)
{
    struct vcci_comm *comm = calloc(1, sizeof *comm);
    int *ranks = malloc(2 * (size_t)size * sizeof *ranks);
    if (!comm || !ranks) {
        free(comm);
        free(ranks);
        return vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for a communicator of %d ranks", size);
    }
    *comm = (struct vcci_comm){.ctx = ctx, .rank = rank, .size = size, .world = ranks, .local = ranks + size, .ctxid = ctxid};
    for (int i = 0; i < size; i++) {
        comm->world[i] = world[i];
        comm->local[i] = ctx->local_of[world[i]];
    }
    vcci_list_init(&comm->node);
    struct vcci_coll_comm *c = &comm->coll;
    c->engine = ctx->engine;
    vcci_plans_init(&c->plans, rank, size, 1, &ctx->costs, &ctx->rules);
    c->plans.explain = vcci_env()->explain;
    int err = shared ? vcci_flat_open(&c->flat, ctx->engine, &ctx->board, comm->local, rank, size, ctx->spins, shared)
                     : vcci_flat_create(&c->flat, ctx->engine, &ctx->board, comm->local, rank, size, ctx->spins, addr_out);
    if (!err)
        err = open_ports(comm);
    if (err) {
        vcci_comm_destroy(comm);
        return err;
    }
    pthread_mutex_lock(&ctx->lock);
    vcci_list_push(&ctx->comms, &comm->node);
    pthread_mutex_unlock(&ctx->lock);
    *comm_out = comm;
    return 0;
}

void vcci_comm_destroy(struct vcci_comm *comm)
{
    struct vcci_ctx *ctx = comm->ctx;
    pthread_mutex_lock(&ctx->lock);
    vcci_list_remove(&comm->node);
    pthread_mutex_unlock(&ctx->lock);
    vcci_engine_lock(ctx->engine);
    vcci_coll_close(&comm->coll);
    if (comm->port)
        vcci_port_close(comm->port);
    if (comm->coll.port)
        vcci_port_close(comm->coll.port);
    vcci_engine_unlock(ctx->engine);
    free(comm->world);
    free(comm);
}

API vccl_result_t vccl_comm_rank(vccl_comm_t handle, int *rank_out)
{
    struct vcci_ctx *ctx = vcci_ctx_running("vccl_comm_rank");
    struct vcci_comm *comm = ctx ? vcci_comm_find(ctx, handle, "vccl_comm_rank") : NULL;
    if (!comm)
        return ctx ? VCCL_ERR_ARG : VCCL_ERR_STATE;
    if (!rank_out)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_comm_rank: rank_out is NULL"));
    *rank_out = comm->rank;
    return VCCL_SUCCESS;
}

API vccl_result_t vccl_comm_size(vccl_comm_t handle, int *size_out)
{
    struct vcci_ctx *ctx = vcci_ctx_running("vccl_comm_size");
    struct vcci_comm *comm = ctx ? vcci_comm_find(ctx, handle, "vccl_comm_size") : NULL;
    if (!comm)
        return ctx ? VCCL_ERR_ARG : VCCL_ERR_STATE;
    if (!size_out)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_comm_size: size_out is NULL"));
    *size_out = comm->size;
    return VCCL_SUCCESS;
}

/* ---- making communicators from one: three exchanges over it ---- */

struct wish { /* what each rank wants */
    int32_t color, key;
};
struct offer { /* what the first rank of each new group gives the others */
    uint64_t ctxid;
    struct vcci_shm_addr addr;
    int32_t error;
};

static int exchange(struct vcci_comm *comm, const void *mine, void *all, size_t bytes)
{
    struct vcci_plan_key key = {.coll = VCCI_COLL_ALLGATHER, .count = bytes, .type = VCCL_BYTE};
    return vcci_coll_call(&comm->coll, &key, mine, all, vcci_deadline(comm->ctx));
}

/* The new group: ranks of comm with my color, by key, then rank. Returns its size; *me_out my place. */
static int group_of(const struct vcci_comm *comm, const struct wish *wishes, int *members, int *me_out)
{
    int n = 0;
    for (int r = 0; r < comm->size; r++) {
        if (wishes[r].color != wishes[comm->rank].color)
            continue;
        int at = n++;
        for (; at > 0 && wishes[members[at - 1]].key > wishes[r].key; at--)
            members[at] = members[at - 1];
        members[at] = r;
    }
    for (int i = 0; i < n; i++)
        if (members[i] == comm->rank)
            *me_out = i;
    return n;
}

static uint64_t fresh_ctxid(struct vcci_ctx *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    ctx->ctxid_next += 2;
    uint64_t id = ctx->ctxid_next;
    pthread_mutex_unlock(&ctx->lock);
    return id;
}

struct split {
    struct wish *wishes;
    struct offer *offers;
    int *members, *world;
    struct vcci_comm *made;
};

static void split_free(struct split *s)
{
    free(s->wishes);
    free(s->offers);
    free(s->members);
    free(s->world);
}

static int split_alloc(struct split *s, size_t n)
{
    s->wishes = malloc(n * sizeof *s->wishes);
    s->offers = malloc(n * sizeof *s->offers);
    s->members = malloc(n * sizeof *s->members);
    s->world = malloc(n * sizeof *s->world);
    if (s->wishes && s->offers && s->members && s->world)
        return 0;
    split_free(s);
    return vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for splitting a communicator of %zu ranks", n);
}

/* Creates this rank's new communicator; every rank then learns whether all succeeded. */
static int split_make(struct vcci_comm *comm, struct split *s, struct wish mine)
{
    struct vcci_ctx *ctx = comm->ctx;
    struct offer offer = {0};
    int me = 0, n = 0, err = exchange(comm, &mine, s->wishes, sizeof mine);
    if (err)
        return err;
    if (mine.color != VCCL_UNDEFINED)
        n = group_of(comm, s->wishes, s->members, &me);
    for (int i = 0; i < n; i++)
        s->world[i] = comm->world[s->members[i]];
    if (n && me == 0) {
        offer.ctxid = fresh_ctxid(ctx);
        offer.error = vcci_comm_create(ctx, s->world, 0, n, offer.ctxid, NULL, &offer.addr, &s->made);
    }
    if ((err = exchange(comm, &offer, s->offers, sizeof offer)))
        return err;
    const struct offer *o = n ? &s->offers[s->members[0]] : NULL;
    if (o && me && !o->error)
        offer.error = vcci_comm_create(ctx, s->world, me, n, o->ctxid, &o->addr, NULL, &s->made);
    int failed = offer.error; /* this rank's own, whose sentence is set */
    if ((err = exchange(comm, &offer, s->offers, sizeof offer)))
        return err;
    for (int r = 0; r < comm->size && !failed; r++)
        if (s->offers[r].error)
            failed = vcci_fail((vccl_result_t)-s->offers[r].error, "rank %d could not make its new communicator (%s)", r,
                               vccl_strerror((vccl_result_t)-s->offers[r].error));
    return failed;
}

static int split(struct vcci_comm *comm, struct wish mine, vccl_comm_t *newcomm_out)
{
    struct split s = {0};
    uint64_t handle = 0;
    int err = split_alloc(&s, (size_t)comm->size);
    if (err)
        return err;
    err = split_make(comm, &s, mine);
    if (!err && s.made && !(err = vcci_handles_alloc(&comm->ctx->comms_table, s.made, &handle)))
        s.made->handle = (vccl_comm_t)(uintptr_t)handle;
    if (err && s.made)
        vcci_comm_destroy(s.made);
    if (!err)
        *newcomm_out = (vccl_comm_t)(uintptr_t)handle;
    split_free(&s);
    return err;
}

static vccl_result_t split_checked(const char *call, vccl_comm_t handle, struct wish mine, vccl_comm_t *newcomm_out)
{
    struct vcci_ctx *ctx = vcci_ctx_running(call);
    struct vcci_comm *comm = ctx ? vcci_comm_find(ctx, handle, call) : NULL;
    if (!comm)
        return ctx ? VCCL_ERR_ARG : VCCL_ERR_STATE;
    if (!newcomm_out)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "%s: newcomm_out is NULL", call));
    if (mine.color < 0 && mine.color != VCCL_UNDEFINED)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "%s: color %d is negative and not VCCL_UNDEFINED", call, mine.color));
    return vcci_result(split(comm, mine, newcomm_out));
}

API vccl_result_t vccl_comm_split(vccl_comm_t comm, int color, int key, vccl_comm_t *newcomm_out)
{
    return split_checked("vccl_comm_split", comm, (struct wish){color, key}, newcomm_out);
}

API vccl_result_t vccl_comm_dup(vccl_comm_t comm, vccl_comm_t *newcomm_out)
{
    return split_checked("vccl_comm_dup", comm, (struct wish){0, 0}, newcomm_out);
}

API vccl_result_t vccl_comm_split_shared(vccl_comm_t comm, int key, vccl_comm_t *newcomm_out)
{
    return split_checked("vccl_comm_split_shared", comm, (struct wish){0, key}, newcomm_out); /* a job is on one host */
}

API vccl_result_t vccl_comm_free(vccl_comm_t *handle)
{
    struct vcci_ctx *ctx = vcci_ctx_running("vccl_comm_free");
    if (!ctx)
        return VCCL_ERR_STATE;
    if (!handle)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_comm_free: comm is NULL"));
    struct vcci_comm *comm = vcci_comm_find(ctx, *handle, "vccl_comm_free");
    if (!comm)
        return VCCL_ERR_ARG;
    if (comm == ctx->world || comm == ctx->self)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_comm_free: VCCL_COMM_%s cannot be freed", comm == ctx->world ? "WORLD" : "SELF"));
    int open = atomic_load(&comm->requests);
    if (open)
        return vcci_result(vcci_fail(VCCL_ERR_STATE, "vccl_comm_free: %d request%s on the communicator not completed", open,
                                     open == 1 ? " is" : "s are"));
    struct vcci_plan_key key = {.coll = VCCI_COLL_BARRIER};
    if (!comm->coll.failed) /* the others may still read what this rank shares */
        vcci_coll_call(&comm->coll, &key, NULL, NULL, vcci_deadline(ctx));
    vcci_handles_free(&ctx->comms_table, (uint64_t)(uintptr_t)*handle);
    vcci_comm_destroy(comm);
    *handle = VCCL_COMM_NULL;
    return VCCL_SUCCESS;
}
