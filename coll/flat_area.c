/* SPDX-License-Identifier: BSD-3-Clause
 * The shared area of a communicator's flat programs: layout, creation, opening. */
#include <stdlib.h>
#include <string.h>

#include "coll/flat.h"
#include "lib/base/err.h"

#define PAGE 4096u
#define SKEW 4160u /* between slots: powers of two apart, all slots would fall into the same sets of every cache */

/* Large enough that a chunk's cost hides its two hand-overs, small enough that the ring of a few chunks stays in the second-level cache. */
size_t vcci_flat_slot_bytes(int size)
{
    return size <= 4 ? 256u << 10 : size <= 16 ? 128u << 10 : size <= 64 ? 64u << 10 : size <= 256 ? 32u << 10 : 16u << 10;
}

static size_t round_page(size_t n)
{
    return (n + PAGE - 1) / PAGE * PAGE;
}

struct layout {
    size_t head, ctrl, lines, pockets, slots, bytes;
};

static struct layout layout(int size)
{
    struct layout l = {.head = VCCI_SHM_HEADER};
    size_t n = (size_t)size;
    l.ctrl = (l.head + sizeof(struct vcci_flat_head) + 127) / 128 * 128;
    l.lines = l.ctrl + n * sizeof(struct vcci_flat_ctrl);
    l.pockets = round_page(l.lines + n * VCCI_FLAT_LINES * sizeof(struct vcci_flat_line));
    l.slots = round_page(l.pockets + n * VCCI_FLAT_LINES * sizeof(struct vcci_flat_pocket));
    l.bytes = l.slots + n * VCCI_FLAT_SLOTS * (vcci_flat_slot_bytes(size) + SKEW);
    return l;
}

/* Everything but the mapping. */
static int prepare(struct vcci_flat *f, struct vcci_engine *engine, struct vcci_board *board, const int *local, int rank, int size,
                   int spins)
{
    memset(f, 0, sizeof *f);
    f->engine = engine;
    f->board = board;
    f->local = local;
    f->rank = rank;
    f->size = size;
    f->spins = spins;
    f->slot_stride = vcci_flat_slot_bytes(size) + SKEW;
    f->first = (rank + 1) % size;
    f->blocked_on = f->last_block = -1;
    atomic_flag_clear(&f->lock);
    vcci_list_init(&f->queue);
    f->seen = calloc((size_t)size * (VCCI_FLAT_PHASES + 1), sizeof *f->seen);
    f->srcs = malloc((size_t)size * sizeof *f->srcs);
    f->block = malloc(VCCI_FLAT_BLOCK);
    if (!f->seen || !f->srcs || !f->block) {
        vcci_flat_close(f);
        return vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for a communicator of %d ranks", size);
    }
    return 0;
}

static void place(struct vcci_flat *f)
{
    struct layout l = layout(f->size);
    uint8_t *base = f->shm.base;
    f->head = (struct vcci_flat_head *)(void *)(base + l.head);
    f->ctrl = (struct vcci_flat_ctrl *)(void *)(base + l.ctrl);
    f->lines = (struct vcci_flat_line *)(void *)(base + l.lines);
    f->pockets = (struct vcci_flat_pocket *)(void *)(base + l.pockets);
    f->slots = base + l.slots;
}

int vcci_flat_create(struct vcci_flat *f, struct vcci_engine *engine, struct vcci_board *board, const int *local, int rank, int size,
                     int spins, struct vcci_shm_addr *addr_out)
{
    int err = prepare(f, engine, board, local, rank, size, spins);
    if (err)
        return err;
    if (size == 1)
        return 0; /* nobody to share with: f->head stays NULL */
    if ((err = vcci_shm_create(&f->shm, layout(size).bytes, addr_out))) {
        vcci_flat_close(f);
        return err;
    }
    place(f);
    return 0;
}

int vcci_flat_open(struct vcci_flat *f, struct vcci_engine *engine, struct vcci_board *board, const int *local, int rank, int size,
                   int spins, const struct vcci_shm_addr *addr)
{
    int err = prepare(f, engine, board, local, rank, size, spins);
    if (err)
        return err;
    if (addr->bytes < layout(size).bytes)
        err = vcci_fail(VCCL_ERR_LINK, "the communicator's shared area has %llu bytes, %zu are needed for %d ranks",
                        (unsigned long long)addr->bytes, layout(size).bytes, size);
    else
        err = vcci_shm_open(&f->shm, addr);
    if (err) {
        vcci_flat_close(f);
        return err;
    }
    place(f);
    return 0;
}

void vcci_flat_close(struct vcci_flat *f)
{
    vcci_shm_close(&f->shm);
    free(f->seen);
    free(f->srcs);
    free(f->block);
    free(f->next);
    free(f->at);
    memset(f, 0, sizeof *f);
}
