/* SPDX-License-Identifier: BSD-3-Clause
 * The values that vccl_perf sends, and what an op makes of them. Every value is a whole number that is small enough for its type
 * and op to be exact in any order, so results can be compared bit by bit. Nothing here is shared with the library's own
 * arithmetic. */
#include <string.h>

#include "tools/perf.h"

enum class { INT = 1, UINT, FLOAT, COMPLEX, BOOL, BYTE, PAIR };

/* largest: every whole number up to it is exact in the type. exponent, mantissa: bits of the short floats. */
static const struct type_info {
    enum class class;
    int64_t largest;
    int exponent, mantissa;
} types[VCCL_DATATYPE_NR] = {
    [VCCL_INT8] = {INT, 127, 0, 0},
    [VCCL_INT16] = {INT, 32767, 0, 0},
    [VCCL_INT32] = {INT, 1 << 20, 0, 0},
    [VCCL_INT64] = {INT, 1 << 20, 0, 0},
    [VCCL_UINT8] = {UINT, 255, 0, 0},
    [VCCL_UINT16] = {UINT, 65535, 0, 0},
    [VCCL_UINT32] = {UINT, 1 << 20, 0, 0},
    [VCCL_UINT64] = {UINT, 1 << 20, 0, 0},
    [VCCL_FLOAT16] = {FLOAT, 2048, 5, 10},
    [VCCL_BFLOAT16] = {FLOAT, 256, 8, 7},
    [VCCL_FLOAT32] = {FLOAT, 1 << 20, 0, 0},
    [VCCL_FLOAT64] = {FLOAT, 1 << 20, 0, 0},
    [VCCL_FLOAT8_E4M3] = {FLOAT, 16, 4, 3},
    [VCCL_FLOAT8_E5M2] = {FLOAT, 8, 5, 2},
    [VCCL_COMPLEX64] = {COMPLEX, 1 << 20, 0, 0},
    [VCCL_COMPLEX128] = {COMPLEX, 1 << 20, 0, 0},
    [VCCL_BOOL] = {BOOL, 1, 0, 0},
    [VCCL_BYTE] = {BYTE, 255, 0, 0},
    [VCCL_FLOAT32_INT32] = {PAIR, 1 << 20, 0, 0},
    [VCCL_FLOAT64_INT32] = {PAIR, 1 << 20, 0, 0},
    [VCCL_INT32_INT32] = {PAIR, 1 << 20, 0, 0},
    [VCCL_INT64_INT32] = {PAIR, 1 << 20, 0, 0},
};

/* An element before it is encoded: a number, and the imaginary part or a pair's index. */
struct value {
    int64_t a, b;
};

int perf_op_fits(vccl_op_t op, vccl_datatype_t type)
{
    enum class class = types[type].class;

    switch (op) {
    case VCCL_SUM:
    case VCCL_PROD:
        return class != BYTE && class != PAIR;
    case VCCL_AVG:
        return class == INT || class == UINT || class == FLOAT || class == COMPLEX;
    case VCCL_MIN:
    case VCCL_MAX:
        return class == INT || class == UINT || class == FLOAT || class == BOOL;
    case VCCL_LAND:
    case VCCL_LOR:
    case VCCL_LXOR:
        return class == INT || class == UINT || class == BOOL;
    case VCCL_BAND:
    case VCCL_BOR:
    case VCCL_BXOR:
        return class == INT || class == UINT || class == BOOL || class == BYTE;
    case VCCL_MINLOC:
    case VCCL_MAXLOC:
        return class == PAIR;
    default:
        return 0;
    }
}

static uint64_t hash(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + c * 0x94d049bb133111ebu + 1;

    for (int i = 0; i < 2; i++) {
        x ^= x >> 30;
        x *= 0xbf58476d1ce4e5b9u;
        x ^= x >> 27;
        x *= 0x94d049bb133111ebu;
        x ^= x >> 31;
    }
    return x;
}

static int has_sign(enum class class)
{
    return class == INT || class == FLOAT || class == COMPLEX || class == PAIR;
}

/* Of a number in -most..most, or 0..most without a sign. */
static int64_t spread(uint64_t h, int64_t most, int sign)
{
    int64_t v = (int64_t)(h % (uint64_t)(most + 1));

    return sign && h >> 63 ? -v : v;
}

/* The magnitudes of all ranks' numbers sum up to at most info->largest. */
static int64_t sum_input(const struct type_info *info, int rank, int size, size_t index, int part)
{
    int64_t most = info->largest / size;

    if (most < 1) /* too many ranks for the type: only some have something to give */
        return (rank + (int64_t)index + part) % size < info->largest;
    return spread(hash((uint64_t)rank, index, (uint64_t)part), most < 100 ? most : 100, has_sign(info->class));
}

/* The average at `index`, the same on all ranks. */
static int64_t avg_result(const struct type_info *info, int size, size_t index, int part)
{
    int64_t most = info->largest / size - 1;

    if (!has_sign(info->class))
        return info->largest < size ? 0 : 1 + (int64_t)(hash(7, index, (uint64_t)part) % (uint64_t)(most > 0 ? most : 1));
    return most < 1 ? 0 : spread(hash(7, index, (uint64_t)part), most < 50 ? most : 50, 1);
}

/* Two neighbours differ from the average by the same amount up and down. */
static int64_t avg_input(const struct type_info *info, int rank, int size, size_t index, int part)
{
    int64_t average = avg_result(info, size, index, part), pair = rank / 2, pairs = size / 2;

    if (pair >= pairs || (!has_sign(info->class) && average == 0))
        return average;
    if (2 * pairs > info->largest && (pair + (int64_t)index) % pairs >= info->largest / 2)
        return average;
    return average + (rank % 2 ? 1 : -1) * (int64_t)(hash((uint64_t)pair, index, (uint64_t)part) % 2);
}

/* Three ranks give a 2, the others a 1 turned by a multiple of 90 or 180 degrees. */
static struct value prod_input(enum class class, int rank, int size, size_t index)
{
    static const struct value turns[4] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    uint64_t h = hash((uint64_t)rank, index, 3);
    struct value v = turns[class == COMPLEX ? h % 4 : has_sign(class) ? h % 2 : 0];

    if (((uint64_t)rank + index) % (uint64_t)size < 3) {
        v.a *= 2;
        v.b *= 2;
    }
    return v;
}

static int64_t logic_input(vccl_op_t op, int rank, int size, size_t index)
{
    uint64_t h = hash((uint64_t)rank, index, 4), n = (uint64_t)size;

    if (op == VCCL_LAND)
        return h % (2 * n) ? 1 + (int64_t)(h >> 32) % 7 : 0;
    if (op == VCCL_LOR)
        return h % (2 * n) ? 0 : 1 + (int64_t)(h >> 32) % 7;
    return h % 3 ? (int64_t)(h >> 32) % 7 : 0;
}

/* What the ops of numbers mean for bool. */
static vccl_op_t bool_op(vccl_op_t op)
{
    switch (op) {
    case VCCL_SUM:
    case VCCL_MAX:
        return VCCL_LOR;
    case VCCL_PROD:
    case VCCL_MIN:
        return VCCL_LAND;
    default:
        return op;
    }
}

static struct value input(vccl_datatype_t type, vccl_op_t op, int rank, int size, size_t index)
{
    const struct type_info *info = &types[type];
    uint64_t h = hash((uint64_t)rank, index, 0), common = hash(5, index, 0);
    int64_t most = info->largest < 100 ? info->largest : 100;
    struct value v = {0, 0};

    if (info->class == BOOL)
        op = bool_op(op);
    switch (op) {
    case VCCL_SUM:
        return (struct value){sum_input(info, rank, size, index, 0), sum_input(info, rank, size, index, 1)};
    case VCCL_AVG:
        return (struct value){avg_input(info, rank, size, index, 0), avg_input(info, rank, size, index, 1)};
    case VCCL_PROD:
        return prod_input(info->class, rank, size, index);
    case VCCL_LAND:
    case VCCL_LOR:
    case VCCL_LXOR:
        v.a = logic_input(op, rank, size, index);
        break;
    case VCCL_BAND:
        v.a = (int64_t)(h | common);
        break;
    case VCCL_BOR:
        v.a = (int64_t)(h & common);
        break;
    case VCCL_BXOR:
        v.a = (int64_t)h;
        break;
    case VCCL_MINLOC:
    case VCCL_MAXLOC: /* few different values, so that ties occur */
        return (struct value){spread(h, 4, 1), (int64_t)(hash((uint64_t)rank, index, 6) % 1000)};
    default: /* MIN, MAX, or only moved */
        v.a = op == VCCL_OP_NULL && !has_sign(info->class) ? (int64_t)h : spread(h, most, has_sign(info->class));
        v.b = spread(hash((uint64_t)rank, index, 2), most, 1);
    }
    if (info->class == BOOL)
        v.a = op == VCCL_LAND || op == VCCL_LOR || op == VCCL_LXOR ? v.a != 0 : v.a & 1;
    return v;
}

static struct value combine(enum class class, vccl_op_t op, struct value x, struct value y)
{
    int y_first = op == VCCL_MINLOC ? y.a < x.a : y.a > x.a;

    switch (class == BOOL ? bool_op(op) : op) {
    case VCCL_PROD:
        return class == COMPLEX ? (struct value){x.a * y.a - x.b * y.b, x.a * y.b + x.b * y.a} : (struct value){x.a * y.a, 0};
    case VCCL_MIN:
        return y.a < x.a ? y : x;
    case VCCL_MAX:
        return y.a > x.a ? y : x;
    case VCCL_LAND:
        return (struct value){x.a && y.a, 0};
    case VCCL_LOR:
        return (struct value){x.a || y.a, 0};
    case VCCL_LXOR:
        return (struct value){!x.a != !y.a, 0};
    case VCCL_BAND:
        return (struct value){x.a & y.a, 0};
    case VCCL_BOR:
        return (struct value){x.a | y.a, 0};
    case VCCL_BXOR:
        return (struct value){x.a ^ y.a, 0};
    case VCCL_MINLOC:
    case VCCL_MAXLOC:
        return y_first || (x.a == y.a && y.b < x.b) ? y : x;
    default:
        return (struct value){x.a + y.a, x.b + y.b};
    }
}

/* A whole number as a float of so many bits. */
static uint32_t short_float(int64_t number, int exponent_bits, int mantissa_bits)
{
    uint32_t sign = number < 0, bias = (1u << (exponent_bits - 1)) - 1;
    uint64_t n = (uint64_t)(number < 0 ? -number : number);
    int top = 0;

    if (n == 0)
        return 0;
    while (n >> (top + 1))
        top++;
    uint32_t mantissa = (uint32_t)((n << mantissa_bits) >> top) & ((1u << mantissa_bits) - 1);
    return sign << (exponent_bits + mantissa_bits) | ((uint32_t)top + bias) << mantissa_bits | mantissa;
}

#define PUT(type, offset, number)                                                                                                \
    do {                                                                                                                         \
        type put_ = (type)(number);                                                                                              \
        memcpy((char *)dst + (offset), &put_, sizeof put_);                                                                      \
    } while (0)

static void encode(void *dst, vccl_datatype_t type, struct value v)
{
    const struct type_info *info = &types[type];

    switch (type) {
    case VCCL_INT16:
    case VCCL_UINT16:
        PUT(int16_t, 0, v.a);
        break;
    case VCCL_INT32:
    case VCCL_UINT32:
        PUT(int32_t, 0, v.a);
        break;
    case VCCL_INT64:
    case VCCL_UINT64:
        PUT(int64_t, 0, v.a);
        break;
    case VCCL_FLOAT16:
    case VCCL_BFLOAT16:
        PUT(uint16_t, 0, short_float(v.a, info->exponent, info->mantissa));
        break;
    case VCCL_FLOAT8_E4M3:
    case VCCL_FLOAT8_E5M2:
        PUT(uint8_t, 0, short_float(v.a, info->exponent, info->mantissa));
        break;
    case VCCL_COMPLEX64:
        PUT(float, 4, v.b); /* fall through */
    case VCCL_FLOAT32:
        PUT(float, 0, v.a);
        break;
    case VCCL_COMPLEX128:
        PUT(double, 8, v.b); /* fall through */
    case VCCL_FLOAT64:
        PUT(double, 0, v.a);
        break;
    case VCCL_FLOAT32_INT32:
        PUT(float, 0, v.a);
        PUT(int32_t, 4, v.b);
        break;
    case VCCL_INT32_INT32:
        PUT(int32_t, 0, v.a);
        PUT(int32_t, 4, v.b);
        break;
    case VCCL_FLOAT64_INT32:
        PUT(double, 0, v.a);
        PUT(int64_t, 8, v.b); /* with the padding */
        break;
    case VCCL_INT64_INT32:
        PUT(int64_t, 0, v.a);
        PUT(int64_t, 8, v.b);
        break;
    default:
        PUT(int8_t, 0, v.a);
    }
}

void perf_value_input(void *dst, vccl_datatype_t type, vccl_op_t op, int rank, int size, size_t index)
{
    encode(dst, type, input(type, op, rank, size, index));
}

void perf_value_result(void *dst, vccl_datatype_t type, vccl_op_t op, int size, size_t index)
{
    struct value v = input(type, op, 0, size, index);

    if (op == VCCL_AVG) {
        v = (struct value){avg_result(&types[type], size, index, 0), avg_result(&types[type], size, index, 1)};
    } else {
        for (int r = 1; r < size; r++)
            v = combine(types[type].class, op, v, input(type, op, r, size, index));
    }
    encode(dst, type, v);
}

/* A zero with a sign counts as zero. */
static int real_same(const void *a, const void *b, size_t bytes)
{
    double x = 0, y = 1;
    float xf, yf;

    if (memcmp(a, b, bytes) == 0)
        return 1;
    if (bytes == sizeof(double)) {
        memcpy(&x, a, bytes);
        memcpy(&y, b, bytes);
    } else if (bytes == sizeof(float)) {
        memcpy(&xf, a, bytes);
        memcpy(&yf, b, bytes);
        x = xf;
        y = yf;
    }
    return x == 0 && y == 0;
}

int perf_value_same(const void *a, const void *b, vccl_datatype_t type)
{
    const char *x = a, *y = b;
    size_t bytes = 0;

    vccl_type_size(type, &bytes);
    switch (type) {
    case VCCL_COMPLEX64:
    case VCCL_COMPLEX128:
        return real_same(x, y, bytes / 2) && real_same(x + bytes / 2, y + bytes / 2, bytes / 2);
    case VCCL_FLOAT64_INT32:
    case VCCL_INT64_INT32:
        return memcmp(x, y, 12) == 0;
    default:
        return memcmp(x, y, bytes) == 0;
    }
}
