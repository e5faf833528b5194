/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Message spaces: opening, closing, revoking, and what comes before or after. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"
#include "lib/base/log.h"
#include "p2p/inside.h"

struct vcci_port *vcci_port_find_slow(struct vcci_p2p *p2p, uint64_t ctxid)
{
    struct vcci_port *port = vcci_map_get(&p2p->ports, ctxid);
    if (port)
        p2p->port_cache[ctxid % VCCI_PORT_CACHE] = port;
    return port;
}

/* ---- messages for a port that is not there ---- */

void vcci_port_early(struct vcci_peer *peer, const struct vcci_cell *cell, const void *payload)
{
    struct vcci_p2p *p2p = peer->p2p;
    struct vcci_msg *msg = vcci_msg_create(peer, cell, payload);
    if (!msg)
        return;
    if (vcci_map_get(&p2p->closed, cell->ctxid)) {
        vcci_msg_drop(p2p, msg, -VCCL_ERR_REVOKED);
        return;
    }
    struct vcci_list *kept = vcci_map_get(&p2p->early, cell->ctxid);
    if (!kept) {
        kept = malloc(sizeof *kept);
        if (!kept || vcci_map_put(&p2p->early, cell->ctxid, kept)) {
            free(kept);
            vcci_msg_destroy(p2p, msg);
            vcci_peer_doom(peer, vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for a message of rank %d", peer->world));
            return;
        }
        vcci_list_init(kept);
    }
    vcci_list_push(kept, &msg->arrival);
}

static void take_early(struct vcci_port *port)
{
    struct vcci_list *kept = vcci_map_del(&port->p2p->early, port->ctxid);
    if (!kept)
        return;
    for (struct vcci_list *node; (node = vcci_list_pop(kept));)
        vcci_msg_arrive(port, VCCI_CONTAINER(node, struct vcci_msg, arrival));
    free(kept);
}

void vcci_port_drop_early(struct vcci_p2p *p2p)
{
    size_t cursor = 0;
    uint64_t ctxid;
    for (struct vcci_list *kept; (kept = vcci_map_next(&p2p->early, &cursor, &ctxid));) {
        vcci_map_del(&p2p->early, ctxid);
        for (struct vcci_list *node; (node = vcci_list_pop(kept));)
            vcci_msg_destroy(p2p, VCCI_CONTAINER(node, struct vcci_msg, arrival));
        free(kept);
    }
}

/* Remembers the last closed ones, so that what comes late is told from what comes early. A message later than VCCI_CLOSED_KEPT closings is kept, as long as
 * its sender's credit allows. */
static void remember_closed(struct vcci_p2p *p2p, uint64_t ctxid)
{
    uint64_t *slot = &p2p->closed_ids[p2p->closed_at++ % VCCI_CLOSED_KEPT];
    if (*slot)
        vcci_map_del(&p2p->closed, *slot);
    *slot = vcci_map_put(&p2p->closed, ctxid, p2p) ? 0 : ctxid;
}

/* ---- open and close ---- */

static void port_free(struct vcci_port *port)
{
    vcci_match_fini(&port->match);
    free(port->world);
    free(port->seq_out);
    free(port);
}

int vcci_port_open(struct vcci_p2p *p2p, uint64_t ctxid, const int *world, int rank, int size, int exact, struct vcci_port **port_out)
{
    struct vcci_port *port = calloc(1, sizeof *port);
    if (!port)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for a message space of %d ranks", size);
    port->p2p = p2p;
    port->ctxid = ctxid;
    port->rank = rank;
    port->size = size;
    port->exact = exact;
    vcci_list_init(&port->offered);
    vcci_list_init(&port->granted);
    port->world = malloc((size_t)size * sizeof *port->world);
    port->seq_out = exact ? NULL : calloc((size_t)size, sizeof *port->seq_out);
    int err = port->world && (exact || port->seq_out)
                  ? 0
                  : vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for a message space of %d ranks", size);
    if (!err)
        err = vcci_match_init(&port->match, exact, size);
    if (!err)
        err = vcci_map_put(&p2p->ports, ctxid, port);
    if (err) {
        port_free(port);
        return err;
    }
    memcpy(port->world, world, (size_t)size * sizeof *world);
    vcci_list_push(&p2p->port_list, &port->node);
    take_early(port);
    *port_out = port;
    return 0;
}

static void drop_messages(struct vcci_port *port)
{
    for (struct vcci_msg *msg; (msg = vcci_match_pop_msg(&port->match));)
        vcci_msg_drop(port->p2p, msg, -VCCL_ERR_REVOKED);
}

void vcci_port_close(struct vcci_port *port)
{
    struct vcci_p2p *p2p = port->p2p;
    VCCI_ASSERT(vcci_list_empty(&port->offered) && vcci_list_empty(&port->granted));
    VCCI_ASSERT(!vcci_match_pop_posted(&port->match));
    drop_messages(port);
    vcci_map_del(&p2p->ports, port->ctxid);
    if (p2p->port_cache[port->ctxid % VCCI_PORT_CACHE] == port)
        p2p->port_cache[port->ctxid % VCCI_PORT_CACHE] = NULL;
    remember_closed(p2p, port->ctxid);
    vcci_list_remove(&port->node);
    port_free(port);
}

static void revoke_backlog(struct vcci_port *port, int status)
{
    VCCI_LIST_EACH(at, &port->p2p->opened) {
        struct vcci_peer *peer = VCCI_CONTAINER(at, struct vcci_peer, node);
        VCCI_LIST_EACH_SAFE(it, tmp, &peer->backlog) {
            struct vcci_xfer *xfer = VCCI_CONTAINER(it, struct vcci_xfer, node);
            if (xfer->port != port)
                continue;
            vcci_list_remove(&xfer->node);
            vcci_xfer_over(port->p2p, xfer, status);
        }
    }
}

void vcci_port_revoke(struct vcci_port *port, int status)
{
    if (port->status)
        return;
    port->status = status;
    for (struct vcci_xfer *xfer; (xfer = vcci_match_pop_posted(&port->match));)
        vcci_xfer_over(port->p2p, xfer, status);
    revoke_backlog(port, status);
    drop_messages(port);
    vcci_rndv_revoke(port, status);
}
