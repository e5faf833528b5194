/* SPDX-License-Identifier: BSD-3-Clause
 * Start, end, and what needs neither. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/api/ctx.h"
#include "lib/api/result.h"
#include "lib/base/env.h"
#include "lib/base/log.h"

static const struct {
    vccl_result_t code;
    const char *text;
} texts[] = {
    {VCCL_SUCCESS, "success"},
    {VCCL_ERR_ARG, "invalid argument"},
    {VCCL_ERR_STATE, "called at the wrong time"},
    {VCCL_ERR_TRUNCATE, "message longer than the receive buffer"},
    {VCCL_ERR_NO_MEMORY, "out of memory"},
    {VCCL_ERR_SYSTEM, "system call failed"},
    {VCCL_ERR_UNSUPPORTED, "not supported by this build or machine"},
    {VCCL_ERR_CONFIG, "bad value of a VCCL_ variable"},
    {VCCL_ERR_CANCELED, "canceled"},
    {VCCL_ERR_LINK, "no link to the peer"},
    {VCCL_ERR_PROC_FAILED, "a peer process failed"},
    {VCCL_ERR_MISMATCH, "ranks called different collectives"},
    {VCCL_ERR_TIMEOUT, "timeout"},
    {VCCL_ERR_REVOKED, "the communicator was revoked by an earlier failure"},
    {VCCL_ERR_PARTITIONED, "this side of a network partition may not go on"},
    {VCCL_ERR_BOOTSTRAP, "the launcher cannot be reached"},
    {VCCL_ERR_INTERNAL, "internal error of VCCL"},
};

API const char *vccl_strerror(vccl_result_t result)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].code == result)
            return texts[i].text;
    return "unknown result code";
}

API const char *vccl_last_error(void)
{
    return vcci_err_text();
}

API double vccl_wtime(void)
{
    return (double)vcci_now_ns() * 1e-9;
}

API vccl_result_t vccl_get_version(int *major_out, int *minor_out, int *patch_out)
{
    if (major_out)
        *major_out = VCCL_VERSION_MAJOR;
    if (minor_out)
        *minor_out = VCCL_VERSION_MINOR;
    if (patch_out)
        *patch_out = VCCL_VERSION_PATCH;
    return VCCL_SUCCESS;
}

API vccl_result_t vccl_initialized(int *flag_out)
{
    if (!flag_out)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_initialized: flag_out is NULL"));
    *flag_out = vcci_ctx() != NULL;
    return VCCL_SUCCESS;
}

API vccl_result_t vccl_finalized(int *flag_out)
{
    if (!flag_out)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_finalized: flag_out is NULL"));
    struct vcci_ctx *ctx = vcci_ctx();
    *flag_out = ctx && atomic_load(&ctx->state) == VCCI_CTX_OVER;
    return VCCL_SUCCESS;
}

API vccl_result_t vccl_init(void)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    struct vcci_boot *boot = NULL;
    struct vcci_env env;
    pthread_mutex_lock(&once);
    int err = vcci_ctx() ? vcci_fail(VCCL_ERR_STATE, "vccl_init was called twice") : vcci_env_load(&env);
    if (!err)
        vcci_log_limit((enum vcci_log_level)env.log);
    if (!err)
        err = vcci_boot_open(&boot);
    if (!err)
        err = vcci_ctx_create(boot, &vcci_ctx_process);
    pthread_mutex_unlock(&once);
    return vcci_result(err);
}

API vccl_result_t vccl_finalize(void)
{
    struct vcci_ctx *ctx = vcci_ctx_running("vccl_finalize");
    return vcci_result(ctx ? vcci_ctx_destroy(ctx) : -VCCL_ERR_STATE);
}

API void vccl_abort(int code, const char *text)
{
    struct vcci_ctx *ctx = vcci_ctx();
    int exit_code = code >= 1 && code <= 255 ? code : 1;
    if (ctx && atomic_load(&ctx->state) == VCCI_CTX_RUNNING)
        ctx->boot->ops->abort(ctx->boot, exit_code, text);
    else if (text)
        vcci_log(VCCI_LOG_ERROR, "abort: %s", text);
    _exit(exit_code);
}
