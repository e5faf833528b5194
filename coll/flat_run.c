/* SPDX-License-Identifier: BSD-3-Clause
 * Running flat programs: stages of chunks in order, hand-overs through control lines, sleep and wake. */
#include "coll/flat.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "coll/sig.h"
#include "lib/base/clock.h"
#include "lib/base/copy.h"
#include "lib/base/err.h"
#include "lib/base/stat.h"

#define AHEAD 2u              /* lines */
#define LINES_A_REPORT 16u    /* small calls whose end is reported at once: there are VCCI_FLAT_LINES places, four times as many */
#define FIRST_SPINS 50        /* polls before asking whether other threads wait too */
#define YIELDS 8              /* turns given to other ranks before the engine is asked what to do */
#define DONE VCCI_FLAT_PHASES /* row of `seen` for ctrl.done */

/* ---- memory ---- */

static struct vcci_flat_line *line_of(const struct vcci_flat *f, int rank, uint64_t epoch)
{
    return &f->lines[(size_t)rank * VCCI_FLAT_LINES + epoch % VCCI_FLAT_LINES];
}

static struct vcci_flat_pocket *pocket_of(const struct vcci_flat *f, int rank, uint64_t epoch)
{
    return &f->pockets[(size_t)rank * VCCI_FLAT_LINES + epoch % VCCI_FLAT_LINES];
}

static uint8_t *slot_of(const struct vcci_flat *f, int rank, uint64_t epoch)
{
    return f->slots + ((size_t)rank * VCCI_FLAT_SLOTS + epoch % VCCI_FLAT_SLOTS) * f->slot_stride;
}

static void *address(const struct vcci_flat *f, const struct vcci_flat_run *run, const struct vcci_ref *r, uint64_t chunk)
{
    if (r->space == VCCI_IN)
        return (uint8_t *)(uintptr_t)run->in + r->base + chunk * r->stride;
    if (r->space == VCCI_OUT)
        return (uint8_t *)run->out + r->base + chunk * r->stride;
    int whose = r->whose < 0 ? f->rank : r->whose;
    uint64_t epoch = run->epoch + chunk;
    if (run->plan->place == VCCI_FLAT_LINE)
        return line_of(f, whose, epoch)->data + r->base;
    return (run->plan->place == VCCI_FLAT_POCKET ? pocket_of(f, whose, epoch)->data : slot_of(f, whose, epoch)) + r->base;
}

/* ---- waking ---- */

/* Rings those that sleep until this rank publishes. Called after the publication, as late as possible: the fence waits for the
 * stores, and by then they have overlapped with whatever was read meanwhile. */
static void settle(struct vcci_flat *f)
{
    f->owed = 0;
    if (!f->head)
        return;
    atomic_thread_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&f->head->sleepers, memory_order_relaxed) == 0, 1))
        return;
    for (int r = 0; r < f->size; r++)
        if (r != f->rank && atomic_load_explicit(&f->ctrl[r].awaits, memory_order_acquire) == (uint32_t)f->rank + 1)
            vcci_board_ring(f->board, f->local[r]);
}

static void park(void *arg)
{
    struct vcci_flat *f = arg;
    if (f->parked || !f->head || f->blocked_on < 0)
        return;
    f->parked = 1;
    atomic_store(&f->ctrl[f->rank].awaits, (uint32_t)f->blocked_on + 1);
    atomic_fetch_add(&f->head->sleepers, 1);
}

static void unpark(void *arg)
{
    struct vcci_flat *f = arg;
    if (!f->parked)
        return;
    f->parked = 0;
    atomic_fetch_sub(&f->head->sleepers, 1);
    atomic_store_explicit(&f->ctrl[f->rank].awaits, 0, memory_order_relaxed);
}

/* ---- failure ---- */

void vcci_flat_poison(struct vcci_flat *f, vccl_result_t result, uint32_t sig)
{
    uint32_t clean = 0;
    if (!f->head)
        return;
    atomic_store_explicit(&f->head->poison_sig, sig, memory_order_relaxed);
    atomic_store_explicit(&f->head->poison_rank, (uint32_t)f->rank, memory_order_relaxed);
    if (!atomic_compare_exchange_strong(&f->head->poison, &clean, (uint32_t)result))
        return;
    for (int r = 0; r < f->size; r++)
        if (r != f->rank && f->local)
            vcci_board_ring(f->board, f->local[r]);
}

static int poisoned(const struct vcci_flat *f)
{
    uint32_t p = f->head ? atomic_load_explicit(&f->head->poison, memory_order_acquire) : 0;
    if (__builtin_expect(p == 0, 1))
        return 0;
    char text[64];
    int rank = (int)atomic_load_explicit(&f->head->poison_rank, memory_order_relaxed);
    vcci_sig_text(atomic_load_explicit(&f->head->poison_sig, memory_order_relaxed), text, sizeof text);
    return vcci_fail((vccl_result_t)p, "rank %d failed in %s (%s) and revoked the communicator", rank, text,
                     vccl_strerror((vccl_result_t)p));
}

/* ---- hand-overs ---- */

/* Whom this step waits for: the oldest chunk's oldest wait, which is tried first. Whoever is waited for there is no further
 * than that chunk, so following such waits from rank to rank ends at one that can run: sleeping for a single rank cannot
 * deadlock. */
static void block(struct vcci_flat *f, int rank)
{
    if (f->blocked_on < 0)
        f->blocked_on = rank;
}

/* Has `peer` given signal `phase` of epoch? -1: it calls something else. */
static int signalled(struct vcci_flat *f, const struct vcci_flat_plan *plan, int peer, uint32_t phase, uint64_t epoch, int first)
{
    uint32_t sig;
    if (plan->place == VCCI_FLAT_LINE) {
        struct vcci_flat_line *l = line_of(f, peer, epoch);
        if (atomic_load_explicit(&l->seq, memory_order_acquire) != (uint32_t)(epoch + 1))
            return 0;
        sig = l->sig;
    } else {
        uint64_t *seen = &f->seen[(size_t)phase * (size_t)f->size + (size_t)peer];
        if (*seen <= epoch) {
            *seen = atomic_load_explicit(&f->ctrl[peer].seq[phase], memory_order_acquire);
            if (*seen <= epoch)
                return 0;
        }
        if (!first)
            return 1;
        sig = plan->place == VCCI_FLAT_POCKET ? pocket_of(f, peer, epoch)->sig
                                              : atomic_load_explicit(&f->ctrl[peer].sig[epoch % VCCI_FLAT_SLOTS], memory_order_relaxed);
    }
    if (__builtin_expect(sig == plan->sig, 1))
        return 1;
    return vcci_sig_mismatch(f->rank, plan->sig, peer, sig) < 0 ? -1 : 0;
}

/* May this rank write into the place of `epoch`, in a ring of `places`: is everybody done with the epoch that had it before? */
static int place_free(struct vcci_flat *f, uint64_t epoch, uint32_t places)
{
    if (epoch < places || f->min_done > epoch - places)
        return 1;
    uint64_t need = epoch - places + 1, least = UINT64_MAX;
    uint64_t *seen = &f->seen[(size_t)DONE * (size_t)f->size];
    for (int r = 0; r < f->size; r++) {
        if (r == f->rank)
            continue;
        if (seen[r] < need)
            seen[r] = atomic_load_explicit(&f->ctrl[r].done, memory_order_acquire);
        if (seen[r] < need) {
            block(f, r);
            return 0;
        }
        if (seen[r] < least)
            least = seen[r];
    }
    if (least > f->min_done)
        f->min_done = least;
    return 1;
}

/* The line is still in the caches of those who read it a turn of the ring ago: take it from them before it is needed. */
static void prefetch_to_write(const void *line)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" ::"m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

static void publish(struct vcci_flat *f, const struct vcci_flat_run *run, uint32_t phase, uint64_t chunk)
{
    uint64_t epoch = run->epoch + chunk;
    if (run->plan->place == VCCI_FLAT_LINE) {
        struct vcci_flat_line *l = line_of(f, f->rank, epoch);
        l->sig = run->plan->sig;
        atomic_store_explicit(&l->seq, (uint32_t)(epoch + 1), memory_order_release);
        prefetch_to_write(line_of(f, f->rank, epoch + AHEAD));
    } else {
        if (run->plan->place == VCCI_FLAT_POCKET && phase == 0)
            pocket_of(f, f->rank, epoch)->sig = run->plan->sig;
        else if (run->plan->place == VCCI_FLAT_SLOT && chunk == 0)
            atomic_store_explicit(&f->ctrl[f->rank].sig[epoch % VCCI_FLAT_SLOTS], run->plan->sig, memory_order_relaxed);
        atomic_store_explicit(&f->ctrl[f->rank].seq[phase], epoch + 1, memory_order_release);
    }
    f->owed = 1;
}

/* ---- through the caches or round them ---- */

#define TRIES     8   /* runs of a plan that are tried both ways at first */
#define TRY_AGAIN 128 /* of so many runs the last four are tries */
#define LONG      16  /* chunks from which a run is long: half as many tries, a quarter as often */

/* A line that another core has read must be taken from it to be written, and given back to be read. Between cores with a
 * common cache that is fast; between others it takes up to five times as long as the way through memory. What the cores share
 * virtual machines do not tell, and it changes when the scheduler moves a rank, so both ways are timed now and then: in the
 * same runs on all ranks, as all count a plan's runs alike, so that they come to one mind. */
static void choose_way(struct vcci_flat *f, const struct vcci_flat_plan *plan)
{
    struct vcci_flat_habit *h = plan->habit;
    f->around = 0;
    f->began_ns = 0;
    if (!h)
        return;
    uint32_t n = h->runs++, is_long = plan->sched->n_chunks >= LONG, again = is_long ? 4 * TRY_AGAIN : TRY_AGAIN;
    int tries = n < (is_long ? TRIES / 2 : TRIES) || n % again >= again - 4;
    /* Round them unless that is clearly dearer: a mistake costs less on that side. */
    f->around = tries ? (uint8_t)(n >> 1 & 1) : h->cost_ns[1] - h->cost_ns[1] / 8 <= h->cost_ns[0];
    if (tries && (n & 1)) /* the first of two finds the lines where the other way left them */
        f->began_ns = vcci_now_ns();
}

/* Dearer is believed slowly: the kernel may have taken the core away. */
static void note_cost(struct vcci_flat *f, struct vcci_flat_habit *h)
{
    int64_t took = vcci_now_ns() - f->began_ns;
    uint32_t *cost = &h->cost_ns[f->around], now = took < 1 ? 1 : took > INT32_MAX ? INT32_MAX : (uint32_t)took;
    *cost = !*cost || now < *cost ? now : *cost + (now - *cost + 7) / 8;
}

/* ---- nodes ---- */

/* Copies to where a ref says: what is shown by the way in force; results larger than the last-level cache past it, since nobody reads them soon. */
static void put(const struct vcci_flat *f, const struct vcci_flat_plan *plan, const struct vcci_ref *r, void *to, const void *from,
                size_t bytes)
{
    int around = r->space == VCCI_SCRATCH ? f->around && bytes >= VCCI_FLAT_AROUND_MIN : plan->stream;
    if (around)
        vcci_copy_stream(to, from, bytes);
    else
        vcci_copy_bytes(to, from, bytes);
}

/* Sums block by block in the first-level cache, and puts each block where it goes. */
static void reduce_blocks(struct vcci_flat *f, const struct vcci_flat_run *run, const struct vcci_node *n, uint64_t chunk, size_t bytes)
{
    const struct vcci_flat_plan *plan = run->plan;
    const struct vcci_ref *r = &plan->sched->refs[n->first_ref];
    uint8_t *out[2] = {address(f, run, &r[n->n_in], chunk), n->n_out == 2 ? address(f, run, &r[n->n_in + 1], chunk) : NULL};
    for (size_t at = 0; at < bytes; at += VCCI_FLAT_BLOCK) {
        size_t some = bytes - at < VCCI_FLAT_BLOCK ? bytes - at : VCCI_FLAT_BLOCK, count = some / plan->type_bytes;
        plan->reduce(f->block, f->srcs, n->n_in, count);
        if (plan->average && (n->flags & VCCI_FINAL))
            vcci_reduce_average(f->block, count, plan->sched->type, f->size);
        for (unsigned i = 0; i < n->n_out; i++)
            put(f, plan, &r[n->n_in + i], out[i] + at, f->block, some);
        for (unsigned i = 0; i < n->n_in; i++)
            f->srcs[i] = (const uint8_t *)f->srcs[i] + some;
    }
}

static void reduce(struct vcci_flat *f, const struct vcci_flat_run *run, const struct vcci_node *n, uint64_t chunk)
{
    const struct vcci_flat_plan *plan = run->plan;
    const struct vcci_ref *r = &plan->sched->refs[n->first_ref];
    size_t bytes = vcci_ref_len(r, chunk);
    if (!bytes)
        return;
    for (unsigned i = 0; i < n->n_in; i++)
        f->srcs[i] = address(f, run, &r[i], chunk);
    if (n->n_out == 2 || (plan->stream && plan->average)) {
        reduce_blocks(f, run, n, chunk, bytes);
        return;
    }
    void *dst = address(f, run, &r[n->n_in], chunk);
    int past = plan->stream && r[n->n_in].space == VCCI_OUT;
    (past ? plan->reduce_stream : plan->reduce)(dst, f->srcs, n->n_in, bytes / plan->type_bytes);
    if (plan->average && (n->flags & VCCI_FINAL))
        vcci_reduce_average(dst, bytes / plan->type_bytes, plan->sched->type, f->size);
}

static void copy(struct vcci_flat *f, const struct vcci_flat_run *run, const struct vcci_node *n, uint64_t chunk)
{
    const struct vcci_flat_plan *plan = run->plan;
    const struct vcci_ref *r = &plan->sched->refs[n->first_ref];
    size_t bytes = vcci_ref_len(r, chunk);
    if (!bytes)
        return;
    void *dst = address(f, run, &r[1], chunk);
    put(f, plan, &r[1], dst, address(f, run, &r[0], chunk), bytes);
    if (plan->average && (n->flags & VCCI_FINAL))
        vcci_reduce_average(dst, bytes / plan->type_bytes, plan->sched->type, f->size);
}

/* The WAITs at a stage's start: 1 all given, 0 not yet (f->blocked_on says by whom), < 0 mismatch. *first_op: the node after
 * them. */
static int stage_ready(struct vcci_flat *f, const struct vcci_flat_run *run, uint32_t stage, uint64_t chunk, uint32_t *first_op)
{
    const struct vcci_sched *s = run->plan->sched;
    uint32_t id = run->plan->stages[stage];
    int at = f->at[stage], counted = 0;
    for (; id < s->n_nodes && s->nodes[id].kind == VCCI_NODE_WAIT; id++) {
        const struct vcci_node *n = &s->nodes[id];
        int many = n->peer < 0 ? f->size : 1;
        for (int i = at > counted ? at - counted : 0; i < many; i++) {
            int peer = n->peer < 0 ? (f->first + i < f->size ? f->first + i : f->first + i - f->size) : n->peer;
            int given = peer == f->rank ? 1 : signalled(f, run->plan, peer, n->pair, run->epoch + chunk, chunk == 0);
            if (given > 0)
                continue;
            f->at[stage] = counted + i;
            block(f, peer);
            return given < 0 ? -VCCL_ERR_MISMATCH : 0;
        }
        counted += many;
    }
    f->at[stage] = 0;
    *first_op = id;
    return 1;
}

static void stage_run(struct vcci_flat *f, const struct vcci_flat_run *run, uint32_t stage, uint64_t chunk, uint32_t id)
{
    const struct vcci_sched *s = run->plan->sched;
    for (; id < run->plan->stages[stage + 1]; id++) {
        const struct vcci_node *n = &s->nodes[id];
        if (n->kind == VCCI_NODE_REDUCE)
            reduce(f, run, n, chunk);
        else if (n->kind == VCCI_NODE_COPY)
            copy(f, run, n, chunk);
        else
            publish(f, run, n->pair, chunk);
    }
}

/* ---- one run ---- */

static void report_done(struct vcci_flat *f, uint64_t below)
{
    f->reported = below;
    atomic_store_explicit(&f->ctrl[f->rank].done, below, memory_order_release);
    f->owed = 1;
}

static void chunk_over(struct vcci_flat *f, const struct vcci_flat_run *run, uint64_t chunk)
{
    uint64_t epoch = run->epoch + chunk;
    if (run->plan->place == VCCI_FLAT_LINE && run->plan->sched->symmetric)
        f->min_done = epoch; /* everybody's line of this epoch said that the epochs before it are over */
    else if (run->plan->place == VCCI_FLAT_SLOT || epoch % LINES_A_REPORT == LINES_A_REPORT - 1)
        report_done(f, epoch + 1);
}

/* One attempt at stage `st`; 1: a chunk's stage was run, 0: it has to wait, < 0. */
static int try_stage(struct vcci_flat *f, const struct vcci_flat_run *run, uint32_t st)
{
    const struct vcci_flat_plan *plan = run->plan;
    const struct vcci_sched *s = plan->sched;
    uint32_t last = plan->n_stages - 1, first_op = 0;
    uint64_t chunk = f->next[st];
    if (chunk >= s->n_chunks || (st && chunk >= f->next[st - 1]))
        return 0;
    if (st == 0 && f->head && (chunk >= f->next[last] + s->window ||
                               !place_free(f, run->epoch + chunk, plan->place == VCCI_FLAT_SLOT ? VCCI_FLAT_SLOTS : VCCI_FLAT_LINES)))
        return 0;
    int ready = stage_ready(f, run, st, chunk, &first_op);
    if (ready <= 0)
        return ready;
    stage_run(f, run, st, chunk, first_op);
    f->next[st]++;
    if (st == last && f->head)
        chunk_over(f, run, chunk);
    return 1;
}

/* Runs what can be run: oldest chunks first, so that memory touched is still in cache. 1: the run is over, 0: it waits, < 0:
 * it failed. */
static int step(struct vcci_flat *f, const struct vcci_flat_run *run, int *moved)
{
    uint32_t last = run->plan->n_stages - 1;
    for (;;) {
        int any = 0;
        f->blocked_on = -1;
        for (uint32_t st = last + 1; st-- > 0 && !any;) {
            any = try_stage(f, run, st);
            if (any < 0)
                return any;
        }
        if (f->next[last] >= run->plan->sched->n_chunks)
            return 1;
        if (!any)
            break;
        *moved = 1;
    }
    f->last_block = f->blocked_on;
    if (f->owed)
        settle(f);
    return poisoned(f);
}

static int begin(struct vcci_flat *f, struct vcci_flat_run *run)
{
    const struct vcci_flat_plan *plan = run->plan;
    if (plan->n_stages > f->next_cap) {
        uint64_t *next = malloc(plan->n_stages * sizeof *next);
        int *at = malloc(plan->n_stages * sizeof *at);
        if (!next || !at) {
            free(next);
            free(at);
            return vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for %u stages of a flat program", plan->n_stages);
        }
        VCCI_COUNT(allocs, 2);
        free(f->next);
        free(f->at);
        f->next = next;
        f->at = at;
        f->next_cap = plan->n_stages;
    }
    for (uint32_t i = 0; i < plan->n_stages; i++) {
        f->next[i] = 0;
        f->at[i] = 0;
    }
    run->epoch = f->epoch;
    f->epoch += plan->sched->n_chunks;
    if (plan->place == VCCI_FLAT_SLOT && f->head && f->reported < run->epoch)
        report_done(f, run->epoch); /* slots are few: the others must know exactly */
    f->started = 1;
    choose_way(f, plan);
    return 0;
}

static void end(struct vcci_flat *f)
{
    f->started = 0;
    if (f->last_block >= 0)
        f->first = f->last_block; /* whoever came last is likely to come last again: wait for it first, and wake up once */
    f->last_block = -1;
    if (f->owed)
        settle(f);
    VCCI_COUNT(coll_flat, 1);
}

static int fail(struct vcci_flat *f, const struct vcci_flat_run *run, int err)
{
    vcci_flat_poison(f, (vccl_result_t)-err, run->plan->sig);
    f->started = 0;
    return err;
}

/* ---- the queue ---- */

static int try_lock(struct vcci_flat *f)
{
    return !atomic_flag_test_and_set_explicit(&f->lock, memory_order_acquire);
}

static void unlock(struct vcci_flat *f)
{
    atomic_flag_clear_explicit(&f->lock, memory_order_release);
}

/* Steps the head run; 1: it is over with *status_out and was taken off. Baton and lock held. */
static int step_head(struct vcci_flat *f, int *moved, int *status_out)
{
    struct vcci_flat_run *run = VCCI_CONTAINER(f->queue.next, struct vcci_flat_run, node);
    int err = f->started ? 0 : poisoned(f);
    if (!err && !f->started)
        err = begin(f, run);
    int over = err ? err : step(f, run, moved);
    if (over == 0)
        return 0;
    if (over < 0)
        fail(f, run, over);
    else if (f->began_ns)
        note_cost(f, run->plan->habit);
    end(f);
    unpark(f);
    vcci_list_remove(&run->node);
    atomic_fetch_sub_explicit(&f->queued, 1, memory_order_release);
    *moved = 1;
    *status_out = over < 0 ? over : 0;
    return 1;
}

static int step_queue(struct vcci_flat *f)
{
    int moved = 0, status = 0;
    while (!vcci_list_empty(&f->queue)) {
        struct vcci_flat_run *run = VCCI_CONTAINER(f->queue.next, struct vcci_flat_run, node);
        if (!step_head(f, &moved, &status))
            break;
        run->done(run, status);
    }
    return moved;
}

int vcci_flat_progress(struct vcci_flat *f)
{
    if (!vcci_flat_busy(f) || !try_lock(f))
        return 0;
    int moved = step_queue(f);
    unlock(f);
    return moved;
}

int vcci_flat_arm(struct vcci_flat *f)
{
    if (!vcci_flat_busy(f) || !try_lock(f))
        return 0;
    int moved = step_queue(f);
    if (!moved && !vcci_list_empty(&f->queue)) {
        unpark(f); /* it may wait for another rank by now */
        park(f);
        moved = step_queue(f);
    }
    unlock(f);
    return moved;
}

static void lock(struct vcci_flat *f)
{
    for (int i = 0; !try_lock(f); i++) {
        if (i < 64)
            vcci_cpu_relax();
        else
            sched_yield();
    }
}

int vcci_flat_start(struct vcci_flat *f, struct vcci_flat_run *run)
{
    int moved = 0, status = 0, over = 0;
    lock(f);
    int first = vcci_list_empty(&f->queue);
    vcci_list_push(&f->queue, &run->node);
    atomic_fetch_add_explicit(&f->queued, 1, memory_order_relaxed);
    if (first)
        over = step_head(f, &moved, &status);
    unlock(f);
    return over ? status : 1;
}

/* ---- blocking ---- */

struct call {
    struct vcci_flat *f;
    struct vcci_flat_run run;
    int status; /* as step */
};

static int call_ready(void *arg)
{
    struct call *c = arg;
    int moved = 0;
    c->status = step(c->f, &c->run, &moved);
    while (c->status == 0 && moved && c->f->parked) { /* about to sleep, and it waits for another rank by now: tell that one */
        unpark(c->f);
        park(c->f);
        moved = 0;
        c->status = step(c->f, &c->run, &moved);
    }
    return c->status != 0;
}

static void call_park(void *arg)
{
    park(((struct call *)arg)->f);
}

static void call_unpark(void *arg)
{
    unpark(((struct call *)arg)->f);
}

static int queue_empty(void *arg)
{
    return !vcci_flat_busy(arg);
}

/* Threads of this process that wait here. A rank has as many cores as it was promised, but not each of its threads. */
static _Atomic int waiting;

static int spin(struct call *c, int polls)
{
    for (int i = 0; i < polls; i++) {
        vcci_cpu_relax();
        if (call_ready(c))
            return 1;
    }
    return 0;
}

static int yield(struct call *c)
{
    for (int i = 0; i < YIELDS; i++) {
        sched_yield();
        if (call_ready(c))
            return 1;
    }
    return 0;
}

/* First alone with the flat area, which costs less than the engine's rounds: spins where there is a core for it, else gives the core to the next. */
static int wait_for(struct vcci_flat *f, struct call *c, int64_t deadline_ns)
{
    if (f->spins && spin(c, FIRST_SPINS))
        return 0;
    int alone = atomic_fetch_add_explicit(&waiting, 1, memory_order_relaxed) == 0;
    int over = f->spins && alone ? spin(c, f->spins) : yield(c);
    atomic_fetch_sub_explicit(&waiting, 1, memory_order_relaxed);
    if (over)
        return 0;
    struct vcci_waiter w = {.ready = call_ready, .park = call_park, .unpark = call_unpark, .arg = c};
    return vcci_engine_wait(f->engine, &w, deadline_ns);
}

static int time_out(struct vcci_flat *f, const struct vcci_flat_run *run)
{
    char text[64];
    return vcci_fail(VCCL_ERR_TIMEOUT, "%s, number %llu on its communicator: rank %d waited for rank %d, which did not come in time",
                     vcci_sig_text(run->plan->sig, text, sizeof text), (unsigned long long)run->epoch, f->rank, f->blocked_on);
}

int vcci_flat_call(struct vcci_flat *f, const struct vcci_flat_plan *plan, const void *in, void *out, int64_t deadline_ns)
{
    if (__builtin_expect(vcci_flat_busy(f), 0)) {
        struct vcci_waiter w = {.ready = queue_empty, .arg = f};
        if (vcci_engine_wait(f->engine, &w, deadline_ns))
            return vcci_fail(VCCL_ERR_TIMEOUT, "earlier nonblocking collectives on the communicator did not end in time");
    }
    lock(f);
    struct call c = {.f = f, .run = {.plan = plan, .in = in, .out = out}};
    int err = poisoned(f);
    if (!err)
        err = begin(f, &c.run);
    if (!err && !call_ready(&c)) {
        err = wait_for(f, &c, deadline_ns);
        if (err)
            err = time_out(f, &c.run);
    }
    if (!err && c.status < 0)
        err = c.status;
    if (err && f->started)
        fail(f, &c.run, err);
    if (!err && f->began_ns)
        note_cost(f, plan->habit);
    end(f);
    unlock(f);
    return err;
}
