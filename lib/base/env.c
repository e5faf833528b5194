/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/env.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "lib/base/log.h"

enum env_kind { ENUM, INT, BYTES, SECONDS, LIST, TEXT };

struct env_var {
    const char *name, *dflt, *choices, *text;
    enum env_kind kind;
    size_t offset; /* of the field in struct vcci_env */
};

static const struct env_var env_vars[] = {
#define X(field, name, kind, dflt, choices, text) {name, dflt, choices, text, kind, offsetof(struct vcci_env, field)},
    VCCI_ENV_TABLE(X)
#undef X
};
#define ENV_NR         (sizeof env_vars / sizeof *env_vars)
#define NAME_MAX_BYTES 48 /* of what is compared when a near name is looked for */

/* What vcci_env returns. A later load that differs gets its own; the old ones stay, for somebody may still read them. */
struct env_version {
    struct vcci_env env;
    struct env_version *older;
};
static struct env_version env_defaults;
static _Atomic(struct env_version *) env_now;
static pthread_once_t env_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t env_lock = PTHREAD_MUTEX_INITIALIZER;
static int env_warned;

int vcci_bytes_parse(const char *text, uint64_t *bytes_out)
{
    static const char units[] = "kmgt";
    unsigned shift = 0;
    char *end;

    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno != 0)
        return -1;
    if (*end != '\0') {
        const char *unit = strchr(units, *end | 0x20);

        if (!unit || *unit == '\0' || end[1] != '\0')
            return -1;
        shift = 10 * (unsigned)(unit - units + 1);
    }
    if (n > UINT64_MAX >> shift)
        return -1;
    *bytes_out = (uint64_t)n << shift;
    return 0;
}

/* Index of the word text[0..n) among "a|b|c", -1: not there. */
static int choice_index(const char *choices, const char *text, size_t n)
{
    int index = 0;

    for (const char *at = choices;; index++) {
        size_t len = strcspn(at, "|");

        if (len == n && memcmp(at, text, n) == 0)
            return index;
        if (at[len] == '\0')
            return -1;
        at += len + 1;
    }
}

static int parse_list(const struct env_var *var, const char *text, void *field)
{
    uint32_t bits = 0;

    for (const char *at = text;;) {
        size_t len = strcspn(at, ",");
        int index = choice_index(var->choices, at, len);

        if (index < 0)
            return -1;
        bits |= 1u << index;
        if (at[len] == '\0')
            break;
        at += len + 1;
    }
    memcpy(field, &bits, sizeof bits);
    return 0;
}

/* The three number kinds have the range "least..most" as choices. */
static int parse_number(const struct env_var *var, const char *text, void *field)
{
    const char *most = strstr(var->choices, "..") + 2;
    char least[32], *end;

    snprintf(least, sizeof least, "%.*s", (int)(most - 2 - var->choices), var->choices);
    if (var->kind == BYTES) {
        uint64_t n, lo, hi;

        if (vcci_bytes_parse(text, &n) < 0 || vcci_bytes_parse(least, &lo) < 0 || vcci_bytes_parse(most, &hi) < 0 || n < lo ||
            n > hi)
            return -1;
        memcpy(field, &n, sizeof n);
    } else if (var->kind == INT) {
        errno = 0;
        int64_t n = strtoll(text, &end, 10);

        if (errno != 0 || end == text || *end != '\0' || n < strtoll(least, NULL, 10) || n > strtoll(most, NULL, 10))
            return -1;
        memcpy(field, &n, sizeof n);
    } else {
        double n = strtod(text, &end);

        /* written so that a NaN is refused */
        if (end == text || *end != '\0' || !(n >= strtod(least, NULL) && n <= strtod(most, NULL)))
            return -1;
        memcpy(field, &n, sizeof n);
    }
    return 0;
}

static int bad_value(const struct env_var *var, const char *text)
{
    static const char *const what[] = {[ENUM] = "one of",
                                       [INT] = "a whole number in",
                                       [BYTES] = "bytes (k, m, g, t: times 1024, ...) in",
                                       [SECONDS] = "seconds in",
                                       [LIST] = "one or more, with commas, of",
                                       [TEXT] = "text like"};
    char choices[256];

    snprintf(choices, sizeof choices, "%s", var->choices);
    if (var->kind == ENUM || var->kind == LIST)
        for (char *at = choices; (at = strchr(at, '|')) != NULL;)
            *at = ' ';
    return vcci_fail(VCCL_ERR_CONFIG, "%s=\"%.100s\" is not %s: %s", var->name, text, what[var->kind], choices);
}

static int parse_var(const struct env_var *var, const char *text, struct vcci_env *env)
{
    void *field = (char *)env + var->offset;
    int bad = 0;

    if (var->kind == ENUM) {
        int index = choice_index(var->choices, text, strlen(text));

        bad = index < 0;
        memcpy(field, &index, sizeof index);
    } else if (var->kind == LIST) {
        bad = parse_list(var, text, field) < 0;
    } else if (var->kind == TEXT) {
        memcpy(field, &text, sizeof text);
    } else {
        bad = parse_number(var, text, field) < 0;
    }
    return bad ? bad_value(var, text) : 0;
}

static const char *var_text(const struct env_var *var)
{
    const char *text = getenv(var->name);

    return text && *text ? text : var->dflt;
}

static void load_defaults(void)
{
    for (size_t i = 0; i < ENV_NR; i++)
        VCCI_ASSERT(parse_var(&env_vars[i], env_vars[i].dflt, &env_defaults.env) == 0);
    atomic_store_explicit(&env_now, &env_defaults, memory_order_release);
}

const struct vcci_env *vcci_env(void)
{
    struct env_version *now = atomic_load_explicit(&env_now, memory_order_acquire);

    if (!now) {
        pthread_once(&env_once, load_defaults);
        now = atomic_load_explicit(&env_now, memory_order_acquire);
    }
    return &now->env;
}

/* Levenshtein distance of two names, looked at up to NAME_MAX_BYTES. */
static unsigned name_distance(const char *a, const char *b)
{
    unsigned row[NAME_MAX_BYTES + 1];
    size_t na = strnlen(a, NAME_MAX_BYTES), nb = strnlen(b, NAME_MAX_BYTES);

    for (size_t j = 0; j <= nb; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned diagonal = row[0];

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned least = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < least)
                least = row[j] + 1;
            if (row[j - 1] + 1 < least)
                least = row[j - 1] + 1;
            row[j] = least;
        }
    }
    return row[nb];
}

const char *vcci_env_nearest(const char *name)
{
    const char *nearest = env_vars[0].name;
    unsigned least = UINT32_MAX;

    for (size_t i = 0; i < ENV_NR; i++) {
        unsigned distance = name_distance(name, env_vars[i].name);

        if (distance < least) {
            least = distance;
            nearest = env_vars[i].name;
        }
    }
    return nearest;
}

static int name_known(const char *name)
{
    static const char *const internal[] = {VCCI_ENV_INTERNAL};

    for (size_t i = 0; i < sizeof internal / sizeof *internal; i++)
        if (strncmp(name, internal[i], strlen(internal[i])) == 0)
            return 1;
    for (size_t i = 0; i < ENV_NR; i++)
        if (strcmp(name, env_vars[i].name) == 0)
            return 1;
    return 0;
}

static void warn_of_unknown(void)
{
    if (env_warned)
        return;
    env_warned = 1;
    for (char **at = environ; at && *at; at++) {
        char name[128];

        if (strncmp(*at, "VCCL_", 5) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*at, "="), *at);
        if (!name_known(name))
            vcci_log(VCCI_LOG_WARN, "unknown variable %s is ignored; the nearest known one is %s", name, vcci_env_nearest(name));
    }
}

/* Makes env the process's, with texts of its own. Lock held. */
static int publish(const struct vcci_env *env)
{
    struct env_version *version = malloc(sizeof *version);

    if (!version)
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for the settings");
    version->env = *env;
    for (size_t i = 0; i < ENV_NR; i++) {
        char *text;

        if (env_vars[i].kind != TEXT)
            continue;
        memcpy(&text, (const char *)env + env_vars[i].offset, sizeof text);
        text = strdup(text);
        if (!text) {
            while (i-- > 0) {
                if (env_vars[i].kind == TEXT) {
                    memcpy(&text, (const char *)&version->env + env_vars[i].offset, sizeof text);
                    free(text);
                }
            }
            free(version);
            return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for the settings");
        }
        memcpy((char *)&version->env + env_vars[i].offset, &text, sizeof text);
    }
    version->older = atomic_load_explicit(&env_now, memory_order_relaxed);
    atomic_store_explicit(&env_now, version, memory_order_release);
    return 0;
}

static int same(const struct vcci_env *a, const struct vcci_env *b)
{
#define SAME_ENUM(x, y)                           ((x) == (y))
#define SAME_INT(x, y)                            ((x) == (y))
#define SAME_BYTES(x, y)                          ((x) == (y))
#define SAME_SECONDS(x, y)                        ((x) == (y))
#define SAME_LIST(x, y)                           ((x) == (y))
#define SAME_TEXT(x, y)                           (strcmp(x, y) == 0)
#define X(field, name, kind, dflt, choices, text) &&SAME_##kind(a->field, b->field)
    return 1 VCCI_ENV_TABLE(X);
#undef X
}

int vcci_env_load(struct vcci_env *env)
{
    struct vcci_env fresh = *vcci_env();
    int rc = 0;

    pthread_mutex_lock(&env_lock);
    for (size_t i = 0; i < ENV_NR && rc == 0; i++)
        rc = parse_var(&env_vars[i], var_text(&env_vars[i]), &fresh);
    if (rc == 0 && !same(&fresh, vcci_env()))
        rc = publish(&fresh);
    if (rc == 0) {
        vcci_log_limit((enum vcci_log_level)vcci_env()->log);
        warn_of_unknown();
        if (env)
            *env = *vcci_env();
    }
    pthread_mutex_unlock(&env_lock);
    return rc;
}

int vcci_env_report(char *buf, size_t cap)
{
    size_t name = sizeof "NAME" - 1, value = sizeof "VALUE" - 1, dflt = sizeof "DEFAULT" - 1, choices = sizeof "CHOICES" - 1,
           at = 0;

#define WIDEN(width, text) ((width) = strlen(text) > (width) ? strlen(text) : (width))
    for (size_t i = 0; i < ENV_NR; i++) {
        WIDEN(name, env_vars[i].name);
        WIDEN(value, var_text(&env_vars[i]));
        WIDEN(dflt, env_vars[i].dflt);
        WIDEN(choices, env_vars[i].choices);
    }
    if (cap > 0)
        buf[0] = '\0';
    for (size_t i = 0; i <= ENV_NR; i++) {
        static const struct env_var headings = {.name = "NAME", .dflt = "DEFAULT", .choices = "CHOICES", .text = "MEANING"};
        const struct env_var *var = i == 0 ? &headings : &env_vars[i - 1];
        const char *text = i == 0 ? "VALUE" : var_text(var);

        at += (size_t)snprintf(at < cap ? buf + at : NULL, at < cap ? cap - at : 0, "%-*s  %-*s  %-*s  %-*s  %s\n", (int)name,
                               var->name, (int)value, *text ? text : "-", (int)dflt, *var->dflt ? var->dflt : "-", (int)choices,
                               var->choices, var->text);
    }
    return (int)at;
}
