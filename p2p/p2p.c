/* SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/p2p.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cpu.h"
#include "lib/base/env.h"
#include "lib/base/err.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "p2p/inside.h"

#define DONE_MAX 1024     /* done callbacks in one turn: they may post what is over at once */
#define LEFT_TURNS 1024u  /* turns between two looks for peers that have left */

/* ---- operations ---- */

static int is_send(const struct vcci_xfer *xfer)
{
    return xfer->phase >= VCCI_PHASE_QUEUED && xfer->phase <= VCCI_PHASE_STREAMING;
}

void vcci_xfer_over(struct vcci_p2p *p2p, struct vcci_xfer *xfer, int status)
{
    if (is_send(xfer)) {
        p2p->n_sends--;
        p2p->n_withdrawn -= xfer->phase == VCCI_PHASE_WITHDRAWN;
    } else {
        p2p->n_large -= xfer->bytes >= VCCI_LARGE;
    }
    xfer->phase = VCCI_PHASE_DONE;
    xfer->status = status;
    vcci_list_push(&p2p->completed, &xfer->node);
}

/* It was over before the call that began it has returned: then its result is that call's. A failure goes through done, so that callers need know
 * only one way. */
static int over_at_once(struct vcci_p2p *p2p, struct vcci_xfer *xfer)
{
    if (xfer->phase != VCCI_PHASE_DONE || xfer->status)
        return 0;
    vcci_list_remove(&xfer->node);
    if (!xfer->waited)
        vcci_engine_release(p2p->engine);
    return 1;
}

static int refused(const struct vcci_port *port)
{
    return vcci_fail((vccl_result_t)-port->status, "the communicator failed earlier (error %d): only freeing it works", -port->status);
}

int vcci_p2p_send(struct vcci_port *port, struct vcci_xfer *xfer)
{
    struct vcci_p2p *p2p = port->p2p;
    struct vcci_peer *peer;
    if (__builtin_expect(port->status, 0))
        return refused(port);
    int rc = vcci_peer_get(p2p, port->world[xfer->peer], &peer);
    if (__builtin_expect(rc, 0))
        return rc;
    xfer->port = port;
    xfer->phase = VCCI_PHASE_NONE;
    rc = vcci_list_empty(&peer->backlog) ? vcci_send_begin(peer, xfer) : peer->down ? peer->down : VCCI_NO_ROOM;
    if (__builtin_expect(rc == VCCI_SENT, 1) || rc < 0)
        return rc;
    if (rc == VCCI_OFFERED)
        return !over_at_once(p2p, xfer);
    vcci_xfer_begin(p2p, xfer, 1);
    xfer->phase = VCCI_PHASE_QUEUED;
    vcci_list_push(&peer->backlog, &xfer->node);
    vcci_peer_busy(peer);
    return 1;
}

/* Nothing will come any more from a rank that was given up. */
static int source_down(const struct vcci_port *port, int source)
{
    const struct vcci_peer *peer = source >= 0 ? port->p2p->peers[port->world[source]] : NULL;
    if (!peer || !peer->down)
        return 0;
    return vcci_fail((vccl_result_t)-peer->down, "rank %d cannot be received from any more (error %d)", peer->world, -peer->down);
}

int vcci_p2p_recv(struct vcci_port *port, struct vcci_xfer *xfer)
{
    struct vcci_p2p *p2p = port->p2p;
    if (__builtin_expect(port->status, 0))
        return refused(port);
    struct vcci_msg *msg = vcci_match_find_msg(&port->match, xfer->peer, xfer->tag, xfer->seq);
    int down = msg ? 0 : source_down(port, xfer->peer);
    if (__builtin_expect(down, 0))
        return down;
    xfer->port = port;
    xfer->phase = VCCI_PHASE_POSTED;
    vcci_xfer_begin(p2p, xfer, 0);
    p2p->n_large += xfer->bytes >= VCCI_LARGE;
    if (!msg) {
        vcci_match_post(&port->match, xfer);
        return 1;
    }
    vcci_match_remove(msg);
    vcci_msg_accept(xfer, msg);
    return !over_at_once(p2p, xfer);
}

int vcci_p2p_cancel(struct vcci_xfer *xfer)
{
    if (xfer->phase != VCCI_PHASE_POSTED)
        return 0;
    vcci_list_remove(&xfer->node);
    xfer->phase = VCCI_PHASE_NONE;
    xfer->port->p2p->n_large -= xfer->bytes >= VCCI_LARGE;
    if (!xfer->waited)
        vcci_engine_release(xfer->port->p2p->engine);
    return 1;
}

int vcci_p2p_probe(struct vcci_port *port, struct vcci_xfer *xfer)
{
    const struct vcci_msg *msg = vcci_match_find_msg(&port->match, xfer->peer, xfer->tag, xfer->seq);
    if (!msg)
        return 0;
    xfer->got_bytes = (size_t)msg->total;
    xfer->got_peer = msg->src;
    xfer->got_tag = msg->tag;
    xfer->got_sig = msg->sig;
    return 1;
}

void vcci_p2p_input(struct vcci_peer *peer, const struct vcci_cell *cell, const void *payload)
{
    switch (cell->kind) {
    case VCCI_CELL_EAGER:
    case VCCI_CELL_RTS: {
        struct vcci_port *port = vcci_port_find(peer->p2p, cell->ctxid);
        if (__builtin_expect(port != NULL, 1))
            vcci_port_input(port, peer, cell, payload);
        else
            vcci_port_early(peer, cell, payload);
        break;
    }
    case VCCI_CELL_CTS:
        vcci_rndv_on_cts(peer, cell);
        break;
    case VCCI_CELL_DATA:
        vcci_rndv_on_data(peer, cell, payload);
        break;
    case VCCI_CELL_FIN:
        vcci_rndv_on_fin(peer, cell);
        break;
    case VCCI_CELL_STOP:
        vcci_rndv_on_stop(peer, cell);
        break;
    default:
        vcci_log(VCCI_LOG_ERROR, "rank %d sent a cell of unknown kind %u", peer->world, cell->kind);
    }
}

/* ---- the poller ---- */

/* Makes the failure's sentence this thread's again: others may have failed since it was found. */
static void say_again(const struct vcci_xfer *xfer)
{
    if (xfer->status == -VCCL_ERR_TRUNCATE)
        vcci_fail(VCCL_ERR_TRUNCATE, "the message of %zu bytes from rank %d with tag %d is longer than the receive's %zu bytes",
                  xfer->got_bytes, xfer->got_peer, (int)xfer->got_tag, xfer->bytes);
}

static int run_done(struct vcci_p2p *p2p)
{
    int n = 0;
    for (struct vcci_list *node; n < DONE_MAX && (node = vcci_list_pop(&p2p->completed)); n++) {
        struct vcci_xfer *xfer = VCCI_CONTAINER(node, struct vcci_xfer, node);
        if (!xfer->waited)
            vcci_engine_release(p2p->engine);
        if (__builtin_expect(xfer->status, 0))
            say_again(xfer);
        xfer->phase = VCCI_PHASE_NONE;
        xfer->done(xfer, xfer->status);
    }
    return n;
}

/* Peers that have left while something of ours was on its way to them. */
static int bury_left(struct vcci_p2p *p2p)
{
    int found = 0;
    VCCI_LIST_EACH_SAFE(it, tmp, &p2p->opened) {
        struct vcci_peer *peer = VCCI_CONTAINER(it, struct vcci_peer, node);
        if (peer->down || !peer->link->alive(peer))
            continue;
        if (p2p->inbox)
            vcci_shm_link_poll(p2p, INT_MAX); /* what it sent before */
        vcci_peer_down(peer, vcci_fail(VCCL_ERR_PROC_FAILED, "rank %d has left the job", peer->world));
        found = 1;
    }
    return found;
}

static int poll_all(struct vcci_poller *poller, int budget)
{
    struct vcci_p2p *p2p = VCCI_CONTAINER(poller, struct vcci_p2p, poller);
    int handled = p2p->inbox ? vcci_shm_link_poll(p2p, budget) : 0;
    if (__builtin_expect(!vcci_list_empty(&p2p->busy), 0)) {
        VCCI_LIST_EACH_SAFE(it, tmp, &p2p->busy)
            handled += vcci_peer_drive(VCCI_CONTAINER(it, struct vcci_peer, busy), budget);
    }
    if (__builtin_expect(!vcci_list_empty(&p2p->pulls), 0))
        handled += vcci_rndv_pull(p2p);
    if (!vcci_list_empty(&p2p->completed))
        handled += run_done(p2p);
    if (__builtin_expect(++p2p->turns % LEFT_TURNS == 0, 0) && p2p->n_sends)
        handled += bury_left(p2p) + vcci_rndv_withdraw_again(p2p);
    return handled;
}

static int poll_arm(struct vcci_poller *poller)
{
    struct vcci_p2p *p2p = VCCI_CONTAINER(poller, struct vcci_p2p, poller);
    if (!vcci_list_empty(&p2p->completed) || !vcci_list_empty(&p2p->pulls))
        return 1;
    VCCI_LIST_EACH_SAFE(it, tmp, &p2p->busy)
        if (vcci_peer_can_move(VCCI_CONTAINER(it, struct vcci_peer, busy)))
            return 1;
    if (p2p->n_sends && bury_left(p2p) + vcci_rndv_withdraw_again(p2p))
        return 1;
    return p2p->inbox ? vcci_shm_link_waiting(p2p) : 0;
}

static int poll_fd(struct vcci_poller *poller)
{
    (void)poller;
    return -1; /* peers ring our bell */
}

static const struct vcci_poller_ops p2p_poller_ops = {.name = "p2p", .fd = poll_fd, .arm = poll_arm, .progress = poll_all};

/* ---- beginning and end ---- */

static void init_members(struct vcci_p2p *p2p, const struct vcci_p2p_conf *conf)
{
    const struct vcci_env *env = vcci_env();
    p2p->engine = conf->engine;
    p2p->board = conf->board;
    p2p->rank = conf->world_rank;
    p2p->size = conf->world_size;
    p2p->links = conf->links;
    p2p->eager_max = env->eager_bytes;
    p2p->credit = env->credit_bytes;
    p2p->single_copy = env->single_copy;
    p2p->crowded = conf->board && conf->board->n > vcci_cpu_of_job();
    p2p->poller.ops = &p2p_poller_ops;
    vcci_list_init(&p2p->opened);
    vcci_list_init(&p2p->busy);
    vcci_list_init(&p2p->completed);
    vcci_list_init(&p2p->pulls);
    vcci_list_init(&p2p->port_list);
    vcci_map_init(&p2p->ports);
    vcci_map_init(&p2p->early);
    vcci_map_init(&p2p->closed);
    vcci_map_init(&p2p->sends);
    vcci_map_init(&p2p->receives);
    vcci_pool_init(&p2p->control_pool, vcci_control_bytes, 16);
    vcci_msg_pools_init(p2p);
}

static void free_members(struct vcci_p2p *p2p)
{
    vcci_mem_fini(p2p);
    vcci_port_drop_early(p2p);
    vcci_shm_link_stop(p2p);
    vcci_map_fini(&p2p->ports);
    vcci_map_fini(&p2p->early);
    vcci_map_fini(&p2p->closed);
    vcci_map_fini(&p2p->sends);
    vcci_map_fini(&p2p->receives);
    vcci_pool_fini(&p2p->control_pool);
    for (int i = 0; i < VCCI_MSG_CLASSES; i++)
        vcci_pool_fini(&p2p->msg_pools[i]);
    free(p2p->local_of);
    free(p2p->peers);
    free(p2p);
}

int vcci_p2p_create(const struct vcci_p2p_conf *conf, struct vcci_p2p **p2p_out)
{
    struct vcci_p2p *p2p = calloc(1, sizeof *p2p);
    struct vcci_shm_addr inbox = {0};
    if (!p2p)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for point-to-point messages");
    init_members(p2p, conf);
    p2p->peers = calloc((size_t)conf->world_size, sizeof(struct vcci_peer *));
    p2p->local_of = malloc((size_t)conf->world_size * sizeof *p2p->local_of);
    int err = p2p->peers && p2p->local_of ? 0 : vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for %d ranks", conf->world_size);
    if (!err)
        memcpy(p2p->local_of, conf->local_of, (size_t)conf->world_size * sizeof *p2p->local_of);
    if (!err && p2p->board)
        err = vcci_shm_link_start(p2p, &inbox);
    if (!err)
        err = vcci_engine_add(p2p->engine, &p2p->poller);
    if (err) {
        free_members(p2p);
        return err;
    }
    if (p2p->board)
        vcci_board_enter(p2p->board, p2p->rank, vcci_engine_wake_fd(p2p->engine), &inbox);
    *p2p_out = p2p;
    return 0;
}

void vcci_p2p_destroy(struct vcci_p2p *p2p)
{
    vcci_engine_remove(p2p->engine, &p2p->poller);
    VCCI_LIST_EACH_SAFE(it, tmp, &p2p->opened)
        vcci_peer_destroy(VCCI_CONTAINER(it, struct vcci_peer, node));
    if (p2p->dropped)
        vcci_log(VCCI_LOG_INFO, "%llu messages came for communicators that were freed or revoked", (unsigned long long)p2p->dropped);
    free_members(p2p);
}

int vcci_p2p_quiet(struct vcci_p2p *p2p)
{
    return p2p->n_sends == 0 && p2p->n_control == 0;
}

/* ---- report ---- */

/* Single copy is asked of the peers that were used: it is the other side's kernel settings that decide. */
static void add_single_copy(struct vcci_text *t, const struct vcci_p2p *p2p)
{
    int yes = 0, no = 0;
    VCCI_LIST_EACH(it, &p2p->opened) {
        const struct vcci_peer *peer = VCCI_CONTAINER(it, struct vcci_peer, node);
        yes += peer->cma == VCCI_CMA_YES;
        no += peer->cma == VCCI_CMA_NO;
    }
    if (yes + no)
        vcci_text_put(t, ", process_vm_readv allowed by %d of %d peers asked", yes, yes + no);
    else
        vcci_text_put(t, ", process_vm_readv not tried yet");
}

int vcci_p2p_report(struct vcci_p2p *p2p, char *buf, size_t cap)
{
    uint32_t links = p2p ? p2p->links : vcci_env()->links;
    struct vcci_text t = {.buf = buf, .cap = cap};
    if (cap)
        buf[0] = 0;
    vcci_text_put(&t, "self %s\n", links & 1u << VCCI_LINK_SELF ? "usable: a copy" : "not usable: not in VCCL_LINKS");
    if (!(links & 1u << VCCI_LINK_SHM)) {
        vcci_text_put(&t, "shm not usable: not in VCCL_LINKS\n");
    } else if (!p2p || !p2p->board) {
        vcci_text_put(&t, "shm usable\n");
    } else {
        vcci_text_put(&t, "shm usable: %d ranks on this host, a ring of %zu cells and %zu KiB for each pair in use, eager up to %zu bytes",
            p2p->board->n, p2p->shape.cells, p2p->shape.bulk_bytes >> 10,
            p2p->eager_max < p2p->shape.bulk_bytes / 4 ? p2p->eager_max : p2p->shape.bulk_bytes / 4);
        add_single_copy(&t, p2p);
        vcci_text_put(&t, "\n");
    }
    vcci_text_put(&t, "tcp not usable: not in this build\nrdma not usable: not in this build\ncuda not usable: not in this build\n");
    return (int)t.len;
}
