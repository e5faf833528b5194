/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/device/reduce.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/cpu.h"
#include "lib/device/dtype.h"
#include "tests/unit/reduce_ref.h"
#include "tests/unit/unit.h"

enum { SRCS = 17, COUNT = 4099, ELEMENT = 16, GUARD = 64, SHIFTS = 3 };

static const size_t counts[] = {0, 1, 2, 7, 8, 15, 16, 31, 33, 64, 1000, COUNT};
static const unsigned ns[] = {1, 2, 3, 5, 8, 17};

enum { COUNTS = sizeof(counts) / sizeof(counts[0]), NS = sizeof(ns) / sizeof(ns[0]) };

/* The same sources at addresses that are aligned to a cache line, to the element only, and to nothing. */
static _Alignas(64) char sources[SHIFTS][SRCS][COUNT * ELEMENT + 2 * GUARD + 64];
static _Alignas(64) char target[COUNT * ELEMENT + 6 * GUARD];
static _Alignas(64) char expected[COUNT * ELEMENT];

static uint64_t random_state = 88172645463325252u;

static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* ---- inputs ---- */

static void put_value(vccl_datatype_t type, char *p, double value)
{
    float f = (float)value;
    uint16_t code = ref_is_small(type) ? (uint16_t)ref_small_encode(type, f) : 0;
    uint8_t code8 = (uint8_t)code;

    if (ref_is_small(type))
        memcpy(p, vcci_dtype_bytes[type] == 2 ? (const void *)&code : &code8, vcci_dtype_bytes[type]);
    else if (type == VCCL_FLOAT32 || type == VCCL_COMPLEX64 || type == VCCL_FLOAT32_INT32)
        memcpy(p, &f, sizeof(f));
    else
        memcpy(p, &value, sizeof(value));
}

static int is_float(vccl_datatype_t type)
{
    return ref_is_small(type) || type == VCCL_FLOAT32 || type == VCCL_FLOAT64 || type == VCCL_COMPLEX64 ||
           type == VCCL_COMPLEX128 || type == VCCL_FLOAT32_INT32 || type == VCCL_FLOAT64_INT32;
}

static int is_pair(vccl_datatype_t type)
{
    return type >= VCCL_FLOAT32_INT32 && type <= VCCL_INT64_INT32;
}

/* Any bits; often what is special to the type, so that it meets its like. */
static void put_random(vccl_datatype_t type, char *p)
{
    static const double specials[] = {0.0,     -0.0,    1.0,   -1.0,    INFINITY, -INFINITY, NAN,
                                      0x1p-14, 65504.0, 448.0, 57344.0, 0x1p-24,  3.5};
    uint64_t bits[2] = {random_next(), random_next()};
    int32_t index = (int32_t)(random_next() % 5) - 2;

    memcpy(p, bits, vcci_dtype_bytes[type]);
    if (random_next() % (is_pair(type) ? 2 : 4) == 0) {
        if (is_float(type))
            put_value(type, p, specials[random_next() % (sizeof(specials) / sizeof(specials[0]))]);
        else
            memset(p, random_next() % 2 ? 0 : -1, vcci_dtype_bytes[type]);
    }
    if (is_pair(type))
        memcpy(p + vcci_dtype_bytes[type] / 2, &index, sizeof(index));
}

static char *source(vccl_datatype_t type, int shift, unsigned j)
{
    size_t off = shift == 0 ? 0 : shift == 1 ? vcci_dtype_bytes[type] * (j * 5 % 4) : 1 + j % 7;
    return sources[shift][j] + GUARD + off;
}

static void fill_sources(vccl_datatype_t type)
{
    for (unsigned j = 0; j < SRCS; j++) {
        for (size_t i = 0; i < COUNT; i++)
            put_random(type, source(type, 0, j) + i * vcci_dtype_bytes[type]);
        for (int shift = 1; shift < SHIFTS; shift++)
            memcpy(source(type, shift, j), source(type, 0, j), COUNT * vcci_dtype_bytes[type]);
    }
}

static void expect(vccl_op_t op, vccl_datatype_t type, unsigned n)
{
    const void *at[SRCS];
    for (size_t i = 0; i < COUNT; i++) {
        for (unsigned j = 0; j < n; j++)
            at[j] = source(type, 0, j) + i * vcci_dtype_bytes[type];
        ref_reduce(op, type, expected + i * vcci_dtype_bytes[type], at, n);
    }
}

/* ---- one run against what is expected ---- */

struct run {
    vccl_op_t op;
    vccl_datatype_t type;
    int isa;
    unsigned n;
    size_t count;
    int shift, alias; /* alias: the source that is dst, -1 for none */
};

/* Checked by hand: Check's own assertions cost too much for every byte. */
static void compare(const struct run *r, const char *dst, const char *want)
{
    const size_t bytes = vcci_dtype_bytes[r->type], end = r->count * bytes;
    for (int i = 1; i <= GUARD; i++)
        if (dst[-i] != 0x5a || dst[end + (size_t)i - 1] != 0x5a)
            ck_abort_msg("a byte %d off dst was written", i);
    if (memcmp(dst, want, end) == 0)
        return;
    for (size_t i = 0; i < r->count; i++)
        if (!ref_same(r->type, dst + i * bytes, want + i * bytes))
            ck_abort_msg("%s of %s on %s, n %u, count %zu, shift %d, alias %d: element %zu", vcci_op_name(r->op),
                         vcci_dtype_name(r->type), vcci_cpu_isa_name((enum vcci_cpu_isa)r->isa), r->n, r->count, r->shift,
                         r->alias, i);
}

static char *target_at(vccl_datatype_t type, int shift)
{
    return target + 2 * GUARD + (shift == 0 ? 0 : shift == 1 ? 3 * vcci_dtype_bytes[type] : 5);
}

static void run(const struct run *r, vcci_reduce_fn *fn)
{
    const void *srcs[SRCS];
    char *dst = target_at(r->type, r->shift);

    for (unsigned j = 0; j < r->n; j++)
        srcs[j] = source(r->type, r->shift, j);
    if (r->alias >= 0) {
        memcpy(dst, srcs[r->alias], r->count * vcci_dtype_bytes[r->type]);
        srcs[r->alias] = dst;
    }
    fn(dst, srcs, r->n, r->count);
    compare(r, dst, expected);
    memset(dst, 0x5a, r->count * vcci_dtype_bytes[r->type]);
}

static void run_shapes(struct run r, vcci_reduce_fn *fn)
{
    memset(target, 0x5a, sizeof(target));
    for (int c = 0; c < COUNTS; c++)
        for (r.shift = 0; r.shift < SHIFTS; r.shift++)
            for (r.alias = -1; r.alias < (int)r.n; r.alias++) {
                if (r.n > 8 && r.alias > 0 && r.alias + 1 < (int)r.n && r.alias != 7)
                    continue;
                r.count = counts[c];
                run(&r, fn);
            }
}

/* Each level this processor has, in turn; the best one stays in force. */
static int next_isa(int isa)
{
    if (isa == vcci_reduce_force_isa(-1))
        return -1;
    ck_assert_int_eq(vcci_reduce_force_isa(isa + 1), isa + 1);
    return isa + 1;
}

static void sweep(vccl_datatype_t type)
{
    fill_sources(type);
    for (int op = 1; op < VCCL_OP_NR; op++) {
        if (!vcci_op_fits((vccl_op_t)op, type)) {
            ck_assert_ptr_null(vcci_reduce_find((vccl_op_t)op, type));
            continue;
        }
        for (int k = 0; k < NS; k++) {
            expect((vccl_op_t)op, type, ns[k]);
            for (int isa = next_isa(-1); isa >= 0; isa = next_isa(isa))
                run_shapes((struct run){(vccl_op_t)op, type, isa, ns[k], 0, 0, 0}, vcci_reduce_find((vccl_op_t)op, type));
        }
    }
}

START_TEST(integers_of_every_shape)
{
    for (int t = VCCL_INT8; t <= VCCL_UINT64; t++)
        sweep((vccl_datatype_t)t);
}
END_TEST

START_TEST(floats_of_every_shape)
{
    for (int t = VCCL_FLOAT16; t <= VCCL_FLOAT8_E5M2; t++)
        sweep((vccl_datatype_t)t);
}
END_TEST

START_TEST(others_of_every_shape)
{
    for (int t = VCCL_COMPLEX64; t < VCCL_DATATYPE_NR; t++)
        sweep((vccl_datatype_t)t);
}
END_TEST

START_TEST(streaming_sums)
{
    static const size_t sizes[] = {1, 33, 1000, 2051, COUNT};

    for (int t = VCCL_INT8; t <= VCCL_FLOAT64; t++) {
        fill_sources((vccl_datatype_t)t);
        for (unsigned n = 1; n <= 9; n++) {
            expect(VCCL_SUM, (vccl_datatype_t)t, n);
            memset(target, 0x5a, sizeof(target));
            for (int isa = next_isa(-1); isa >= 0; isa = next_isa(isa))
                for (int i = 0; i < 5 * SHIFTS * 2; i++) {
                    struct run r = {VCCL_SUM,       (vccl_datatype_t)t,     isa, n, sizes[i / (2 * SHIFTS)],
                                    i / 2 % SHIFTS, i % 2 ? (int)n - 1 : -1};
                    run(&r, vcci_reduce_stream_find(VCCL_SUM, r.type));
                }
        }
    }
    ck_assert_ptr_null(vcci_reduce_stream_find(VCCL_SUM, VCCL_BYTE));
    ck_assert_ptr_eq(vcci_reduce_stream_find(VCCL_MAX, VCCL_FLOAT32), vcci_reduce_find(VCCL_MAX, VCCL_FLOAT32));
}
END_TEST

START_TEST(thousands_of_sources)
{
    static const vccl_datatype_t types[] = {VCCL_INT8, VCCL_FLOAT32, VCCL_BFLOAT16, VCCL_FLOAT16, VCCL_FLOAT64_INT32};
    enum { MANY = 3000, FEW = 150 };
    static const void *srcs[MANY], *at[MANY];

    for (int k = 0; k < 5; k++) {
        struct run r = {k == 4 ? VCCL_MAXLOC : VCCL_SUM, types[k], 0, MANY, FEW, 0, -1};
        for (unsigned j = 0; j < SRCS; j++)
            for (size_t i = 0; i < FEW; i++)
                put_value(r.type, source(r.type, 0, j) + i * vcci_dtype_bytes[r.type], (double)(random_next() % 512) / 64);
        for (size_t i = 0; i < FEW; i++) {
            for (int j = 0; j < MANY; j++)
                at[j] = source(r.type, 0, (unsigned)(j * 7 % SRCS)) + i * vcci_dtype_bytes[r.type];
            ref_reduce(r.op, r.type, expected + i * vcci_dtype_bytes[r.type], at, MANY);
        }
        for (int j = 0; j < MANY; j++)
            srcs[j] = source(r.type, 0, (unsigned)(j * 7 % SRCS));
        for (r.isa = next_isa(-1); r.isa >= 0; r.isa = next_isa(r.isa)) {
            memset(target, 0x5a, sizeof(target));
            vcci_reduce_find(r.op, r.type)(target + 2 * GUARD, srcs, MANY, FEW);
            compare(&r, target + 2 * GUARD, expected);
        }
    }
}
END_TEST

/* ---- small floats: every code ---- */

/* All codes of a 16-bit type with one partner, on every level. */
static void codes_with(vccl_op_t op, vccl_datatype_t type, uint32_t partner)
{
    static uint16_t a[65536], b[65536], out[65536], want[65536];
    static uint8_t a8[65536], b8[65536], out8[65536], want8[65536];
    const int wide = vcci_dtype_bytes[type] == 2;
    const void *srcs[2] = {wide ? (void *)a : a8, wide ? (void *)b : b8};
    const char *got = wide ? (char *)out : (char *)out8, *should = wide ? (char *)want : (char *)want8;

    for (uint32_t i = 0; i < 65536; i++) { /* of 8 bits: every code with every partner */
        a[i] = (uint16_t)i;
        b[i] = (uint16_t)partner;
        a8[i] = (uint8_t)i;
        b8[i] = (uint8_t)(i >> 8);
        const void *at[2] = {wide ? (void *)&a[i] : &a8[i], wide ? (void *)&b[i] : &b8[i]};
        ref_reduce(op, type, wide ? (void *)&want[i] : &want8[i], at, 2);
    }
    for (int isa = next_isa(-1); isa >= 0; isa = next_isa(isa)) {
        vcci_reduce_find(op, type)(wide ? (void *)out : out8, srcs, 2, 65536);
        for (uint32_t i = 0; i < 65536; i++)
            if (!ref_same(type, got + i * vcci_dtype_bytes[type], should + i * vcci_dtype_bytes[type]))
                ck_abort_msg("%s of %s on level %d: %x and %x", vcci_op_name(op), vcci_dtype_name(type), isa,
                             wide ? (unsigned)a[i] : a8[i], wide ? (unsigned)b[i] : b8[i]);
    }
}

START_TEST(every_code_of_16_bits)
{
    static const double partners[] = {-0.0, 0.5, 0x1p-10, 1.5, 0x1.8p-16, 3.0, 1000.0, INFINITY, NAN, 60000.0};

    for (int t = VCCL_FLOAT16; t <= VCCL_BFLOAT16; t++)
        for (int i = 0; i < 16; i++) {
            uint32_t partner =
                i < 10 ? ref_small_encode((vccl_datatype_t)t, (float)partners[i]) : (uint32_t)random_next() & 0xffff;
            codes_with(VCCL_SUM, (vccl_datatype_t)t, partner);
            codes_with(VCCL_PROD, (vccl_datatype_t)t, partner);
            codes_with(i % 2 ? VCCL_MIN : VCCL_MAX, (vccl_datatype_t)t, partner);
        }
}
END_TEST

START_TEST(every_pair_of_codes_of_8_bits)
{
    for (int op = VCCL_SUM; op <= VCCL_MAX; op++) {
        codes_with((vccl_op_t)op, VCCL_FLOAT8_E4M3, 0);
        codes_with((vccl_op_t)op, VCCL_FLOAT8_E5M2, 0);
    }
}
END_TEST

/* Adding -0 changes no number, so opening and closing is the identity: the reference is not asked here. */
START_TEST(minus_zero_is_neutral)
{
    static uint16_t a[65536], zero[65536], out[65536];
    const void *srcs[2] = {a, zero};

    for (uint32_t i = 0; i < 65536; i++) {
        a[i] = (uint16_t)i;
        zero[i] = 0x8000;
    }
    for (int t = VCCL_FLOAT16; t <= VCCL_BFLOAT16; t++)
        for (int isa = next_isa(-1); isa >= 0; isa = next_isa(isa)) {
            const uint32_t infinity = t == VCCL_FLOAT16 ? 0x7c00 : 0x7f80;
            vcci_reduce_find(VCCL_SUM, (vccl_datatype_t)t)(out, srcs, 2, 65536);
            for (uint32_t i = 0; i < 65536; i++)
                if ((i & 0x7fff) > infinity ? (out[i] & 0x7fff) <= infinity : out[i] != i)
                    ck_abort_msg("%s %x became %x", vcci_dtype_name((vccl_datatype_t)t), i, out[i]);
        }
}
END_TEST

static double small_result(vccl_op_t op, vccl_datatype_t type, double x, double y, double z)
{
    char in[3][2], out[2] = {0};
    const void *srcs[3] = {in[0], in[1], in[2]};
    uint16_t code = 0;

    put_value(type, in[0], x);
    put_value(type, in[1], y);
    put_value(type, in[2], z);
    vcci_reduce_find(op, type)(out, srcs, isnan(z) ? 2 : 3, 1);
    memcpy(&code, out, 2);
    return ref_small_decode(type, vcci_dtype_bytes[type] == 2 ? code : (uint8_t)out[0]);
}

START_TEST(rounding_by_hand)
{
    for (int isa = next_isa(-1); isa >= 0; isa = next_isa(isa)) {
        ck_assert(small_result(VCCL_SUM, VCCL_FLOAT16, 2048, 1, NAN) == 2048);
        ck_assert(small_result(VCCL_SUM, VCCL_FLOAT16, 2050, 1, NAN) == 2052);
        ck_assert(small_result(VCCL_SUM, VCCL_FLOAT16, 65504, 15, NAN) == 65504);
        ck_assert(small_result(VCCL_SUM, VCCL_FLOAT16, 65504, 16, NAN) == INFINITY);
        ck_assert(small_result(VCCL_PROD, VCCL_FLOAT16, 0x1p-24, 0.5, NAN) == 0);
        ck_assert(small_result(VCCL_PROD, VCCL_FLOAT16, 0x3p-24, 0.5, NAN) == 0x2p-24);
        ck_assert(small_result(VCCL_SUM, VCCL_FLOAT16, 2048, 1, 1) == 2050); /* rounded once, not after every step */
        ck_assert(small_result(VCCL_SUM, VCCL_BFLOAT16, 256, 1, NAN) == 256);
        ck_assert(small_result(VCCL_SUM, VCCL_BFLOAT16, 258, 1, NAN) == 260);
        ck_assert(small_result(VCCL_SUM, VCCL_BFLOAT16, 0x1.fep127, 0x1p119, NAN) == INFINITY);
        ck_assert(small_result(VCCL_SUM, VCCL_BFLOAT16, 256, 1, 1) == 258);
        ck_assert(small_result(VCCL_SUM, VCCL_FLOAT8_E4M3, 448, 16, NAN) == 448);
        ck_assert(isnan(small_result(VCCL_SUM, VCCL_FLOAT8_E4M3, 448, 18, NAN)));
        ck_assert(isnan(small_result(VCCL_SUM, VCCL_FLOAT8_E4M3, -448, -32, NAN)));
        ck_assert(small_result(VCCL_SUM, VCCL_FLOAT8_E5M2, 57344, 3584, NAN) == 57344);
        ck_assert(small_result(VCCL_SUM, VCCL_FLOAT8_E5M2, 57344, 4096, NAN) == INFINITY);
        ck_assert(isnan(small_result(VCCL_MIN, VCCL_FLOAT8_E5M2, 1, 1, INFINITY) - INFINITY) == 0);
    }
}
END_TEST

/* ---- special values by hand ---- */

START_TEST(nan_wins_min_and_max)
{
    const float x[4] = {NAN, 1, 2, -0.0f}, y[4] = {1, NAN, 3, 0.0f};
    const void *srcs[2] = {x, y};
    float out[4];

    for (int isa = next_isa(-1); isa >= 0; isa = next_isa(isa)) {
        vcci_reduce_find(VCCL_MIN, VCCL_FLOAT32)(out, srcs, 2, 4);
        ck_assert(isnan(out[0]) && isnan(out[1]) && out[2] == 2 && signbit(out[3]));
        vcci_reduce_find(VCCL_MAX, VCCL_FLOAT32)(out, srcs, 2, 4);
        ck_assert(isnan(out[0]) && isnan(out[1]) && out[2] == 3 && signbit(out[3]));
    }
}
END_TEST

START_TEST(ties_go_to_the_lowest_index)
{
    const struct {
        int32_t value, index;
    } x[2] = {{5, 9}, {5, 9}}, y[2] = {{5, 3}, {7, 4}}, z[2] = {{6, 1}, {7, 2}};
    const void *srcs[3] = {x, y, z};
    int32_t out[4];

    vcci_reduce_find(VCCL_MINLOC, VCCL_INT32_INT32)(out, srcs, 3, 2);
    ck_assert(out[0] == 5 && out[1] == 3 && out[2] == 5 && out[3] == 9);
    vcci_reduce_find(VCCL_MAXLOC, VCCL_INT32_INT32)(out, srcs, 3, 2);
    ck_assert(out[0] == 6 && out[1] == 1 && out[2] == 7 && out[3] == 2);
}
END_TEST

START_TEST(bool_is_zero_or_one)
{
    const uint8_t x[4] = {0, 2, 4, 255}, y[4] = {0, 0, 2, 1};
    const void *srcs[2] = {x, y};
    static const uint8_t any[4] = {0, 1, 1, 1}, all[4] = {0, 0, 1, 1};
    uint8_t out[4];

    vcci_reduce_find(VCCL_SUM, VCCL_BOOL)(out, srcs, 2, 4);
    ck_assert_mem_eq(out, any, 4);
    vcci_reduce_find(VCCL_BAND, VCCL_BOOL)(out, srcs, 2, 4);
    ck_assert_mem_eq(out, all, 4);
}
END_TEST

START_TEST(levels)
{
    int best = vcci_reduce_force_isa(-1);

    ck_assert_int_eq(best, (int)vcci_cpu_isa());
    ck_assert_int_eq(vcci_reduce_force_isa(0), 0);
    ck_assert_int_eq(vcci_reduce_force_isa(VCCI_ISA_NR), best);
    ck_assert_ptr_null(vcci_reduce_find(VCCL_OP_NULL, VCCL_INT8));
    ck_assert_ptr_null(vcci_reduce_find(VCCL_SUM, VCCL_DATATYPE_NULL));
    ck_assert_ptr_null(vcci_reduce_find(VCCL_OP_NR, VCCL_INT8));
    ck_assert_ptr_eq(vcci_reduce_find(VCCL_AVG, VCCL_FLOAT16), vcci_reduce_find(VCCL_SUM, VCCL_FLOAT16));
}
END_TEST

/* ---- the rest of the header ---- */

START_TEST(averages)
{
    static const int divisors[] = {1, 2, 3, 7, 128, 1000, 65537, 2147483647};

    for (int t = 1; t < VCCL_DATATYPE_NR; t++) {
        const size_t bytes = vcci_dtype_bytes[t];
        if (!vcci_op_fits(VCCL_AVG, (vccl_datatype_t)t))
            continue;
        fill_sources((vccl_datatype_t)t);
        for (int d = 0; d < 8; d++) {
            memcpy(expected, source((vccl_datatype_t)t, 0, 0), COUNT * bytes);
            for (size_t i = 0; i < COUNT && divisors[d] > 1; i++)
                ref_average((vccl_datatype_t)t, expected + i * bytes, divisors[d]);
            for (int isa = next_isa(-1); isa >= 0; isa = next_isa(isa))
                for (int i = 0; i < COUNTS * SHIFTS; i++) {
                    struct run r = {VCCL_AVG, (vccl_datatype_t)t, isa, (unsigned)divisors[d], counts[i / SHIFTS], i % SHIFTS, 0};
                    char *buf = target_at(r.type, r.shift);
                    memset(target, 0x5a, sizeof(target));
                    memcpy(buf, source(r.type, 0, 0), r.count * bytes);
                    vcci_reduce_average(buf, r.count, r.type, divisors[d]);
                    compare(&r, buf, expected);
                }
        }
    }
}
END_TEST

START_TEST(integer_averages_truncate)
{
    int8_t a[4] = {-7, 7, -128, 127};
    uint64_t b[1] = {UINT64_MAX};
    int64_t c[1] = {INT64_MIN};

    vcci_reduce_average(a, 4, VCCL_INT8, 2);
    ck_assert(a[0] == -3 && a[1] == 3 && a[2] == -64 && a[3] == 63);
    vcci_reduce_average(a, 4, VCCL_INT8, 1000);
    ck_assert(a[0] == 0 && a[1] == 0 && a[2] == 0 && a[3] == 0);
    vcci_reduce_average(b, 1, VCCL_UINT64, 2);
    ck_assert_uint_eq(b[0], UINT64_MAX / 2);
    vcci_reduce_average(c, 1, VCCL_INT64, 3);
    ck_assert_int_eq(c[0], INT64_MIN / 3);
}
END_TEST

START_TEST(scaling)
{
    for (int t = 1; t < VCCL_DATATYPE_NR; t++) {
        const size_t bytes = vcci_dtype_bytes[t];
        const char *scalar = source((vccl_datatype_t)t, 0, 1);
        if (!vcci_op_fits(VCCL_AVG, (vccl_datatype_t)t))
            continue;
        fill_sources((vccl_datatype_t)t);
        for (size_t i = 0; i < COUNT; i++) {
            const void *at[2] = {source((vccl_datatype_t)t, 0, 0) + i * bytes, scalar};
            ref_reduce(VCCL_PROD, (vccl_datatype_t)t, expected + i * bytes, at, 2);
        }
        for (int isa = next_isa(-1); isa >= 0; isa = next_isa(isa))
            for (int i = 0; i < COUNTS * SHIFTS * 2; i++) {
                struct run r = {VCCL_PROD, (vccl_datatype_t)t, isa, 2, counts[i / (2 * SHIFTS)], i / 2 % SHIFTS, i % 2};
                char *dst = target_at(r.type, r.shift);
                memset(target, 0x5a, sizeof(target));
                if (r.alias)
                    memcpy(dst, source(r.type, 0, 0), r.count * bytes);
                vcci_reduce_scale(dst, r.alias ? dst : source(r.type, r.shift, 0), r.count, r.type, scalar);
                compare(&r, dst, expected);
            }
    }
}
END_TEST

START_TEST(copies_past_the_caches)
{
    static const size_t sizes[] = {0, 1, 63, 64, 4095, 4096, 4097, 5000, 16384, 60001};

    fill_sources(VCCL_INT64);
    for (int isa = next_isa(-1); isa >= 0; isa = next_isa(isa))
        for (int i = 0; i < 10 * 8; i++) {
            struct run r = {VCCL_OP_NULL, VCCL_BYTE, isa, 1, sizes[i / 8], i % 8 / 4, -1};
            const char *src = sources[0][0] + i * 7 % 64;
            char *dst = target + 2 * GUARD + i * 13 % 67;
            memset(target, 0x5a, sizeof(target));
            vcci_copy_stream(dst, src, r.count);
            compare(&r, dst, src);
        }
}
END_TEST

UNIT_MAIN("reduce", integers_of_every_shape, floats_of_every_shape, others_of_every_shape, streaming_sums, thousands_of_sources,
          every_code_of_16_bits, every_pair_of_codes_of_8_bits, minus_zero_is_neutral, rounding_by_hand, nan_wins_min_and_max,
          ties_go_to_the_lowest_index, bool_is_zero_or_one, levels, averages, integer_averages_truncate, scaling,
          copies_past_the_caches)
