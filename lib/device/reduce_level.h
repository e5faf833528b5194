/* SPDX-License-Identifier: BSD-3-Clause
 * What one instruction set level brings: reduce_kernels_template.h compiled for it. Only reduce.c and the levels include this. */
#ifndef VCCI_DEVICE_REDUCE_LEVEL_H
#define VCCI_DEVICE_REDUCE_LEVEL_H

#include <stddef.h>

#include "include/vccl.h"
#include "lib/device/reduce.h"

/* buf[i] = buf[i] / n in the type's arithmetic. */
typedef void vcci_reduce_average_fn(void *buf, size_t count, int n);

struct vcci_reduce_level {
    vcci_reduce_fn *fn[VCCL_DATATYPE_NR][VCCL_OP_NR];  /* NULL where the op does not fit the type      */
    vcci_reduce_fn *stream_sum[VCCL_DATATYPE_NR];      /* NULL where there is no streaming variant     */
    vcci_reduce_average_fn *average[VCCL_DATATYPE_NR]; /* NULL where AVG does not fit the type         */
    void (*copy_stream)(void *dst, const void *src, size_t bytes);
};

extern const struct vcci_reduce_level vcci_reduce_level_base;
#if defined(__x86_64__)
extern const struct vcci_reduce_level vcci_reduce_level_avx2;
extern const struct vcci_reduce_level vcci_reduce_level_avx512;
#endif

/* What gains nothing from wide registers, the same on every level (reduce_scalar.c). */
vcci_reduce_fn vcci_reduce_prod_complex64, vcci_reduce_prod_complex128;
vcci_reduce_fn vcci_reduce_minloc_f32, vcci_reduce_minloc_f64, vcci_reduce_minloc_i32, vcci_reduce_minloc_i64;
vcci_reduce_fn vcci_reduce_maxloc_f32, vcci_reduce_maxloc_f64, vcci_reduce_maxloc_i32, vcci_reduce_maxloc_i64;
vcci_reduce_average_fn vcci_reduce_average_i8, vcci_reduce_average_i16, vcci_reduce_average_i32, vcci_reduce_average_i64;
vcci_reduce_average_fn vcci_reduce_average_u8, vcci_reduce_average_u16, vcci_reduce_average_u32, vcci_reduce_average_u64;

#endif
