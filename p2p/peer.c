/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A peer: the link that reaches it and what waits for room on that link. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"
#include "lib/base/log.h"
#include "p2p/inside.h"

struct control {
    struct vcci_list node;
    struct vcci_cell cell;
};
const size_t vcci_control_bytes = sizeof(struct control);

static const struct vcci_link_ops *link_for(const struct vcci_p2p *p2p, int world)
{
    if (world == p2p->rank && p2p->links & 1u << VCCI_LINK_SELF)
        return &vcci_link_self;
    if (p2p->local_of[world] >= 0 && p2p->board && p2p->links & 1u << VCCI_LINK_SHM)
        return &vcci_link_shm;
    return NULL;
}

int vcci_peer_make(struct vcci_p2p *p2p, int world, struct vcci_peer **peer_out)
{
    const struct vcci_link_ops *link = link_for(p2p, world);
    if (!link)
        return vcci_fail(VCCL_ERR_LINK, "no link of VCCL_LINKS reaches rank %d from rank %d", world, p2p->rank);
    struct vcci_peer *peer = aligned_alloc(64, (sizeof *peer + 63) / 64 * 64);
    if (!peer)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory to reach rank %d", world);
    memset(peer, 0, sizeof *peer);
    peer->p2p = p2p;
    peer->link = link;
    peer->world = world;
    peer->local = p2p->local_of[world];
    peer->is_self = link == &vcci_link_self;
    peer->pidfd = -1;
    peer->credit_max = p2p->credit;
    vcci_list_init(&peer->busy);
    vcci_list_init(&peer->control);
    vcci_list_init(&peer->backlog);
    vcci_list_init(&peer->streams);
    vcci_list_init(&peer->maps);
    vcci_list_push(&p2p->opened, &peer->node);
    *peer_out = p2p->peers[world] = peer;
    return 0;
}

void vcci_peer_destroy(struct vcci_peer *peer)
{
    for (struct vcci_list *node; (node = vcci_list_pop(&peer->control));) {
        vcci_pool_put(&peer->p2p->control_pool, VCCI_CONTAINER(node, struct control, node));
        peer->p2p->n_control--;
    }
    vcci_mem_unmap_all(peer);
    vcci_cma_close(peer);
    peer->link->close(peer);
    vcci_list_remove(&peer->busy);
    vcci_list_remove(&peer->node);
    peer->p2p->peers[peer->world] = NULL;
    free(peer);
}

int vcci_peer_connect(struct vcci_peer *peer)
{
    if (peer->down)
        return 0;
    int err = peer->doom ? peer->doom : peer->link->connect(peer);
    if (err < 0)
        vcci_peer_doom(peer, err);
    peer->up = err == 0;
    return peer->up;
}

/* ---- what waits ---- */

void vcci_peer_busy(struct vcci_peer *peer)
{
    if (vcci_list_empty(&peer->busy))
        vcci_list_push(&peer->p2p->busy, &peer->busy);
}

static void cell_put(struct vcci_peer *peer, struct vcci_cell *to, const struct vcci_cell *from)
{
    memcpy((char *)to + sizeof to->stamp, (const char *)from + sizeof from->stamp, sizeof *to - sizeof to->stamp);
    peer->link->commit(peer, to, NULL, 0);
}

void vcci_peer_control(struct vcci_peer *peer, const struct vcci_cell *cell)
{
    struct vcci_cell *to = NULL;
    if (vcci_list_empty(&peer->control) && vcci_peer_ready(peer))
        to = peer->link->reserve(peer, 0);
    if (to) {
        cell_put(peer, to, cell);
        return;
    }
    if (peer->down)
        return;
    struct control *control = vcci_pool_get(&peer->p2p->control_pool);
    if (!control) { /* the peer would wait for it for ever */
        vcci_peer_doom(peer, -VCCL_ERR_NO_MEMORY);
        return;
    }
    control->cell = *cell;
    vcci_list_push(&peer->control, &control->node);
    peer->p2p->n_control++;
    vcci_engine_hold(peer->p2p->engine);
    vcci_peer_busy(peer);
}

static int drive_control(struct vcci_peer *peer)
{
    struct vcci_cell *to = peer->link->reserve(peer, 0);
    if (!to)
        return 0;
    struct control *control = VCCI_CONTAINER(vcci_list_pop(&peer->control), struct control, node);
    cell_put(peer, to, &control->cell);
    vcci_pool_put(&peer->p2p->control_pool, control);
    peer->p2p->n_control--;
    vcci_engine_release(peer->p2p->engine);
    return 1;
}

static int drive_backlog(struct vcci_peer *peer)
{
    struct vcci_xfer *xfer = VCCI_CONTAINER(peer->backlog.next, struct vcci_xfer, node);
    vcci_list_remove(&xfer->node);
    int rc = vcci_send_begin(peer, xfer);
    if (rc == VCCI_NO_ROOM) { /* back to the front */
        vcci_list_push(peer->backlog.next, &xfer->node);
        xfer->phase = VCCI_PHASE_QUEUED;
        return 0;
    }
    if (rc != VCCI_OFFERED)
        vcci_xfer_over(peer->p2p, xfer, rc == VCCI_SENT ? 0 : rc);
    return 1;
}

/* Streams take turns with each other and with what is queued. */
static int drive_stream(struct vcci_peer *peer)
{
    struct vcci_xfer *xfer = VCCI_CONTAINER(peer->streams.next, struct vcci_xfer, node);
    if (!vcci_rndv_chunk(peer, xfer))
        return 0;
    if (xfer->phase == VCCI_PHASE_STREAMING && xfer->node.next != &peer->streams) {
        vcci_list_remove(&xfer->node);
        vcci_list_push(&peer->streams, &xfer->node);
    }
    return 1;
}

/* One chunk of a stream a turn: the receiver takes it out of our cache while we write the next, and in between we drain what came for us. */
int vcci_peer_drive(struct vcci_peer *peer, int budget)
{
    int handled = 0, moved = 1;
    if (peer->link->alive(peer)) {
        if (peer->p2p->inbox)
            vcci_shm_link_poll(peer->p2p, INT_MAX); /* what it sent before */
        vcci_peer_doom(peer, vcci_fail(VCCL_ERR_PROC_FAILED, "rank %d has left the job with messages to it on their way", peer->world));
    }
    if (peer->doom) {
        vcci_peer_down(peer, peer->doom);
        return 1;
    }
    if (!vcci_peer_ready(peer))
        return peer->doom != 0;
    while (!peer->down && moved && handled < budget && !vcci_list_empty(&peer->control))
        handled += moved = drive_control(peer);
    if (moved && !vcci_list_empty(&peer->streams))
        handled += drive_stream(peer);
    while (!peer->down && moved && handled < budget && !vcci_list_empty(&peer->backlog))
        handled += moved = drive_backlog(peer);
    if (vcci_list_empty(&peer->control) && vcci_list_empty(&peer->backlog) && vcci_list_empty(&peer->streams))
        vcci_list_remove(&peer->busy);
    return handled;
}

int vcci_peer_can_move(struct vcci_peer *peer)
{
    size_t bytes = 0;
    if (peer->doom || peer->link->alive(peer))
        return 1;
    if (!vcci_peer_ready(peer))
        return peer->doom != 0;
    if (!vcci_list_empty(&peer->control))
        bytes = 0;
    else if (!vcci_list_empty(&peer->streams))
        bytes = vcci_rndv_chunk_bytes(peer, VCCI_CONTAINER(peer->streams.next, struct vcci_xfer, node));
    else if (!vcci_list_empty(&peer->backlog))
        bytes = vcci_send_payload(peer, VCCI_CONTAINER(peer->backlog.next, struct vcci_xfer, node));
    return peer->link->reserve(peer, bytes) != NULL;
}

/* ---- the end ---- */

static void fail_list(struct vcci_p2p *p2p, struct vcci_list *list, int status)
{
    for (struct vcci_list *node; (node = vcci_list_pop(list));)
        vcci_xfer_over(p2p, VCCI_CONTAINER(node, struct vcci_xfer, node), status);
}

void vcci_peer_doom(struct vcci_peer *peer, int status)
{
    if (!peer->down && !peer->doom) {
        peer->doom = status;
        vcci_peer_busy(peer);
    }
}

/* Nothing will come for receives from it. */
static void fail_posted(struct vcci_peer *peer, int status)
{
    VCCI_LIST_EACH(it, &peer->p2p->port_list) {
        struct vcci_port *port = VCCI_CONTAINER(it, struct vcci_port, node);
        for (int rank = 0; rank < port->size; rank++)
            if (port->world[rank] == peer->world)
                for (struct vcci_xfer *xfer; (xfer = vcci_match_pop_posted_of(&port->match, rank));)
                    vcci_xfer_over(peer->p2p, xfer, status);
    }
}

void vcci_peer_down(struct vcci_peer *peer, int status)
{
    struct vcci_p2p *p2p = peer->p2p;
    if (peer->down)
        return;
    vcci_log(VCCI_LOG_INFO, "rank %d cannot be reached any more: %s", peer->world, vcci_err_text());
    peer->down = status;
    peer->up = 0;
    for (struct vcci_list *node; (node = vcci_list_pop(&peer->control));) {
        vcci_pool_put(&p2p->control_pool, VCCI_CONTAINER(node, struct control, node));
        p2p->n_control--;
        vcci_engine_release(p2p->engine);
    }
    vcci_rndv_peer_down(peer, status);
    fail_list(p2p, &peer->backlog, status);
    fail_posted(peer, status);
    vcci_list_remove(&peer->busy);
}
