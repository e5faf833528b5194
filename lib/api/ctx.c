/* SPDX-License-Identifier: BSD-3-Clause
 * A rank's life: from a bootstrap in hand to a running context, and back. */
#include "lib/api/ctx.h"

#include <stdlib.h>
#include <string.h>

#include "lib/api/boot.h"
#include "lib/base/cpu.h"
#include "lib/base/env.h"
#include "lib/base/err.h"
#include "lib/base/log.h"

_Thread_local struct vcci_ctx *vcci_ctx_mine __attribute__((tls_model("initial-exec")));
struct vcci_ctx *vcci_ctx_process;

#define COMM_KIND 0xc1
#define REQUEST_KIND 0xc2
#define SPINS_ALONE 2000 /* polls, about 20 us: where every rank has a core */
#define SPIN_DEFAULT_NS 50000

struct vcci_ctx *vcci_ctx_running_slow(const char *call)
{
    struct vcci_ctx *ctx = vcci_ctx();
    vcci_fail(VCCL_ERR_STATE, "%s was called %s", call, ctx && ctx->state == VCCI_CTX_OVER ? "after vccl_finalize" : "before vccl_init");
    return NULL;
}

/* Ranks that have a core each spin; where ranks outnumber the cores, a spinning rank only keeps the one it waits for from running. */
static void choose_waiting(struct vcci_ctx *ctx, struct vcci_engine_conf *conf)
{
    const struct vcci_env *env = vcci_env();
    int crowded = ctx->costs.crowd > 1;
    conf->threaded = env->progress == 0;
    conf->spin_ns = env->spin_us >= 0 ? env->spin_us * 1000 : crowded ? 0 : SPIN_DEFAULT_NS;
    conf->yields = (int)env->yields;
    ctx->spins = conf->spin_ns ? SPINS_ALONE : 0;
}

static int init_tables(struct vcci_ctx *ctx)
{
    int err = vcci_handles_init(&ctx->comms_table, COMM_KIND);
    if (!err && (err = vcci_handles_init(&ctx->requests_table, REQUEST_KIND)))
        vcci_handles_fini(&ctx->comms_table);
    if (err)
        return err;
    vcci_pool_init(&ctx->request_pool, sizeof(struct vcci_request), 16);
    vcci_list_init(&ctx->comms);
    pthread_mutex_init(&ctx->lock, NULL);
    return 0;
}

static void fini_tables(struct vcci_ctx *ctx)
{
    vcci_handles_fini(&ctx->comms_table);
    vcci_handles_fini(&ctx->requests_table);
    vcci_pool_fini(&ctx->request_pool);
    pthread_mutex_destroy(&ctx->lock);
}

/* Frees what there is, in the reverse order of start; also after a start that failed half-way. */
static void tear_down(struct vcci_ctx *ctx)
{
    while (!vcci_list_empty(&ctx->comms))
        vcci_comm_destroy(VCCI_CONTAINER(ctx->comms.next, struct vcci_comm, node));
    if (ctx->p2p) {
        vcci_engine_lock(ctx->engine);
        vcci_p2p_destroy(ctx->p2p);
        vcci_engine_unlock(ctx->engine);
        ctx->p2p = NULL;
    }
    if (ctx->engine)
        vcci_engine_destroy(ctx->engine);
    vcci_board_close(&ctx->board);
    if (ctx->boot)
        ctx->boot->ops->fini(ctx->boot);
    free(ctx->local_of);
    ctx->engine = NULL;
    ctx->boot = NULL;
    ctx->local_of = NULL;
    fini_tables(ctx);
}

static int start(struct vcci_ctx *ctx)
{
    const struct vcci_env *env = vcci_env();
    struct vcci_engine_conf conf;
    struct vcci_host_blob host;
    ctx->timeout = env->timeout;
    ctx->ctxid_next = ((uint64_t)ctx->boot->rank + 1) << 32;
    int err = vcci_rules_parse(env->coll, &ctx->rules);
    if (err || (err = vcci_boot_host(ctx, &host)))
        return err;
    ctx->costs = host.costs;
    choose_waiting(ctx, &conf);
    if ((err = vcci_engine_create(&conf, &ctx->engine)) || (err = vcci_boot_peers(ctx)))
        return err;
    return vcci_boot_comms(ctx, &host);
}

int vcci_ctx_create(struct vcci_boot *boot, struct vcci_ctx **ctx_out)
{
    struct vcci_ctx *ctx = calloc(1, sizeof *ctx);
    int err = ctx ? init_tables(ctx) : vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for a context");
    if (err) {
        free(ctx);
        boot->ops->fini(boot);
        return err;
    }
    ctx->boot = boot;
    vcci_log_rank(boot->rank);
    if ((err = start(ctx))) {
        tear_down(ctx);
        free(ctx);
        return err;
    }
    atomic_store(&ctx->state, VCCI_CTX_RUNNING);
    *ctx_out = ctx;
    return 0;
}

static int quiet(void *arg)
{
    struct vcci_ctx *ctx = arg;
    vcci_engine_lock(ctx->engine);
    int yes = vcci_p2p_quiet(ctx->p2p);
    vcci_engine_unlock(ctx->engine);
    return yes;
}

int vcci_ctx_destroy(struct vcci_ctx *ctx)
{
    VCCI_LIST_EACH(n, &ctx->comms) {
        struct vcci_comm *comm = VCCI_CONTAINER(n, struct vcci_comm, node);
        int open = atomic_load(&comm->requests);
        if (open)
            return vcci_fail(VCCL_ERR_STATE, "vccl_finalize: %d request%s of a communicator of %d ranks not completed", open,
                             open == 1 ? " is" : "s are", comm->size);
    }
    struct vcci_waiter w = {.ready = quiet, .arg = ctx};
    int err = vcci_engine_wait(ctx->engine, &w, vcci_deadline(ctx));
    /* Peers may still read our memory until they too have come here. */
    struct vcci_plan_key key = {.coll = VCCI_COLL_BARRIER};
    int last = vcci_coll_call(&ctx->world->coll, &key, NULL, NULL, vcci_deadline(ctx));
    atomic_store(&ctx->state, VCCI_CTX_OVER);
    tear_down(ctx);
    if (err)
        return vcci_fail(VCCL_ERR_TIMEOUT, "vccl_finalize: messages on their way were not delivered in time");
    return last == -VCCL_ERR_REVOKED ? 0 : last;
}
