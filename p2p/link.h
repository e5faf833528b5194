/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A link is one way to reach a peer. It carries cells, in order, each with a payload if it is of a kind that has one; everything above (eager, rendezvous, matching) is
 * the same for all links. What arrives goes to vcci_p2p_input. All under the baton, nothing blocks.
 */
#ifndef VCCI_P2P_LINK_H
#define VCCI_P2P_LINK_H

#include "p2p/p2p.h"
#include "p2p/wire.h"

struct vcci_peer;

struct vcci_link_ops {
    const char *name;
    /* Ready to carry cells to this peer? 0: yes, from now on; 1: not yet, our bell is rung when it may be worth asking again; < 0: never. */
    int (*connect)(struct vcci_peer *peer);
    /* Room for a cell and `bytes` of payload (at most peer->payload_max): the cell to fill, valid until commit. NULL: none now; our bell will be rung. */
    struct vcci_cell *(*reserve)(struct vcci_peer *peer, size_t bytes);
    /* Sends the reserved cell with its payload, which is copied. May call vcci_p2p_input (self). */
    void (*commit)(struct vcci_peer *peer, struct vcci_cell *cell, const void *payload, size_t bytes);
    /* Eager cost that the peer has given back since the beginning. */
    uint64_t (*credit)(struct vcci_peer *peer);
    /* This end has consumed an eager message of that cost. */
    void (*give_credit)(struct vcci_peer *peer, uint64_t cost);
    /* 0, or -VCCL_ERR_PROC_FAILED once the peer is known to be gone (no sentence set). */
    int (*alive)(const struct vcci_peer *peer);
    /* Words that guard reading a sender's buffer in place. open: the sender offers transfer id (VCCI_NO_OFFER: cannot); take: the receiver is about to read, 1: it
     * may; give_back: it reads no more; withdraw: 1: the receiver never will read, 0: it is reading; release: the sender is done with the word. */
    uint16_t (*offer_open)(struct vcci_peer *peer, uint32_t id);
    int (*offer_take)(struct vcci_peer *peer, uint16_t offer, uint32_t id);
    void (*offer_give_back)(struct vcci_peer *peer, uint16_t offer, uint32_t id);
    int (*offer_withdraw)(struct vcci_peer *peer, uint16_t offer, uint32_t id);
    void (*offer_release)(struct vcci_peer *peer, uint16_t offer);
    void (*close)(struct vcci_peer *peer); /* forgets what connect made */
};

extern const struct vcci_link_ops vcci_link_self, vcci_link_shm;

/* link_shm.c: this rank's inbox and the rings in it. */
int vcci_shm_link_start(struct vcci_p2p *p2p, struct vcci_shm_addr *inbox_out);
void vcci_shm_link_stop(struct vcci_p2p *p2p);
int vcci_shm_link_poll(struct vcci_p2p *p2p, int budget); /* events handled */
int vcci_shm_link_waiting(struct vcci_p2p *p2p);          /* 1: a ring holds something */

#endif
