/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Who gets which message: the posted receives and the unexpected messages of one port. A user port follows MPI: messages of one sender are matched in the
 * order they were sent, receives in the order they were posted, with wildcards. A collective port ("exact") knows its messages by (peer, tag, seq).
 *
 * Pure bookkeeping: never allocates after init, never calls back. Under the baton.
 */
#ifndef VCCI_P2P_MATCH_H
#define VCCI_P2P_MATCH_H

#include "p2p/p2p.h"

struct vcci_peer;

/* A message that came before its receive, or (RTS) one whose data still lie with the sender. */
struct vcci_msg {
    struct vcci_list bucket;  /* by source, or by key */
    struct vcci_list arrival; /* user ports: all in the order they were admitted */
    struct vcci_peer *peer;   /* whom it came from */
    int src;
    uint32_t tag, seq, sig;
    uint64_t total;
    uint64_t cost;            /* eager credit to give back */
    uint64_t addr;            /* RTS: as the cell says */
    uint32_t id, mem;
    uint16_t offer;
    uint8_t is_rts, from_memory, both, size_class;
    unsigned char data[];     /* eager payload */
};

struct vcci_match_bucket {
    struct vcci_list posted, unexpected;
};
struct vcci_match {
    int exact, size;
    uint32_t mask;
    struct vcci_match_bucket *buckets;
    struct vcci_list any;      /* posted receives from any source */
    struct vcci_list arrivals; /* unexpected messages, oldest first */
    struct vcci_list parked;   /* came too early in their sender's sequence */
    uint32_t *seq_in;          /* [size], next to be admitted */
    uint32_t n_parked;
    uint64_t order;
};

int vcci_match_init(struct vcci_match *match, int exact, int size); /* -VCCL_ERR_NO_MEMORY */
void vcci_match_fini(struct vcci_match *match);                     /* what is in it is the owner's business */

/* A receive for which vcci_match_find_msg found nothing. */
void vcci_match_post(struct vcci_match *match, struct vcci_xfer *xfer);
/* The oldest posted receive that takes a message of (src, tag, seq), off the list, or NULL. */
struct vcci_xfer *vcci_match_find_posted(struct vcci_match *match, int src, uint32_t tag, uint32_t seq);
/* A message for which vcci_match_find_posted found nothing. */
void vcci_match_keep(struct vcci_match *match, struct vcci_msg *msg);
/* The oldest message that a receive of (peer, tag, seq) takes, or NULL; stays where it is. */
struct vcci_msg *vcci_match_find_msg(struct vcci_match *match, int peer, uint32_t tag, uint32_t seq);
void vcci_match_remove(struct vcci_msg *msg);

/* User ports: 1: this message is the next of its sender and may be matched now; 0: park it (or drop it if it is a duplicate). */
int vcci_match_admit(struct vcci_match *match, int src, uint32_t seq);
static inline uint32_t vcci_match_next(const struct vcci_match *match, int src)
{
    return match->seq_in[src];
}
/* 0, or -VCCL_ERR_LINK for a duplicate or when more than VCCI_PARKED_MAX wait: the link does not keep what it promised. */
#define VCCI_PARKED_MAX 4096u
int vcci_match_park(struct vcci_match *match, struct vcci_msg *msg);
/* After src's message was admitted: its next one if it is parked, off the list and admitted, or NULL. */
struct vcci_msg *vcci_match_unpark(struct vcci_match *match, int src);

/* Takes out a posted receive that only takes messages of `src`; NULL when there is none. */
struct vcci_xfer *vcci_match_pop_posted_of(struct vcci_match *match, int src);
/* Takes out any posted receive / any message, parked ones too; NULL when there is none. */
struct vcci_xfer *vcci_match_pop_posted(struct vcci_match *match);
struct vcci_msg *vcci_match_pop_msg(struct vcci_match *match);

#endif
