/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of p2p/ share among themselves; nobody else includes it (but for its tests). Everything here is under the baton.
 *
 * The life of an operation. A send is QUEUED (no room yet, or others before it), then over (eager) or OFFERED (RTS sent); from there it is
 * over with FIN, or STREAMING after CTS. A receive is POSTED; matched with an eager message it is over; with an RTS it is PULLING (reads in place) or
 * GRANTED (CTS sent, DATA comes). What is over lies in p2p->completed as DONE until the poller's flat loop calls done.
 */
#ifndef VCCI_P2P_INSIDE_H
#define VCCI_P2P_INSIDE_H

#include "lib/base/map.h"
#include "lib/base/pool.h"
#include "p2p/link.h"
#include "p2p/match.h"
#include "p2p/p2p.h"
#include "p2p/ring.h"

enum vcci_phase {
    VCCI_PHASE_NONE,
    VCCI_PHASE_QUEUED,    /* in peer->backlog */
    VCCI_PHASE_OFFERED,   /* in port->offered */
    VCCI_PHASE_WITHDRAWN, /* in port->offered: revoked while the receiver reads; over with its FIN */
    VCCI_PHASE_STREAMING, /* in peer->streams */
    VCCI_PHASE_POSTED,    /* in the matcher */
    VCCI_PHASE_GRANTED,   /* in port->granted */
    VCCI_PHASE_PULLING,   /* in p2p->pulls */
    VCCI_PHASE_DONE       /* in p2p->completed */
};

enum { VCCI_CMA_UNKNOWN, VCCI_CMA_YES, VCCI_CMA_NO };

struct vcci_peer {
    struct vcci_p2p *p2p;
    const struct vcci_link_ops *link;
    int world, local;
    int up;                     /* the link carries cells; else connect is asked first */
    int down;                   /* < 0: no link reaches it any more */
    int doom;                   /* < 0: to be taken down for that in the next turn */
    int is_self;
    size_t eager_max, payload_max; /* bytes of an eager message, of one cell's payload */
    uint64_t credit_used, credit_max;
    struct vcci_ring_tx tx;
    struct vcci_list busy;      /* in p2p->busy while one of these three holds something */
    struct vcci_list control, backlog, streams;
    struct vcci_list node;      /* in p2p->opened */
    struct vcci_ring_rx rx;     /* once it has sent to us */
    int has_rx, deaf;           /* it has; what it sends makes no sense any more */
    uint64_t offers_used;       /* bit per offer word of tx */
    struct vcci_inbox *inbox;   /* shm: its inbox's header and our ring there, mapped */
    void *ring;
    struct vcci_cell *cells;    /* self: two, in turn */
    unsigned cell_at;
    /* single copy from it */
    int cma, pidfd;
    struct vcci_list maps;      /* its segments that we have mapped */
    int n_maps;
};

#define VCCI_PORT_CACHE 8u
#define VCCI_LARGE ((size_t)64 << 10)
#define VCCI_MSG_CLASSES 6
#define VCCI_CLOSED_KEPT 4096u

struct vcci_p2p {
    struct vcci_engine *engine;
    struct vcci_board *board;
    int rank, size;
    uint32_t links;
    int *local_of;
    struct vcci_peer **peers; /* [size], NULL until used */
    struct vcci_list opened, busy, completed, pulls, port_list;
    struct vcci_poller poller;
    struct vcci_port *port_cache[VCCI_PORT_CACHE];
    struct vcci_map ports, early, closed; /* by ctxid */
    uint64_t closed_ids[VCCI_CLOSED_KEPT];
    unsigned closed_at;
    struct vcci_map sends, receives;      /* transfers by id */
    uint32_t next_id;
    struct vcci_pool control_pool, msg_pools[VCCI_MSG_CLASSES];
    int n_sends, n_control;               /* in flight, queued */
    int n_withdrawn;                      /* of the sends: in that phase */
    int n_large;                          /* receives in flight of VCCI_LARGE bytes or more */
    uint64_t dropped;                     /* late messages */
    unsigned turns;
    /* limits */
    size_t eager_max;
    uint64_t credit;
    int single_copy;                      /* VCCL_SINGLE_COPY */
    int crowded;                          /* more ranks on this host than cores */
    /* shm */
    struct vcci_shm inbox_shm;
    struct vcci_inbox *inbox;
    struct vcci_ring_shape shape;
    struct vcci_peer **rxs;               /* [n_rxs] senders, those heard from lately first */
    int n_rxs, cold_at;
    uint64_t *accepted;                   /* bit per ring of the inbox: its sender is in rxs */
    struct vcci_mem *mem;
};

struct vcci_port {
    struct vcci_p2p *p2p;
    uint64_t ctxid;
    int rank, size, exact;
    int status; /* < 0: revoked */
    int *world;
    uint32_t *seq_out; /* [size], user ports */
    struct vcci_match match;
    struct vcci_list offered, granted;
    struct vcci_list node;
};

/* ---- p2p.c ---- */

/* xfer, in flight and on no list, is over. done is called from the poller. */
void vcci_xfer_over(struct vcci_p2p *p2p, struct vcci_xfer *xfer, int status);
/* Before it goes on its first list. */
static inline void vcci_xfer_begin(struct vcci_p2p *p2p, struct vcci_xfer *xfer, int is_send)
{
    p2p->n_sends += is_send;
    if (!xfer->waited)
        vcci_engine_hold(p2p->engine);
}
/* A cell came from peer; payload holds cell->total bytes for EAGER and DATA. Both are the link's and used up when this returns. */
void vcci_p2p_input(struct vcci_peer *peer, const struct vcci_cell *cell, const void *payload);

/* ---- port.c ---- */
struct vcci_port *vcci_port_find_slow(struct vcci_p2p *p2p, uint64_t ctxid);
static inline struct vcci_port *vcci_port_find(struct vcci_p2p *p2p, uint64_t ctxid)
{
    struct vcci_port *port = p2p->port_cache[ctxid % VCCI_PORT_CACHE];
    return port && port->ctxid == ctxid ? port : vcci_port_find_slow(p2p, ctxid);
}
/* A message for a ctxid that no port has: kept until the port is opened, or dropped if it was closed. */
void vcci_port_early(struct vcci_peer *peer, const struct vcci_cell *cell, const void *payload);
void vcci_port_drop_early(struct vcci_p2p *p2p); /* at the end: frees what was kept */

/* ---- peer.c ---- */
extern const size_t vcci_control_bytes; /* of an object of control_pool */
/* The peer object of a world rank, made on first use. */
int vcci_peer_make(struct vcci_p2p *p2p, int world, struct vcci_peer **peer_out);
static inline int vcci_peer_get(struct vcci_p2p *p2p, int world, struct vcci_peer **peer_out)
{
    *peer_out = p2p->peers[world];
    return __builtin_expect(*peer_out != NULL, 1) ? 0 : vcci_peer_make(p2p, world, peer_out);
}
void vcci_peer_destroy(struct vcci_peer *peer);
/* Does its link carry cells? Connects it where that was not done; 0: not yet, or down. */
int vcci_peer_connect(struct vcci_peer *peer);
static inline int vcci_peer_ready(struct vcci_peer *peer)
{
    return __builtin_expect(peer->up, 1) || vcci_peer_connect(peer);
}
/* Sends a cell without payload now or as soon as there is room, before any queued message. */
void vcci_peer_control(struct vcci_peer *peer, const struct vcci_cell *cell);
void vcci_peer_busy(struct vcci_peer *peer);              /* something was queued */
int vcci_peer_drive(struct vcci_peer *peer, int budget);  /* sends what is queued; events handled */
int vcci_peer_can_move(struct vcci_peer *peer);           /* 1: drive would do something */
/* Fails all that is on its way to it. Not while its lists are walked, or a transfer of it is at work: those call doom, and the next turn takes it down. */
void vcci_peer_down(struct vcci_peer *peer, int status);
void vcci_peer_doom(struct vcci_peer *peer, int status);

/* ---- eager.c ---- */
enum { VCCI_SENT, VCCI_OFFERED, VCCI_NO_ROOM }; /* or < 0 */
/* Writes a send's first cell: the whole message, or RTS. OFFERED: it is on port->offered (or already over). */
int vcci_send_begin(struct vcci_peer *peer, struct vcci_xfer *xfer);
size_t vcci_send_payload(struct vcci_peer *peer, const struct vcci_xfer *xfer); /* that its first cell has */
void vcci_cell_fill(struct vcci_cell *cell, const struct vcci_xfer *xfer, enum vcci_cell_kind kind); /* takes a sequence number */
void vcci_msg_pools_init(struct vcci_p2p *p2p);
/* An object for an EAGER (with its payload) or RTS that has no receive yet. NULL: no memory; the peer is down then. */
struct vcci_msg *vcci_msg_create(struct vcci_peer *peer, const struct vcci_cell *cell, const void *payload);
void vcci_msg_destroy(struct vcci_p2p *p2p, struct vcci_msg *msg);
/* Nobody will receive it: gives back credit, or refuses the offer with status. Destroys it. */
void vcci_msg_drop(struct vcci_p2p *p2p, struct vcci_msg *msg, int status);
/* An EAGER or RTS cell for port. */
void vcci_port_input(struct vcci_port *port, struct vcci_peer *peer, const struct vcci_cell *cell, const void *payload);
/* A message meets its receive, both on no list: the receive is over or goes on. Takes the message. */
void vcci_msg_accept(struct vcci_xfer *xfer, struct vcci_msg *msg);
/* A message enters the port: matched, kept or parked. Takes it. */
void vcci_msg_arrive(struct vcci_port *port, struct vcci_msg *msg);
int vcci_xfer_fit(const struct vcci_xfer *xfer); /* a receive's status once its data are there: 0 or -VCCL_ERR_TRUNCATE */

/* ---- rndv.c ---- */
/* Writes the RTS into a reserved cell and sends it. 0 or < 0 (then nothing was begun). */
int vcci_rndv_offer(struct vcci_peer *peer, struct vcci_xfer *xfer, struct vcci_cell *cell);
/* The receive of an offered message, of which `fits` bytes are wanted. Takes the message. */
void vcci_rndv_accept(struct vcci_xfer *xfer, struct vcci_msg *msg, size_t fits);
/* Tells the sender that its transfer is over. */
void vcci_rndv_finish(struct vcci_peer *peer, uint32_t id, uint16_t offer, int status);
void vcci_rndv_on_cts(struct vcci_peer *peer, const struct vcci_cell *cell);
void vcci_rndv_on_data(struct vcci_peer *peer, const struct vcci_cell *cell, const void *payload);
void vcci_rndv_on_fin(struct vcci_peer *peer, const struct vcci_cell *cell);
void vcci_rndv_on_stop(struct vcci_peer *peer, const struct vcci_cell *cell);
/* The next cell of a stream: 1 sent, 0 no room. Over and off the list after the last. */
int vcci_rndv_chunk(struct vcci_peer *peer, struct vcci_xfer *xfer);
size_t vcci_rndv_chunk_bytes(const struct vcci_peer *peer, const struct vcci_xfer *xfer);
/* Reads a piece for every receive that reads in place. Events handled. */
int vcci_rndv_pull(struct vcci_p2p *p2p);
void vcci_rndv_revoke(struct vcci_port *port, int status);          /* ends all transfers of the port */
int vcci_rndv_withdraw_again(struct vcci_p2p *p2p);                 /* revoked sends that were just being read: events */
void vcci_rndv_peer_down(struct vcci_peer *peer, int status);       /* ends all transfers with the peer */

/* ---- cma.c ---- */
/* 1: process_vm_readv from this peer works (probed once). */
int vcci_cma_usable(struct vcci_peer *peer);
/* Copies `bytes` from the peer's address space. 0 or < 0 (EPERM: usable is 0 from then on). */
int vcci_cma_read(struct vcci_peer *peer, void *dst, uint64_t src, size_t bytes);
/* After a read: was it the peer's memory, that is, is it still alive? 0 or -VCCL_ERR_PROC_FAILED. */
int vcci_cma_check(struct vcci_peer *peer);
void vcci_cma_close(struct vcci_peer *peer);
struct iovec;
extern long (*vcci_cma_readv)(int pid, const struct iovec *local, unsigned long n_local, const struct iovec *remote,
                              unsigned long n_remote, unsigned long flags); /* tests replace it */

/* ---- mem.c ---- */
uint32_t vcci_mem_find(struct vcci_p2p *p2p, const void *ptr, size_t bytes); /* the segment's id, 0: none */
/* Where [addr, addr + bytes) of the peer's segment `id` is mapped here, or NULL: cannot. Valid until the next call or poll. */
const void *vcci_mem_map(struct vcci_peer *peer, uint32_t id, uint64_t addr, size_t bytes);
void vcci_mem_unmap_all(struct vcci_peer *peer);
void vcci_mem_fini(struct vcci_p2p *p2p);

#endif
