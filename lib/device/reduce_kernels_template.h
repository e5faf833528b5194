/* SPDX-License-Identifier: BSD-3-Clause
 * The kernels. Each level's file defines what follows, then includes reduce_table_template.h, which instantiates them.
 *   VEC_BYTES                   bytes of a register
 *   vec_stream(p, v)            a store past the caches to an aligned address
 *   stream_end()                what must follow such stores
 *   VEC_HAS_F16                 open_f16, close_f16 are hardware (else reduce_vec_template.h has them)
 *   VEC_HAS_MASKS               masked loads and stores: masked_load(p, bytes), masked_store(p, v, bytes) for bytes < VEC_BYTES
 */
#ifndef VCCI_DEVICE_REDUCE_KERNELS_TEMPLATE_H
#define VCCI_DEVICE_REDUCE_KERNELS_TEMPLATE_H

#include "lib/device/reduce_level.h"
#include "lib/device/reduce_vec_template.h"

enum {
    ALIGN_MIN = 1024,  /* from this many bytes it pays to align the stores first     */
    STREAM_MIN = 4096, /* below, streaming stores gain nothing                       */
};

/* ---- a block: VEC_BYTES * (4 / lane_parts) bytes ---- */

static INLINE size_t block_bytes(struct lane lane)
{
    return (size_t)VEC_BYTES * 4 / (size_t)lane.parts;
}

static INLINE struct block block_open(const char *p, struct lane lane)
{
    if (lane.parts == 4)
        return lane.open(load(p));
    if (lane.parts == 2) {
        struct block lo = lane.open(load(p)), hi = lane.open(load(p + VEC_BYTES));
        return (struct block){{lo.v[0], lo.v[1], hi.v[0], hi.v[1]}};
    }
    return (struct block){{load(p), load(p + VEC_BYTES), load(p + 2 * VEC_BYTES), load(p + 3 * VEC_BYTES)}};
}

static INLINE void put(char *p, vec v, bool stream)
{
    if (stream)
        vec_stream(p, v);
    else
        store(p, v);
}

static INLINE void block_close(char *p, struct block b, struct lane lane, bool stream)
{
    if (lane.parts == 4) {
        put(p, lane.close(b.v[0], b.v[1], b.v[2], b.v[3]), stream);
    } else if (lane.parts == 2) {
        put(p, lane.close(b.v[0], b.v[1], b.v[0], b.v[1]), stream);
        put(p + VEC_BYTES, lane.close(b.v[2], b.v[3], b.v[2], b.v[3]), stream);
    } else {
        put(p, b.v[0], stream);
        put(p + VEC_BYTES, b.v[1], stream);
        put(p + 2 * VEC_BYTES, b.v[2], stream);
        put(p + 3 * VEC_BYTES, b.v[3], stream);
    }
}

/* a op what lies at p. */
static INLINE struct block block_op(struct block a, const char *p, struct lane lane)
{
    struct block b = block_open(p, lane);
    return (struct block){{lane.op(a.v[0], b.v[0]), lane.op(a.v[1], b.v[1]), lane.op(a.v[2], b.v[2]), lane.op(a.v[3], b.v[3])}};
}

/* ---- one vector or less ---- */

static INLINE struct block vec_step(struct block a, vec x, struct lane lane)
{
    struct block b = lane.open(x);
    a.v[0] = lane.op(a.v[0], b.v[0]);
    if (lane.parts > 1)
        a.v[1] = lane.op(a.v[1], b.v[1]);
    if (lane.parts > 2) {
        a.v[2] = lane.op(a.v[2], b.v[2]);
        a.v[3] = lane.op(a.v[3], b.v[3]);
    }
    return a;
}

/* `bytes` (a power of two, at most 16, less than VEC_BYTES) from p, then zeros. */
static INLINE vec piece_load(const char *p, size_t bytes)
{
    uint8_t x1;
    uint16_t x2;
    uint32_t x4;
    uint64_t x8[2];
    switch (bytes) {
    case 1:
        memcpy(&x1, p, 1);
        return (vec)(u8v){x1};
    case 2:
        memcpy(&x2, p, 2);
        return (vec)(u16v){x2};
    case 4:
        memcpy(&x4, p, 4);
        return (vec)(u32v){x4};
    case 8:
        memcpy(x8, p, 8);
        return (vec)(u64v){x8[0]};
    default:
        memcpy(x8, p, 16);
        return (vec)(u64v){x8[0], x8[1]};
    }
}

static INLINE void piece_store(char *p, vec v, size_t bytes)
{
    switch (bytes) {
    case 1:
        memcpy(p, &v, 1);
        break;
    case 2:
        memcpy(p, &v, 2);
        break;
    case 4:
        memcpy(p, &v, 4);
        break;
    case 8:
        memcpy(p, &v, 8);
        break;
    default:
        memcpy(p, &v, 16);
    }
}

static INLINE size_t piece(char *dst, const void *const *srcs, unsigned n, size_t at, size_t bytes, struct lane lane)
{
    struct block a = lane.open(piece_load((const char *)srcs[0] + at, bytes));
    for (unsigned j = 1; j < n; j++)
        a = vec_step(a, piece_load((const char *)srcs[j] + at, bytes), lane);
    piece_store(dst + at, lane.close(a.v[0], a.v[1], a.v[2], a.v[3]), bytes);
    return at + bytes;
}

/* Bytes at .. end - 1, fewer than VEC_BYTES. */
static INLINE void part(char *dst, const void *const *srcs, unsigned n, size_t at, size_t end, struct lane lane)
{
    const size_t bytes = end - at;
#ifdef VEC_HAS_MASKS
    if (bytes != lane.bytes || lane.parts > 1) { /* one word is faster without a mask */
        struct block a = lane.open(masked_load((const char *)srcs[0] + at, bytes));
        for (unsigned j = 1; j < n; j++)
            a = vec_step(a, masked_load((const char *)srcs[j] + at, bytes), lane);
        masked_store(dst + at, lane.close(a.v[0], a.v[1], a.v[2], a.v[3]), bytes);
        return;
    }
    piece(dst, srcs, n, at, lane.bytes, lane);
#else
    if (bytes == lane.bytes && !lane.heavy) {
        piece(dst, srcs, n, at, lane.bytes, lane);
        return;
    }
    for (size_t size = VEC_BYTES / 2; size >= lane.bytes; size /= 2)
        if (bytes & size)
            at = piece(dst, srcs, n, at, size, lane);
#endif
}

/* ---- whole kernels ---- */

/* The blocks of at .. end - 1; returns where they end. A function of its own for each n, so that the sources' addresses stay in
 * registers. */
static INLINE size_t blocks_2(char *dst, const void *const *srcs, size_t at, size_t end, struct lane lane, bool stream)
{
    const char *s0 = srcs[0], *s1 = srcs[1];
    for (; end - at >= block_bytes(lane); at += block_bytes(lane))
        block_close(dst + at, block_op(block_open(s0 + at, lane), s1 + at, lane), lane, stream);
    return at;
}

static INLINE size_t blocks_3(char *dst, const void *const *srcs, size_t at, size_t end, struct lane lane, bool stream)
{
    const char *s0 = srcs[0], *s1 = srcs[1], *s2 = srcs[2];
    for (; end - at >= block_bytes(lane); at += block_bytes(lane)) {
        struct block a = block_op(block_open(s0 + at, lane), s1 + at, lane);
        block_close(dst + at, block_op(a, s2 + at, lane), lane, stream);
    }
    return at;
}

static INLINE size_t blocks_4(char *dst, const void *const *srcs, size_t at, size_t end, struct lane lane, bool stream)
{
    const char *s0 = srcs[0], *s1 = srcs[1], *s2 = srcs[2], *s3 = srcs[3];
    for (; end - at >= block_bytes(lane); at += block_bytes(lane)) {
        struct block a = block_op(block_open(s0 + at, lane), s1 + at, lane);
        block_close(dst + at, block_op(block_op(a, s2 + at, lane), s3 + at, lane), lane, stream);
    }
    return at;
}

static INLINE size_t blocks_n(char *dst, const void *const *srcs, unsigned n, size_t at, size_t end, struct lane lane,
                              bool stream)
{
    for (; end - at >= block_bytes(lane); at += block_bytes(lane)) {
        struct block a = block_open((const char *)srcs[0] + at, lane);
        for (unsigned j = 1; j < n; j++)
            a = block_op(a, (const char *)srcs[j] + at, lane);
        block_close(dst + at, a, lane, stream);
    }
    return at;
}

static INLINE size_t blocks(char *dst, const void *const *srcs, unsigned n, size_t at, size_t end, struct lane lane, bool stream)
{
    if (n == 2 && !lane.heavy)
        return blocks_2(dst, srcs, at, end, lane, stream);
    if (n == 3 && lane.wide_n)
        return blocks_3(dst, srcs, at, end, lane, stream);
    if (n == 4 && lane.wide_n)
        return blocks_4(dst, srcs, at, end, lane, stream);
    return blocks_n(dst, srcs, n, at, end, lane, stream);
}

/* Whole vectors of at .. end - 1, then what is left. */
static INLINE void rest(char *dst, const void *const *srcs, unsigned n, size_t at, size_t end, struct lane lane)
{
    for (; block_bytes(lane) > VEC_BYTES && end - at >= VEC_BYTES; at += VEC_BYTES) {
        struct block a = lane.open(load((const char *)srcs[0] + at));
        for (unsigned j = 1; j < n; j++)
            a = vec_step(a, load((const char *)srcs[j] + at), lane);
        store(dst + at, lane.close(a.v[0], a.v[1], a.v[2], a.v[3]));
    }
    if (at < end)
        part(dst, srcs, n, at, end, lane);
}

/* Everything above inlines into this, and this into each kernel, where lane and op are constants. */
static INLINE void reduce(void *out, const void *const *srcs, unsigned n, size_t count, struct lane lane)
{
    char *dst = out;
    size_t at = 0, end = count * lane.bytes;
    if (n == 1) {
        memmove(dst, srcs[0], end);
        return;
    }
    if (end >= block_bytes(lane)) {
        size_t head = -(uintptr_t)dst % VEC_BYTES;
        if (end >= ALIGN_MIN && head != 0 && head % lane.bytes == 0) {
            part(dst, srcs, n, 0, head, lane);
            at = head;
        }
        at = blocks(dst, srcs, n, at, end, lane, false);
    }
    rest(dst, srcs, n, at, end, lane);
}

/* reduce with streaming stores, where that can be: dst none of the sources (its lines would be in the caches) and alignable. */
static INLINE void reduce_stream(void *out, const void *const *srcs, unsigned n, size_t count, struct lane lane,
                                 vcci_reduce_fn *plain)
{
    char *dst = out;
    size_t head = -(uintptr_t)dst % VEC_BYTES, end = count * lane.bytes;
    bool aliased = n == 1;
    for (unsigned j = 0; j < n; j++)
        aliased |= srcs[j] == out;
    if (aliased || end < STREAM_MIN || head % lane.bytes != 0) {
        plain(out, srcs, n, count);
        return;
    }
    if (head != 0)
        part(dst, srcs, n, 0, head, lane);
    rest(dst, srcs, n, blocks(dst, srcs, n, head, end, lane, true), end, lane);
    stream_end();
}

static void copy_stream(void *out, const void *src, size_t bytes)
{
    char *dst = out;
    const char *from = src;
    size_t at = -(uintptr_t)dst % VEC_BYTES;
    if (bytes < STREAM_MIN) {
        memcpy(dst, from, bytes);
        return;
    }
    memcpy(dst, from, at);
    for (; bytes - at >= 4 * VEC_BYTES; at += 4 * VEC_BYTES)
        block_close(dst + at, block_open(from + at, LANE_WORDS(1, false, op_and_all)), LANE_WORDS(1, false, op_and_all), true);
    memcpy(dst + at, from + at, bytes - at);
    stream_end();
}

/* v / n, n in every element of its vector, is what a lane with a division for its op gives. */
static INLINE vec average_vec(vec x, vec n, struct lane lane)
{
    struct block b = lane.open(x);
    b.v[0] = lane.op(b.v[0], n);
    if (lane.parts > 1)
        b.v[1] = lane.op(b.v[1], n);
    if (lane.parts > 2) {
        b.v[2] = lane.op(b.v[2], n);
        b.v[3] = lane.op(b.v[3], n);
    }
    return lane.close(b.v[0], b.v[1], b.v[2], b.v[3]);
}

static INLINE void average(void *buf, size_t bytes, vec n, struct lane lane)
{
    char *p = buf;
    vec tail = {0};
    for (; bytes >= VEC_BYTES; bytes -= VEC_BYTES, p += VEC_BYTES)
        store(p, average_vec(load(p), n, lane));
    if (bytes == 0)
        return;
    memcpy(&tail, p, bytes);
    tail = average_vec(tail, n, lane);
    memcpy(p, &tail, bytes);
}

#endif
