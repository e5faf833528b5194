/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/algo.h"

#include <stdlib.h>

#define LINE          64u /* bytes: parts that different ranks write begin on lines of their own where they are large enough */
#define FLAT_CHUNK    (128u << 10) /* below that two hand-overs cost more than overlap gains */
#define FLAT_OVERLAP  4u          /* chunks that a vector is cut into before they are as large as the slot */
#define MESSAGE_CHUNK (64u << 10) /* a pipelined message, unless the caller wants another size */

void vcci_chunks_cut(struct vcci_chunks *c, size_t count, size_t type_bytes, size_t most, size_t unit)
{
    if (most < 1)
        most = 1;
    size_t chunks = count ? (count - 1) / most + 1 : 1;
    size_t per = count ? (count - 1) / chunks + 1 : 0;
    if (chunks > 1 && unit > 1 && per > most - most % unit)
        per = most >= unit ? most - most % unit : most;
    else if (chunks > 1 && unit > 1)
        per = (per + unit - 1) / unit * unit;
    c->count = count;
    c->type_bytes = type_bytes;
    c->per = per;
    c->n = count ? (count - 1) / per + 1 : 1;
}

static struct vcci_ref part(const struct vcci_chunks *c, enum vcci_space space, size_t base, struct vcci_span s)
{
    size_t full = c->n - 1, last = c->count - full * c->per;
    size_t of_last = s.at >= last ? 0 : last - s.at < s.len ? last - s.at : s.len;
    return vcci_ref_chunked(space, base, c->per * c->type_bytes, s.len * c->type_bytes, (full * s.len + of_last) * c->type_bytes);
}

struct vcci_ref vcci_part(const struct vcci_chunks *c, enum vcci_space space, size_t base, struct vcci_span s)
{
    return part(c, space, base + s.at * c->type_bytes, s);
}

struct vcci_ref vcci_part_scratch(const struct vcci_chunks *c, size_t base, struct vcci_span s)
{
    return part(c, VCCI_SCRATCH, base, s);
}

static int is_sum(const struct vcci_coll_args *a)
{
    return a->coll == VCCI_COLL_REDUCE || a->coll == VCCI_COLL_ALLREDUCE || a->coll == VCCI_COLL_REDUCE_SCATTER_BLOCK;
}

int vcci_algo_single(struct vcci_builder *b, const struct vcci_coll_args *a)
{
    size_t bytes = a->count * a->type_bytes;
    if (a->size > 1)
        return 0;
    if (a->in_place || a->coll == VCCI_COLL_BARRIER || a->coll == VCCI_COLL_BCAST)
        return 1;
    vcci_copy(b, vcci_ref(VCCI_OUT, 0, bytes), vcci_ref(VCCI_IN, 0, bytes), is_sum(a) ? VCCI_FINAL : 0);
    return 1;
}

/* Elements that fill whole cache lines in each of `parts` equal parts. */
static size_t line_unit(size_t type_bytes, size_t parts)
{
    return (type_bytes < LINE ? LINE / type_bytes : 1) * parts;
}

size_t vcci_flat_room(const struct vcci_coll_args *a, size_t pieces)
{
    return a->slots && a->type_bytes ? a->slot_bytes / pieces / a->type_bytes : 0;
}

int vcci_cut_flat(struct vcci_builder *b, const struct vcci_coll_args *a, size_t count, size_t pieces, struct vcci_chunks *c_out)
{
    size_t room = vcci_flat_room(a, pieces), want = count / FLAT_OVERLAP,
           least = FLAT_CHUNK / pieces / (a->type_bytes ? a->type_bytes : 1);
    if (!room) {
        vcci_fail_build(b, "there is no shared slot that holds an element of each piece");
        return -1;
    }
    if (want < least)
        want = least;
    vcci_chunks_cut(c_out, count, a->type_bytes, want && want < room ? want : room,
                    line_unit(a->type_bytes, pieces == 1 ? (size_t)a->size : 1));
    vcci_repeat(b, c_out->n, c_out->n < a->slots ? (uint32_t)c_out->n : a->slots);
    vcci_chain(b, 1);
    return 0;
}

void vcci_cut_messages(struct vcci_builder *b, const struct vcci_coll_args *a, size_t count, size_t parts, uint32_t window,
                       struct vcci_chunks *c_out)
{
    size_t bytes = a->chunk_bytes ? a->chunk_bytes : MESSAGE_CHUNK, most = bytes / a->type_bytes;
    vcci_chunks_cut(c_out, count, a->type_bytes, (most ? most : 1) * parts, line_unit(a->type_bytes, parts));
    vcci_repeat(b, c_out->n, c_out->n < window ? (uint32_t)c_out->n : window);
}

void vcci_reduce_slots(struct vcci_builder *b, const struct vcci_coll_args *a, const struct vcci_ref *dsts, unsigned n_dsts,
                       struct vcci_ref own, struct vcci_ref slot)
{
    struct vcci_ref *srcs = malloc((size_t)a->size * sizeof *srcs);
    if (!srcs) {
        vcci_fail_build(b, "out of memory");
        return;
    }
    for (int r = 0; r < a->size; r++)
        srcs[r] = r == a->rank ? own : vcci_ref_of(r, slot);
    vcci_reduce(b, dsts, n_dsts, srcs, (unsigned)a->size, VCCI_FINAL);
    free(srcs);
}
