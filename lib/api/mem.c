/* SPDX-License-Identifier: BSD-3-Clause
 * Memory that peers can map. */
#include "lib/api/ctx.h"
#include "lib/api/result.h"

API vccl_result_t vccl_mem_alloc(size_t bytes, void **ptr_out)
{
    struct vcci_ctx *ctx = vcci_ctx_running("vccl_mem_alloc");
    if (!ctx)
        return VCCL_ERR_STATE;
    if (!ptr_out)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_mem_alloc: ptr_out is NULL"));
    if (bytes > PTRDIFF_MAX)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_mem_alloc: %zu bytes do not fit in memory", bytes));
    return vcci_result(vcci_p2p_mem_alloc(ctx->p2p, bytes, ptr_out));
}

API vccl_result_t vccl_mem_free(void *ptr)
{
    struct vcci_ctx *ctx = vcci_ctx_running("vccl_mem_free");
    if (!ctx)
        return VCCL_ERR_STATE;
    return ptr ? vcci_result(vcci_p2p_mem_free(ctx->p2p, ptr)) : VCCL_SUCCESS;
}
