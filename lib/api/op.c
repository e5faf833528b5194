/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/api/op.h"

#include <pthread.h>
#include <string.h>

#include "lib/api/ctx.h"
#include "lib/api/result.h"
#include "lib/device/dtype.h"

/* A handle: bit 30, 14 bits of generation, 16 of index + 256. */
#define OPS_MAX 4096
#define FIRST 256u
#define MARK (1u << 30)

static struct {
    struct vcci_premul op;
    uint16_t generation;
    uint8_t used;
} ops[OPS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static vccl_op_t handle_of(unsigned i)
{
    return (vccl_op_t)(MARK | (ops[i].generation & 0x3fffu) << 16 | (i + FIRST));
}

/* Index of a live op, or -1. Lock held. */
static int index_of(vccl_op_t op)
{
    unsigned h = (unsigned)op, i = (h & 0xffffu) - FIRST;
    return (h & MARK) && i < OPS_MAX && ops[i].used && handle_of(i) == op ? (int)i : -1;
}

int vcci_premul_find(vccl_op_t op, vccl_datatype_t type, struct vcci_premul *out)
{
    pthread_mutex_lock(&lock);
    int i = index_of(op);
    if (i >= 0)
        *out = ops[i].op;
    pthread_mutex_unlock(&lock);
    return i < 0 ? -1 : out->type != type;
}

API vccl_result_t vccl_op_create_premul_sum(const void *scalar, vccl_datatype_t datatype, vccl_op_t *op_out)
{
    if (!vcci_ctx_running("vccl_op_create_premul_sum"))
        return VCCL_ERR_STATE;
    if (!scalar || !op_out)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_op_create_premul_sum: %s is NULL", scalar ? "op_out" : "scalar"));
    if (!vcci_dtype_valid(datatype))
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_op_create_premul_sum: %d is not a datatype", (int)datatype));
    if (!vcci_op_fits(VCCL_AVG, datatype))
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_op_create_premul_sum: %s is not a number", vcci_dtype_name(datatype)));
    pthread_mutex_lock(&lock);
    unsigned i = 0;
    while (i < OPS_MAX && ops[i].used)
        i++;
    if (i < OPS_MAX) {
        ops[i].used = 1;
        ops[i].generation++;
        ops[i].op.type = datatype;
        memcpy(ops[i].op.scalar, scalar, vcci_dtype_bytes[datatype]);
        *op_out = handle_of(i);
    }
    pthread_mutex_unlock(&lock);
    if (i == OPS_MAX)
        return vcci_result(vcci_fail(VCCL_ERR_NO_MEMORY, "vccl_op_create_premul_sum: %d ops exist, no more can be made", OPS_MAX));
    return VCCL_SUCCESS;
}

API vccl_result_t vccl_op_free(vccl_op_t *op)
{
    if (!vcci_ctx_running("vccl_op_free"))
        return VCCL_ERR_STATE;
    if (!op)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_op_free: op is NULL"));
    pthread_mutex_lock(&lock);
    int i = index_of(*op);
    if (i >= 0)
        ops[i].used = 0;
    pthread_mutex_unlock(&lock);
    if (i < 0)
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_op_free: %d is a built-in op, or none", (int)*op));
    *op = VCCL_OP_NULL;
    return VCCL_SUCCESS;
}

API vccl_result_t vccl_type_size(vccl_datatype_t datatype, size_t *bytes_out)
{
    if (!bytes_out || !vcci_dtype_valid(datatype))
        return vcci_result(bytes_out ? vcci_fail(VCCL_ERR_ARG, "vccl_type_size: %d is not a datatype", (int)datatype)
                                     : vcci_fail(VCCL_ERR_ARG, "vccl_type_size: bytes_out is NULL"));
    *bytes_out = vcci_dtype_bytes[datatype];
    return VCCL_SUCCESS;
}

API const char *vccl_type_name(vccl_datatype_t datatype)
{
    return vcci_dtype_name(datatype);
}

API const char *vccl_op_name(vccl_op_t op)
{
    return vcci_op_name(op);
}
