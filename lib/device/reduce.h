/* SPDX-License-Identifier: BSD-3-Clause
 * Reductions in host memory. The kernels are chosen once per process by processor (VCCI_ISA_): the same result bits on every level. */
#ifndef VCCI_DEVICE_REDUCE_H
#define VCCI_DEVICE_REDUCE_H

#include <stddef.h>

#include "include/vccl.h"

/* dst[i] = ((srcs[0][i] op srcs[1][i]) op …) op srcs[n-1][i] for i < count, in this order for every i. dst may be exactly one of the
 * sources, and otherwise overlaps none. n >= 1 (1: a copy). Any alignment, the element's own is faster. For AVG: as SUM.
 * float16, bfloat16, float8: computed in float in this order and rounded once, to nearest even; what is too large becomes infinity, in
 * float8_e4m3, which has none, NaN (never the largest number). A NaN stays a NaN; its sign and payload are not specified. MIN and MAX
 * give NaN if any source has one there; of -0 and +0, which are equal, the first. In MINLOC and MAXLOC a NaN wins.
 * Integers wrap. Complex products are (ac - bd) + (ad + bc)i as written. BOOL gives 0 or 1. */
typedef void vcci_reduce_fn(void *dst, const void *const *srcs, unsigned n, size_t count);

/* The kernel for a built-in op and type that fit (vcci_op_fits); NULL otherwise. */
vcci_reduce_fn *vcci_reduce_find(vccl_op_t op, vccl_datatype_t type);
/* The same results, by stores that bypass the caches where that can be: sums of float64, float32, float16, bfloat16 and 32-bit integers
 * whose dst is none of the sources; otherwise vcci_reduce_find's. For outputs larger than the last-level cache that are not read soon;
 * slower for what fits a cache. */
vcci_reduce_fn *vcci_reduce_stream_find(vccl_op_t op, vccl_datatype_t type);

/* buf[i] = buf[i] / n, n >= 1: what AVG does to a finished sum. Integers truncate towards zero; float16, bfloat16, float8 round to nearest even. */
void vcci_reduce_average(void *buf, size_t count, vccl_datatype_t type, int n);
/* dst[i] = src[i] * *scalar (one element of type, numeric or complex): the input of a premultiplied sum. dst == src allowed. */
void vcci_reduce_scale(void *dst, const void *src, size_t count, vccl_datatype_t type, const void *scalar);

/* memcpy whose stores bypass the caches: for a part of something larger than the last-level cache that is not read soon. Falls back to
 * memcpy where bytes are few. */
void vcci_copy_stream(void *dst, const void *src, size_t bytes);

/* For tests and vccl_info: kernels of one level only (-1: best again). Returns the level in force. */
int vcci_reduce_force_isa(int isa);

#endif
