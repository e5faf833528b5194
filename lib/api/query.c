/* SPDX-License-Identifier: BSD-3-Clause
 * vccl_query: the library about itself, as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "lib/api/ctx.h"
#include "lib/api/result.h"
#include "lib/base/cpu.h"
#include "lib/base/env.h"
#include "lib/base/stat.h"
#include "lib/device/dtype.h"
#include "lib/device/reduce.h"

/* "coll=allreduce:np=8" -> the value of one name; NULL if it is not there. `word` holds the copy. */
static const char *option(const char *text, const char *name, char *word, size_t cap)
{
    size_t n = strlen(name);
    for (const char *p = text; p && *p; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
        if (strncmp(p, name, n) || p[n] != '=')
            continue;
        size_t len = strcspn(p + n + 1, ":");
        snprintf(word, cap, "%.*s", (int)len, p + n + 1);
        return word;
    }
    return NULL;
}

/* A number in low … high; the default if the name is not there. */
static int number(const char *text, const char *name, uint64_t dflt, uint64_t low, uint64_t high, uint64_t *out)
{
    char word[64];
    uint64_t v = dflt;
    if (option(text, name, word, sizeof word) && (vcci_bytes_parse(word, &v) || v < low || v > high))
        return vcci_fail(VCCL_ERR_ARG, "vccl_query: %s is \"%s\", it must be a number from %llu to %llu", name, word,
                         (unsigned long long)low, (unsigned long long)high);
    *out = v;
    return 0;
}

static int report_version(const char *options, char *buf, size_t cap)
{
    (void)options;
    return snprintf(buf, cap, "VCCL %d.%d.%d\n", VCCL_VERSION_MAJOR, VCCL_VERSION_MINOR, VCCL_VERSION_PATCH);
}

static int report_build(const char *options, char *buf, size_t cap)
{
    (void)options;
#ifdef HAVE_VERBS
    const char *verbs = "yes";
#else
    const char *verbs = "no";
#endif
#ifdef HAVE_CUDA
    const char *cuda = "yes";
#else
    const char *cuda = "no";
#endif
    return snprintf(buf, cap,
                    "compiler %s\nprocessor level %s, kernels for %s\nverbs headers at build time %s (no link uses them yet)\n"
                    "CUDA headers at build time %s (no link uses them yet)\n",
                    __VERSION__, vcci_cpu_isa_name(vcci_cpu_isa()), vcci_cpu_isa_name((enum vcci_cpu_isa)vcci_reduce_force_isa(-1)), verbs,
                    cuda);
}

static int report_links(const char *options, char *buf, size_t cap)
{
    struct vcci_ctx *ctx = vcci_ctx();
    (void)options;
    return vcci_p2p_report(ctx && atomic_load(&ctx->state) == VCCI_CTX_RUNNING ? ctx->p2p : NULL, buf, cap);
}

static int report_limits(const char *options, char *buf, size_t cap)
{
    (void)options;
    return snprintf(buf, cap,
                    "message                 %zu bytes\ntag                     0 to %d\nplans kept              %u per communicator\n"
                    "flat slots              %u per rank, %zu bytes each at 2 ranks, %zu at 1024\n"
                    "flat cache line         %u bytes of payload\nVCCL_COLL               %d rules\n"
                    "eager message           %llu bytes\neager credit            %llu bytes per sender and receiver\nusable cores            %d\n",
                    (size_t)PTRDIFF_MAX, VCCL_TAG_MAX, VCCI_PLANS_MAX, VCCI_FLAT_SLOTS, vcci_flat_slot_bytes(2), vcci_flat_slot_bytes(1024),
                    VCCI_FLAT_LINE_BYTES, VCCI_RULES_MAX, (unsigned long long)vcci_env()->eager_bytes,
                    (unsigned long long)vcci_env()->credit_bytes, vcci_cpu_usable());
}

static int report_env(const char *options, char *buf, size_t cap)
{
    (void)options;
    return vcci_env_report(buf, cap);
}

static int report_counters(const char *options, char *buf, size_t cap)
{
    (void)options;
    return vcci_stat_report(buf, cap);
}

static int report_selection(const char *options, char *buf, size_t cap)
{
    char word[64];
    uint64_t np = 0;
    int coll = -1;
    struct vcci_rules rules;
    struct vcci_cost_params costs;
    if (option(options, "coll", word, sizeof word) && (coll = vcci_coll_by_name(word)) < 0)
        return vcci_fail(VCCL_ERR_ARG, "vccl_query: there is no collective \"%s\"", word);
    int err = number(options, "np", 4, 1, 65536, &np);
    if (err || (err = vcci_rules_parse(vcci_env()->coll, &rules)))
        return err;
    vcci_cost_default((int)np, vcci_cpu_usable(), &costs);
    return vcci_select_report(coll, (int)np, &costs, &rules, buf, cap);
}

/* The key of the schedule that options ask for. */
static int parse_schedule(const char *options, struct vcci_plan_key *key, uint64_t *np, uint64_t *rank)
{
    char word[64];
    uint64_t root = 0, count = 1024, in_place = 0;
    int coll = option(options, "coll", word, sizeof word) ? vcci_coll_by_name(word) : (int)VCCI_COLL_ALLREDUCE;
    if (coll < 0)
        return vcci_fail(VCCL_ERR_ARG, "vccl_query: there is no collective \"%s\"", word);
    vccl_datatype_t type = option(options, "type", word, sizeof word) ? vcci_dtype_by_name(word) : VCCL_FLOAT32;
    if (type == VCCL_DATATYPE_NULL)
        return vcci_fail(VCCL_ERR_ARG, "vccl_query: there is no datatype \"%s\"", word);
    vccl_op_t op = option(options, "op", word, sizeof word) ? vcci_op_by_name(word) : VCCL_SUM;
    if (!vcci_op_fits(op, type))
        return vcci_fail(VCCL_ERR_ARG, "vccl_query: there is no op \"%s\" for %s", word, vcci_dtype_name(type));
    int err = number(options, "np", 4, 1, 4096, np);
    if (err || (err = number(options, "rank", 0, 0, *np - 1, rank)) || (err = number(options, "root", 0, 0, *np - 1, &root)) ||
        (err = number(options, "count", 1024, 0, (uint64_t)1 << 40, &count)) || (err = number(options, "inplace", 0, 0, 1, &in_place)))
        return err;
    int reduces = coll == VCCI_COLL_REDUCE || coll == VCCI_COLL_ALLREDUCE || coll == VCCI_COLL_REDUCE_SCATTER_BLOCK;
    *key = (struct vcci_plan_key){.coll = (uint8_t)coll,
                                  .root = (int32_t)root,
                                  .count = coll == VCCI_COLL_BARRIER ? 0 : count,
                                  .type = (uint8_t)(coll == VCCI_COLL_BARRIER ? VCCL_DATATYPE_NULL : type),
                                  .op = (uint8_t)(reduces ? op : VCCL_OP_NULL),
                                  .in_place = (uint8_t)in_place};
    return 0;
}

static int report_schedule(const char *options, char *buf, size_t cap)
{
    char word[64];
    struct vcci_plan_key key;
    struct vcci_cost_params costs;
    struct vcci_sched *s;
    uint64_t np = 0, rank = 0;
    int err = parse_schedule(options, &key, &np, &rank);
    if (err)
        return err;
    vcci_cost_default((int)np, vcci_cpu_usable(), &costs);
    if ((err = vcci_plan_schedule(&key, option(options, "alg", word, sizeof word), (int)rank, (int)np, &costs, &s)))
        return err;
    const char *format = option(options, "format", word, sizeof word);
    int n = -1;
    if (!format || !strcmp(format, "text"))
        n = vcci_sched_text(s, buf, cap);
    else if (!strcmp(format, "dot"))
        n = vcci_sched_dot(s, buf, cap);
    else
        n = vcci_fail(VCCL_ERR_ARG, "vccl_query: format is \"%s\", it must be text or dot", format);
    vcci_sched_put(s);
    return n;
}

static const struct {
    const char *name;
    int (*report)(const char *options, char *buf, size_t cap); /* as snprintf, < 0: failed */
} reports[] = {
    {"version", report_version},     {"build", report_build},         {"links", report_links},       {"limits", report_limits},
    {"env", report_env},             {"selection", report_selection}, {"schedule", report_schedule}, {"counters", report_counters},
};

API vccl_result_t vccl_query(const char *what, char *buf, size_t cap, size_t *len_out)
{
    struct vcci_env env;
    if (!what || (!buf && cap))
        return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_query: %s is NULL", what ? "buf" : "what"));
    int bad = vcci_ctx() ? 0 : vcci_env_load(&env); /* before vccl_init nobody has looked at the environment yet */
    if (bad)
        return vcci_result(bad);
    size_t n = strcspn(what, ":");
    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
        if (strlen(reports[i].name) != n || strncmp(reports[i].name, what, n))
            continue;
        int len = reports[i].report(what[n] ? what + n + 1 : "", buf, cap);
        if (len < 0)
            return vcci_result(len);
        if (len_out)
            *len_out = (size_t)len;
        return VCCL_SUCCESS;
    }
    return vcci_result(vcci_fail(VCCL_ERR_ARG, "vccl_query: \"%s\"; there are version, build, links, limits, env, selection, schedule, counters",
                                 what));
}
