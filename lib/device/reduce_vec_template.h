/* SPDX-License-Identifier: BSD-3-Clause
 * Vectors of VEC_BYTES bytes, and how elements of each lane type are opened to what is computed with, combined, and closed again.
 * Only reduce_kernels_template.h includes this, once per instruction set level. It is written in the compilers' own vectors, so
 * that the same source gives SSE2, AVX2, AVX-512, NEON or scalar code with the same bits; intrinsics appear only where they give
 * the same bits, faster. */
#ifndef VCCI_DEVICE_REDUCE_VEC_TEMPLATE_H
#define VCCI_DEVICE_REDUCE_VEC_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define INLINE inline __attribute__((always_inline))
#define VECTOR __attribute__((vector_size(VEC_BYTES)))

typedef uint8_t u8v VECTOR;
typedef uint16_t u16v VECTOR;
typedef uint32_t u32v VECTOR;
typedef uint64_t u64v VECTOR;
typedef int8_t i8v VECTOR;
typedef int16_t i16v VECTOR;
typedef int32_t i32v VECTOR;
typedef int64_t i64v VECTOR;
typedef float f32v VECTOR;
typedef double f64v VECTOR;
typedef u8v vec;
typedef uint8_t vec_unaligned __attribute__((vector_size(VEC_BYTES), aligned(1), may_alias));
typedef uint8_t vec_aligned __attribute__((vector_size(VEC_BYTES), may_alias));

static INLINE vec load(const char *p)
{
    return (vec) * (const vec_unaligned *)p;
}

static INLINE void store(char *p, vec v)
{
    *(vec_unaligned *)p = (vec_unaligned)v;
}

static INLINE vec pick(vec mask, vec yes, vec no)
{
    return (mask & yes) | (~mask & no);
}

/* ---- small floats: each is computed in the 32-bit lane where it lies, so nothing is shuffled ---- */

struct format {
    int mant, bias, bits;
    int32_t special;         /* the code of infinity, or of NaN where there is no infinity: larger values close to it */
    uint32_t special_opened; /* what such codes have in common as float                                               */
    float step;              /* value of the smallest code: 2^(1 - bias - mant)                                       */
};

#define FORMAT_F16  ((struct format){10, 15, 16, 0x7c00, 0x7f800000, 0x1p-24f})
#define FORMAT_E5M2 ((struct format){2, 15, 8, 0x7c, 0x7f800000, 0x1p-16f})
#define FORMAT_E4M3 ((struct format){3, 7, 8, 0x7f, 0x7fc00000, 0x1p-9f})

/* code: one element in the low bits of each lane, zeros above. */
static INLINE vec small_open(u32v code, struct format f)
{
    u32v magnitude = code & ((1u << (f.bits - 1)) - 1), sign = (code >> (f.bits - 1)) << 31;
    u32v normal = (magnitude << (23 - f.mant)) + ((uint32_t)(127 - f.bias) << 23);
    vec subnormal = (vec)(__builtin_convertvector((i32v)magnitude, f32v) * f.step);
    vec r = pick((vec)((i32v)magnitude < (1 << f.mant)), subnormal, (vec)normal);
    r |= (vec)((i32v)magnitude >= f.special) & (vec)((u32v){0} + f.special_opened);
    return r | (vec)sign;
}

/* Rounds to nearest even; what is too large becomes f.special, a NaN stays one and becomes quiet. */
static INLINE u32v small_close(vec v, struct format f)
{
    const int shift = 23 - f.mant;
    u32v sign = ((u32v)v >> 31) << (f.bits - 1), a = (u32v)v & 0x7fffffff;
    u32v normal = (a + ((1u << (shift - 1)) - 1) + ((a >> shift) & 1) - ((uint32_t)(127 - f.bias) << 23)) >> shift;
    /* Adding 2^23 steps makes the adder round at the step; the difference of the bits counts steps. */
    f32v magic = (f32v){0} + f.step * 0x1p23f;
    u32v subnormal = (u32v)((f32v)a + magic) - (u32v)magic;
    vec r = pick((vec)((i32v)a < ((128 - f.bias) << 23)), (vec)subnormal, (vec)normal);
    vec limit = (vec)((i32v){0} + f.special);
    r = pick((vec)((i32v)r > (i32v)limit), limit, r);
    vec nan = limit | (vec)((u32v){0} + (1u << (f.mant - 1))) | (vec)((a >> shift) & ((1u << f.mant) - 1));
    r = pick((vec)((i32v)a > 0x7f800000), nan, r);
    return (u32v)r | sign;
}

/* The upper half of each lane is the rounded value, the lower half rubbish. No NaN becomes a number or infinity by this: one that
 * comes from a bfloat16, or from the processor, has a lower half of zeros, which rounds to itself. */
static INLINE u32v bf16_round(vec v)
{
    u32v u = (u32v)v;
    return u + 0x7fff + ((u >> 16) & 1);
}

/* Four vectors in registers: as many elements as their lane type lets fit; all loops work on one of these. */
struct block {
    vec v[4];
};

/* ---- lanes: how a vector of elements becomes vectors to compute with, and back ---- */

struct lane {
    size_t bytes;                /* of an element                                                                            */
    int parts;                   /* vectors that a vector of elements opens to: 1, 2 or 4                                    */
    bool heavy;                  /* opened and closed by so much code that a kernel holds it twice only                      */
    bool wide_n;                 /* worth loops of its own for 3 and 4 sources                                               */
    struct block (*open)(vec x); /* v[0 .. parts - 1] of the result count                */
    vec (*close)(vec v0, vec v1, vec v2, vec v3);
    vec (*op)(vec a, vec b);
};
/* A lane is a constant argument all the way down; its functions are inlined. */

static INLINE struct block open_whole(vec x)
{
    return (struct block){{x, x, x, x}};
}

static INLINE vec close_whole(vec v0, vec v1, vec v2, vec v3)
{
    (void)v1, (void)v2, (void)v3;
    return v0;
}

static INLINE struct block open_bf16(vec x)
{
    return (struct block){{(vec)((u32v)x << 16), (vec)((u32v)x & 0xffff0000u), x, x}};
}

static INLINE vec close_bf16(vec v0, vec v1, vec v2, vec v3)
{
    (void)v2, (void)v3;
    return (vec)((bf16_round(v0) >> 16) | (bf16_round(v1) & 0xffff0000u));
}

/* Of values that are bfloat16 already. */
static INLINE vec close_bf16_exact(vec v0, vec v1, vec v2, vec v3)
{
    (void)v2, (void)v3;
    return (vec)(((u32v)v0 >> 16) | (u32v)v1);
}

#ifndef VEC_HAS_F16
static INLINE struct block open_f16(vec x)
{
    return (struct block){{small_open((u32v)x & 0xffff, FORMAT_F16), small_open((u32v)x >> 16, FORMAT_F16), x, x}};
}

static INLINE vec close_f16(vec v0, vec v1, vec v2, vec v3)
{
    (void)v2, (void)v3;
    return (vec)(small_close(v0, FORMAT_F16) | small_close(v1, FORMAT_F16) << 16);
}
#endif

static INLINE struct block open_quarters(u32v u, struct format f)
{
    return (struct block){
        {small_open(u & 0xff, f), small_open((u >> 8) & 0xff, f), small_open((u >> 16) & 0xff, f), small_open(u >> 24, f)}};
}

static INLINE vec close_quarters(vec v0, vec v1, vec v2, vec v3, struct format f)
{
    return (vec)(small_close(v0, f) | small_close(v1, f) << 8 | small_close(v2, f) << 16 | small_close(v3, f) << 24);
}

static INLINE struct block open_e4m3(vec x)
{
    return open_quarters((u32v)x, FORMAT_E4M3);
}

static INLINE vec close_e4m3(vec v0, vec v1, vec v2, vec v3)
{
    return close_quarters(v0, v1, v2, v3, FORMAT_E4M3);
}

static INLINE struct block open_e5m2(vec x)
{
    return open_quarters((u32v)x, FORMAT_E5M2);
}

static INLINE vec close_e5m2(vec v0, vec v1, vec v2, vec v3)
{
    return close_quarters(v0, v1, v2, v3, FORMAT_E5M2);
}

/* ---- ops ---- */

#define OP(name, expression)                                                                                                     \
    static INLINE vec name(vec a, vec b)                                                                                         \
    {                                                                                                                            \
        return (vec)(expression);                                                                                                \
    }

/* Sums and products wrap. */
OP(op_add_8, (u8v)a + (u8v)b)
OP(op_mul_8, (u8v)a *(u8v)b)
OP(op_land_8, (u8v)((u8v)a != 0) & (u8v)((u8v)b != 0) & 1)
OP(op_lor_8, (u8v)(((u8v)a | (u8v)b) != 0) & 1)
OP(op_lxor_8, ((u8v)((u8v)a != 0) ^ (u8v)((u8v)b != 0)) & 1)
OP(op_add_16, (u16v)a + (u16v)b)
OP(op_mul_16, (u16v)a *(u16v)b)
OP(op_land_16, (u16v)((u16v)a != 0) & (u16v)((u16v)b != 0) & 1)
OP(op_lor_16, (u16v)(((u16v)a | (u16v)b) != 0) & 1)
OP(op_lxor_16, ((u16v)((u16v)a != 0) ^ (u16v)((u16v)b != 0)) & 1)
OP(op_add_32, (u32v)a + (u32v)b)
OP(op_mul_32, (u32v)a *(u32v)b)
OP(op_land_32, (u32v)((u32v)a != 0) & (u32v)((u32v)b != 0) & 1)
OP(op_lor_32, (u32v)(((u32v)a | (u32v)b) != 0) & 1)
OP(op_lxor_32, ((u32v)((u32v)a != 0) ^ (u32v)((u32v)b != 0)) & 1)
OP(op_add_64, (u64v)a + (u64v)b)
OP(op_mul_64, (u64v)a *(u64v)b)
OP(op_land_64, (u64v)((u64v)a != 0) & (u64v)((u64v)b != 0) & 1)
OP(op_lor_64, (u64v)(((u64v)a | (u64v)b) != 0) & 1)
OP(op_lxor_64, ((u64v)((u64v)a != 0) ^ (u64v)((u64v)b != 0)) & 1)
OP(op_and_all, a &b)
OP(op_or_all, a | b)
OP(op_xor_all, a ^ b)
OP(op_min_i8, pick((vec)((i8v)b < (i8v)a), b, a))
OP(op_max_i8, pick((vec)((i8v)b > (i8v)a), b, a))
OP(op_min_i16, pick((vec)((i16v)b < (i16v)a), b, a))
OP(op_max_i16, pick((vec)((i16v)b > (i16v)a), b, a))
OP(op_min_i32, pick((vec)((i32v)b < (i32v)a), b, a))
OP(op_max_i32, pick((vec)((i32v)b > (i32v)a), b, a))
OP(op_min_i64, pick((vec)((i64v)b < (i64v)a), b, a))
OP(op_max_i64, pick((vec)((i64v)b > (i64v)a), b, a))
OP(op_min_u8, pick((vec)((u8v)b < (u8v)a), b, a))
OP(op_max_u8, pick((vec)((u8v)b > (u8v)a), b, a))
OP(op_min_u16, pick((vec)((u16v)b < (u16v)a), b, a))
OP(op_max_u16, pick((vec)((u16v)b > (u16v)a), b, a))
OP(op_min_u32, pick((vec)((u32v)b < (u32v)a), b, a))
OP(op_max_u32, pick((vec)((u32v)b > (u32v)a), b, a))
OP(op_min_u64, pick((vec)((u64v)b < (u64v)a), b, a))
OP(op_max_u64, pick((vec)((u64v)b > (u64v)a), b, a))
/* Of a NaN and a number MIN and MAX give the NaN; of equal values the first. */
OP(op_add_f32, (f32v)a + (f32v)b)
OP(op_mul_f32, (f32v)a *(f32v)b)
OP(op_min_f32, pick((vec)((f32v)a <= (f32v)b) | (vec)((f32v)a != (f32v)a), a, b))
OP(op_max_f32, pick((vec)((f32v)a >= (f32v)b) | (vec)((f32v)a != (f32v)a), a, b))
OP(op_add_f64, (f64v)a + (f64v)b)
OP(op_mul_f64, (f64v)a *(f64v)b)
OP(op_min_f64, pick((vec)((f64v)a <= (f64v)b) | (vec)((f64v)a != (f64v)a), a, b))
OP(op_max_f64, pick((vec)((f64v)a >= (f64v)b) | (vec)((f64v)a != (f64v)a), a, b))
OP(op_div_f32, (f32v)a / (f32v)b)
OP(op_div_f64, (f64v)a / (f64v)b)

#ifdef VEC_HAS_F16
enum { F16_HEAVY = 0 };
#else
enum { F16_HEAVY = 1 };
#endif
#define LANE_WORDS(bytes, wide_n, op) ((struct lane){bytes, 1, false, wide_n, open_whole, close_whole, op})
#define LANE_BF16(wide_n, op)         ((struct lane){2, 2, false, wide_n, open_bf16, close_bf16, op})
#define LANE_BF16_EXACT(op)           ((struct lane){2, 2, false, false, open_bf16, close_bf16_exact, op})
#define LANE_F16(wide_n, op)          ((struct lane){2, 2, F16_HEAVY, (wide_n) && !F16_HEAVY, open_f16, close_f16, op})
#define LANE_E4M3(op)                 ((struct lane){1, 4, true, false, open_e4m3, close_e4m3, op})
#define LANE_E5M2(op)                 ((struct lane){1, 4, true, false, open_e5m2, close_e5m2, op})

#endif
