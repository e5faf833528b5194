/* SPDX-License-Identifier: BSD-3-Clause
 * What reductions must give, one element at a time, written for plainness and from the definitions of the formats. */
#ifndef VCCI_TESTS_REDUCE_REF_H
#define VCCI_TESTS_REDUCE_REF_H

#include <stdint.h>

#include "include/vccl.h"

/* float16, bfloat16 and float8 to float (exact) and back (nearest, ties to the even code, beyond the largest: infinity or NaN).
 */
float ref_small_decode(vccl_datatype_t type, uint32_t code);
uint32_t ref_small_encode(vccl_datatype_t type, float value);
int ref_is_small(vccl_datatype_t type);

/* *dst = op over the elements that srcs[0 .. n-1] point at. */
void ref_reduce(vccl_op_t op, vccl_datatype_t type, void *dst, const void *const *srcs, unsigned n);
/* *x = *x / n. */
void ref_average(vccl_datatype_t type, void *x, int n);
/* Equal bits, or both NaN (in a pair: and equal indices). */
int ref_same(vccl_datatype_t type, const void *a, const void *b);

#endif
