/* SPDX-License-Identifier: BSD-3-Clause
 * Kernels for AVX-512 F, BW, DQ and VL. avx512_bf16 is left alone: it takes subnormal numbers for zero, which the other levels do
 * not. */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,f16c,bmi2"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,f16c,bmi2")
#endif
#include <immintrin.h>

#define VEC_LEVEL vcci_reduce_level_avx512
#define VEC_BYTES 64
#define VEC_HAS_F16
#define VEC_HAS_MASKS

#include "lib/device/reduce_vec_template.h"

static INLINE void vec_stream(char *p, vec v)
{
    _mm512_stream_si512((__m512i *)p, (__m512i)v);
}

static INLINE void stream_end(void)
{
    _mm_sfence();
}

static INLINE vec masked_load(const char *p, size_t bytes)
{
    return (vec)_mm512_maskz_loadu_epi8(((__mmask64)1 << bytes) - 1, p);
}

static INLINE void masked_store(char *p, vec v, size_t bytes)
{
    _mm512_mask_storeu_epi8(p, ((__mmask64)1 << bytes) - 1, (__m512i)v);
}

static INLINE struct block open_f16(vec x)
{
    return (struct block){{(vec)_mm512_cvtph_ps(_mm512_castsi512_si256((__m512i)x)),
                           (vec)_mm512_cvtph_ps(_mm512_extracti64x4_epi64((__m512i)x, 1)), x, x}};
}

static INLINE vec close_f16(vec v0, vec v1, vec v2, vec v3)
{
    (void)v2, (void)v3;
    __m256i lo = _mm512_cvtps_ph((__m512)v0, _MM_FROUND_TO_NEAREST_INT);
    __m256i hi = _mm512_cvtps_ph((__m512)v1, _MM_FROUND_TO_NEAREST_INT);
    return (vec)_mm512_inserti64x4(_mm512_castsi256_si512(lo), hi, 1);
}

#include "lib/device/reduce_table_template.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
