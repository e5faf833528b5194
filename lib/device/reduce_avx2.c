/* SPDX-License-Identifier: BSD-3-Clause
 * Kernels for AVX2 with F16C. The target is set here, not by the build, so that nothing but these functions uses it. */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,f16c")
#endif
#include <immintrin.h>

#define VEC_LEVEL vcci_reduce_level_avx2
#define VEC_BYTES 32
#define VEC_HAS_F16

#include "lib/device/reduce_vec_template.h"

static INLINE void vec_stream(char *p, vec v)
{
    _mm256_stream_si256((__m256i *)p, (__m256i)v);
}

static INLINE void stream_end(void)
{
    _mm_sfence();
}

static INLINE struct block open_f16(vec x)
{
    return (struct block){{(vec)_mm256_cvtph_ps(_mm256_castsi256_si128((__m256i)x)),
                           (vec)_mm256_cvtph_ps(_mm256_extracti128_si256((__m256i)x, 1)), x, x}};
}

static INLINE vec close_f16(vec v0, vec v1, vec v2, vec v3)
{
    (void)v2, (void)v3;
    __m128i lo = _mm256_cvtps_ph((__m256)v0, _MM_FROUND_TO_NEAREST_INT);
    __m128i hi = _mm256_cvtps_ph((__m256)v1, _MM_FROUND_TO_NEAREST_INT);
    return (vec)_mm256_inserti128_si256(_mm256_castsi128_si256(lo), hi, 1);
}

#include "lib/device/reduce_table_template.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
