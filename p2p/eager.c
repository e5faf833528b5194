/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The first cell of every message: all of it (eager) while it is small and the receiver's credit lasts, else an offer. And its arrival. */
#include <string.h>

#include "lib/base/copy.h"
#include "lib/base/err.h"
#include "lib/base/stat.h"
#include "p2p/inside.h"

#define MSG_COST 64u /* of an eager message beside its payload: what the receiver keeps */

static uint64_t eager_cost(uint64_t bytes)
{
    return MSG_COST + bytes;
}

/* Has the peer given back enough to send `bytes` more at once? */
static int credit_for(struct vcci_peer *peer, size_t bytes)
{
    uint64_t used = peer->credit_used + eager_cost(bytes);
    if (__builtin_expect(used <= peer->credit_max, 1))
        return 1;
    peer->credit_max = peer->link->credit(peer) + peer->p2p->credit;
    return used <= peer->credit_max;
}

static int goes_eager(struct vcci_peer *peer, size_t bytes)
{
    return bytes <= peer->eager_max && credit_for(peer, bytes);
}

size_t vcci_send_payload(struct vcci_peer *peer, const struct vcci_xfer *xfer)
{
    return goes_eager(peer, xfer->bytes) ? xfer->bytes : 0;
}

void vcci_cell_fill(struct vcci_cell *cell, const struct vcci_xfer *xfer, enum vcci_cell_kind kind)
{
    struct vcci_port *port = xfer->port;
    cell->kind = (uint8_t)kind;
    cell->how = 0;
    cell->offer = VCCI_NO_OFFER;
    cell->ctxid = port->ctxid;
    cell->tag = xfer->tag;
    cell->seq = port->exact ? xfer->seq : port->seq_out[xfer->peer]++;
    cell->total = xfer->bytes;
    cell->sig = xfer->sig;
    cell->src = port->rank;
}

int vcci_send_begin(struct vcci_peer *peer, struct vcci_xfer *xfer)
{
    size_t bytes = xfer->bytes;
    if (!vcci_peer_ready(peer))
        return peer->down ? peer->down : peer->doom ? peer->doom : VCCI_NO_ROOM;
    int eager = goes_eager(peer, bytes);
    struct vcci_cell *cell = peer->link->reserve(peer, eager ? bytes : 0);
    if (__builtin_expect(!cell, 0))
        return VCCI_NO_ROOM;
    if (!eager) {
        int err = vcci_rndv_offer(peer, xfer, cell);
        return err ? err : VCCI_OFFERED;
    }
    peer->credit_used += eager_cost(bytes);
    vcci_cell_fill(cell, xfer, VCCI_CELL_EAGER);
    if (bytes > VCCI_CELL_INLINE) {
        VCCI_COUNT(msgs_eager, 1);
        VCCI_COUNT(copy_ring_bytes, bytes);
    } else {
        VCCI_COUNT(msgs_inline, 1);
    }
    VCCI_COUNT(bytes_sent, bytes);
    peer->link->commit(peer, cell, xfer->buf, bytes);
    return VCCI_SENT;
}

/* ---- messages without a receive ---- */

static const struct {
    size_t bytes, grow;
} classes[VCCI_MSG_CLASSES] = {{64, 16}, {512, 4}, {2048, 2}, {8192, 1}, {32768, 1}, {65536, 1}};

void vcci_msg_pools_init(struct vcci_p2p *p2p)
{
    for (int i = 0; i < VCCI_MSG_CLASSES; i++)
        vcci_pool_init(&p2p->msg_pools[i], sizeof(struct vcci_msg) + classes[i].bytes, classes[i].grow);
}

struct vcci_msg *vcci_msg_create(struct vcci_peer *peer, const struct vcci_cell *cell, const void *payload)
{
    size_t bytes = cell->kind == VCCI_CELL_EAGER ? (size_t)cell->total : 0;
    int i = 0;
    while (i < VCCI_MSG_CLASSES && bytes > classes[i].bytes)
        i++;
    struct vcci_msg *msg = i < VCCI_MSG_CLASSES ? vcci_pool_get(&peer->p2p->msg_pools[i]) : NULL;
    if (!msg) {
        vcci_peer_doom(peer, vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for a message of %zu bytes from rank %d", bytes, peer->world));
        return NULL;
    }
    *msg = (struct vcci_msg){.peer = peer,
                             .src = cell->src,
                             .tag = cell->tag,
                             .seq = cell->seq,
                             .sig = cell->sig,
                             .total = cell->total,
                             .size_class = (uint8_t)i};
    vcci_list_init(&msg->bucket);
    vcci_list_init(&msg->arrival);
    if (cell->kind == VCCI_CELL_RTS) {
        msg->is_rts = 1;
        msg->addr = cell->u.rts.addr;
        msg->id = cell->u.rts.id;
        msg->mem = cell->u.rts.mem;
        msg->from_memory = cell->how & VCCI_HOW_MEMORY;
        msg->both = cell->how & VCCI_HOW_BOTH;
        msg->offer = cell->offer;
    } else {
        msg->cost = eager_cost(bytes);
        vcci_copy_bytes(msg->data, payload, bytes);
        VCCI_COUNT(unexpected_bytes, bytes);
    }
    return msg;
}

void vcci_msg_destroy(struct vcci_p2p *p2p, struct vcci_msg *msg)
{
    vcci_pool_put(&p2p->msg_pools[msg->size_class], msg);
}

static void refuse(struct vcci_peer *peer, const struct vcci_cell *cell, int status)
{
    peer->p2p->dropped++;
    if (cell->kind == VCCI_CELL_EAGER)
        peer->link->give_credit(peer, eager_cost(cell->total));
    else
        vcci_rndv_finish(peer, cell->u.rts.id, cell->offer, status);
}

void vcci_msg_drop(struct vcci_p2p *p2p, struct vcci_msg *msg, int status)
{
    p2p->dropped++;
    if (msg->is_rts)
        vcci_rndv_finish(msg->peer, msg->id, msg->offer, status);
    else
        msg->peer->link->give_credit(msg->peer, msg->cost);
    vcci_msg_destroy(p2p, msg);
}

/* ---- messages meet receives ---- */

/* Results of a receive that meets this message, and how many of its bytes fit. */
static inline size_t results(struct vcci_xfer *xfer, int src, uint32_t tag, uint32_t sig, uint64_t total)
{
    xfer->got_bytes = (size_t)total;
    xfer->got_peer = src;
    xfer->got_tag = tag;
    xfer->got_sig = sig;
    return total < xfer->bytes ? (size_t)total : xfer->bytes;
}

int vcci_xfer_fit(const struct vcci_xfer *xfer)
{
    return xfer->got_bytes > xfer->bytes ? -VCCL_ERR_TRUNCATE : 0;
}

static void deliver(struct vcci_peer *peer, struct vcci_xfer *xfer, const void *payload, size_t fits, uint64_t cost)
{
    struct vcci_p2p *p2p = peer->p2p;
    if (fits <= VCCI_CELL_INLINE)
        vcci_copy_small(xfer->buf, payload, fits);
    else
        vcci_copy_bytes(xfer->buf, payload, fits);
    VCCI_COUNT(bytes_received, fits);
    peer->link->give_credit(peer, cost);
    vcci_xfer_over(p2p, xfer, vcci_xfer_fit(xfer));
}

void vcci_msg_accept(struct vcci_xfer *xfer, struct vcci_msg *msg)
{
    struct vcci_peer *peer = msg->peer;
    size_t fits = results(xfer, msg->src, msg->tag, msg->sig, msg->total);
    if (msg->is_rts) {
        vcci_rndv_accept(xfer, msg, fits);
        return;
    }
    deliver(peer, xfer, msg->data, fits, msg->cost);
    vcci_msg_destroy(peer->p2p, msg);
}

static void meet(struct vcci_port *port, struct vcci_msg *msg)
{
    struct vcci_xfer *xfer = vcci_match_find_posted(&port->match, msg->src, msg->tag, msg->seq);
    if (xfer)
        vcci_msg_accept(xfer, msg);
    else
        vcci_match_keep(&port->match, msg);
}

static void unpark(struct vcci_port *port, int src)
{
    for (struct vcci_msg *msg; (msg = vcci_match_unpark(&port->match, src));)
        meet(port, msg);
}

static void park(struct vcci_port *port, struct vcci_msg *msg)
{
    int err = vcci_match_park(&port->match, msg);
    if (!err)
        return;
    struct vcci_peer *peer = msg->peer;
    vcci_msg_destroy(port->p2p, msg);
    vcci_peer_doom(peer, err);
}

static int belongs(const struct vcci_port *port, const struct vcci_peer *peer, int src)
{
    return src >= 0 && src < port->size && port->world[src] == peer->world;
}

void vcci_msg_arrive(struct vcci_port *port, struct vcci_msg *msg)
{
    int src = msg->src;
    if (!belongs(port, msg->peer, src)) {
        vcci_msg_drop(port->p2p, msg, -VCCL_ERR_ARG);
    } else if (port->exact) {
        meet(port, msg);
    } else if (vcci_match_admit(&port->match, src, msg->seq)) {
        meet(port, msg);
        unpark(port, src);
    } else {
        park(port, msg);
    }
}

void vcci_port_input(struct vcci_port *port, struct vcci_peer *peer, const struct vcci_cell *cell, const void *payload)
{
    struct vcci_xfer *xfer = NULL;
    if (__builtin_expect(port->status || !belongs(port, peer, cell->src), 0)) {
        refuse(peer, cell, port->status ? -VCCL_ERR_REVOKED : -VCCL_ERR_ARG);
        return;
    }
    int in_order = port->exact || vcci_match_next(&port->match, cell->src) == cell->seq;
    if (cell->kind == VCCI_CELL_EAGER && in_order)
        xfer = vcci_match_find_posted(&port->match, cell->src, cell->tag, cell->seq);
    if (!xfer) {
        struct vcci_msg *msg = vcci_msg_create(peer, cell, payload);
        if (msg)
            vcci_msg_arrive(port, msg);
        return;
    }
    size_t fits = results(xfer, cell->src, cell->tag, cell->sig, cell->total);
    deliver(peer, xfer, payload, fits, eager_cost(cell->total));
    if (!port->exact) {
        vcci_match_admit(&port->match, cell->src, cell->seq);
        unpark(port, cell->src);
    }
}
