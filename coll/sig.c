/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/sig.h"

#include <stdio.h>

#include "lib/base/err.h"
#include "lib/device/dtype.h"

/* coll + 1: 4 bits, op: 4, type: 5, hash of root and bytes: 19. Never 0. */
uint32_t vcci_sig_make(const struct vcci_coll_args *a)
{
    int reduces = a->op != VCCL_OP_NULL;
    uint64_t h = ((uint64_t)a->count * a->type_bytes + 1) * 0x9e3779b97f4a7c15u ^ ((uint64_t)a->root + 1) * 0xc2b2ae3d27d4eb4fu;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9u;
    uint32_t op = a->op >= VCCL_OP_NR ? (uint32_t)VCCL_SUM : (uint32_t)a->op;
    return (uint32_t)(a->coll + 1) << 28 | op << 24 | (reduces ? (uint32_t)a->type : 0u) << 19 | (uint32_t)(h >> 45);
}

const char *vcci_sig_text(uint32_t sig, char *buf, size_t cap)
{
    unsigned coll = (sig >> 28) - 1, op = sig >> 24 & 15, type = sig >> 19 & 31;
    const char *name = coll < VCCI_COLL_NR ? vcci_coll_name((enum vcci_coll)coll) : "an unknown call";
    if (op && vcci_op_name((vccl_op_t)op) && vcci_dtype_name((vccl_datatype_t)type))
        snprintf(buf, cap, "%s(%s, %s)", name, vcci_dtype_name((vccl_datatype_t)type), vcci_op_name((vccl_op_t)op));
    else
        snprintf(buf, cap, "%s", name);
    return buf;
}

int vcci_sig_mismatch(int rank, uint32_t mine, int peer, uint32_t theirs)
{
    char a[64], b[64];
    vcci_sig_text(mine, a, sizeof a);
    vcci_sig_text(theirs, b, sizeof b);
    if (mine >> 19 == theirs >> 19)
        return vcci_fail(VCCL_ERR_MISMATCH, "rank %d and rank %d both called %s, but with different counts, types or roots", rank, peer, a);
    return vcci_fail(VCCL_ERR_MISMATCH, "rank %d called %s while rank %d called %s", rank, a, peer, b);
}
