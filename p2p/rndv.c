/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rendezvous: the sender offers, the receiver chooses how the data come. By the ring (two copies, which overlap and meet in cache), or read in place, from
 * memory that both map or by process_vm_readv. Nobody ever writes into a peer's buffer. */
#include <string.h>

#include "lib/base/copy.h"
#include "lib/base/err.h"
#include "lib/base/stat.h"
#include "p2p/inside.h"

#define CHUNK_BYTES ((size_t)64 << 10)  /* of a stream, at most: several fit into the ring and into the caches */
#define AROUND_MIN ((uint64_t)8 << 20)  /* longer messages leave no place in the caches for what is read next */
#define CHUNK_MIN ((size_t)16 << 10)    /* a few per message where it goes one way, so that writing and reading overlap */
#define PIECE_BYTES ((size_t)1 << 20)   /* read in place at a time: heartbeats run in between */
#define CMA_MIN ((uint64_t)32 << 10)    /* shorter messages are not worth a system call */
#define CMA_BOTH_MAX ((uint64_t)768 << 10)
#define ID_MAX 0x3fffffffu              /* an offer word holds it beside two bits of state */

enum { COPY_AUTO, COPY_OFF, COPY_ALWAYS }; /* VCCL_SINGLE_COPY */

static uint32_t next_id(struct vcci_p2p *p2p)
{
    p2p->next_id = p2p->next_id >= ID_MAX ? 1 : p2p->next_id + 1;
    return p2p->next_id;
}

static struct vcci_peer *peer_of(const struct vcci_xfer *xfer, int rank)
{
    return xfer->port->p2p->peers[xfer->port->world[rank]];
}

/* ---- the sender ---- */

int vcci_rndv_offer(struct vcci_peer *peer, struct vcci_xfer *xfer, struct vcci_cell *cell)
{
    struct vcci_p2p *p2p = peer->p2p;
    uint32_t id = next_id(p2p);
    if (peer->link->alive(peer))
        return vcci_fail(VCCL_ERR_PROC_FAILED, "rank %d has left the job", peer->world);
    int err = vcci_map_put(&p2p->sends, id, xfer);
    if (err)
        return err;
    if (xfer->phase == VCCI_PHASE_NONE)
        vcci_xfer_begin(p2p, xfer, 1);
    xfer->id = id;
    xfer->moved = xfer->goal = 0;
    xfer->phase = VCCI_PHASE_OFFERED;
    vcci_list_push(&xfer->port->offered, &xfer->node);
    vcci_cell_fill(cell, xfer, VCCI_CELL_RTS);
    xfer->offer = cell->offer = peer->link->offer_open(peer, id);
    cell->u.rts.addr = (uint64_t)(uintptr_t)xfer->buf;
    cell->u.rts.id = id;
    cell->u.rts.mem = vcci_mem_find(p2p, xfer->buf, xfer->bytes);
    cell->how = (uint8_t)((cell->u.rts.mem ? VCCI_HOW_MEMORY : 0) | (p2p->n_large ? VCCI_HOW_BOTH : 0));
    VCCI_COUNT(msgs_rndv, 1);
    peer->link->commit(peer, cell, NULL, 0);
    return 0;
}

static void send_stop(struct vcci_peer *peer, uint32_t rid, int status)
{
    struct vcci_cell cell = {.kind = VCCI_CELL_STOP, .u.stop = {.rid = rid, .status = status}};
    vcci_peer_control(peer, &cell);
}

void vcci_rndv_on_cts(struct vcci_peer *peer, const struct vcci_cell *cell)
{
    struct vcci_xfer *xfer = vcci_map_del(&peer->p2p->sends, cell->u.cts.id);
    uint32_t rid = cell->u.cts.rid;
    peer->link->offer_release(peer, cell->offer);
    if (!xfer) {
        send_stop(peer, rid, -VCCL_ERR_REVOKED);
        return;
    }
    vcci_list_remove(&xfer->node);
    if (xfer->phase == VCCI_PHASE_WITHDRAWN) {
        send_stop(peer, rid, -VCCL_ERR_REVOKED);
        vcci_xfer_over(peer->p2p, xfer, xfer->status);
        return;
    }
    xfer->phase = VCCI_PHASE_STREAMING;
    xfer->remote_id = rid;
    xfer->goal = cell->u.cts.goal < xfer->bytes ? cell->u.cts.goal : xfer->bytes;
    vcci_list_push(&peer->streams, &xfer->node);
    vcci_peer_busy(peer);
}

void vcci_rndv_on_fin(struct vcci_peer *peer, const struct vcci_cell *cell)
{
    struct vcci_xfer *xfer = vcci_map_del(&peer->p2p->sends, cell->u.fin.id);
    peer->link->offer_release(peer, cell->offer);
    if (!xfer)
        return; /* withdrawn before */
    vcci_list_remove(&xfer->node);
    if (xfer->phase != VCCI_PHASE_WITHDRAWN)
        xfer->status = cell->u.fin.status;
    if (!xfer->status)
        VCCI_COUNT(bytes_sent, xfer->bytes);
    vcci_xfer_over(peer->p2p, xfer, xfer->status);
}

size_t vcci_rndv_chunk_bytes(const struct vcci_peer *peer, const struct vcci_xfer *xfer)
{
    uint64_t left = xfer->goal - xfer->moved, most = xfer->goal / 4;
    if (most > CHUNK_BYTES || peer->p2p->n_large)
        most = CHUNK_BYTES;
    if (most < CHUNK_MIN)
        most = CHUNK_MIN;
    if (most > peer->payload_max)
        most = peer->payload_max;
    return (size_t)(left < most ? left : most);
}

int vcci_rndv_chunk(struct vcci_peer *peer, struct vcci_xfer *xfer)
{
    size_t bytes = vcci_rndv_chunk_bytes(peer, xfer);
    const char *from = (const char *)xfer->buf + xfer->moved;
    struct vcci_cell *cell = peer->link->reserve(peer, bytes);
    if (!cell)
        return 0;
    cell->kind = VCCI_CELL_DATA;
    cell->how = 0;
    cell->tag = xfer->remote_id;
    cell->total = bytes;
    peer->link->commit(peer, cell, from, bytes);
    VCCI_COUNT(copy_ring_bytes, bytes);
    VCCI_COUNT(bytes_sent, bytes);
    xfer->moved += bytes;
    if (xfer->moved == xfer->goal) {
        vcci_list_remove(&xfer->node);
        vcci_xfer_over(peer->p2p, xfer, 0);
    }
    return 1;
}

/* ---- the receiver ---- */

void vcci_rndv_finish(struct vcci_peer *peer, uint32_t id, uint16_t offer, int status)
{
    struct vcci_cell cell = {.kind = VCCI_CELL_FIN, .offer = offer, .u.fin = {.id = id, .status = status}};
    vcci_peer_control(peer, &cell);
}

/* Off every list; the sender may use its buffer again. */
static void received(struct vcci_xfer *xfer, int status)
{
    struct vcci_msg *msg = xfer->msg;
    struct vcci_p2p *p2p = msg->peer->p2p;
    vcci_rndv_finish(msg->peer, msg->id, msg->offer, status ? -VCCL_ERR_REVOKED : 0);
    if (!status)
        VCCI_COUNT(bytes_received, xfer->moved);
    vcci_xfer_over(p2p, xfer, status ? status : vcci_xfer_fit(xfer));
    vcci_msg_destroy(p2p, msg);
}

/* Has it sent. The message object is used up: from here on the transfer's id says all. */
static void grant(struct vcci_xfer *xfer)
{
    struct vcci_msg *msg = xfer->msg;
    struct vcci_peer *peer = msg->peer;
    uint32_t rid = next_id(peer->p2p);
    int err = vcci_map_put(&peer->p2p->receives, rid, xfer);
    if (err) {
        received(xfer, err);
        return;
    }
    struct vcci_cell cell = {.kind = VCCI_CELL_CTS, .offer = msg->offer, .u.cts = {.goal = xfer->goal, .id = msg->id, .rid = rid}};
    xfer->id = rid;
    xfer->moved = 0;
    xfer->phase = VCCI_PHASE_GRANTED;
    vcci_list_push(&xfer->port->granted, &xfer->node);
    vcci_msg_destroy(peer->p2p, msg);
    vcci_peer_control(peer, &cell);
}

/* Reading in place is one copy by one core, the ring two by two cores at once. So the ring is ahead where data pass one way; reading is where the sender too
 * has its hands full with receiving, until messages outgrow the caches (there the kernel falls to half); and where ranks share cores, since it needs one
 * switch to the other rank and not one for every few chunks. */
static int reading_pays(const struct vcci_p2p *p2p, const struct vcci_msg *msg, uint64_t bytes)
{
    if (p2p->single_copy == COPY_ALWAYS || p2p->crowded)
        return bytes >= CMA_MIN;
    return msg->both && bytes >= VCCI_LARGE && bytes < CMA_BOTH_MAX;
}

/* Reads the next piece. 1: more to come; 0: all there; < 0: it cannot be done this way. */
static int pull_piece(struct vcci_xfer *xfer)
{
    struct vcci_msg *msg = xfer->msg;
    uint64_t left = xfer->goal - xfer->moved, from = msg->addr + xfer->moved;
    size_t bytes = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
    char *to = (char *)xfer->buf + xfer->moved;
    if (msg->from_memory) {
        const void *mapped = vcci_mem_map(msg->peer, msg->mem, from, bytes);
        if (!mapped)
            return -VCCL_ERR_LINK;
        vcci_copy_bytes(to, mapped, bytes);
        VCCI_COUNT(copy_mapped_bytes, bytes);
    } else {
        int err = vcci_cma_read(msg->peer, to, from, bytes);
        if (err)
            return err;
        VCCI_COUNT(copy_cma_bytes, bytes);
    }
    xfer->moved += bytes;
    return xfer->moved < xfer->goal;
}

/* One piece of a receive that is PULLING. */
static void pull(struct vcci_xfer *xfer)
{
    struct vcci_msg *msg = xfer->msg;
    int rc = pull_piece(xfer);
    if (rc > 0)
        return;
    vcci_list_remove(&xfer->node);
    if (rc < 0) {
        msg->peer->link->offer_give_back(msg->peer, msg->offer, msg->id);
        grant(xfer); /* from the beginning, by the ring */
    } else {
        received(xfer, msg->from_memory ? 0 : vcci_cma_check(msg->peer));
    }
}

int vcci_rndv_pull(struct vcci_p2p *p2p)
{
    int handled = 0;
    VCCI_LIST_EACH_SAFE(it, tmp, &p2p->pulls) {
        pull(VCCI_CONTAINER(it, struct vcci_xfer, node));
        handled++;
    }
    return handled;
}

void vcci_rndv_accept(struct vcci_xfer *xfer, struct vcci_msg *msg, size_t fits)
{
    struct vcci_peer *peer = msg->peer;
    xfer->msg = msg;
    xfer->goal = fits;
    xfer->moved = 0;
    if (fits == 0 || peer->is_self) {
        if (fits)
            memmove(xfer->buf, (const void *)(uintptr_t)msg->addr, fits);
        xfer->moved = fits;
        received(xfer, 0);
        return;
    }
    int may_read = msg->from_memory || (peer->p2p->single_copy != COPY_OFF && reading_pays(peer->p2p, msg, fits) && vcci_cma_usable(peer));
    if (msg->offer == VCCI_NO_OFFER || !may_read) {
        grant(xfer);
        return;
    }
    if (!peer->link->offer_take(peer, msg->offer, msg->id)) {
        received(xfer, -VCCL_ERR_REVOKED); /* the sender's end was revoked meanwhile */
        return;
    }
    /* Not now but in the poller: whoever posts this receive may next post a send, which its peer then reads at the same time. */
    xfer->phase = VCCI_PHASE_PULLING;
    vcci_list_push(&peer->p2p->pulls, &xfer->node);
}

void vcci_rndv_on_data(struct vcci_peer *peer, const struct vcci_cell *cell, const void *payload)
{
    struct vcci_xfer *xfer = vcci_map_get(&peer->p2p->receives, cell->tag);
    if (!xfer)
        return; /* revoked */
    uint64_t left = xfer->goal - xfer->moved;
    size_t bytes = cell->total < left ? (size_t)cell->total : (size_t)left;
    if (xfer->goal >= AROUND_MIN)
        vcci_copy_around((char *)xfer->buf + xfer->moved, payload, bytes);
    else
        vcci_copy_bytes((char *)xfer->buf + xfer->moved, payload, bytes);
    xfer->moved += bytes;
    if (xfer->moved < xfer->goal)
        return;
    vcci_map_del(&peer->p2p->receives, cell->tag);
    vcci_list_remove(&xfer->node);
    VCCI_COUNT(bytes_received, xfer->moved);
    vcci_xfer_over(peer->p2p, xfer, vcci_xfer_fit(xfer));
}

void vcci_rndv_on_stop(struct vcci_peer *peer, const struct vcci_cell *cell)
{
    struct vcci_xfer *xfer = vcci_map_del(&peer->p2p->receives, cell->u.stop.rid);
    if (!xfer)
        return;
    vcci_list_remove(&xfer->node);
    vcci_xfer_over(peer->p2p, xfer, cell->u.stop.status);
}

/* ---- the end ---- */

/* A transfer of this port or peer ends with `status`; what is said to the other end depends on how far it is. Off every list but for a send that is just
 * being read: that one is over with its FIN. */
static void end_offered(struct vcci_peer *peer, struct vcci_xfer *xfer, int status)
{
    if (!peer->down && xfer->offer != VCCI_NO_OFFER && !peer->link->offer_withdraw(peer, xfer->offer, xfer->id)) {
        if (xfer->phase != VCCI_PHASE_WITHDRAWN) {
            xfer->status = status;
            peer->p2p->n_withdrawn++;
        }
        xfer->phase = VCCI_PHASE_WITHDRAWN;
        return;
    }
    vcci_map_del(&peer->p2p->sends, xfer->id);
    vcci_list_remove(&xfer->node);
    vcci_xfer_over(peer->p2p, xfer, xfer->phase == VCCI_PHASE_WITHDRAWN ? xfer->status : status);
}

/* The receiver that was reading may have stopped without being able to say so. */
int vcci_rndv_withdraw_again(struct vcci_p2p *p2p)
{
    int before = p2p->n_withdrawn;
    if (!before)
        return 0;
    VCCI_LIST_EACH(at, &p2p->port_list) {
        struct vcci_port *port = VCCI_CONTAINER(at, struct vcci_port, node);
        VCCI_LIST_EACH_SAFE(it, tmp, &port->offered) {
            struct vcci_xfer *xfer = VCCI_CONTAINER(it, struct vcci_xfer, node);
            if (xfer->phase == VCCI_PHASE_WITHDRAWN)
                end_offered(peer_of(xfer, xfer->peer), xfer, xfer->status);
        }
    }
    return before - p2p->n_withdrawn;
}

static void end_granted(struct vcci_p2p *p2p, struct vcci_xfer *xfer, int status)
{
    vcci_map_del(&p2p->receives, xfer->id); /* DATA that still comes is dropped */
    vcci_list_remove(&xfer->node);
    vcci_xfer_over(p2p, xfer, status);
}

static void end_pull(struct vcci_xfer *xfer, int status)
{
    const struct vcci_msg *msg = xfer->msg;
    vcci_list_remove(&xfer->node);
    msg->peer->link->offer_give_back(msg->peer, msg->offer, msg->id);
    received(xfer, status);
}

static void end_streams(struct vcci_peer *peer, const struct vcci_port *port, int status)
{
    VCCI_LIST_EACH_SAFE(it, tmp, &peer->streams) {
        struct vcci_xfer *xfer = VCCI_CONTAINER(it, struct vcci_xfer, node);
        if (port && xfer->port != port)
            continue;
        vcci_list_remove(&xfer->node);
        send_stop(peer, xfer->remote_id, -VCCL_ERR_REVOKED);
        vcci_xfer_over(peer->p2p, xfer, status);
    }
}

void vcci_rndv_revoke(struct vcci_port *port, int status)
{
    struct vcci_p2p *p2p = port->p2p;
    VCCI_LIST_EACH_SAFE(it, tmp, &port->granted)
        end_granted(p2p, VCCI_CONTAINER(it, struct vcci_xfer, node), status);
    VCCI_LIST_EACH_SAFE(it, tmp, &p2p->pulls) {
        struct vcci_xfer *xfer = VCCI_CONTAINER(it, struct vcci_xfer, node);
        if (xfer->port == port)
            end_pull(xfer, status);
    }
    VCCI_LIST_EACH(it, &p2p->opened)
        end_streams(VCCI_CONTAINER(it, struct vcci_peer, node), port, status);
    VCCI_LIST_EACH_SAFE(it, tmp, &port->offered) {
        struct vcci_xfer *xfer = VCCI_CONTAINER(it, struct vcci_xfer, node);
        end_offered(peer_of(xfer, xfer->peer), xfer, status);
    }
}

void vcci_rndv_peer_down(struct vcci_peer *peer, int status)
{
    struct vcci_p2p *p2p = peer->p2p;
    end_streams(peer, NULL, status);
    VCCI_LIST_EACH_SAFE(it, tmp, &p2p->pulls) {
        struct vcci_xfer *xfer = VCCI_CONTAINER(it, struct vcci_xfer, node);
        if (((struct vcci_msg *)xfer->msg)->peer == peer)
            end_pull(xfer, status);
    }
    VCCI_LIST_EACH(at, &p2p->port_list) {
        struct vcci_port *port = VCCI_CONTAINER(at, struct vcci_port, node);
        VCCI_LIST_EACH_SAFE(it, tmp, &port->granted) {
            struct vcci_xfer *xfer = VCCI_CONTAINER(it, struct vcci_xfer, node);
            if (peer_of(xfer, xfer->got_peer) == peer)
                end_granted(p2p, xfer, status);
        }
        VCCI_LIST_EACH_SAFE(it, tmp, &port->offered) {
            struct vcci_xfer *xfer = VCCI_CONTAINER(it, struct vcci_xfer, node);
            if (peer_of(xfer, xfer->peer) == peer)
                end_offered(peer, xfer, status);
        }
    }
}
