/* SPDX-License-Identifier: BSD-3-Clause
 * The context: one rank of a job, and all that hangs off it. A process has one, made by vccl_init; in the tests' fake jobs every thread has its own. */
#ifndef VCCI_API_CTX_H
#define VCCI_API_CTX_H

#include <pthread.h>
#include <stdatomic.h>

#include "coll/coll.h"
#include "lib/base/clock.h"
#include "lib/base/handle.h"
#include "lib/base/pool.h"
#include "lib/engine/engine.h"
#include "p2p/board.h"
#include "p2p/p2p.h"
#include "pmix/boot.h"

enum { VCCI_CTX_NONE, VCCI_CTX_RUNNING, VCCI_CTX_OVER };

struct vcci_comm {
    struct vcci_ctx *ctx;
    vccl_comm_t handle;
    int rank, size;
    int *world;                  /* [size] world ranks */
    int *local;                  /* [size] their places on the host's board */
    uint64_t ctxid;              /* of user messages; + 1: of collectives */
    struct vcci_port *port;
    struct vcci_coll_comm coll;
    _Atomic int requests;        /* not yet completed */
    struct vcci_list node;       /* ctx->comms */
};

struct vcci_ctx {
    _Atomic int state;
    struct vcci_boot *boot;
    struct vcci_engine *engine;
    struct vcci_board board;
    struct vcci_p2p *p2p;
    struct vcci_handles comms_table, requests_table;
    struct vcci_comm *world, *self;
    struct vcci_list comms;      /* all, the two above included */
    pthread_mutex_t lock;        /* comms, pool, ctxid_next */
    struct vcci_pool request_pool;
    uint64_t ctxid_next;
    struct vcci_rules rules;
    struct vcci_cost_params costs;
    int *local_of;               /* [job size] */
    int spins;                   /* polls before a call goes to the engine's wait */
    double timeout;
};

/* What vccl_init and a fake job's rank do with a bootstrap in hand. Takes over the bootstrap, also on failure. */
int vcci_ctx_create(struct vcci_boot *boot, struct vcci_ctx **ctx_out);
int vcci_ctx_destroy(struct vcci_ctx *ctx); /* collective; -VCCL_ERR_STATE and nothing done while requests are open */

/* The calling thread's context: its own (fake jobs), else the process's; NULL before vccl_init. */
extern _Thread_local struct vcci_ctx *vcci_ctx_mine __attribute__((tls_model("initial-exec")));
extern struct vcci_ctx *vcci_ctx_process;
static inline struct vcci_ctx *vcci_ctx(void)
{
    return __builtin_expect(vcci_ctx_mine != NULL, 0) ? vcci_ctx_mine : vcci_ctx_process;
}

/* The running context, or NULL with VCCL_ERR_STATE's sentence. `call` is the public function's name. */
struct vcci_ctx *vcci_ctx_running_slow(const char *call);
static inline struct vcci_ctx *vcci_ctx_running(const char *call)
{
    struct vcci_ctx *ctx = vcci_ctx();
    if (__builtin_expect(ctx && atomic_load_explicit(&ctx->state, memory_order_relaxed) == VCCI_CTX_RUNNING, 1))
        return ctx;
    return vcci_ctx_running_slow(call);
}

/* The communicator a handle names, or NULL with the sentence. */
struct vcci_comm *vcci_comm_find_slow(struct vcci_ctx *ctx, vccl_comm_t handle, const char *call);
static inline struct vcci_comm *vcci_comm_find(struct vcci_ctx *ctx, vccl_comm_t handle, const char *call)
{
    return __builtin_expect(handle == VCCL_COMM_WORLD, 1) ? ctx->world : vcci_comm_find_slow(ctx, handle, call);
}

/* Makes a communicator of `size` world ranks (copied) of which this is number `rank`; shared: where its flat area is, NULL to create it (*addr_out). */
int vcci_comm_create(struct vcci_ctx *ctx, const int *world, int rank, int size, uint64_t ctxid, const struct vcci_shm_addr *shared,
                     struct vcci_shm_addr *addr_out, struct vcci_comm **comm_out);
void vcci_comm_destroy(struct vcci_comm *comm);

/* When a call that begins now has to give up, 0 never. */
static inline int64_t vcci_deadline(const struct vcci_ctx *ctx)
{
    return __builtin_expect(ctx->timeout > 0, 0) ? vcci_now_ns() + (int64_t)(ctx->timeout * 1e9) : 0;
}

/* ---- requests ---- */
enum { VCCI_REQ_SEND, VCCI_REQ_RECV, VCCI_REQ_COLL };
struct vcci_request {
    struct vcci_comm *comm;
    uint64_t handle;
    uint8_t kind;
    _Atomic uint8_t over;
    int status;                  /* valid once over */
    char *text;                  /* the sentence of a failure, owned; NULL: none or no memory */
    void *temp;                  /* owned memory that the operation reads; NULL */
    union {
        struct vcci_xfer xfer;
        struct vcci_coll_op op;
    };
};
/* A fresh request, counted in comm->requests; NULL: no memory (text set). */
struct vcci_request *vcci_request_create(struct vcci_comm *comm, int kind);
/* Marks it over; baton held or not yet published. Wakes waiters. */
void vcci_request_complete(struct vcci_request *req, int status);
void vcci_request_destroy(struct vcci_request *req);

#endif
