/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The shared-memory link. Each rank owns an inbox, one sparse memory object with a header and as many rings as the host has ranks. A sender takes the next
 * free ring with one fetch_add, maps that ring alone, and writes who it is: no handshake, and memory only for peers in use. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/err.h"
#include "p2p/inside.h"

#define HOT 8        /* rings looked at in every turn: those heard from lately */
#define COLD 24      /* of the others, in turn */

static struct vcci_inbox *inbox_of(void *base)
{
    return (struct vcci_inbox *)((char *)base + VCCI_INBOX_AT);
}

static size_t ring_offset(const struct vcci_ring_shape *shape, uint32_t i)
{
    return VCCI_INBOX_BYTES + (size_t)i * shape->bytes;
}

/* ---- our inbox ---- */

int vcci_shm_link_start(struct vcci_p2p *p2p, struct vcci_shm_addr *inbox_out)
{
    int n = p2p->board->n;
    vcci_ring_shape(n, &p2p->shape);
    p2p->rxs = calloc((size_t)n, sizeof *p2p->rxs);
    p2p->accepted = calloc((size_t)n / 64 + 1, sizeof *p2p->accepted);
    if (!p2p->rxs || !p2p->accepted)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for %d ranks of this host", n);
    int err = vcci_shm_create(&p2p->inbox_shm, ring_offset(&p2p->shape, (uint32_t)n), inbox_out);
    if (err)
        return err;
    struct vcci_inbox *inbox = inbox_of(p2p->inbox_shm.base);
    inbox->version = VCCI_WIRE_VERSION;
    inbox->rings = (uint32_t)n;
    inbox->ring_bytes = p2p->shape.bytes;
    inbox->cells = p2p->shape.cells;
    inbox->bulk_bytes = p2p->shape.bulk_bytes;
    inbox->self = (uint64_t)(uintptr_t)inbox;
    p2p->inbox = inbox;
    return vcci_random(&inbox->probe, sizeof inbox->probe);
}

void vcci_shm_link_stop(struct vcci_p2p *p2p)
{
    vcci_shm_close(&p2p->inbox_shm);
    free(p2p->rxs);
    free(p2p->accepted);
    p2p->rxs = NULL;
    p2p->accepted = NULL;
    p2p->n_rxs = 0;
}

/* A ring was handed out: 1 once its sender has said who it is. */
static int shm_accept(struct vcci_p2p *p2p, uint32_t i)
{
    void *ring = (char *)p2p->inbox_shm.base + ring_offset(&p2p->shape, i);
    uint32_t owner = atomic_load_explicit(&((struct vcci_ring_head *)ring)->owner, memory_order_acquire);
    if (!owner)
        return 0;
    struct vcci_board_entry *entry = owner <= (uint32_t)p2p->board->n ? vcci_board_peer(p2p->board, (int)owner - 1) : NULL;
    struct vcci_peer *peer;
    if (!entry || vcci_peer_get(p2p, entry->world_rank, &peer) || peer->has_rx)
        return 0;
    vcci_ring_rx_init(&peer->rx, ring, &p2p->shape, p2p->credit / 4);
    peer->has_rx = 1;
    p2p->rxs[p2p->n_rxs++] = peer;
    return 1;
}

/* Rings that are claimed need not become ready in order; the few that are not yet are asked each time. */
static void shm_accept_new(struct vcci_p2p *p2p, uint32_t claimed)
{
    for (uint32_t i = 0; i < claimed; i++) {
        if (p2p->accepted[i / 64] & 1ull << i % 64)
            continue;
        if (shm_accept(p2p, i))
            p2p->accepted[i / 64] |= 1ull << i % 64;
    }
}

static uint32_t shm_claimed(const struct vcci_p2p *p2p)
{
    uint32_t claimed = atomic_load_explicit(&p2p->inbox->claimed, memory_order_acquire);
    return claimed < p2p->inbox->rings ? claimed : p2p->inbox->rings;
}

/* ---- receiving ---- */

/* A cell with payload in bulk; now and then its sender wants to know how long reading it takes. */
static void shm_input_bulk(struct vcci_peer *peer, const struct vcci_cell *cell, size_t bytes)
{
    const void *payload = vcci_ring_rx_bulk(&peer->rx, bytes);
    int64_t begin = cell->how & VCCI_HOW_TIMED ? vcci_now_ns() : 0;
    vcci_p2p_input(peer, cell, payload);
    if (begin)
        vcci_ring_timed(&peer->rx, cell->how, bytes, vcci_now_ns() - begin);
}

static struct vcci_cell *shm_peek(const struct vcci_peer *peer)
{
    return __builtin_expect(peer->deaf, 0) ? NULL : vcci_ring_rx_peek(&peer->rx);
}

static int shm_drain(struct vcci_peer *peer, int budget)
{
    struct vcci_ring_rx *rx = &peer->rx;
    uint8_t gathered[VCCI_TAILED_MAX];
    int handled = 0;
    for (struct vcci_cell *cell; handled < budget && (cell = vcci_ring_rx_peek(rx)); handled++) {
        size_t bytes = vcci_cell_payload(cell);
        if (bytes <= VCCI_CELL_INLINE) {
            vcci_p2p_input(peer, cell, cell->u.bytes);
        } else if (bytes <= VCCI_TAILED_MAX) {
            if (!vcci_ring_rx_gather(rx, gathered, bytes))
                break;
            vcci_p2p_input(peer, cell, gathered);
        } else if (__builtin_expect(bytes <= rx->bulk_bytes, 1)) {
            shm_input_bulk(peer, cell, bytes);
        } else {
            vcci_peer_doom(peer, vcci_fail(VCCL_ERR_LINK, "rank %d sent %zu bytes at once, which cannot be", peer->world, bytes));
            peer->deaf = 1;
            break;
        }
        if (vcci_ring_rx_take(rx, bytes))
            vcci_board_ring(peer->p2p->board, peer->local);
    }
    return handled;
}

int vcci_shm_link_poll(struct vcci_p2p *p2p, int budget)
{
    int handled = 0, hot = p2p->n_rxs < HOT ? p2p->n_rxs : HOT;
    uint32_t claimed = shm_claimed(p2p);
    if (__builtin_expect(claimed != (uint32_t)p2p->n_rxs, 0))
        shm_accept_new(p2p, claimed);
    for (int i = 0; i < hot; i++)
        if (shm_peek(p2p->rxs[i]))
            handled += shm_drain(p2p->rxs[i], budget);
    int cold = p2p->n_rxs - hot;
    for (int k = 0; k < cold && k < COLD; k++) {
        int i = hot + p2p->cold_at % cold;
        struct vcci_peer *peer = p2p->rxs[i];
        p2p->cold_at = p2p->cold_at + 1 < cold ? p2p->cold_at + 1 : 0;
        if (!shm_peek(peer))
            continue;
        handled += shm_drain(peer, budget);
        int front = i / 2; /* a few messages bring it to the front, one does not push others out */
        p2p->rxs[i] = p2p->rxs[front];
        p2p->rxs[front] = peer;
    }
    return handled;
}

int vcci_shm_link_waiting(struct vcci_p2p *p2p)
{
    uint32_t claimed = shm_claimed(p2p);
    if (claimed != (uint32_t)p2p->n_rxs)
        shm_accept_new(p2p, claimed);
    for (int i = 0; i < p2p->n_rxs; i++)
        if (shm_peek(p2p->rxs[i]))
            return 1;
    return 0;
}

/* ---- sending ---- */

static int shm_map(struct vcci_peer *peer, int fd, const struct vcci_shm_addr *addr)
{
    struct vcci_p2p *p2p = peer->p2p;
    size_t head = VCCI_INBOX_BYTES;
    void *base = mmap(NULL, head, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "cannot map the inbox of rank %d", peer->world);
    peer->inbox = inbox_of(base);
    if (addr->bytes < head || peer->inbox->version != VCCI_WIRE_VERSION || peer->inbox->cells != p2p->shape.cells ||
        peer->inbox->bulk_bytes != p2p->shape.bulk_bytes || peer->inbox->ring_bytes != p2p->shape.bytes)
        return vcci_fail(VCCL_ERR_LINK, "rank %d has an inbox of another shape: its VCCL is another version", peer->world);
    uint32_t i = atomic_fetch_add(&peer->inbox->claimed, 1);
    if (i >= peer->inbox->rings)
        return vcci_fail(VCCL_ERR_LINK, "the inbox of rank %d has no ring left", peer->world);
    peer->ring = mmap(NULL, p2p->shape.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)ring_offset(&p2p->shape, i));
    if (peer->ring == MAP_FAILED) {
        peer->ring = NULL;
        return vcci_fail_errno(VCCL_ERR_SYSTEM, errno, "cannot map a ring of rank %d", peer->world);
    }
    return 0;
}

static void shm_close(struct vcci_peer *peer)
{
    if (peer->ring)
        munmap(peer->ring, peer->p2p->shape.bytes);
    if (peer->inbox)
        munmap((char *)peer->inbox - VCCI_INBOX_AT, VCCI_INBOX_BYTES);
    peer->ring = NULL;
    peer->inbox = NULL;
}

static int shm_connect(struct vcci_peer *peer)
{
    struct vcci_p2p *p2p = peer->p2p;
    struct vcci_board_entry *entry = vcci_board_await(p2p->board, peer->local);
    int fd;
    if (!entry)
        return 1;
    int err = vcci_shm_open_fd(&entry->inbox, &fd);
    if (err)
        return err;
    err = shm_map(peer, fd, &entry->inbox);
    close(fd);
    if (err) {
        shm_close(peer);
        return err;
    }
    vcci_ring_tx_init(&peer->tx, peer->ring, &p2p->shape);
    peer->payload_max = p2p->shape.bulk_bytes / 4;
    peer->eager_max = p2p->eager_max < peer->payload_max ? p2p->eager_max : peer->payload_max;
    atomic_store_explicit(&peer->tx.head->owner, (uint32_t)p2p->board->me + 1, memory_order_release);
    return 0;
}

static struct vcci_cell *shm_reserve(struct vcci_peer *peer, size_t bytes)
{
    return vcci_ring_tx_room(&peer->tx, bytes) ? vcci_ring_tx_cell(&peer->tx) : NULL;
}

static void shm_commit(struct vcci_peer *peer, struct vcci_cell *cell, const void *payload, size_t bytes)
{
    (void)cell;
    vcci_ring_tx_commit(&peer->tx, payload, bytes);
    vcci_board_ring(peer->p2p->board, peer->local);
}

static uint64_t shm_credit(struct vcci_peer *peer)
{
    return vcci_ring_tx_credit(&peer->tx);
}

static void shm_give_credit(struct vcci_peer *peer, uint64_t cost)
{
    vcci_ring_rx_credit(&peer->rx, cost);
}

static int shm_alive(const struct vcci_peer *peer)
{
    const struct vcci_board_entry *entry = &peer->p2p->board->entries[peer->local];
    return atomic_load_explicit(&entry->state, memory_order_relaxed) == VCCI_RANK_LEFT ? -VCCL_ERR_PROC_FAILED : 0;
}

/* ---- offers to read in place ---- */

static uint32_t offer_word(uint32_t id, uint32_t state)
{
    return id << 2 | state;
}

static uint16_t shm_offer_open(struct vcci_peer *peer, uint32_t id)
{
    uint64_t free = ~peer->offers_used & ((1ull << VCCI_RING_OFFERS) - 1);
    if (!free)
        return VCCI_NO_OFFER;
    int i = __builtin_ctzll(free);
    peer->offers_used |= 1ull << i;
    atomic_store_explicit(&peer->tx.head->offers[i], offer_word(id, VCCI_OFFER_OPEN), memory_order_relaxed);
    return (uint16_t)i;
}

static int shm_offer_take(struct vcci_peer *peer, uint16_t offer, uint32_t id)
{
    uint32_t open = offer_word(id, VCCI_OFFER_OPEN);
    return offer < VCCI_RING_OFFERS &&
           atomic_compare_exchange_strong(&peer->rx.head->offers[offer], &open, offer_word(id, VCCI_OFFER_TAKEN));
}

static void shm_offer_give_back(struct vcci_peer *peer, uint16_t offer, uint32_t id)
{
    atomic_store_explicit(&peer->rx.head->offers[offer], offer_word(id, VCCI_OFFER_OPEN), memory_order_release);
}

static int shm_offer_withdraw(struct vcci_peer *peer, uint16_t offer, uint32_t id)
{
    uint32_t open = offer_word(id, VCCI_OFFER_OPEN);
    return atomic_compare_exchange_strong(&peer->tx.head->offers[offer], &open, offer_word(id, VCCI_OFFER_WITHDRAWN));
}

static void shm_offer_release(struct vcci_peer *peer, uint16_t offer)
{
    if (offer < VCCI_RING_OFFERS)
        peer->offers_used &= ~(1ull << offer);
}

const struct vcci_link_ops vcci_link_shm = {.name = "shm",
                                            .connect = shm_connect,
                                            .reserve = shm_reserve,
                                            .commit = shm_commit,
                                            .credit = shm_credit,
                                            .give_credit = shm_give_credit,
                                            .alive = shm_alive,
                                            .offer_open = shm_offer_open,
                                            .offer_take = shm_offer_take,
                                            .offer_give_back = shm_offer_give_back,
                                            .offer_withdraw = shm_offer_withdraw,
                                            .offer_release = shm_offer_release,
                                            .close = shm_close};
