/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll/flat.h"
#include "lib/base/env.h"
#include "lib/base/err.h"
#include "lib/base/text.h"

const struct vcci_algo *vcci_algo_find(enum vcci_coll coll, const char *name)
{
    for (unsigned i = 0; i < vcci_algos_nr; i++)
        if (vcci_algos[i].coll == coll && !strcmp(vcci_algos[i].name, name))
            return &vcci_algos[i];
    return NULL;
}

/* Names of a collective's algorithms, "a, b, c". */
static const char *names(enum vcci_coll coll, char *buf, size_t cap)
{
    size_t n = 0;
    buf[0] = 0;
    for (unsigned i = 0; i < vcci_algos_nr && n < cap; i++)
        if (vcci_algos[i].coll == coll)
            n += (size_t)snprintf(buf + n, cap - n, "%s%s", n ? ", " : "", vcci_algos[i].name);
    return buf;
}

static int parse_range(const char *text, struct vcci_rule *r)
{
    char low[32], high[32];
    if (sscanf(text, "%31[^-]-%31s", low, high) != 2 || vcci_bytes_parse(low, &r->min_bytes) || vcci_bytes_parse(high, &r->max_bytes) ||
        r->min_bytes > r->max_bytes)
        return vcci_fail(VCCL_ERR_CONFIG, "VCCL_COLL: \"%s\" is not a range of sizes such as 64k-1g", text);
    return 0;
}

static int parse_rule(char *word, struct vcci_rule *r)
{
    char good[256];
    char *algo = strchr(word, ':');
    if (!algo)
        return vcci_fail(VCCL_ERR_CONFIG, "VCCL_COLL: \"%s\" is not of the form collective:algorithm[@min-max]", word);
    *algo++ = 0;
    char *range = strchr(algo, '@');
    if (range)
        *range++ = 0;
    r->coll = vcci_coll_by_name(word);
    if (r->coll < 0)
        return vcci_fail(VCCL_ERR_CONFIG, "VCCL_COLL: there is no collective \"%s\" (barrier, bcast, reduce, allreduce, gather, scatter, "
                         "allgather, alltoall, reduce_scatter_block)", word);
    if (!vcci_algo_find((enum vcci_coll)r->coll, algo))
        return vcci_fail(VCCL_ERR_CONFIG, "VCCL_COLL: %s has no algorithm \"%s\" (it has %s)", word, algo,
                         names((enum vcci_coll)r->coll, good, sizeof good));
    snprintf(r->algo, sizeof r->algo, "%s", algo);
    r->min_bytes = 0;
    r->max_bytes = UINT64_MAX;
    return range ? parse_range(range, r) : 0;
}

int vcci_rules_parse(const char *text, struct vcci_rules *rules_out)
{
    struct vcci_rules rules = {0};
    char *copy = strdup(text ? text : ""), *save = NULL;
    int err = 0;
    if (!copy)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "out of memory for VCCL_COLL");
    for (char *w = strtok_r(copy, ",", &save); w && !err; w = strtok_r(NULL, ",", &save)) {
        if (rules.n == VCCI_RULES_MAX)
            err = vcci_fail(VCCL_ERR_CONFIG, "VCCL_COLL has more than %d rules", VCCI_RULES_MAX);
        else
            err = parse_rule(w, &rules.rule[rules.n++]);
    }
    free(copy);
    if (!err)
        *rules_out = rules;
    return err;
}

static int can(const struct vcci_algo *algo, const struct vcci_coll_args *a, int shared, const struct vcci_cost_params *p, double *cost)
{
    if (algo->coll != a->coll || (algo->flat && !shared) || (algo->commutative_only && a->op != VCCL_OP_NULL && !a->commutes))
        return 0;
    *cost = algo->cost(a, p);
    return *cost >= 0;
}

static const struct vcci_rule *rule_for(const struct vcci_rules *rules, const struct vcci_coll_args *a)
{
    uint64_t bytes = (uint64_t)a->count * a->type_bytes;
    for (int i = 0; rules && i < rules->n; i++) {
        const struct vcci_rule *r = &rules->rule[i];
        if (r->coll == (int)a->coll && bytes >= r->min_bytes && bytes <= r->max_bytes)
            return r;
    }
    return NULL;
}

const struct vcci_algo *vcci_select(const struct vcci_coll_args *args, int shared, const struct vcci_cost_params *p,
                                    const struct vcci_rules *rules, int *forced_out)
{
    struct vcci_coll_args a = *args;
    a.rank = 0;
    a.in_place = 0;
    if (!shared)
        a.slots = 0;
    const struct vcci_rule *rule = rule_for(rules, &a);
    const struct vcci_algo *best = NULL;
    double best_cost = 0, cost = 0;
    for (unsigned i = 0; i < vcci_algos_nr; i++) {
        const struct vcci_algo *algo = &vcci_algos[i];
        if (!can(algo, &a, shared, p, &cost))
            continue;
        if (rule && !strcmp(rule->algo, algo->name)) {
            if (forced_out)
                *forced_out = 1;
            return algo;
        }
        if (!best || cost < best_cost) {
            best = algo;
            best_cost = cost;
        }
    }
    if (forced_out)
        *forced_out = 0;
    if (!best)
        vcci_fail(VCCL_ERR_UNSUPPORTED, "no algorithm can do %s of %zu elements on %d ranks", vcci_coll_name(a.coll), a.count, a.size);
    return best;
}

static void report_one(struct vcci_text *o, enum vcci_coll coll, int size, const struct vcci_cost_params *p, const struct vcci_rules *rules)
{
    const struct vcci_algo *last = NULL;
    int reduces = coll == VCCI_COLL_REDUCE || coll == VCCI_COLL_ALLREDUCE || coll == VCCI_COLL_REDUCE_SCATTER_BLOCK;
    for (int e = 0; e <= 34; e++) {
        int forced = 0;
        struct vcci_coll_args a = {.coll = coll, .size = size, .count = coll == VCCI_COLL_BARRIER ? 0 : (size_t)1 << e, .type = VCCL_INT8,
                                   .type_bytes = 1, .op = reduces ? VCCL_SUM : VCCL_OP_NULL, .commutes = 1,
                                   .slot_bytes = vcci_flat_slot_bytes(size), .slots = VCCI_FLAT_SLOTS};
        const struct vcci_algo *algo = vcci_select(&a, 1, p, rules, &forced);
        if (algo && algo != last)
            vcci_text_put(o, "%-22s from %12llu bytes  %-12s %s\n", vcci_coll_name(coll), a.count == 1 ? 0ull : (unsigned long long)a.count, algo->name,
                forced ? "(VCCL_COLL)" : algo->source);
        last = algo;
        if (coll == VCCI_COLL_BARRIER)
            break;
    }
}

int vcci_select_report(int coll, int size, const struct vcci_cost_params *p, const struct vcci_rules *rules, char *buf, size_t cap)
{
    struct vcci_text o = {buf, cap, 0};
    vcci_text_put(&o, "algorithms for %d ranks that share memory, by bytes of one rank's block\n", size);
    for (int c = 0; c < VCCI_COLL_NR; c++)
        if (coll < 0 || coll == c)
            report_one(&o, (enum vcci_coll)c, size, p, rules);
    return (int)o.len;
}
