/* SPDX-License-Identifier: BSD-3-Clause
 * Schedules as text and as Graphviz, and the names in them. */
#include "coll/sched.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/device/dtype.h"

static const char *const coll_names[VCCI_COLL_NR] = {
#define X(id, name) [VCCI_COLL_##id] = name,
    VCCI_COLL_TABLE(X)
#undef X
};
static const char *const node_names[VCCI_NODE_NR] = {
#define X(id) [VCCI_NODE_##id] = #id,
    VCCI_NODE_TABLE(X)
#undef X
};

const char *vcci_coll_name(enum vcci_coll coll)
{
    return (unsigned)coll < VCCI_COLL_NR ? coll_names[coll] : "?";
}

int vcci_coll_by_name(const char *name)
{
    for (int i = 0; i < VCCI_COLL_NR; i++)
        if (!strcmp(name, coll_names[i]))
            return i;
    return -1;
}

const char *vcci_node_name(enum vcci_node_kind kind)
{
    return (unsigned)kind < VCCI_NODE_NR ? node_names[kind] : "?";
}

/* snprintf that appends: counts what did not fit. */
struct out {
    char *buf;
    size_t cap, len;
};

__attribute__((format(printf, 2, 3))) static void put(struct out *o, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(o->len < o->cap ? o->buf + o->len : NULL, o->len < o->cap ? o->cap - o->len : 0, fmt, ap);
    va_end(ap);
    o->len += n > 0 ? (size_t)n : 0;
}

static void put_ref(struct out *o, const struct vcci_ref *r)
{
    static const char *const spaces[] = {"in", "out", "scratch"};
    put(o, "%s", spaces[r->space]);
    if (r->whose >= 0)
        put(o, "@%d", r->whose);
    put(o, "[%zu+%zu", r->base, r->bytes);
    if (r->total != r->bytes)
        put(o, " of %zu step %zu", r->total, r->stride);
    put(o, "]");
}

static void put_node(struct out *o, const struct vcci_sched *s, uint32_t id)
{
    const struct vcci_node *n = &s->nodes[id];
    put(o, "%s", vcci_node_name(n->kind));
    if (n->kind == VCCI_NODE_SEND || n->kind == VCCI_NODE_RECV)
        put(o, " %s %d #%u", n->kind == VCCI_NODE_SEND ? "to" : "from", n->peer, n->pair);
    if (n->kind == VCCI_NODE_SIGNAL)
        put(o, " #%u", n->pair);
    if (n->kind == VCCI_NODE_WAIT && n->peer >= 0)
        put(o, " rank %d #%u", n->peer, n->pair);
    if (n->kind == VCCI_NODE_WAIT && n->peer < 0)
        put(o, " all #%u", n->pair);
    for (unsigned i = 0; i < (unsigned)n->n_in + n->n_out; i++) {
        put(o, i == n->n_in ? (n->n_in ? " -> " : " ") : i ? " , " : " ");
        put_ref(o, &s->refs[n->first_ref + i]);
    }
    if (n->flags & VCCI_FINAL)
        put(o, " final");
}

int vcci_sched_text(const struct vcci_sched *s, char *buf, size_t cap)
{
    struct out o = {buf, cap, 0};
    put(&o, "schedule %s/%s rank %d of %d: %u nodes, %u edges, %llu chunk%s in a window of %u, scratch %zu bytes%s\n",
        vcci_coll_name(s->coll), s->algo, s->rank, s->size, s->n_nodes, s->n_succs, (unsigned long long)s->n_chunks,
        s->n_chunks == 1 ? "" : "s", s->window, s->scratch, s->flat ? ", flat" : "");
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        put(&o, "%4u  ", i);
        put_node(&o, s, i);
        if (s->nodes[i].n_succ)
            put(&o, "   then");
        for (uint32_t k = 0; k < s->nodes[i].n_succ; k++)
            put(&o, " %u", s->succs[s->nodes[i].first_succ + k]);
        put(&o, "\n");
    }
    return (int)o.len;
}

int vcci_sched_dot(const struct vcci_sched *s, char *buf, size_t cap)
{
    static const char *const shapes[VCCI_NODE_NR] = {
        [VCCI_NODE_SEND] = "rarrow", [VCCI_NODE_RECV] = "larrow",    [VCCI_NODE_COPY] = "box",
        [VCCI_NODE_REDUCE] = "oval", [VCCI_NODE_SIGNAL] = "rarrow", [VCCI_NODE_WAIT] = "larrow",
    };
    struct out o = {buf, cap, 0};
    put(&o, "digraph \"%s/%s rank %d of %d\" {\n  node [fontname=monospace];\n", vcci_coll_name(s->coll), s->algo, s->rank, s->size);
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        put(&o, "  n%u [shape=%s label=\"%u ", i, shapes[s->nodes[i].kind], i);
        put_node(&o, s, i);
        put(&o, "\"];\n");
    }
    for (uint32_t i = 0; i < s->n_nodes; i++)
        for (uint32_t k = 0; k < s->nodes[i].n_succ; k++)
            put(&o, "  n%u -> n%u;\n", i, s->succs[s->nodes[i].first_succ + k]);
    put(&o, "}\n");
    return (int)o.len;
}
