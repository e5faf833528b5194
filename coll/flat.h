/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Flat programs: how a schedule whose ranks all share memory runs. Each communicator has one shared area; in it every rank owns a control line, a ring of
 * cache lines for what is tiny, of pockets for what is small, and of slots for the rest. A flat schedule's SCRATCH lies in one of them.
 *
 * Epochs. Every chunk of every flat collective on the communicator is one epoch, counted alike on all ranks, and uses one place of one ring: line
 * or pocket `epoch mod VCCI_FLAT_LINES`, or slot `epoch mod VCCI_FLAT_SLOTS`. Before a rank writes into a place again it makes sure that all ranks are done with the epoch that used it last; that is also what bounds
 * how far a fast rank (a root of a million bcasts) runs ahead.
 *
 * Sleep. Who waits long enough leaves in its own control block whom it waits for, counts itself in the area's `sleepers`, and sleeps on its bell. Who publishes looks
 * at `sleepers` (one line, shared and clean while all are awake) and rings only those that wait for it.
 */
#ifndef VCCI_COLL_FLAT_H
#define VCCI_COLL_FLAT_H

#include <stdatomic.h>
#include <stdint.h>

#include "coll/sched.h"
#include "lib/base/list.h"
#include "lib/base/shm.h"
#include "lib/device/reduce.h"
#include "lib/engine/engine.h"
#include "p2p/board.h"

#define VCCI_FLAT_SLOTS 8u  /* chunks under way; more would leave the second-level cache */
#define VCCI_FLAT_LINES 64u /* tiny calls that a root may be ahead: one turn of the others on their cores for so many */
#define VCCI_FLAT_PHASES 3u
#define VCCI_FLAT_LINE_BYTES 56u
#define VCCI_FLAT_POCKET_BYTES 1024u
#define VCCI_FLAT_BLOCK 8192u      /* of a reduction whose result goes to two places */
#define VCCI_FLAT_AROUND_MIN 1024u /* bytes shown from which it matters whether they are written through the caches */

struct vcci_flat_line { /* one rank's tiny message of one epoch: number, signature and data move in one cache line */
    _Alignas(64) _Atomic uint32_t seq; /* low half of epoch + 1 */
    uint32_t sig;
    uint8_t data[VCCI_FLAT_LINE_BYTES];
};
struct vcci_flat_pocket { /* the same for up to 1 KiB, announced by ctrl.seq; a line more than a power of two, or all would share cache sets */
    _Alignas(64) uint32_t sig;
    uint32_t unused[3];
    uint8_t data[VCCI_FLAT_POCKET_BYTES];
};
enum vcci_flat_place { VCCI_FLAT_LINE, VCCI_FLAT_POCKET, VCCI_FLAT_SLOT };

struct vcci_flat_ctrl {
    _Alignas(128) _Atomic uint64_t seq[VCCI_FLAT_PHASES]; /* signal p of all epochs below it has been given          */
    _Atomic uint64_t done;                                /* all epochs below it are over for this rank              */
    _Atomic uint32_t sig[VCCI_FLAT_SLOTS];                /* by epoch, where a slot is used: what this rank calls    */
    _Alignas(64) _Atomic uint32_t awaits;                 /* asleep for that rank + 1; 0 awake                        */
};
struct vcci_flat_head {
    _Alignas(64) _Atomic uint32_t sleepers;
    _Alignas(64) _Atomic uint32_t poison; /* -> vccl_result_t: a member failed; nobody waits here any more */
    _Atomic uint32_t poison_rank, poison_sig;
};

/* What a plan's runs took when all ranks wrote what they show through their caches [0] and round them [1]: choose_way() in
 * flat_run.c. */
struct vcci_flat_habit {
    uint32_t runs;
    uint32_t cost_ns[2];
};

/* A frozen flat schedule made ready to run: its stages, kernel and signature. Immutable; freed with its schedule's cache entry. */
struct vcci_flat_plan {
    struct vcci_sched *sched;
    vcci_reduce_fn *reduce;
    vcci_reduce_fn *reduce_stream; /* the same past the caches */
    size_t type_bytes;
    uint32_t sig;
    uint8_t place;                /* VCCI_FLAT_LINE …: where the scratch is */
    uint8_t average;
    uint8_t stream;               /* writes more into OUT than the last-level cache holds */
    struct vcci_flat_habit *habit; /* NULL: too little is shown for it to matter. Whoever steps writes it */
    uint32_t n_stages;
    uint32_t stages[];            /* n_stages + 1 node ids; a stage starts with its WAITs */
};
/* `sched` is flat, or has neither messages nor signals (one rank). Takes a reference. */
int vcci_flat_lower(struct vcci_sched *sched, uint32_t sig, struct vcci_flat_plan **plan_out);
void vcci_flat_plan_destroy(struct vcci_flat_plan *plan);

/* One call in the communicator's queue. */
struct vcci_flat_run {
    struct vcci_list node;
    const struct vcci_flat_plan *plan;
    const void *in;
    void *out;
    uint64_t epoch;               /* of chunk 0 */
    void (*done)(struct vcci_flat_run *run, int status); /* nonblocking: from whoever steps, baton and flat lock held */
};

struct vcci_flat {
    struct vcci_engine *engine;
    struct vcci_board *board;
    int rank, size;
    const int *local;             /* [size] board index; the communicator's */
    struct vcci_shm shm;
    struct vcci_flat_head *head;
    struct vcci_flat_ctrl *ctrl;  /* [size] */
    struct vcci_flat_line *lines; /* [size][VCCI_FLAT_LINES] */
    struct vcci_flat_pocket *pockets; /* [size][VCCI_FLAT_LINES] */
    uint8_t *slots;               /* [size][VCCI_FLAT_SLOTS], slot_stride apart */
    size_t slot_stride;
    /* this rank's */
    atomic_flag lock;             /* held by whoever steps */
    uint64_t epoch;               /* of the next call */
    uint64_t reported;            /* own ctrl.done */
    uint64_t min_done;            /* everybody is done with all epochs below */
    uint64_t *seen;               /* [VCCI_FLAT_PHASES + 1][size]: last read of ctrl.seq and ctrl.done */
    uint64_t *next;               /* [stages]: next chunk of each stage of the run under way */
    uint32_t next_cap;
    int *at;                      /* [stages]: how many peers the stage's WAITs have seen */
    int first;                    /* where a wait for everybody starts to look: who came last the time before */
    int blocked_on, last_block;   /* rank that the step could not go on without; the last such of this run, -1 none */
    uint8_t owed;                 /* published without having looked for sleepers */
    uint8_t started;              /* the run at the queue's head has begun */
    uint8_t parked;
    uint8_t around;               /* the run at the queue's head writes what it shows round the caches */
    int64_t began_ns;             /* it is timed; 0: it is not */
    struct vcci_list queue;       /* of runs; the head is under way */
    _Atomic uint32_t queued;      /* their number, for a look without the lock */
    int spins;                    /* polls before vcci_engine_wait */
    const void **srcs;            /* [size] scratch of one REDUCE */
    uint8_t *block;               /* VCCI_FLAT_BLOCK bytes, likewise */
};

/* Bytes of slot that a communicator of `size` ranks has. */
size_t vcci_flat_slot_bytes(int size);

/* One rank (any) creates the area and tells the others its address; all then hold it open. `local` stays the caller's. */
int vcci_flat_create(struct vcci_flat *f, struct vcci_engine *engine, struct vcci_board *board, const int *local, int rank, int size,
                     int spins, struct vcci_shm_addr *addr_out);
int vcci_flat_open(struct vcci_flat *f, struct vcci_engine *engine, struct vcci_board *board, const int *local, int rank, int size,
                   int spins, const struct vcci_shm_addr *addr);
void vcci_flat_close(struct vcci_flat *f); /* queue empty */

/* Nonzero while nonblocking runs are queued. Any thread. */
static inline int vcci_flat_busy(const struct vcci_flat *f)
{
    return atomic_load_explicit(&f->queued, memory_order_acquire) != 0;
}

/* Runs plan to its end in the calling thread, after what is queued. 0, -VCCL_ERR_TIMEOUT at deadline_ns (0: never), -VCCL_ERR_MISMATCH …; after an error the
 * area is poisoned and every later call on any rank fails with it. No baton. */
int vcci_flat_call(struct vcci_flat *f, const struct vcci_flat_plan *plan, const void *in, void *out, int64_t deadline_ns);
/* Queues a run and steps it as far as it goes: 0 done already (done is not called), 1 under way, < 0 failed. Baton held. */
int vcci_flat_start(struct vcci_flat *f, struct vcci_flat_run *run);
/* Moves the queue on as far as it goes; nonzero if anything moved. Skips when another thread is at it. Baton held. */
int vcci_flat_progress(struct vcci_flat *f);
/* For a poller's arm(): progress, then register as sleeper: 1 if something moved (do not sleep). Baton held. */
int vcci_flat_arm(struct vcci_flat *f);
/* Fails all waits of all ranks on this area with `result`. */
void vcci_flat_poison(struct vcci_flat *f, vccl_result_t result, uint32_t sig);

#endif
