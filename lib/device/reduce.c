/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/device/reduce.h"

#include <stdatomic.h>
#include <string.h>

#include "lib/base/cpu.h"
#include "lib/device/dtype.h"
#include "lib/device/reduce_level.h"

static const struct vcci_reduce_level *const levels[VCCI_ISA_NR] = {
    [VCCI_ISA_BASE] = &vcci_reduce_level_base,
#if defined(__x86_64__)
    [VCCI_ISA_AVX2] = &vcci_reduce_level_avx2,
    [VCCI_ISA_AVX512] = &vcci_reduce_level_avx512,
#else
    [VCCI_ISA_AVX2] = &vcci_reduce_level_base,
    [VCCI_ISA_AVX512] = &vcci_reduce_level_base,
#endif
};

/* NULL until first used. Threads that meet here store the same value. */
static const struct vcci_reduce_level *_Atomic level_now;

static const struct vcci_reduce_level *level(void)
{
    const struct vcci_reduce_level *l = atomic_load_explicit(&level_now, memory_order_relaxed);
    if (l == NULL) {
        l = levels[vcci_cpu_isa()];
        atomic_store_explicit(&level_now, l, memory_order_relaxed);
    }
    return l;
}

int vcci_reduce_force_isa(int isa)
{
    int best = (int)vcci_cpu_isa();
    int used = isa < 0 || isa > best ? best : isa;
    atomic_store_explicit(&level_now, levels[used], memory_order_relaxed);
    return used;
}

vcci_reduce_fn *vcci_reduce_find(vccl_op_t op, vccl_datatype_t type)
{
    return vcci_op_fits(op, type) ? level()->fn[type][op] : NULL;
}

vcci_reduce_fn *vcci_reduce_stream_find(vccl_op_t op, vccl_datatype_t type)
{
    if ((op == VCCL_SUM || op == VCCL_AVG) && vcci_dtype_valid(type) && level()->stream_sum[type] != NULL)
        return level()->stream_sum[type];
    return vcci_reduce_find(op, type);
}

void vcci_reduce_average(void *buf, size_t count, vccl_datatype_t type, int n)
{
    if (n > 1 && vcci_op_fits(VCCL_AVG, type))
        level()->average[type](buf, count, n);
}

/* A product with an array of equal elements, so that every level's kernels serve. */
void vcci_reduce_scale(void *dst, const void *src, size_t count, vccl_datatype_t type, const void *scalar)
{
    enum { CHUNK_BYTES = 2048 };
    _Alignas(64) char factors[CHUNK_BYTES];
    const size_t bytes = vcci_dtype_bytes[type], chunk = CHUNK_BYTES / bytes;
    vcci_reduce_fn *prod = vcci_reduce_find(VCCL_PROD, type);
    for (size_t i = 0; i < count && i < chunk; i++)
        memcpy(factors + i * bytes, scalar, bytes);
    for (size_t done = 0; done < count; done += chunk) {
        const void *srcs[2] = {(const char *)src + done * bytes, factors};
        prod((char *)dst + done * bytes, srcs, 2, count - done < chunk ? count - done : chunk);
    }
}

void vcci_copy_stream(void *dst, const void *src, size_t bytes)
{
    level()->copy_stream(dst, src, bytes);
}
