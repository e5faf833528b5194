/* SPDX-License-Identifier: BSD-3-Clause
 * Kernels for what every processor of the architecture has: SSE2 on x86-64, what the compiler makes of 16 bytes elsewhere. */
#define VEC_LEVEL vcci_reduce_level_base
#define VEC_BYTES 16

#include "lib/device/reduce_vec_template.h"

#if defined(__x86_64__)
#include <emmintrin.h>

static INLINE void vec_stream(char *p, vec v)
{
    _mm_stream_si128((__m128i *)p, (__m128i)v);
}

static INLINE void stream_end(void)
{
    _mm_sfence();
}
#else
static INLINE void vec_stream(char *p, vec v)
{
    *(vec_aligned *)p = (vec_aligned)v;
}

static INLINE void stream_end(void)
{
}
#endif

#include "lib/device/reduce_table_template.h"
