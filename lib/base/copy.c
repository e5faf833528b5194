/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/copy.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define LINE 64
#define SHORT 1024 /* memcpy is as good */

/* Whole lines to a destination that begins on one; returns the bytes done. */
typedef size_t lines_fn(char *to, const char *from, size_t bytes);

static size_t lines_base(char *to, const char *from, size_t bytes)
{
    size_t at = 0;
    for (; at + LINE <= bytes; at += LINE)
        for (int i = 0; i < LINE; i += 16)
            _mm_store_si128((__m128i *)(to + at + i), _mm_loadu_si128((const __m128i *)(from + at + i)));
    return at;
}

static size_t around_base(char *to, const char *from, size_t bytes)
{
    size_t at = 0;
    for (; at + LINE <= bytes; at += LINE)
        for (int i = 0; i < LINE; i += 16)
            _mm_stream_si128((__m128i *)(to + at + i), _mm_loadu_si128((const __m128i *)(from + at + i)));
    return at;
}

__attribute__((target("avx2"))) static size_t lines_avx2(char *to, const char *from, size_t bytes)
{
    size_t at = 0;
    for (; at + 2 * LINE <= bytes; at += 2 * LINE) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(from + at)), b = _mm256_loadu_si256((const __m256i *)(from + at + 32));
        __m256i c = _mm256_loadu_si256((const __m256i *)(from + at + 64)), d = _mm256_loadu_si256((const __m256i *)(from + at + 96));
        _mm256_store_si256((__m256i *)(to + at), a);
        _mm256_store_si256((__m256i *)(to + at + 32), b);
        _mm256_store_si256((__m256i *)(to + at + 64), c);
        _mm256_store_si256((__m256i *)(to + at + 96), d);
    }
    return at;
}

__attribute__((target("avx2"))) static size_t around_avx2(char *to, const char *from, size_t bytes)
{
    size_t at = 0;
    for (; at + LINE <= bytes; at += LINE) {
        __m256i a = _mm256_loadu_si256((const __m256i *)(from + at)), b = _mm256_loadu_si256((const __m256i *)(from + at + 32));
        _mm256_stream_si256((__m256i *)(to + at), a);
        _mm256_stream_si256((__m256i *)(to + at + 32), b);
    }
    return at;
}

/* Asked once: the question leaves a virtual machine. */
static int have_avx2(void)
{
    static _Atomic int answer; /* 0: not asked */
    int is = atomic_load_explicit(&answer, memory_order_relaxed);
    if (!is) {
        is = vcci_cpu_isa() >= VCCI_ISA_AVX2 ? 1 : -1;
        atomic_store_explicit(&answer, is, memory_order_relaxed);
    }
    return is > 0;
}

static void copy_by(lines_fn *lines, char *to, const char *from, size_t bytes)
{
    size_t odd = (size_t)(-(uintptr_t)to & (LINE - 1));
    if (odd > bytes)
        odd = bytes;
    memcpy(to, from, odd);
    size_t at = odd + lines(to + odd, from + odd, bytes - odd);
    memcpy(to + at, from + at, bytes - at);
}

void vcci_copy_bytes(void *to, const void *from, size_t bytes)
{
    if (bytes < SHORT)
        memcpy(to, from, bytes);
    else
        copy_by(have_avx2() ? lines_avx2 : lines_base, to, from, bytes);
}

void vcci_copy_around(void *to, const void *from, size_t bytes)
{
    copy_by(have_avx2() ? around_avx2 : around_base, to, from, bytes);
    _mm_sfence();
}
#else
void vcci_copy_bytes(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

void vcci_copy_around(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}
#endif
