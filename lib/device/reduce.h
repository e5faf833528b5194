/* SPDX-License-Identifier: BSD-3-Clause
 * Reductions in host memory. The kernels are chosen once per process by processor (VCCI_ISA_): the same result bits on every level. */
#ifndef VCCI_DEVICE_REDUCE_H
#define VCCI_DEVICE_REDUCE_H

#include <stddef.h>

#include "include/vccl.h"

/* dst[i] = ((srcs[0][i] op srcs[1][i]) op …) op srcs[n-1][i] for i < count, in this order for every i. dst may be exactly one of the sources, and
 * otherwise overlaps none. n >= 1 (1: a copy). Any alignment of at least the element's own; unaligned pointers work too (slower). float16, bfloat16 and
 * float8: each step in float, rounded to nearest even after every step when `n` == 2; for n > 2 accumulated in float and rounded once. For AVG: as SUM. */
typedef void vcci_reduce_fn(void *dst, const void *const *srcs, unsigned n, size_t count);

/* The kernel for a built-in op and type that fit (vcci_op_fits); NULL otherwise. */
vcci_reduce_fn *vcci_reduce_find(vccl_op_t op, vccl_datatype_t type);

/* buf[i] = buf[i] / n: what AVG does to a finished sum. Integers truncate towards zero; float16, bfloat16, float8 round to nearest even. */
void vcci_reduce_average(void *buf, size_t count, vccl_datatype_t type, int n);
/* dst[i] = src[i] * *scalar (one element of type, numeric or complex): the input of a premultiplied sum. dst == src allowed. */
void vcci_reduce_scale(void *dst, const void *src, size_t count, vccl_datatype_t type, const void *scalar);

/* memcpy whose stores bypass the caches where `bytes` of a larger operation of `total_bytes` would not be read again soon: for what is larger than the last-level
 * cache. Falls back to memcpy. */
void vcci_copy_stream(void *dst, const void *src, size_t bytes);

/* For tests and vccl_info: kernels of one level only (-1: best again). Returns the level in force. */
int vcci_reduce_force_isa(int isa);

#endif
