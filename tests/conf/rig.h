/* SPDX-License-Identifier: BSD-3-Clause
 * Jobs for the conformance list: n ranks, each with an engine, a board and a p2p of its own, as processes or as threads of one. */
#ifndef VCCI_TESTS_CONF_RIG_H
#define VCCI_TESTS_CONF_RIG_H

#include <stdatomic.h>

#include "p2p/p2p.h"
#include "tests/unit/unit.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define RIG_SCALE 20 /* rounds are divided by it */
#else
#define RIG_SCALE 1
#endif

#define RIG_MAX 16

/* What all ranks share. */
struct rig_common {
    struct vcci_shm_addr board;
    _Atomic int board_ready, arrived[RIG_MAX];
    _Atomic uint64_t words[16]; /* for the cases */
};
struct rig {
    struct rig_common *common;
    struct vcci_board board;
    struct vcci_engine *engine;
    struct vcci_p2p *p2p;
    struct vcci_port *port; /* a user port of all ranks */
    int me, n, threads, barriers;
    int map_buffers;        /* buffers from vcci_p2p_mem_alloc */
    int world[RIG_MAX];
};

struct rig_way {
    const char *name;
    int ranks;
    uint32_t links;          /* mask of VCCI_LINK_ bits */
    int threads, map_buffers;
    const char *single_copy; /* VCCL_SINGLE_COPY */
    int awake;               /* spin instead of sleeping at once */
};

/* Runs body as each rank; the test fails if one does. */
void rig_run(const struct rig_way *way, void (*body)(struct rig *rig));
void rig_barrier(struct rig *rig); /* all ranks have come; polls, so what is on its way moves on */

/* One operation and its outcome. */
struct rig_op {
    struct vcci_xfer x;
    _Atomic int over;
    int status, calls;
};
/* Begin: the result of vcci_p2p_send / recv. An outcome that is known at once is stored as if done had been called. */
int rig_send(struct rig *rig, struct vcci_port *port, struct rig_op *op, const void *buf, size_t bytes, int to, int tag);
int rig_recv(struct rig *rig, struct vcci_port *port, struct rig_op *op, void *buf, size_t bytes, int from, int tag);
int rig_wait(struct rig *rig, struct rig_op *op); /* its status; fails the test after a minute */
int rig_over(struct rig *rig, struct rig_op *op); /* polls once */
void rig_poll(struct rig *rig);
int rig_find(struct rig *rig, struct rig_op *op, int from, int tag); /* waits until probe sees it */

void *rig_alloc(struct rig *rig, size_t bytes);
void rig_free(struct rig *rig, void *buf);
/* Bytes that tell where they come from and where they lie. */
void rig_fill(void *buf, size_t bytes, unsigned key);
int rig_is(const void *buf, size_t bytes, unsigned key);
size_t rig_resident(void); /* bytes of this process */

#endif
