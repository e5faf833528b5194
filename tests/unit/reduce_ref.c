/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/reduce_ref.h"

#include <math.h>
#include <string.h>

#include "lib/device/dtype.h"

/* ---- small floats ---- */

struct small {
    int bits, mant, bias;
    uint32_t special; /* the first code that is no number: infinity, or NaN where there is none */
};

static struct small small_of(vccl_datatype_t type)
{
    switch (type) {
    case VCCL_FLOAT16:
        return (struct small){16, 10, 15, 0x7c00};
    case VCCL_BFLOAT16:
        return (struct small){16, 7, 127, 0x7f80};
    case VCCL_FLOAT8_E4M3:
        return (struct small){8, 3, 7, 0x7f};
    case VCCL_FLOAT8_E5M2:
        return (struct small){8, 2, 15, 0x7c};
    default:
        return (struct small){0};
    }
}

int ref_is_small(vccl_datatype_t type)
{
    return small_of(type).bits != 0;
}

/* The value of a code without sign, also of those that the format uses for infinity and NaN, as if it went on. */
static double magnitude(struct small s, uint32_t code)
{
    uint32_t exponent = code >> s.mant, mant = code & ((1u << s.mant) - 1);
    if (exponent == 0)
        return ldexp(mant, 1 - s.bias - s.mant);
    return ldexp(mant + (1u << s.mant), (int)exponent - s.bias - s.mant);
}

float ref_small_decode(vccl_datatype_t type, uint32_t code)
{
    struct small s = small_of(type);
    uint32_t positive = code & ((1u << (s.bits - 1)) - 1);
    double value = magnitude(s, positive);
    if (positive >= s.special)
        value = positive == s.special && type != VCCL_FLOAT8_E4M3 ? INFINITY : NAN;
    return (float)(positive == code ? value : -value);
}

uint32_t ref_small_encode(vccl_datatype_t type, float value)
{
    struct small s = small_of(type);
    uint32_t sign = signbit(value) ? 1u << (s.bits - 1) : 0, low = 0, high = s.special;
    double a = fabs((double)value);
    if (isnan(value))
        return sign | ((1u << (s.bits - 1)) - 1);
    if (a >= magnitude(s, s.special))
        return sign | s.special;
    while (high - low > 1) { /* magnitude(low) <= a < magnitude(high) */
        uint32_t middle = low + (high - low) / 2;
        if (magnitude(s, middle) <= a)
            low = middle;
        else
            high = middle;
    }
    double below = a - magnitude(s, low), above = magnitude(s, high) - a;
    if (below == above)
        return sign | (low % 2 == 0 ? low : high);
    return sign | (below < above ? low : high);
}

/* ---- one step ---- */

#define REF_INT(type, a, b, op)                                                                                                  \
    do {                                                                                                                         \
        type x, y;                                                                                                               \
        memcpy(&x, a, sizeof(x));                                                                                                \
        memcpy(&y, b, sizeof(y));                                                                                                \
        switch (op) {                                                                                                            \
        case VCCL_SUM:                                                                                                           \
        case VCCL_AVG:                                                                                                           \
            x = (type)((uint64_t)x + (uint64_t)y);                                                                               \
            break;                                                                                                               \
        case VCCL_PROD:                                                                                                          \
            x = (type)((uint64_t)x * (uint64_t)y);                                                                               \
            break;                                                                                                               \
        case VCCL_MIN:                                                                                                           \
            x = y < x ? y : x;                                                                                                   \
            break;                                                                                                               \
        case VCCL_MAX:                                                                                                           \
            x = y > x ? y : x;                                                                                                   \
            break;                                                                                                               \
        case VCCL_LAND:                                                                                                          \
            x = x && y;                                                                                                          \
            break;                                                                                                               \
        case VCCL_LOR:                                                                                                           \
            x = x || y;                                                                                                          \
            break;                                                                                                               \
        case VCCL_LXOR:                                                                                                          \
            x = !x != !y;                                                                                                        \
            break;                                                                                                               \
        case VCCL_BAND:                                                                                                          \
            x = (type)(x & y);                                                                                                   \
            break;                                                                                                               \
        case VCCL_BOR:                                                                                                           \
            x = (type)(x | y);                                                                                                   \
            break;                                                                                                               \
        default:                                                                                                                 \
            x = (type)(x ^ y);                                                                                                   \
        }                                                                                                                        \
        memcpy(a, &x, sizeof(x));                                                                                                \
    } while (0)

#define REF_FLOAT(type, a, b, op)                                                                                                \
    do {                                                                                                                         \
        type x, y;                                                                                                               \
        memcpy(&x, a, sizeof(x));                                                                                                \
        memcpy(&y, b, sizeof(y));                                                                                                \
        if (op == VCCL_SUM || op == VCCL_AVG)                                                                                    \
            x = x + y;                                                                                                           \
        else if (op == VCCL_PROD)                                                                                                \
            x = x * y;                                                                                                           \
        else if (isnan(x) || isnan(y))                                                                                           \
            x = NAN;                                                                                                             \
        else if (op == VCCL_MIN ? y < x : y > x)                                                                                 \
            x = y;                                                                                                               \
        memcpy(a, &x, sizeof(x));                                                                                                \
    } while (0)

#define REF_COMPLEX(type, a, b, op)                                                                                              \
    do {                                                                                                                         \
        type x[2], y[2];                                                                                                         \
        memcpy(x, a, sizeof(x));                                                                                                 \
        memcpy(y, b, sizeof(y));                                                                                                 \
        type re = op == VCCL_PROD ? x[0] * y[0] - x[1] * y[1] : x[0] + y[0];                                                     \
        type im = op == VCCL_PROD ? x[0] * y[1] + x[1] * y[0] : x[1] + y[1];                                                     \
        x[0] = re;                                                                                                               \
        x[1] = im;                                                                                                               \
        memcpy(a, x, sizeof(x));                                                                                                 \
    } while (0)

/* 1 where b comes before a: the first test that tells them apart decides. */
#define REF_PAIR(type, a, b, op)                                                                                                 \
    do {                                                                                                                         \
        struct {                                                                                                                 \
            type value;                                                                                                          \
            int32_t index;                                                                                                       \
        } x, y;                                                                                                                  \
        memcpy(&x, a, sizeof(x));                                                                                                \
        memcpy(&y, b, sizeof(y));                                                                                                \
        int x_nan = x.value != x.value, y_nan = y.value != y.value, second = y.index < x.index;                                  \
        if (x_nan != y_nan)                                                                                                      \
            second = y_nan;                                                                                                      \
        else if (!x_nan && x.value != y.value)                                                                                   \
            second = op == VCCL_MINLOC ? y.value < x.value : y.value > x.value;                                                  \
        if (second)                                                                                                              \
            memcpy(a, b, sizeof(x));                                                                                             \
    } while (0)

static vccl_op_t bool_op(vccl_op_t op)
{
    switch (op) {
    case VCCL_SUM:
    case VCCL_MAX:
    case VCCL_BOR:
        return VCCL_LOR;
    case VCCL_PROD:
    case VCCL_MIN:
    case VCCL_BAND:
        return VCCL_LAND;
    case VCCL_BXOR:
        return VCCL_LXOR;
    default:
        return op;
    }
}

/* *a = *a op *b. */
static void step(vccl_op_t op, vccl_datatype_t type, void *a, const void *b)
{
    switch (type) {
    case VCCL_INT8:
        REF_INT(int8_t, a, b, op);
        break;
    case VCCL_INT16:
        REF_INT(int16_t, a, b, op);
        break;
    case VCCL_INT32:
        REF_INT(int32_t, a, b, op);
        break;
    case VCCL_INT64:
        REF_INT(int64_t, a, b, op);
        break;
    case VCCL_BOOL:
        op = bool_op(op);
        REF_INT(uint8_t, a, b, op);
        break;
    case VCCL_BYTE:
    case VCCL_UINT8:
        REF_INT(uint8_t, a, b, op);
        break;
    case VCCL_UINT16:
        REF_INT(uint16_t, a, b, op);
        break;
    case VCCL_UINT32:
        REF_INT(uint32_t, a, b, op);
        break;
    case VCCL_UINT64:
        REF_INT(uint64_t, a, b, op);
        break;
    case VCCL_FLOAT32:
        REF_FLOAT(float, a, b, op);
        break;
    case VCCL_FLOAT64:
        REF_FLOAT(double, a, b, op);
        break;
    case VCCL_COMPLEX64:
        REF_COMPLEX(float, a, b, op);
        break;
    case VCCL_COMPLEX128:
        REF_COMPLEX(double, a, b, op);
        break;
    case VCCL_FLOAT32_INT32:
        REF_PAIR(float, a, b, op);
        break;
    case VCCL_FLOAT64_INT32:
        REF_PAIR(double, a, b, op);
        break;
    case VCCL_INT32_INT32:
        REF_PAIR(int32_t, a, b, op);
        break;
    default:
        REF_PAIR(int64_t, a, b, op);
    }
}

static uint32_t code_load(vccl_datatype_t type, const void *p)
{
    uint16_t two;
    memcpy(&two, p, vcci_dtype_bytes[type] == 2 ? 2 : 1);
    return vcci_dtype_bytes[type] == 2 ? two : *(const uint8_t *)p;
}

static void code_store(vccl_datatype_t type, void *p, uint32_t code)
{
    uint16_t two = (uint16_t)code;
    uint8_t one = (uint8_t)code;
    memcpy(p, vcci_dtype_bytes[type] == 2 ? (const void *)&two : &one, vcci_dtype_bytes[type]);
}

void ref_reduce(vccl_op_t op, vccl_datatype_t type, void *dst, const void *const *srcs, unsigned n)
{
    char acc[16];
    memcpy(acc, srcs[0], vcci_dtype_bytes[type]);
    if (n > 1 && ref_is_small(type)) {
        float a = ref_small_decode(type, code_load(type, srcs[0]));
        for (unsigned j = 1; j < n; j++) {
            float b = ref_small_decode(type, code_load(type, srcs[j]));
            step(op, VCCL_FLOAT32, &a, &b);
        }
        code_store(type, acc, ref_small_encode(type, a));
    } else {
        for (unsigned j = 1; j < n; j++)
            step(op, type, acc, srcs[j]);
    }
    memcpy(dst, acc, vcci_dtype_bytes[type]);
}

#define REF_DIVIDE(type, wide, x, n)                                                                                             \
    do {                                                                                                                         \
        type y;                                                                                                                  \
        memcpy(&y, x, sizeof(y));                                                                                                \
        y = (type)((wide)y / (wide)(n));                                                                                         \
        memcpy(x, &y, sizeof(y));                                                                                                \
    } while (0)

void ref_average(vccl_datatype_t type, void *x, int n)
{
    switch (type) {
    case VCCL_INT8:
        REF_DIVIDE(int8_t, int, x, n);
        break;
    case VCCL_INT16:
        REF_DIVIDE(int16_t, int, x, n);
        break;
    case VCCL_INT32:
        REF_DIVIDE(int32_t, int, x, n);
        break;
    case VCCL_INT64:
        REF_DIVIDE(int64_t, int64_t, x, n);
        break;
    case VCCL_UINT8:
        REF_DIVIDE(uint8_t, unsigned, x, n);
        break;
    case VCCL_UINT16:
        REF_DIVIDE(uint16_t, unsigned, x, n);
        break;
    case VCCL_UINT32:
        REF_DIVIDE(uint32_t, unsigned, x, n);
        break;
    case VCCL_UINT64:
        REF_DIVIDE(uint64_t, uint64_t, x, n);
        break;
    case VCCL_COMPLEX64:
        REF_DIVIDE(float, float, (char *)x + 4, n);
        REF_DIVIDE(float, float, x, n);
        break;
    case VCCL_FLOAT32:
        REF_DIVIDE(float, float, x, n);
        break;
    case VCCL_COMPLEX128:
        REF_DIVIDE(double, double, (char *)x + 8, n);
        REF_DIVIDE(double, double, x, n);
        break;
    case VCCL_FLOAT64:
        REF_DIVIDE(double, double, x, n);
        break;
    default:
        code_store(type, x, ref_small_encode(type, ref_small_decode(type, code_load(type, x)) / (float)n));
    }
}

static int same_f32(const void *a, const void *b)
{
    float x, y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return memcmp(a, b, sizeof(x)) == 0 || (isnan(x) && isnan(y));
}

static int same_f64(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return memcmp(a, b, sizeof(x)) == 0 || (isnan(x) && isnan(y));
}

int ref_same(vccl_datatype_t type, const void *a, const void *b)
{
    const char *p = a, *q = b;
    switch (type) {
    case VCCL_FLOAT32:
        return same_f32(p, q);
    case VCCL_FLOAT64:
        return same_f64(p, q);
    case VCCL_COMPLEX64:
        return same_f32(p, q) && same_f32(p + 4, q + 4);
    case VCCL_COMPLEX128:
        return same_f64(p, q) && same_f64(p + 8, q + 8);
    case VCCL_FLOAT32_INT32:
        return same_f32(p, q) && memcmp(p + 4, q + 4, 4) == 0;
    case VCCL_FLOAT64_INT32:
        return same_f64(p, q) && memcmp(p + 8, q + 8, 4) == 0;
    case VCCL_INT64_INT32:
        return memcmp(p, q, 12) == 0;
    default:
        if (memcmp(p, q, vcci_dtype_bytes[type]) == 0)
            return 1;
        return ref_is_small(type) && isnan(ref_small_decode(type, code_load(type, p))) &&
               isnan(ref_small_decode(type, code_load(type, q)));
    }
}
