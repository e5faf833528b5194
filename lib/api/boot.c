/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/api/boot.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/cpu.h"
#include "lib/base/env.h"
#include "lib/base/err.h"

#define HOST_KEY "vccl.host"
#define GET_TIMEOUT_MS 120000 /* a peer's program may start late, on a machine that is busy loading it a hundred times */
#define WIRE_VERSION 1u

static int fetch(struct vcci_ctx *ctx, struct vcci_host_blob *host_out)
{
    int first = ctx->boot->host_ranks[0];
    size_t bytes = sizeof *host_out;
    int err = ctx->boot->ops->get(ctx->boot, first, HOST_KEY, host_out, &bytes, GET_TIMEOUT_MS);
    if (err)
        return err;
    if (bytes != sizeof *host_out || host_out->bytes != sizeof *host_out || host_out->version != WIRE_VERSION)
        return vcci_fail(VCCL_ERR_BOOTSTRAP, "rank %d runs another version of VCCL (wire %u, %zu bytes) than rank %d (wire %u, %zu bytes)", first,
                         bytes >= 4 ? host_out->version : 0, bytes, ctx->boot->rank, WIRE_VERSION, sizeof *host_out);
    return 0;
}

int vcci_boot_host(struct vcci_ctx *ctx, struct vcci_host_blob *host_out)
{
    struct vcci_boot *boot = ctx->boot;
    if (boot->local_size != boot->size)
        return vcci_fail(VCCL_ERR_UNSUPPORTED, "the job has %d ranks, %d of them on this host: this version of VCCL runs on one host", boot->size,
                         boot->local_size);
    ctx->local_of = malloc((size_t)boot->size * sizeof *ctx->local_of);
    if (!ctx->local_of)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for %d ranks", boot->size);
    for (int i = 0; i < boot->local_size; i++)
        ctx->local_of[boot->host_ranks[i]] = i;
    memset(host_out, 0, sizeof *host_out);
    if (boot->local_rank == 0) {
        host_out->version = WIRE_VERSION;
        host_out->bytes = sizeof *host_out;
        vcci_cost_default(boot->local_size, vcci_cpu_of_job(), &host_out->costs);
        return vcci_board_create(&ctx->board, boot->local_size, &host_out->board);
    }
    int err = fetch(ctx, host_out);
    return err ? err : vcci_board_open(&ctx->board, boot->local_size, boot->local_rank, &host_out->board);
}

int vcci_boot_peers(struct vcci_ctx *ctx)
{
    struct vcci_p2p_conf conf = {.engine = ctx->engine,
                                 .board = &ctx->board,
                                 .world_rank = ctx->boot->rank,
                                 .world_size = ctx->boot->size,
                                 .local_of = ctx->local_of,
                                 .links = vcci_env()->links};
    vcci_engine_set_bell(ctx->engine, &ctx->board.entries[ctx->boot->local_rank].bell);
    vcci_engine_lock(ctx->engine);
    int err = vcci_p2p_create(&conf, &ctx->p2p);
    vcci_engine_unlock(ctx->engine);
    return err;
}

int vcci_boot_comms(struct vcci_ctx *ctx, struct vcci_host_blob *host)
{
    struct vcci_boot *boot = ctx->boot;
    int first = boot->local_rank == 0, err = 0;
    int *world = malloc((size_t)boot->size * sizeof *world);
    if (!world)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for %d ranks", boot->size);
    for (int i = 0; i < boot->size; i++)
        world[i] = i;
    err = vcci_comm_create(ctx, world, boot->rank, boot->size, 2, first ? NULL : &host->flat, &host->flat, &ctx->world);
    if (!err)
        err = vcci_comm_create(ctx, &boot->rank, 0, 1, 4, NULL, &(struct vcci_shm_addr){0}, &ctx->self);
    free(world);
    if (err)
        return err;
    ctx->world->handle = VCCL_COMM_WORLD;
    ctx->self->handle = VCCL_COMM_SELF;
    if (!first || boot->size == 1)
        return 0;
    if ((err = boot->ops->put(boot, HOST_KEY, host, sizeof *host)))
        return err;
    return boot->ops->commit(boot);
}
