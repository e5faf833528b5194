/* SPDX-License-Identifier: BSD-3-Clause
 * Schedules as text and as Graphviz, and the names in them. */
#include "coll/sched.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
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

static void put_ref(struct vcci_text *o, const struct vcci_ref *r)
{
    static const char *const spaces[] = {"in", "out", "scratch"};
    vcci_text_put(o, "%s", spaces[r->space]);
    if (r->whose >= 0)
        vcci_text_put(o, "@%d", r->whose);
    vcci_text_put(o, "[%zu+%zu", r->base, r->bytes);
    if (r->total != r->bytes)
        vcci_text_put(o, " of %zu step %zu", r->total, r->stride);
    vcci_text_put(o, "]");
}

static void put_node(struct vcci_text *o, const struct vcci_sched *s, uint32_t id)
{
    const struct vcci_node *n = &s->nodes[id];
    vcci_text_put(o, "%s", vcci_node_name(n->kind));
    if (n->kind == VCCI_NODE_SEND || n->kind == VCCI_NODE_RECV)
        vcci_text_put(o, " %s %d #%u", n->kind == VCCI_NODE_SEND ? "to" : "from", n->peer, n->pair);
    if (n->kind == VCCI_NODE_SIGNAL)
        vcci_text_put(o, " #%u", n->pair);
    if (n->kind == VCCI_NODE_WAIT && n->peer >= 0)
        vcci_text_put(o, " rank %d #%u", n->peer, n->pair);
    if (n->kind == VCCI_NODE_WAIT && n->peer < 0)
        vcci_text_put(o, " all #%u", n->pair);
    for (unsigned i = 0; i < (unsigned)n->n_in + n->n_out; i++) {
        vcci_text_put(o, i == n->n_in ? (n->n_in ? " -> " : " ") : i ? " , " : " ");
        put_ref(o, &s->refs[n->first_ref + i]);
    }
    if (n->flags & VCCI_FINAL)
        vcci_text_put(o, " final");
}

int vcci_sched_text(const struct vcci_sched *s, char *buf, size_t cap)
{
    struct vcci_text o = {buf, cap, 0};
    vcci_text_put(&o, "schedule %s/%s rank %d of %d: %u nodes, %u edges, %llu chunk%s in a window of %u, scratch %zu bytes%s\n",
        vcci_coll_name(s->coll), s->algo, s->rank, s->size, s->n_nodes, s->n_succs, (unsigned long long)s->n_chunks,
        s->n_chunks == 1 ? "" : "s", s->window, s->scratch, s->flat ? ", flat" : "");
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        vcci_text_put(&o, "%4u  ", i);
        put_node(&o, s, i);
        if (s->nodes[i].n_succ)
            vcci_text_put(&o, "   then");
        for (uint32_t k = 0; k < s->nodes[i].n_succ; k++)
            vcci_text_put(&o, " %u", s->succs[s->nodes[i].first_succ + k]);
        vcci_text_put(&o, "\n");
    }
    return (int)o.len;
}

int vcci_sched_dot(const struct vcci_sched *s, char *buf, size_t cap)
{
    static const char *const shapes[VCCI_NODE_NR] = {
        [VCCI_NODE_SEND] = "rarrow", [VCCI_NODE_RECV] = "larrow",    [VCCI_NODE_COPY] = "box",
        [VCCI_NODE_REDUCE] = "oval", [VCCI_NODE_SIGNAL] = "rarrow", [VCCI_NODE_WAIT] = "larrow",
    };
    struct vcci_text o = {buf, cap, 0};
    vcci_text_put(&o, "digraph \"%s/%s rank %d of %d\" {\n  node [fontname=monospace];\n", vcci_coll_name(s->coll), s->algo, s->rank, s->size);
    for (uint32_t i = 0; i < s->n_nodes; i++) {
        vcci_text_put(&o, "  n%u [shape=%s label=\"%u ", i, shapes[s->nodes[i].kind], i);
        put_node(&o, s, i);
        vcci_text_put(&o, "\"];\n");
    }
    for (uint32_t i = 0; i < s->n_nodes; i++)
        for (uint32_t k = 0; k < s->nodes[i].n_succ; k++)
            vcci_text_put(&o, "  n%u -> n%u;\n", i, s->succs[s->nodes[i].first_succ + k]);
    vcci_text_put(&o, "}\n");
    return (int)o.len;
}
