/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The link to oneself: a cell that is sent is a cell that has come. */
#include <stdlib.h>

#include "lib/base/err.h"
#include "p2p/inside.h"

static int self_connect(struct vcci_peer *peer)
{
    peer->cells = aligned_alloc(_Alignof(struct vcci_cell), 2 * sizeof *peer->cells);
    if (!peer->cells)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for messages to oneself");
    peer->payload_max = SIZE_MAX;
    peer->eager_max = peer->p2p->eager_max;
    return 0;
}

/* Input may answer at once (RTS by FIN) while the first cell is still being read: so two in turn. */
static struct vcci_cell *self_reserve(struct vcci_peer *peer, size_t bytes)
{
    (void)bytes;
    return &peer->cells[peer->cell_at++ & 1];
}

static void self_commit(struct vcci_peer *peer, struct vcci_cell *cell, const void *payload, size_t bytes)
{
    (void)bytes;
    vcci_p2p_input(peer, cell, payload);
}

static uint64_t self_credit(struct vcci_peer *peer)
{
    return peer->rx.credit;
}

static void self_give_credit(struct vcci_peer *peer, uint64_t cost)
{
    peer->rx.credit += cost;
}

static int self_alive(const struct vcci_peer *peer)
{
    (void)peer;
    return 0;
}

/* Reading in place is one step under the baton here: it needs no guard. */
static uint16_t self_offer_open(struct vcci_peer *peer, uint32_t id)
{
    (void)peer;
    (void)id;
    return VCCI_NO_OFFER;
}

static int self_offer_yes(struct vcci_peer *peer, uint16_t offer, uint32_t id)
{
    (void)peer;
    (void)offer;
    (void)id;
    return 1;
}

static void self_offer_give_back(struct vcci_peer *peer, uint16_t offer, uint32_t id)
{
    (void)peer;
    (void)offer;
    (void)id;
}

static void self_offer_release(struct vcci_peer *peer, uint16_t offer)
{
    (void)peer;
    (void)offer;
}

static void self_close(struct vcci_peer *peer)
{
    free(peer->cells);
    peer->cells = NULL;
}

const struct vcci_link_ops vcci_link_self = {.name = "self",
                                             .connect = self_connect,
                                             .reserve = self_reserve,
                                             .commit = self_commit,
                                             .credit = self_credit,
                                             .give_credit = self_give_credit,
                                             .alive = self_alive,
                                             .offer_open = self_offer_open,
                                             .offer_take = self_offer_yes,
                                             .offer_give_back = self_offer_give_back,
                                             .offer_withdraw = self_offer_yes,
                                             .offer_release = self_offer_release,
                                             .close = self_close};
