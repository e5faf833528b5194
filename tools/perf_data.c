/* SPDX-License-Identifier: BSD-3-Clause
 * Fills vccl_perf's buffers and says what is wrong in them after a call. */
#include <string.h>

#include "tools/perf.h"

#define POISON          0xa5
#define MOST_TYPE_BYTES 16

/* One period of the inputs of a rank, or of the results (source PERF_RESULT). */
static const unsigned char *period_of(const struct perf_run *r, int source)
{
    static unsigned char elements[PERF_PERIOD * MOST_TYPE_BYTES];
    static struct {
        int source, size;
        vccl_datatype_t type;
        vccl_op_t op;
    } have = {PERF_NOTHING, 0, 0, 0};

    if (have.source == source && have.size == r->size && have.type == r->type && have.op == r->op)
        return elements;
    for (size_t i = 0; i < PERF_PERIOD; i++) {
        if (source == PERF_RESULT)
            perf_value_result(elements + i * r->type_bytes, r->type, r->op, r->size, i);
        else
            perf_value_input(elements + i * r->type_bytes, r->type, r->op, source, r->size, i);
    }
    have.source = source;
    have.size = r->size;
    have.type = r->type;
    have.op = r->op;
    return elements;
}

/* Elements from `first` on of a source, `count` of them, in runs that do not cross the period's end. */
static void fill(const struct perf_run *r, void *buf, size_t count, int source, size_t first)
{
    const unsigned char *period = period_of(r, source);
    char *dst = buf;

    for (size_t at = first % PERF_PERIOD, n; count > 0; count -= n, at = 0) {
        n = PERF_PERIOD - at < count ? PERF_PERIOD - at : count;
        memcpy(dst, period + at * r->type_bytes, n * r->type_bytes);
        dst += n * r->type_bytes;
    }
}

static size_t compare(const struct perf_run *r, const void *buf, size_t count, int source, size_t first)
{
    const unsigned char *period = period_of(r, source), *got = buf;
    size_t wrong = 0;

    for (size_t at = first % PERF_PERIOD, n; count > 0; count -= n, at = 0) {
        n = PERF_PERIOD - at < count ? PERF_PERIOD - at : count;
        if (memcmp(got, period + at * r->type_bytes, n * r->type_bytes) != 0)
            for (size_t i = 0; i < n; i++)
                wrong += !perf_value_same(got + i * r->type_bytes, period + (at + i) * r->type_bytes, r->type);
        got += n * r->type_bytes;
    }
    return wrong;
}

/* Where in the receive buffer the guard lies: behind the result, and behind the input where that is in place. */
static size_t guard_at(const struct perf_run *r)
{
    size_t send = perf_send_elements(r), recv = perf_recv_elements(r);

    return (perf_in_place(r) && send > recv ? send : recv) * r->type_bytes;
}

/* Where the input lies in the receive buffer of a rank that is in place. */
static size_t in_place_at(const struct perf_run *r)
{
    return (r->coll->flags & (PERF_SEND_BLOCKS | PERF_RECV_BLOCKS)) == PERF_RECV_BLOCKS
               ? (size_t)r->rank * r->count * r->type_bytes
               : 0;
}

void perf_data_fill(const struct perf_run *r)
{
    memset(r->recv, POISON, guard_at(r) + PERF_GUARD);
    if (perf_in_place(r))
        fill(r, (char *)r->recv + in_place_at(r), perf_send_elements(r), r->rank, 0);
    else
        fill(r, r->send, perf_send_elements(r), r->rank, 0);
}

size_t perf_data_wrong(const struct perf_run *r)
{
    const unsigned char *recv = r->recv, *guard = recv + guard_at(r);
    size_t wrong = 0, first = r->coll->flags & PERF_SEND_BLOCKS ? (size_t)r->rank * r->count : 0;
    int blocks = r->coll->flags & PERF_RECV_BLOCKS ? r->size : 1;

    for (int i = 0; i < blocks; i++) {
        int source = r->coll->source(r, i);

        if (source != PERF_NOTHING)
            wrong += compare(r, recv + (size_t)i * r->count * r->type_bytes, r->count, source, first);
    }
    if (!perf_in_place(r))
        wrong += compare(r, r->send, perf_send_elements(r), r->rank, 0);
    for (int i = 0; i < PERF_GUARD; i++)
        wrong += guard[i] != POISON;
    return wrong;
}
