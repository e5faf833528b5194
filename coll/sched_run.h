/* SPDX-License-Identifier: BSD-3-Clause
 * The executor: runs a schedule of messages over p2p. A ready queue, no recursion; nothing is allocated once a run object exists. All under the baton. */
#ifndef VCCI_COLL_SCHED_RUN_H
#define VCCI_COLL_SCHED_RUN_H

#include <stdint.h>

#include "coll/sched.h"
#include "lib/device/reduce.h"
#include "p2p/p2p.h"

struct vcci_run {
    struct vcci_list node;        /* the owner's */
    struct vcci_sched *sched;
    const void *in;
    void *out;
    struct vcci_port *port;       /* exact */
    uint32_t seq, sig;
    void (*done)(struct vcci_run *run, int status); /* baton held, never before start returns */
    void *owner;                  /* for done */
    /* the executor's */
    vcci_reduce_fn *reduce;
    size_t type_bytes;
    uint8_t *scratch;
    struct vcci_run_xfer *xfers;  /* [window][messages of a chunk] */
    uint32_t *xfer_of;            /* [nodes]: index among a chunk's messages */
    uint32_t *deps;               /* [window][nodes]: dependencies left */
    uint32_t *left;               /* [window]: nodes left of the chunk there */
    uint64_t *chunk;              /* [window]: which chunk that is */
    const void **srcs;
    uint64_t *ready;              /* ring of slot << 32 | node */
    uint32_t ready_cap, ready_head, ready_n;
    uint32_t n_messages, inflight;
    uint64_t next_chunk, chunks_over;
    int status;
    uint8_t starting, over, failing;
};

/* A run object for `sched` (takes a reference), to be started again and again. */
int vcci_run_create(struct vcci_sched *sched, struct vcci_run **run_out);
void vcci_run_destroy(struct vcci_run *run);

/* Starts with in, out, port, seq, sig and done set: 0 over already (done not called), 1 under way, < 0 failed. A failure (of a peer, or VCCL_ERR_MISMATCH when a
 * message carries another signature) revokes the port and ends the run once nothing touches its buffers any more. */
int vcci_run_start(struct vcci_run *run);

#endif
