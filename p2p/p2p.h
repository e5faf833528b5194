/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Point to point, the facade that coll/ and lib/api use: messages between ranks of a message space ("port"), over whichever link reaches the peer. All
 * functions are called with the baton held, unless said otherwise.
 */
#ifndef VCCI_P2P_P2P_H
#define VCCI_P2P_P2P_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/list.h"
#include "lib/engine/engine.h"
#include "p2p/board.h"

struct vcci_p2p;  /* all peers and links of one context */
struct vcci_port; /* one message space: a communicator's user messages, or its collectives' */

/* Where the ranks of the job are. */
struct vcci_p2p_conf {
    struct vcci_engine *engine;
    struct vcci_board *board;   /* of this host, entered by this call */
    int world_rank, world_size;
    const int *local_of;        /* [world_size]: local rank on this host's board, -1 elsewhere; copied */
    uint32_t links;             /* VCCL_LINKS mask, bits in the order of VCCI_LINK_ */
};
enum { VCCI_LINK_SELF, VCCI_LINK_SHM, VCCI_LINK_TCP, VCCI_LINK_RDMA, VCCI_LINK_CUDA };

int vcci_p2p_create(const struct vcci_p2p_conf *conf, struct vcci_p2p **p2p_out);
/* Every send that was started is delivered (or its peer has left) before this is called: see vcci_p2p_quiet. */
void vcci_p2p_destroy(struct vcci_p2p *p2p);
/* Nonzero once nothing of ours is on its way: no send in flight, no queued cell unsent. May be used as a waiter's ready() under the baton. */
int vcci_p2p_quiet(struct vcci_p2p *p2p);

/* One send or receive, embedded in the object that owns it; stays valid and untouched by the owner from post until done. */
struct vcci_xfer {
    struct vcci_list node;        /* p2p's while in flight */
    void (*done)(struct vcci_xfer *xfer, int status); /* baton held; never before post returns; may post again. 0 or -(vccl_result_t) */
    void *buf;                    /* sends do not write it */
    size_t bytes;                 /* length, or capacity of a receive */
    int peer;                     /* rank in the port; receives: or VCCL_ANY_SOURCE */
    uint32_t tag, seq;            /* user ports: tag (receives: or (uint32_t)VCCL_ANY_TAG), seq unused; collective ports: pair and number */
    uint32_t sig;                 /* rides with a send; a receive gets the sender's in got_sig */
    int waited;                   /* the owner goes into vcci_engine_wait until done is called: the engine is not held for it */
    /* results of a receive */
    size_t got_bytes;             /* of the message; above `bytes` it was cut and status is -VCCL_ERR_TRUNCATE */
    int got_peer;
    uint32_t got_tag, got_sig;
    /* p2p's own */
    struct vcci_port *port;
    uint64_t order;               /* receives: when it was posted */
    uint64_t moved, goal;         /* of a rendezvous, bytes */
    void *msg;                    /* receives: the sender's offer */
    uint32_t id, remote_id;       /* this end's name for the transfer, the other's */
    uint16_t phase, offer;
    int status;
};

/* Opens a message space. ctxid is unique in the job and never reused; the same on all ranks. world[size] maps port ranks to world ranks
 * (copied). exact: receives name peer, tag and seq (collectives; no wildcards); else MPI matching in order. Messages that came for ctxid before
 * the port was opened are kept and delivered. */
int vcci_port_open(struct vcci_p2p *p2p, uint64_t ctxid, const int *world, int rank, int size, int exact, struct vcci_port **port_out);
/* Nothing may be in flight on it. Late messages for its ctxid are dropped and counted. */
void vcci_port_close(struct vcci_port *port);

/* Begin a send / a receive. 0: already done (results set, done is not called); 1: in flight, done will be called; < 0: failed, nothing was
 * begun. A self message with no receive posted is kept (eager) or waits (rendezvous) like any other. */
int vcci_p2p_send(struct vcci_port *port, struct vcci_xfer *xfer);
int vcci_p2p_recv(struct vcci_port *port, struct vcci_xfer *xfer);
/* Calls off a receive that has not matched: 1 and done will not be called, or 0 (too late). */
int vcci_p2p_cancel(struct vcci_xfer *xfer);
/* Is there a message that a receive (peer, tag) would match: 1 and got_ fields of *xfer set; else 0. Never consumes. */
int vcci_p2p_probe(struct vcci_port *port, struct vcci_xfer *xfer);
/* Fails everything in flight on the port with `status` (each done called once) and refuses new operations with it. Receives that were already being written to are
 * quiesced first: when done is called nothing will touch the buffer. */
void vcci_port_revoke(struct vcci_port *port, int status);

/* Memory that peers may map (vccl_mem_alloc). Any thread; takes the baton itself. */
int vcci_p2p_mem_alloc(struct vcci_p2p *p2p, size_t bytes, void **ptr_out);
int vcci_p2p_mem_free(struct vcci_p2p *p2p, void *ptr); /* -VCCL_ERR_ARG if not ours */

/* Text for vccl_query("links"): each link, usable or why not, single copy's probe, sizes. As snprintf. p2p may be NULL (before init). */
int vcci_p2p_report(struct vcci_p2p *p2p, char *buf, size_t cap);

#endif
