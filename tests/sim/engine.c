/* SPDX-License-Identifier: BSD-3-Clause
 * Schedules of messages: ready nodes, deliveries and completions are events, taken in an order that the seed chooses. A send
 * completes when its buffer is read: at once, or not before the receive is there, as in a rendezvous. */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

enum event_kind { ISSUE, DELIVER, SENT };
struct event {
    uint8_t kind;
    uint32_t rank, node; /* DELIVER: the RECV; SENT: the SEND */
    uint64_t chunk;
};
struct message { /* one per RECV node and chunk */
    uint32_t *payload;
    uint8_t sent, posted, waits; /* waits: the SEND is over when this is delivered */
};
struct engine_rank {
    uint32_t n_nodes;
    uint32_t *mate;   /* [nodes]: SEND's RECV on the peer and the other way round */
    uint64_t *before; /* [nodes][words]: nodes that are over when this one starts */
    size_t words;
    uint32_t *deps;           /* [chunks][nodes] */
    uint32_t *left;           /* [chunks]: nodes not over; SIM_NONE: not begun */
    struct message *messages; /* [chunks][nodes] */
    uint64_t *heard;          /* [nodes][ranks' words]: calls without data only */
    uint64_t begun;
};
struct engine {
    struct engine_rank *ranks;
    struct event *events;
    size_t n_events, cap_events;
    uint64_t chunks;
    size_t rank_words; /* 0: do not follow who has heard of whom */
    int order;         /* random, newest first, oldest first */
    size_t head;
};

static void *zeroed(size_t n, size_t bytes)
{
    void *p = calloc(n + 1, bytes);
    if (!p)
        exit(99);
    return p;
}

static int ordered(const struct sim_world *w, uint32_t rank, uint32_t node, uint32_t rank2, uint32_t node2, uint64_t chunk)
{
    const struct engine *g = w->executor;
    const struct engine_rank *r = &g->ranks[rank];
    (void)chunk;
    return rank == rank2 && (r->before[node2 * r->words + node / 64] >> node % 64 & 1);
}

static int is_message(const struct vcci_node *n)
{
    return n->kind == VCCI_NODE_SEND || n->kind == VCCI_NODE_RECV;
}

static void push(struct engine *g, struct event e)
{
    if (g->n_events == g->cap_events) {
        g->cap_events = g->cap_events ? 2 * g->cap_events : 256;
        g->events = realloc(g->events, g->cap_events * sizeof *g->events);
        if (!g->events)
            exit(99);
    }
    g->events[g->n_events++] = e;
}

static struct event pop(struct sim_world *w, struct engine *g)
{
    size_t i = g->order == 0 ? g->head + sim_random(w) % (g->n_events - g->head) : g->order == 1 ? g->n_events - 1 : g->head;
    struct event e = g->events[i];
    if (g->order == 2)
        g->head++;
    else
        g->events[i] = g->events[--g->n_events];
    return e;
}

/* ---- before the run ---- */

/* Transitive closure in the order of Kahn's algorithm, which freeze has shown to reach all nodes. */
static void close_over(const struct vcci_sched *s, struct engine_rank *r)
{
    uint32_t *deps = zeroed(s->n_nodes, sizeof *deps), *queue = zeroed(s->n_nodes, sizeof *queue), head = 0, tail = 0;
    r->words = (s->n_nodes + 63) / 64;
    r->before = zeroed(s->n_nodes * r->words, sizeof *r->before);
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (!(deps[i] = s->nodes[i].n_deps))
            queue[tail++] = i;
    while (head < tail) {
        uint32_t i = queue[head++];
        for (uint32_t k = 0; k < s->nodes[i].n_succ; k++) {
            uint32_t next = s->succs[s->nodes[i].first_succ + k];
            for (size_t x = 0; x < r->words; x++)
                r->before[next * r->words + x] |= r->before[i * r->words + x];
            r->before[next * r->words + i / 64] |= 1ull << i % 64;
            if (!--deps[next])
                queue[tail++] = next;
        }
    }
    free(deps);
    free(queue);
}

/* The nodes of one kind by (peer, pair): at[first[peer] + pair]. */
struct index {
    uint32_t *first, *at;
};

static int index_messages(struct sim_world *w, const struct vcci_sched *s, int kind, struct index *x)
{
    x->first = zeroed((size_t)s->size + 1, sizeof *x->first);
    x->at = zeroed(s->n_nodes, sizeof *x->at);
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (s->nodes[i].kind == kind)
            x->first[s->nodes[i].peer + 1]++;
    for (int q = 0; q < s->size; q++)
        x->first[q + 1] += x->first[q];
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const struct vcci_node *n = &s->nodes[i];
        if (n->kind != kind)
            continue;
        if (n->pair >= x->first[n->peer + 1] - x->first[n->peer] || x->at[x->first[n->peer] + n->pair])
            return sim_fail(w, "rank %d: messages with rank %d are not numbered 0, 1, …", s->rank, n->peer);
        x->at[x->first[n->peer] + n->pair] = i + 1;
    }
    return 0;
}

static int mate(struct sim_world *w, struct engine *g, const struct index *recvs, int rank)
{
    const struct vcci_sched *s = w->ranks[rank].sched;
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        const struct vcci_node *n = &s->nodes[i];
        if (n->kind != VCCI_NODE_SEND)
            continue;
        const struct index *x = &recvs[n->peer];
        uint32_t there = x->first[rank + 1] - x->first[rank];
        if (n->pair >= there || n->pairs != there)
            return sim_fail(w, "rank %d sends rank %d %u messages a chunk, which expects %u", rank, n->peer, n->pairs, there);
        uint32_t j = x->at[x->first[rank] + n->pair] - 1;
        g->ranks[rank].mate[i] = j;
        g->ranks[n->peer].mate[j] = i;
        if (w->ranks[n->peer].sched->nodes[j].pairs != n->pairs)
            return sim_fail(w, "ranks %d and %d count their messages differently", rank, n->peer);
    }
    return 0;
}

static int mate_all(struct sim_world *w, struct engine *g)
{
    struct index *recvs = zeroed((size_t)w->c.size, sizeof *recvs);
    int err = 0;
    for (int r = 0; r < w->c.size; r++)
        memset(g->ranks[r].mate, 0xff, g->ranks[r].n_nodes * sizeof(uint32_t));
    for (int r = 0; r < w->c.size && !err; r++)
        err = index_messages(w, w->ranks[r].sched, VCCI_NODE_RECV, &recvs[r]);
    for (int r = 0; r < w->c.size && !err; r++)
        err = mate(w, g, recvs, r);
    for (int r = 0; r < w->c.size && !err; r++)
        for (uint32_t i = 0; i < g->ranks[r].n_nodes && !err; i++)
            if (is_message(&w->ranks[r].sched->nodes[i]) && g->ranks[r].mate[i] == SIM_NONE)
                err = sim_fail(w, "rank %d node %u: nobody sends what it receives", r, i);
    for (int r = 0; r < w->c.size; r++) {
        free(recvs[r].first);
        free(recvs[r].at);
    }
    free(recvs);
    return err;
}

/* ---- the run ---- */

static void begin_chunks(struct sim_world *w, struct engine *g, int rank)
{
    struct engine_rank *r = &g->ranks[rank];
    const struct vcci_sched *s = w->ranks[rank].sched;
    while (r->begun < g->chunks && (r->begun < s->window || r->left[r->begun - s->window] == 0)) {
        uint64_t k = r->begun++;
        r->left[k] = s->n_nodes;
        for (uint32_t i = 0; i < s->n_nodes; i++) {
            r->deps[k * s->n_nodes + i] = s->nodes[i].n_deps;
            if (!s->nodes[i].n_deps)
                push(g, (struct event){ISSUE, (uint32_t)rank, i, k});
        }
    }
}

/* What this rank has heard of when `node` is over goes to what comes after it. */
static void hear(struct engine *g, struct engine_rank *r, uint32_t node, const uint64_t *more)
{
    for (size_t x = 0; x < g->rank_words; x++)
        r->heard[node * g->rank_words + x] |= more[x];
}

static void over(struct sim_world *w, struct engine *g, int rank, uint64_t chunk, uint32_t node)
{
    struct engine_rank *r = &g->ranks[rank];
    const struct vcci_sched *s = w->ranks[rank].sched;
    const struct vcci_node *n = &s->nodes[node];
    for (uint32_t k = 0; k < n->n_succ; k++) {
        uint32_t next = s->succs[n->first_succ + k];
        hear(g, r, next, r->heard + node * g->rank_words);
        if (--r->deps[chunk * s->n_nodes + next] == 0)
            push(g, (struct event){ISSUE, (uint32_t)rank, next, chunk});
    }
    if (--r->left[chunk] == 0)
        begin_chunks(w, g, rank);
}

static int issue(struct sim_world *w, struct engine *g, int rank, uint64_t chunk, uint32_t node)
{
    const struct vcci_sched *s = w->ranks[rank].sched;
    const struct vcci_node *n = &s->nodes[node];
    struct engine_rank *r = &g->ranks[rank], *p = is_message(n) ? &g->ranks[n->peer] : NULL;
    if (!is_message(n)) {
        if (sim_move(w, rank, chunk, node, NULL))
            return -1;
        over(w, g, rank, chunk, node);
        return 0;
    }
    struct message *m =
        n->kind == VCCI_NODE_RECV ? &r->messages[chunk * s->n_nodes + node] : &p->messages[chunk * p->n_nodes + r->mate[node]];
    if (n->kind == VCCI_NODE_RECV) {
        m->posted = 1;
    } else {
        m->payload = zeroed(vcci_ref_len(&s->refs[n->first_ref], chunk), sizeof *m->payload);
        if (sim_move(w, rank, chunk, node, m->payload))
            return -1;
        m->sent = 1;
        m->waits = sim_random(w) & 1;
        if (!m->waits)
            push(g, (struct event){SENT, (uint32_t)rank, node, chunk});
    }
    if (m->sent && m->posted)
        push(g, n->kind == VCCI_NODE_RECV ? (struct event){DELIVER, (uint32_t)rank, node, chunk}
                                          : (struct event){DELIVER, (uint32_t)n->peer, r->mate[node], chunk});
    return 0;
}

static int deliver(struct sim_world *w, struct engine *g, int rank, uint64_t chunk, uint32_t node)
{
    const struct vcci_sched *s = w->ranks[rank].sched;
    const struct vcci_node *n = &s->nodes[node];
    struct engine_rank *r = &g->ranks[rank], *p = &g->ranks[n->peer];
    const struct vcci_sched *ps = w->ranks[n->peer].sched;
    struct message *m = &r->messages[chunk * s->n_nodes + node];
    uint32_t send = r->mate[node];
    size_t have = vcci_ref_len(&ps->refs[ps->nodes[send].first_ref], chunk), want = vcci_ref_len(&s->refs[n->first_ref], chunk);
    if (have != want)
        return sim_fail(w, "rank %d chunk %llu node %u expects %zu bytes of rank %d, which sends %zu", rank,
                        (unsigned long long)chunk, node, want, n->peer, have);
    if (sim_move(w, rank, chunk, node, m->payload))
        return -1;
    hear(g, r, node, p->heard + send * g->rank_words);
    over(w, g, rank, chunk, node);
    if (m->waits)
        push(g, (struct event){SENT, (uint32_t)n->peer, send, chunk});
    free(m->payload);
    m->payload = NULL;
    return 0;
}

static int loop(struct sim_world *w, struct engine *g)
{
    for (int r = 0; r < w->c.size; r++)
        begin_chunks(w, g, r);
    while (g->n_events > g->head) {
        struct event e = pop(w, g);
        int err = 0;
        if (e.kind == ISSUE)
            err = issue(w, g, (int)e.rank, e.chunk, e.node);
        else if (e.kind == DELIVER)
            err = deliver(w, g, (int)e.rank, e.chunk, e.node);
        else
            over(w, g, (int)e.rank, e.chunk, e.node);
        if (err)
            return -1;
    }
    for (int r = 0; r < w->c.size; r++)
        for (uint64_t k = 0; g->ranks[r].n_nodes && k < g->chunks; k++)
            if (g->ranks[r].left[k])
                return sim_fail(w, "deadlock: rank %d has %d nodes of chunk %llu left", r, (int)g->ranks[r].left[k],
                                (unsigned long long)k);
    return 0;
}

/* Who must have been heard of before this rank may end: what the collective synchronises, also with no data. */
static int check_heard(struct sim_world *w, struct engine *g)
{
    enum vcci_coll coll = w->c.algo->coll;
    uint64_t *all = zeroed(g->rank_words, sizeof *all);
    int err = 0;
    for (int r = 0; g->rank_words && r < w->c.size && !err; r++) {
        memset(all, 0, g->rank_words * sizeof *all);
        for (uint32_t i = 0; i < g->ranks[r].n_nodes; i++)
            for (size_t x = 0; x < g->rank_words; x++)
                all[x] |= g->ranks[r].heard[i * g->rank_words + x];
        for (int q = 0; q < w->c.size && !err; q++) {
            int from_root = coll == VCCI_COLL_BCAST || coll == VCCI_COLL_SCATTER,
                to_root = coll == VCCI_COLL_REDUCE || coll == VCCI_COLL_GATHER;
            if (q == r || (from_root && q != w->c.root) || (to_root && r != w->c.root))
                continue;
            if (!(all[q / 64] >> q % 64 & 1))
                err = sim_fail(w, "rank %d ends without having heard of rank %d", r, q);
        }
    }
    free(all);
    return err;
}

static void prepare(struct sim_world *w, struct engine *g)
{
    g->chunks = w->ranks[0].sched->n_chunks;
    g->order = (int)(w->c.seed % 3);
    g->rank_words = w->c.count ? 0 : ((size_t)w->c.size + 63) / 64;
    g->ranks = zeroed((size_t)w->c.size, sizeof *g->ranks);
    for (int i = 0; i < w->c.size; i++) {
        struct engine_rank *r = &g->ranks[i];
        const struct vcci_sched *s = w->ranks[i].sched;
        r->n_nodes = s->n_nodes;
        r->mate = zeroed(s->n_nodes, sizeof *r->mate);
        r->deps = zeroed(g->chunks * s->n_nodes, sizeof *r->deps);
        r->left = zeroed(g->chunks, sizeof *r->left);
        memset(r->left, 0xff, g->chunks * sizeof *r->left);
        r->messages = zeroed(g->chunks * s->n_nodes, sizeof *r->messages);
        r->heard = zeroed(s->n_nodes * g->rank_words, sizeof *r->heard);
        for (uint32_t n = 0; g->rank_words && n < s->n_nodes; n++)
            r->heard[n * g->rank_words + (size_t)i / 64] |= 1ull << i % 64;
        close_over(s, r);
    }
}

static void clean(struct sim_world *w, struct engine *g)
{
    for (int i = 0; i < w->c.size; i++) {
        struct engine_rank *r = &g->ranks[i];
        for (uint64_t k = 0; k < g->chunks * r->n_nodes; k++)
            free(r->messages[k].payload);
        free(r->mate);
        free(r->before);
        free(r->deps);
        free(r->left);
        free(r->messages);
        free(r->heard);
    }
    free(g->ranks);
    free(g->events);
}

int sim_engine(struct sim_world *w)
{
    struct engine g = {0};
    prepare(w, &g);
    w->ordered = ordered;
    w->executor = &g;
    int err = mate_all(w, &g) || loop(w, &g) || check_heard(w, &g);
    clean(w, &g);
    return err ? -1 : 0;
}
