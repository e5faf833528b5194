/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ranks of one job write to each other: the cell, the unit of every message, and the layout of an inbox in shared memory. Both ends run the same
 * build on one host, so integers are in the host's own form.
 *
 *   EAGER  sender → receiver   the whole message, `total` bytes
 *   RTS    sender → receiver   a message of `total` bytes waits at rts.addr; answered by CTS or FIN
 *   CTS    receiver → sender   send the first cts.goal bytes as DATA named cts.rid
 *   DATA   sender → receiver   the next `total` bytes of transfer data.rid
 *   FIN    receiver → sender   transfer fin.id is over: read in place (status 0), or refused (status)
 *   STOP   sender → receiver   no more DATA will come for transfer stop.rid
 */
#ifndef VCCI_P2P_WIRE_H
#define VCCI_P2P_WIRE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/shm.h"

#define VCCI_WIRE_VERSION 1u

enum vcci_cell_kind { VCCI_CELL_EAGER = 1, VCCI_CELL_RTS, VCCI_CELL_CTS, VCCI_CELL_DATA, VCCI_CELL_FIN, VCCI_CELL_STOP };

/* RTS: `mem` names a segment that the receiver may map; the sender is also receiving. EAGER, DATA: the payload was written round the caches; the receiver shall time its copy. */
enum { VCCI_HOW_MEMORY = 1, VCCI_HOW_AROUND = 2, VCCI_HOW_TIMED = 4, VCCI_HOW_BOTH = 8 };

#define VCCI_CELL_INLINE 24u /* payload up to here lies in the cell */
#define VCCI_NO_OFFER 0xffffu

struct vcci_cell {
    _Atomic uint32_t stamp; /* the ring's lap, written last; 0 in fresh memory */
    uint8_t kind;           /* VCCI_CELL_ */
    uint8_t how;            /* VCCI_HOW_ */
    uint16_t offer;         /* RTS, CTS, FIN: the word in the ring that guards reading in place, or VCCI_NO_OFFER */
    uint64_t ctxid;
    uint32_t tag, seq;
    uint64_t total;
    uint32_t sig;
    int32_t src; /* rank in the port */
    union {
        uint8_t bytes[VCCI_CELL_INLINE];
        struct {
            uint64_t addr;
            uint32_t id, mem;
        } rts;
        struct {
            uint64_t goal;
            uint32_t id, rid;
        } cts;
        struct {
            uint32_t id;
            int32_t status;
        } fin;
        struct {
            uint32_t rid;
            int32_t status;
        } stop;
    } u;
};
_Static_assert(sizeof(struct vcci_cell) == 64, "a cell is a cache line");
/* DATA uses `tag` for rid, so that its payload may be inline. */


/* Bytes of payload that come with a cell. */
static inline size_t vcci_cell_payload(const struct vcci_cell *cell)
{
    return cell->kind == VCCI_CELL_EAGER || cell->kind == VCCI_CELL_DATA ? (size_t)cell->total : 0;
}

/* Shared memory: a little more payload than fits lies in the cells that follow, more than that in the ring's bulk bytes. */
#define VCCI_TAIL_BYTES 60u
#define VCCI_TAILS_MAX 5u
#define VCCI_TAILED_MAX (VCCI_CELL_INLINE + VCCI_TAIL_BYTES * VCCI_TAILS_MAX)
struct vcci_tail {
    _Atomic uint32_t stamp; /* as a cell's */
    uint8_t bytes[VCCI_TAIL_BYTES];
};
_Static_assert(sizeof(struct vcci_tail) == sizeof(struct vcci_cell), "a tail takes a cell's place");

/* ---- the inbox: one object per rank, a header and a ring for every rank of the host that ever sent to it ---- */

#define VCCI_RING_OFFERS 60u
#define VCCI_RING_CLASSES 9 /* of payload: up to 511 bytes, 1023, ... 65535, and more */

/* Each ring: this, then the cells, then (page-aligned) the bulk bytes. Lines are written by one side only, but for the offers. */
struct vcci_ring_head {
    /* the receiver's */
    _Alignas(128) _Atomic uint64_t cells_done; /* consumed since the beginning */
    _Atomic uint64_t bulk_done;                /* likewise, bytes */
    _Atomic uint64_t credit_done;              /* eager cost of messages that were matched */
    /* the sender's */
    _Alignas(128) _Atomic uint32_t owner;      /* local rank + 1, once the ring is in use */
    _Atomic uint32_t stalled;                  /* the sender waits for cells_done or bulk_done to grow: ring its bell */
    _Atomic uint32_t drain;                    /* says nothing; the sender writes it to see its stores done */
    /* the receiver's: what reading payload costs that was written through, round the caches; by size; 0: not measured */
    _Alignas(128) _Atomic uint32_t read_cost[VCCI_RING_CLASSES][2];
    /* VCCI_OFFER_ | id << 2 */
    _Alignas(128) _Atomic uint32_t offers[VCCI_RING_OFFERS];
};
enum { VCCI_OFFER_FREE, VCCI_OFFER_OPEN, VCCI_OFFER_TAKEN, VCCI_OFFER_WITHDRAWN };

#define VCCI_MEM_SLOTS 512u /* segments of vccl_mem_alloc that peers can find, per rank */

struct vcci_mem_entry {
    _Atomic uint32_t id; /* 0: none; the low bits are the index */
    uint64_t base;       /* in the owner's address space; data begin at base */
    struct vcci_shm_addr addr;
};
struct vcci_inbox {
    uint32_t version, rings;
    uint64_t ring_bytes, cells, bulk_bytes;
    uint64_t self;  /* address of this header in its owner's process ... */
    uint64_t probe; /* ... where process_vm_readv finds this number */
    _Alignas(64) _Atomic uint32_t claimed; /* rings handed out */
    _Alignas(64) struct vcci_mem_entry mem[VCCI_MEM_SLOTS];
};
#define VCCI_INBOX_AT VCCI_SHM_HEADER
#define VCCI_INBOX_BYTES ((VCCI_INBOX_AT + sizeof(struct vcci_inbox) + 4095) / 4096 * 4096) /* rings follow */

#endif
