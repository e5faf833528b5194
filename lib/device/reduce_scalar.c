/* SPDX-License-Identifier: BSD-3-Clause
 * Pairs, complex products and integer averages: one element at a time. */
#include "lib/device/reduce_level.h"

#include <stdint.h>
#include <string.h>

/* ---- pairs: the value decides, of equal values the lower index; a NaN beats every number, of two NaNs the lower index wins ----
 */

struct pair_f32 {
    float value;
    int32_t index;
};
struct pair_f64 {
    double value;
    int32_t index;
};
struct pair_i32 {
    int32_t value;
    int32_t index;
};
struct pair_i64 {
    int64_t value;
    int32_t index;
};

#define LOC_KERNEL(name, pair, before)                                                                                           \
    void name(void *dst, const void *const *srcs, unsigned n, size_t count)                                                      \
    {                                                                                                                            \
        for (size_t i = 0; i < count; i++) {                                                                                     \
            struct pair a, b;                                                                                                    \
            memcpy(&a, (const char *)srcs[0] + i * sizeof(a), sizeof(a));                                                        \
            for (unsigned j = 1; j < n; j++) {                                                                                   \
                memcpy(&b, (const char *)srcs[j] + i * sizeof(b), sizeof(b));                                                    \
                const int a_nan = a.value != a.value, b_nan = b.value != b.value;                                                \
                const int tie = (a_nan & b_nan) | (b.value == a.value);                                                          \
                if ((b_nan & !a_nan) | (!a_nan & (b.value before a.value)) | (tie & (b.index < a.index)))                        \
                    a = b;                                                                                                       \
            }                                                                                                                    \
            memcpy((char *)dst + i * sizeof(a), &a, sizeof(a));                                                                  \
        }                                                                                                                        \
    }

LOC_KERNEL(vcci_reduce_minloc_f32, pair_f32, <)
LOC_KERNEL(vcci_reduce_minloc_f64, pair_f64, <)
LOC_KERNEL(vcci_reduce_minloc_i32, pair_i32, <)
LOC_KERNEL(vcci_reduce_minloc_i64, pair_i64, <)
LOC_KERNEL(vcci_reduce_maxloc_f32, pair_f32, >)
LOC_KERNEL(vcci_reduce_maxloc_f64, pair_f64, >)
LOC_KERNEL(vcci_reduce_maxloc_i32, pair_i32, >)
LOC_KERNEL(vcci_reduce_maxloc_i64, pair_i64, >)

/* ---- complex products: (a + bi)(c + di) = (ac - bd) + (ad + bc)i as it stands, no special case for infinities ---- */

#define COMPLEX_PROD(name, real)                                                                                                 \
    void name(void *dst, const void *const *srcs, unsigned n, size_t count)                                                      \
    {                                                                                                                            \
        for (size_t i = 0; i < count; i++) {                                                                                     \
            real a[2], b[2];                                                                                                     \
            memcpy(a, (const char *)srcs[0] + i * sizeof(a), sizeof(a));                                                         \
            for (unsigned j = 1; j < n; j++) {                                                                                   \
                memcpy(b, (const char *)srcs[j] + i * sizeof(b), sizeof(b));                                                     \
                const real re = a[0] * b[0] - a[1] * b[1], im = a[0] * b[1] + a[1] * b[0];                                       \
                a[0] = re;                                                                                                       \
                a[1] = im;                                                                                                       \
            }                                                                                                                    \
            memcpy((char *)dst + i * sizeof(a), a, sizeof(a));                                                                   \
        }                                                                                                                        \
    }

COMPLEX_PROD(vcci_reduce_prod_complex64, float)
COMPLEX_PROD(vcci_reduce_prod_complex128, double)

/* ---- averages of integers: C's division truncates towards zero; n >= 1, so nothing overflows ---- */

/* wide: holds every value of the integer type and every n */
#define INT_AVERAGE(name, integer, wide)                                                                                         \
    void name(void *buf, size_t count, int n)                                                                                    \
    {                                                                                                                            \
        for (size_t i = 0; i < count; i++) {                                                                                     \
            integer x;                                                                                                           \
            memcpy(&x, (char *)buf + i * sizeof(x), sizeof(x));                                                                  \
            x = (integer)((wide)x / (wide)n);                                                                                    \
            memcpy((char *)buf + i * sizeof(x), &x, sizeof(x));                                                                  \
        }                                                                                                                        \
    }

INT_AVERAGE(vcci_reduce_average_i8, int8_t, int64_t)
INT_AVERAGE(vcci_reduce_average_i16, int16_t, int64_t)
INT_AVERAGE(vcci_reduce_average_i32, int32_t, int64_t)
INT_AVERAGE(vcci_reduce_average_i64, int64_t, int64_t)
INT_AVERAGE(vcci_reduce_average_u8, uint8_t, uint64_t)
INT_AVERAGE(vcci_reduce_average_u16, uint16_t, uint64_t)
INT_AVERAGE(vcci_reduce_average_u32, uint32_t, uint64_t)
INT_AVERAGE(vcci_reduce_average_u64, uint64_t, uint64_t)
