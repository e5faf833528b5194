/* SPDX-License-Identifier: BSD-3-Clause
 * Every kernel as a function and the level's table of them, under the name VEC_LEVEL. */
#ifndef VCCI_DEVICE_REDUCE_TABLE_TEMPLATE_H
#define VCCI_DEVICE_REDUCE_TABLE_TEMPLATE_H

#include "lib/device/reduce_kernels_template.h"

#define KERNEL(name, lane)                                                                                                       \
    static void name(void *dst, const void *const *srcs, unsigned n, size_t count)                                               \
    {                                                                                                                            \
        reduce(dst, srcs, n, count, lane);                                                                                       \
    }
#define STREAM_KERNEL(name, lane, plain)                                                                                         \
    static void name(void *dst, const void *const *srcs, unsigned n, size_t count)                                               \
    {                                                                                                                            \
        reduce_stream(dst, srcs, n, count, lane, plain);                                                                         \
    }
/* Another kernel over `times` as many elements. */
#define KERNEL_OF_PARTS(name, whole, times)                                                                                      \
    static void name(void *dst, const void *const *srcs, unsigned n, size_t count)                                               \
    {                                                                                                                            \
        whole(dst, srcs, n, (times)*count);                                                                                      \
    }
/* bytes: of what counts as one element; floats: the vector that is divided, of reals. */
#define AVERAGE(name, lane, bytes, floats, real)                                                                                 \
    static void name(void *buf, size_t count, int n)                                                                             \
    {                                                                                                                            \
        average(buf, count *(bytes), (vec)((floats){0} + (real)n), lane);                                                        \
    }

KERNEL(sum_8, LANE_WORDS(1, false, op_add_8))
KERNEL(sum_16, LANE_WORDS(2, false, op_add_16))
KERNEL(sum_32, LANE_WORDS(4, false, op_add_32))
KERNEL(sum_64, LANE_WORDS(8, false, op_add_64))
KERNEL(sum_f16, LANE_F16(true, op_add_f32))
KERNEL(sum_bf16, LANE_BF16(true, op_add_f32))
KERNEL(sum_f32, LANE_WORDS(4, true, op_add_f32))
KERNEL(sum_f64, LANE_WORDS(8, true, op_add_f64))
KERNEL(sum_e4m3, LANE_E4M3(op_add_f32))
KERNEL(sum_e5m2, LANE_E5M2(op_add_f32))
KERNEL(sum_c64, LANE_WORDS(8, false, op_add_f32))
KERNEL(sum_c128, LANE_WORDS(16, false, op_add_f64))
KERNEL(prod_8, LANE_WORDS(1, false, op_mul_8))
KERNEL(prod_16, LANE_WORDS(2, false, op_mul_16))
KERNEL(prod_32, LANE_WORDS(4, false, op_mul_32))
KERNEL(prod_64, LANE_WORDS(8, false, op_mul_64))
KERNEL(prod_f16, LANE_F16(false, op_mul_f32))
KERNEL(prod_bf16, LANE_BF16(false, op_mul_f32))
KERNEL(prod_f32, LANE_WORDS(4, false, op_mul_f32))
KERNEL(prod_f64, LANE_WORDS(8, false, op_mul_f64))
KERNEL(prod_e4m3, LANE_E4M3(op_mul_f32))
KERNEL(prod_e5m2, LANE_E5M2(op_mul_f32))
KERNEL(min_i8, LANE_WORDS(1, false, op_min_i8))
KERNEL(min_i16, LANE_WORDS(2, false, op_min_i16))
KERNEL(min_i32, LANE_WORDS(4, false, op_min_i32))
KERNEL(min_i64, LANE_WORDS(8, false, op_min_i64))
KERNEL(min_u8, LANE_WORDS(1, false, op_min_u8))
KERNEL(min_u16, LANE_WORDS(2, false, op_min_u16))
KERNEL(min_u32, LANE_WORDS(4, false, op_min_u32))
KERNEL(min_u64, LANE_WORDS(8, false, op_min_u64))
KERNEL(min_f16, LANE_F16(false, op_min_f32))
KERNEL(min_bf16, LANE_BF16_EXACT(op_min_f32))
KERNEL(min_f32, LANE_WORDS(4, false, op_min_f32))
KERNEL(min_f64, LANE_WORDS(8, false, op_min_f64))
KERNEL(min_e4m3, LANE_E4M3(op_min_f32))
KERNEL(min_e5m2, LANE_E5M2(op_min_f32))
KERNEL(max_i8, LANE_WORDS(1, false, op_max_i8))
KERNEL(max_i16, LANE_WORDS(2, false, op_max_i16))
KERNEL(max_i32, LANE_WORDS(4, false, op_max_i32))
KERNEL(max_i64, LANE_WORDS(8, false, op_max_i64))
KERNEL(max_u8, LANE_WORDS(1, false, op_max_u8))
KERNEL(max_u16, LANE_WORDS(2, false, op_max_u16))
KERNEL(max_u32, LANE_WORDS(4, false, op_max_u32))
KERNEL(max_u64, LANE_WORDS(8, false, op_max_u64))
KERNEL(max_f16, LANE_F16(false, op_max_f32))
KERNEL(max_bf16, LANE_BF16_EXACT(op_max_f32))
KERNEL(max_f32, LANE_WORDS(4, false, op_max_f32))
KERNEL(max_f64, LANE_WORDS(8, false, op_max_f64))
KERNEL(max_e4m3, LANE_E4M3(op_max_f32))
KERNEL(max_e5m2, LANE_E5M2(op_max_f32))
KERNEL(land_8, LANE_WORDS(1, false, op_land_8))
KERNEL(land_16, LANE_WORDS(2, false, op_land_16))
KERNEL(land_32, LANE_WORDS(4, false, op_land_32))
KERNEL(land_64, LANE_WORDS(8, false, op_land_64))
KERNEL(lor_8, LANE_WORDS(1, false, op_lor_8))
KERNEL(lor_16, LANE_WORDS(2, false, op_lor_16))
KERNEL(lor_32, LANE_WORDS(4, false, op_lor_32))
KERNEL(lor_64, LANE_WORDS(8, false, op_lor_64))
KERNEL(lxor_8, LANE_WORDS(1, false, op_lxor_8))
KERNEL(lxor_16, LANE_WORDS(2, false, op_lxor_16))
KERNEL(lxor_32, LANE_WORDS(4, false, op_lxor_32))
KERNEL(lxor_64, LANE_WORDS(8, false, op_lxor_64))
KERNEL(band_8, LANE_WORDS(1, false, op_and_all))
KERNEL_OF_PARTS(band_16, band_8, 2)
KERNEL_OF_PARTS(band_32, band_8, 4)
KERNEL_OF_PARTS(band_64, band_8, 8)
KERNEL(bor_8, LANE_WORDS(1, false, op_or_all))
KERNEL_OF_PARTS(bor_16, bor_8, 2)
KERNEL_OF_PARTS(bor_32, bor_8, 4)
KERNEL_OF_PARTS(bor_64, bor_8, 8)
KERNEL(bxor_8, LANE_WORDS(1, false, op_xor_all))
KERNEL_OF_PARTS(bxor_16, bxor_8, 2)
KERNEL_OF_PARTS(bxor_32, bxor_8, 4)
KERNEL_OF_PARTS(bxor_64, bxor_8, 8)
STREAM_KERNEL(stream_sum_32, LANE_WORDS(4, false, op_add_32), sum_32)
STREAM_KERNEL(stream_sum_f16, LANE_F16(true, op_add_f32), sum_f16)
STREAM_KERNEL(stream_sum_bf16, LANE_BF16(true, op_add_f32), sum_bf16)
STREAM_KERNEL(stream_sum_f32, LANE_WORDS(4, true, op_add_f32), sum_f32)
STREAM_KERNEL(stream_sum_f64, LANE_WORDS(8, true, op_add_f64), sum_f64)
AVERAGE(average_f16, LANE_F16(false, op_div_f32), 2, f32v, float)
AVERAGE(average_bf16, LANE_BF16(false, op_div_f32), 2, f32v, float)
AVERAGE(average_f32, LANE_WORDS(4, false, op_div_f32), 4, f32v, float)
AVERAGE(average_f64, LANE_WORDS(8, false, op_div_f64), 8, f64v, double)
AVERAGE(average_e4m3, LANE_E4M3(op_div_f32), 1, f32v, float)
AVERAGE(average_e5m2, LANE_E5M2(op_div_f32), 1, f32v, float)
AVERAGE(average_c64, LANE_WORDS(4, false, op_div_f32), 8, f32v, float)
AVERAGE(average_c128, LANE_WORDS(8, false, op_div_f64), 16, f64v, double)

#define ROW_INT(sum, prod, min, max, land, lor, lxor, band, bor, bxor)                                                           \
    {                                                                                                                            \
        [VCCL_SUM] = sum, [VCCL_PROD] = prod, [VCCL_MIN] = min, [VCCL_MAX] = max, [VCCL_LAND] = land, [VCCL_LOR] = lor,          \
        [VCCL_LXOR] = lxor, [VCCL_BAND] = band, [VCCL_BOR] = bor, [VCCL_BXOR] = bxor, [VCCL_AVG] = sum                           \
    }
#define ROW_FLOAT(sum, prod, min, max)                                                                                           \
    {                                                                                                                            \
        [VCCL_SUM] = sum, [VCCL_PROD] = prod, [VCCL_MIN] = min, [VCCL_MAX] = max, [VCCL_AVG] = sum                               \
    }

const struct vcci_reduce_level VEC_LEVEL =
    {
        .fn =
            {
                [VCCL_INT8] = ROW_INT(sum_8, prod_8, min_i8, max_i8, land_8, lor_8, lxor_8, band_8, bor_8, bxor_8),
                [VCCL_INT16] = ROW_INT(sum_16, prod_16, min_i16, max_i16, land_16, lor_16, lxor_16, band_16, bor_16, bxor_16),
                [VCCL_INT32] = ROW_INT(sum_32, prod_32, min_i32, max_i32, land_32, lor_32, lxor_32, band_32, bor_32, bxor_32),
                [VCCL_INT64] = ROW_INT(sum_64, prod_64, min_i64, max_i64, land_64, lor_64, lxor_64, band_64, bor_64, bxor_64),
                [VCCL_UINT8] = ROW_INT(sum_8, prod_8, min_u8, max_u8, land_8, lor_8, lxor_8, band_8, bor_8, bxor_8),
                [VCCL_UINT16] = ROW_INT(sum_16, prod_16, min_u16, max_u16, land_16, lor_16, lxor_16, band_16, bor_16, bxor_16),
                [VCCL_UINT32] = ROW_INT(sum_32, prod_32, min_u32, max_u32, land_32, lor_32, lxor_32, band_32, bor_32, bxor_32),
                [VCCL_UINT64] = ROW_INT(sum_64, prod_64, min_u64, max_u64, land_64, lor_64, lxor_64, band_64, bor_64, bxor_64),
                [VCCL_FLOAT16] = ROW_FLOAT(sum_f16, prod_f16, min_f16, max_f16),
                [VCCL_BFLOAT16] = ROW_FLOAT(sum_bf16, prod_bf16, min_bf16, max_bf16),
                [VCCL_FLOAT32] = ROW_FLOAT(sum_f32, prod_f32, min_f32, max_f32),
                [VCCL_FLOAT64] = ROW_FLOAT(sum_f64, prod_f64, min_f64, max_f64),
                [VCCL_FLOAT8_E4M3] = ROW_FLOAT(sum_e4m3, prod_e4m3, min_e4m3, max_e4m3),
                [VCCL_FLOAT8_E5M2] = ROW_FLOAT(sum_e5m2, prod_e5m2, min_e5m2, max_e5m2),
                [VCCL_COMPLEX64] = ROW_FLOAT(sum_c64, vcci_reduce_prod_complex64, NULL, NULL),
                [VCCL_COMPLEX128] = ROW_FLOAT(sum_c128, vcci_reduce_prod_complex128, NULL, NULL),
                /* The result of a bool is 0 or 1, so its sum is lor, its product land. */
                [VCCL_BOOL] = {[VCCL_SUM] = lor_8,
                               [VCCL_PROD] = land_8,
                               [VCCL_MIN] = land_8,
                               [VCCL_MAX] = lor_8,
                               [VCCL_LAND] = land_8,
                               [VCCL_LOR] = lor_8,
                               [VCCL_LXOR] = lxor_8,
                               [VCCL_BAND] = land_8,
                               [VCCL_BOR] = lor_8,
                               [VCCL_BXOR] = lxor_8},
                [VCCL_BYTE] = {[VCCL_BAND] = band_8, [VCCL_BOR] = bor_8, [VCCL_BXOR] = bxor_8},
                [VCCL_FLOAT32_INT32] = {[VCCL_MINLOC] = vcci_reduce_minloc_f32, [VCCL_MAXLOC] = vcci_reduce_maxloc_f32},
                [VCCL_FLOAT64_INT32] = {[VCCL_MINLOC] = vcci_reduce_minloc_f64, [VCCL_MAXLOC] = vcci_reduce_maxloc_f64},
                [VCCL_INT32_INT32] = {[VCCL_MINLOC] = vcci_reduce_minloc_i32, [VCCL_MAXLOC] = vcci_reduce_maxloc_i32},
                [VCCL_INT64_INT32] = {[VCCL_MINLOC] = vcci_reduce_minloc_i64, [VCCL_MAXLOC] = vcci_reduce_maxloc_i64},
            },
        .stream_sum = {[VCCL_INT32] = stream_sum_32,
                       [VCCL_UINT32] = stream_sum_32,
                       [VCCL_FLOAT16] = stream_sum_f16,
                       [VCCL_BFLOAT16] = stream_sum_bf16,
                       [VCCL_FLOAT32] = stream_sum_f32,
                       [VCCL_FLOAT64] = stream_sum_f64},
        .average = {[VCCL_INT8] = vcci_reduce_average_i8,
                    [VCCL_INT16] = vcci_reduce_average_i16,
                    [VCCL_INT32] = vcci_reduce_average_i32,
                    [VCCL_INT64] = vcci_reduce_average_i64,
                    [VCCL_UINT8] = vcci_reduce_average_u8,
                    [VCCL_UINT16] = vcci_reduce_average_u16,
                    [VCCL_UINT32] = vcci_reduce_average_u32,
                    [VCCL_UINT64] = vcci_reduce_average_u64,
                    [VCCL_FLOAT16] = average_f16,
                    [VCCL_BFLOAT16] = average_bf16,
                    [VCCL_FLOAT32] = average_f32,
                    [VCCL_FLOAT64] = average_f64,
                    [VCCL_FLOAT8_E4M3] = average_e4m3,
                    [VCCL_FLOAT8_E5M2] = average_e5m2,
                    [VCCL_COMPLEX64] = average_c64,
                    [VCCL_COMPLEX128] = average_c128},
        .copy_stream = copy_stream,
};

#endif
