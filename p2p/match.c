/* SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/match.h"

#include <stdlib.h>

#include "lib/base/err.h"

#define BUCKETS_MIN 8u
#define BUCKETS_MAX 256u

int vcci_match_init(struct vcci_match *match, int exact, int size)
{
    uint32_t buckets = BUCKETS_MIN;
    while (buckets < BUCKETS_MAX && buckets < (uint32_t)size)
        buckets *= 2;
    *match = (struct vcci_match){.exact = exact, .size = size, .mask = buckets - 1};
    match->buckets = malloc(buckets * sizeof *match->buckets);
    match->seq_in = exact ? NULL : calloc((size_t)size, sizeof *match->seq_in);
    if (!match->buckets || (!exact && !match->seq_in)) {
        vcci_match_fini(match);
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory to match messages of %d ranks", size);
    }
    for (uint32_t i = 0; i < buckets; i++) {
        vcci_list_init(&match->buckets[i].posted);
        vcci_list_init(&match->buckets[i].unexpected);
    }
    vcci_list_init(&match->any);
    vcci_list_init(&match->arrivals);
    vcci_list_init(&match->parked);
    return 0;
}

void vcci_match_fini(struct vcci_match *match)
{
    free(match->buckets);
    free(match->seq_in);
    match->buckets = NULL;
    match->seq_in = NULL;
}

/* User messages of one source share a bucket, so that they stay in order; collective ones are spread by all of their key. */
static struct vcci_match_bucket *bucket_of(const struct vcci_match *match, int peer, uint32_t tag, uint32_t seq)
{
    uint32_t key = (uint32_t)peer;
    if (match->exact)
        key += (tag ^ tag >> 8) * 5u + seq * 3u;
    return &match->buckets[key & match->mask];
}

void vcci_match_post(struct vcci_match *match, struct vcci_xfer *xfer)
{
    xfer->order = match->order++;
    if (xfer->peer == VCCL_ANY_SOURCE)
        vcci_list_push(&match->any, &xfer->node);
    else
        vcci_list_push(&bucket_of(match, xfer->peer, xfer->tag, xfer->seq)->posted, &xfer->node);
}

static inline int tag_fits(uint32_t wanted, uint32_t tag)
{
    return wanted == tag || wanted == (uint32_t)VCCL_ANY_TAG;
}

static struct vcci_xfer *find_exact(struct vcci_match *match, int src, uint32_t tag, uint32_t seq)
{
    VCCI_LIST_EACH(it, &bucket_of(match, src, tag, seq)->posted) {
        struct vcci_xfer *xfer = VCCI_CONTAINER(it, struct vcci_xfer, node);
        if (xfer->peer == src && xfer->seq == seq && xfer->tag == tag)
            return xfer;
    }
    return NULL;
}

static struct vcci_xfer *find_user(struct vcci_match *match, int src, uint32_t tag)
{
    struct vcci_xfer *found = NULL;
    VCCI_LIST_EACH(it, &bucket_of(match, src, tag, 0)->posted) {
        struct vcci_xfer *xfer = VCCI_CONTAINER(it, struct vcci_xfer, node);
        if (xfer->peer == src && tag_fits(xfer->tag, tag)) {
            found = xfer;
            break;
        }
    }
    VCCI_LIST_EACH(it, &match->any) {
        struct vcci_xfer *xfer = VCCI_CONTAINER(it, struct vcci_xfer, node);
        if (found && xfer->order > found->order)
            break;
        if (tag_fits(xfer->tag, tag))
            return xfer;
    }
    return found;
}

struct vcci_xfer *vcci_match_find_posted(struct vcci_match *match, int src, uint32_t tag, uint32_t seq)
{
    struct vcci_xfer *xfer = match->exact ? find_exact(match, src, tag, seq) : find_user(match, src, tag);
    if (xfer)
        vcci_list_remove(&xfer->node);
    return xfer;
}

void vcci_match_keep(struct vcci_match *match, struct vcci_msg *msg)
{
    vcci_list_push(&bucket_of(match, msg->src, msg->tag, msg->seq)->unexpected, &msg->bucket);
    vcci_list_push(&match->arrivals, &msg->arrival);
}

struct vcci_msg *vcci_match_find_msg(struct vcci_match *match, int peer, uint32_t tag, uint32_t seq)
{
    if (vcci_list_empty(&match->arrivals))
        return NULL;
    if (peer == VCCL_ANY_SOURCE) {
        VCCI_LIST_EACH(it, &match->arrivals) {
            struct vcci_msg *msg = VCCI_CONTAINER(it, struct vcci_msg, arrival);
            if (tag_fits(tag, msg->tag))
                return msg;
        }
        return NULL;
    }
    VCCI_LIST_EACH(it, &bucket_of(match, peer, tag, seq)->unexpected) {
        struct vcci_msg *msg = VCCI_CONTAINER(it, struct vcci_msg, bucket);
        if (msg->src == peer && (match->exact ? msg->seq == seq && msg->tag == tag : tag_fits(tag, msg->tag)))
            return msg;
    }
    return NULL;
}

void vcci_match_remove(struct vcci_msg *msg)
{
    vcci_list_remove(&msg->bucket);
    vcci_list_remove(&msg->arrival);
}

/* ---- order of each sender's messages ---- */

int vcci_match_admit(struct vcci_match *match, int src, uint32_t seq)
{
    if (match->seq_in[src] != seq)
        return 0;
    match->seq_in[src]++;
    return 1;
}

int vcci_match_park(struct vcci_match *match, struct vcci_msg *msg)
{
    if ((int32_t)(msg->seq - match->seq_in[msg->src]) <= 0)
        return vcci_fail(VCCL_ERR_LINK, "message %u of rank %d came again, %u is due", msg->seq, msg->src, match->seq_in[msg->src]);
    VCCI_LIST_EACH(it, &match->parked) {
        struct vcci_msg *other = VCCI_CONTAINER(it, struct vcci_msg, arrival);
        if (other->src == msg->src && other->seq == msg->seq)
            return vcci_fail(VCCL_ERR_LINK, "message %u of rank %d came again", msg->seq, msg->src);
    }
    if (match->n_parked == VCCI_PARKED_MAX)
        return vcci_fail(VCCL_ERR_LINK, "more than %u messages came before message %u of rank %d", VCCI_PARKED_MAX,
                         match->seq_in[msg->src], msg->src);
    match->n_parked++;
    vcci_list_init(&msg->bucket);
    vcci_list_push(&match->parked, &msg->arrival);
    return 0;
}

struct vcci_msg *vcci_match_unpark(struct vcci_match *match, int src)
{
    if (!match->n_parked)
        return NULL;
    VCCI_LIST_EACH(it, &match->parked) {
        struct vcci_msg *msg = VCCI_CONTAINER(it, struct vcci_msg, arrival);
        if (msg->src == src && vcci_match_admit(match, src, msg->seq)) {
            vcci_list_remove(&msg->arrival);
            match->n_parked--;
            return msg;
        }
    }
    return NULL;
}

/* ---- emptying ---- */

struct vcci_xfer *vcci_match_pop_posted_of(struct vcci_match *match, int src)
{
    for (uint32_t i = 0; i <= match->mask; i++)
        VCCI_LIST_EACH(it, &match->buckets[i].posted) {
            struct vcci_xfer *xfer = VCCI_CONTAINER(it, struct vcci_xfer, node);
            if (xfer->peer != src)
                continue;
            vcci_list_remove(&xfer->node);
            return xfer;
        }
    return NULL;
}

struct vcci_xfer *vcci_match_pop_posted(struct vcci_match *match)
{
    struct vcci_list *node = vcci_list_pop(&match->any);
    for (uint32_t i = 0; !node && i <= match->mask; i++)
        node = vcci_list_pop(&match->buckets[i].posted);
    return node ? VCCI_CONTAINER(node, struct vcci_xfer, node) : NULL;
}

struct vcci_msg *vcci_match_pop_msg(struct vcci_match *match)
{
    struct vcci_list *node = vcci_list_pop(&match->arrivals);
    if (!node && (node = vcci_list_pop(&match->parked)))
        match->n_parked--;
    if (!node)
        return NULL;
    struct vcci_msg *msg = VCCI_CONTAINER(node, struct vcci_msg, arrival);
    vcci_list_remove(&msg->bucket);
    return msg;
}
