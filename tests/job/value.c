/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/job/value.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum class { INTEGER, REAL, COMPLEX, BOOL, BYTE, PAIR };
/* significand and exponent bits of the small floats; 0: native */
static const struct {
    unsigned char bytes, class, is_signed, significand, exponent;
} types[VCCL_DATATYPE_NR] = {
    [VCCL_INT8] = {1, INTEGER, 1, 0, 0},        [VCCL_INT16] = {2, INTEGER, 1, 0, 0},
    [VCCL_INT32] = {4, INTEGER, 1, 0, 0},       [VCCL_INT64] = {8, INTEGER, 1, 0, 0},
    [VCCL_UINT8] = {1, INTEGER, 0, 0, 0},       [VCCL_UINT16] = {2, INTEGER, 0, 0, 0},
    [VCCL_UINT32] = {4, INTEGER, 0, 0, 0},      [VCCL_UINT64] = {8, INTEGER, 0, 0, 0},
    [VCCL_FLOAT16] = {2, REAL, 1, 10, 5},       [VCCL_BFLOAT16] = {2, REAL, 1, 7, 8},
    [VCCL_FLOAT32] = {4, REAL, 1, 23, 8},       [VCCL_FLOAT64] = {8, REAL, 1, 52, 11},
    [VCCL_FLOAT8_E4M3] = {1, REAL, 1, 3, 4},    [VCCL_FLOAT8_E5M2] = {1, REAL, 1, 2, 5},
    [VCCL_COMPLEX64] = {8, COMPLEX, 1, 0, 0},   [VCCL_COMPLEX128] = {16, COMPLEX, 1, 0, 0},
    [VCCL_BOOL] = {1, BOOL, 0, 0, 0},           [VCCL_BYTE] = {1, BYTE, 0, 0, 0},
    [VCCL_FLOAT32_INT32] = {8, PAIR, 1, 0, 0},  [VCCL_FLOAT64_INT32] = {16, PAIR, 1, 0, 0},
    [VCCL_INT32_INT32] = {8, PAIR, 1, 0, 0},    [VCCL_INT64_INT32] = {16, PAIR, 1, 0, 0},
};

size_t value_bytes(vccl_datatype_t type)
{
    return types[type].bytes;
}

int value_op_fits(vccl_op_t op, vccl_datatype_t type)
{
    int c = types[type].class;
    switch (op) {
    case VCCL_SUM:
    case VCCL_PROD: return c == INTEGER || c == REAL || c == COMPLEX || c == BOOL;
    case VCCL_AVG: return c == INTEGER || c == REAL || c == COMPLEX;
    case VCCL_MIN:
    case VCCL_MAX: return c == INTEGER || c == REAL || c == BOOL;
    case VCCL_LAND:
    case VCCL_LOR:
    case VCCL_LXOR: return c == INTEGER || c == BOOL;
    case VCCL_BAND:
    case VCCL_BOR:
    case VCCL_BXOR: return c == INTEGER || c == BOOL || c == BYTE;
    default: return c == PAIR;
    }
}

/* ---- conversions ---- */

static uint64_t float_bits(double x, int significand, int exponent)
{
    int e;
    uint64_t sign = signbit(x) ? (uint64_t)1 << (significand + exponent) : 0;
    double f = frexp(fabs(x), &e); /* x = f * 2^e, f in [0.5, 1) */
    if (x == 0)
        return sign;
    return sign | (uint64_t)(e - 1 + (1 << (exponent - 1)) - 1) << significand | (uint64_t)ldexp(2 * f - 1, significand);
}

static double float_value(uint64_t bits, int significand, int exponent)
{
    int e = (int)(bits >> significand & (((uint64_t)1 << exponent) - 1)), bias = (1 << (exponent - 1)) - 1;
    double f = ldexp((double)(bits & (((uint64_t)1 << significand) - 1)), -significand);
    double x = e ? ldexp(1 + f, e - bias) : ldexp(f, 1 - bias);
    return bits >> (significand + exponent) & 1 ? -x : x;
}

void value_store(vccl_datatype_t type, struct value v, void *to)
{
    unsigned n = types[type].bytes;
    double re = creal(v.z);
    int64_t i = types[type].class == REAL ? (int64_t)float_bits(re, types[type].significand, types[type].exponent) : (int64_t)re;
    double complex z = v.z;
    float complex zf = (float complex)v.z;
    float f = (float)re;
    int32_t i32 = (int32_t)re;
    memset(to, 0, n);
    switch (type) {
    case VCCL_COMPLEX64: memcpy(to, &zf, 8); return;
    case VCCL_COMPLEX128: memcpy(to, &z, 16); return;
    case VCCL_FLOAT32_INT32: memcpy(to, &f, 4); memcpy((char *)to + 4, &v.index, 4); return;
    case VCCL_FLOAT64_INT32: memcpy(to, &re, 8); memcpy((char *)to + 8, &v.index, 4); return;
    case VCCL_INT32_INT32: memcpy(to, &i32, 4); memcpy((char *)to + 4, &v.index, 4); return;
    case VCCL_INT64_INT32: memcpy(to, &i, 8); memcpy((char *)to + 8, &v.index, 4); return;
    default: memcpy(to, &i, n); /* little endian */
    }
}

static struct value load_pair(vccl_datatype_t type, const void *from)
{
    struct value v = {0, 0};
    float f;
    double d;
    int32_t i;
    int64_t l;
    memcpy(&v.index, (const char *)from + types[type].bytes / 2, 4);
    switch (type) {
    case VCCL_FLOAT32_INT32: memcpy(&f, from, 4); v.z = f; break;
    case VCCL_FLOAT64_INT32: memcpy(&d, from, 8); v.z = d; break;
    case VCCL_INT32_INT32: memcpy(&i, from, 4); v.z = i; break;
    default: memcpy(&l, from, 8); v.z = (double)l; break;
    }
    return v;
}

struct value value_load(vccl_datatype_t type, const void *from)
{
    struct value v = {0, 0};
    float complex zf;
    unsigned n = types[type].bytes;
    uint64_t u = 0;
    if (types[type].class == PAIR)
        return load_pair(type, from);
    if (type == VCCL_COMPLEX64) {
        memcpy(&zf, from, 8);
        v.z = zf;
        return v;
    }
    if (type == VCCL_COMPLEX128) {
        memcpy(&v.z, from, 16);
        return v;
    }
    memcpy(&u, from, n);
    if (types[type].class == REAL)
        v.z = float_value(u, types[type].significand, types[type].exponent);
    else if (types[type].is_signed)
        v.z = (double)((int64_t)(u << (64 - 8 * n)) >> (64 - 8 * n));
    else
        v.z = (double)u;
    return v;
}

int value_equal(vccl_datatype_t type, struct value a, struct value b)
{
    return a.z == b.z && (types[type].class != PAIR || a.index == b.index);
}

/* ---- arithmetic ---- */

struct value value_combine(vccl_op_t op, struct value a, struct value b)
{
    int64_t x = (int64_t)creal(a.z), y = (int64_t)creal(b.z);
    double p = creal(a.z), q = creal(b.z);
    struct value v = {0, 0};
    switch (op) {
    case VCCL_SUM:
    case VCCL_AVG: v.z = a.z + b.z; break;
    case VCCL_PROD: v.z = a.z * b.z; break;
    case VCCL_MIN: v.z = p < q ? p : q; break;
    case VCCL_MAX: v.z = p > q ? p : q; break;
    case VCCL_LAND: v.z = x && y; break;
    case VCCL_LOR: v.z = x || y; break;
    case VCCL_LXOR: v.z = !x != !y; break;
    case VCCL_BAND: v.z = (double)(x & y); break;
    case VCCL_BOR: v.z = (double)(x | y); break;
    case VCCL_BXOR: v.z = (double)(x ^ y); break;
    default:
        if (p == q)
            return a.index < b.index ? a : b;
        return (op == VCCL_MINLOC) == (p < q) ? a : b;
    }
    return v;
}

struct value value_divide(vccl_datatype_t type, struct value v, int n)
{
    if (types[type].class == INTEGER)
        v.z = (double)((int64_t)creal(v.z) / n);
    else if (type == VCCL_COMPLEX64)
        v.z = (float complex)v.z / (float)n;
    else
        v.z /= n;
    return v;
}

/* Few ranks put in what is not neutral, so that a float of three bits holds the result of a hundred. */
struct value value_make(vccl_datatype_t type, vccl_op_t op, int rank, int size, size_t i)
{
    unsigned h = (unsigned)(i * 2654435761u) ^ (unsigned)rank * 40503u, turn = (unsigned)((i + (size_t)rank) % (size_t)size);
    struct value v = {0, (int)(h % 7) + rank};
    int narrow = types[type].class == REAL, is_bool = types[type].class == BOOL;
    switch (op) {
    case VCCL_SUM: v.z = is_bool ? turn == 0 && i % 2 : turn < 3 ? (double)(h % 2 + 1) : 0; break;
    case VCCL_PROD: v.z = is_bool ? turn != 0 || i % 2 : turn < 2 ? (double)(h % 2 + 1) : 1; break;
    case VCCL_AVG: v.z = !narrow ? (double)(h % 3) * size / (size > 4 ? size : 1) : turn == 0 && !(size & (size - 1)) ? size : 0; break;
    case VCCL_MIN:
    case VCCL_MAX: v.z = is_bool ? h % 2 : h % 8 - (types[type].is_signed ? 4.0 : 0.0); break;
    case VCCL_LAND: v.z = is_bool ? turn != 0 || i % 2 : turn != 0 || i % 2 ? h % 5 + 1 : 0; break;
    case VCCL_LOR:
    case VCCL_LXOR: v.z = turn < 3 && (h & 1) ? (is_bool ? 1 : h % 5 + 1) : 0; break;
    case VCCL_BAND:
    case VCCL_BOR:
    case VCCL_BXOR: v.z = is_bool ? h % 2 : h % 127; break;
    default: v.z = is_bool ? h % 2 : h % (narrow ? 8 : 100); break;
    }
    if (types[type].class == COMPLEX && op == VCCL_SUM)
        v.z += (turn < 3 ? h % 5 : 0) * I;
    if (types[type].class == COMPLEX && op == VCCL_PROD && turn < 3)
        v.z = h % 4 == 0 ? 1 : h % 4 == 1 ? I : h % 4 == 2 ? -1 : 1 + I;
    if (types[type].class == PAIR)
        v.z = h % 5;
    return v;
}
