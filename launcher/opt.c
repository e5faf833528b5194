/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher/opt.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"

#define RANKS_MAX 65536
#define HELP_COLUMN 26

enum opt_id { NP, EXPORT, WDIR, BIND_TO, MAP_BY, TAG_OUTPUT, OUTPUT_DIR, TIMEOUT, REPORT_BINDINGS, VERBOSE, VERSION_, HELP };

/* In the order of the help. */
static const struct opt_entry {
    enum opt_id id;
    const char *name, *other; /* other spelling, or NULL */
    const char *arg;          /* NULL: a switch */
    const char *help;
} entries[] = {
    {NP, "-n", "-np", "N", "start N ranks (default: one per core)"},
    {EXPORT, "-x", NULL, "VAR[=VALUE]", "pass VAR on to the ranks, with VALUE or as it is here; repeatable"},
    {WDIR, "--wdir", NULL, "DIR", "run the program in DIR"},
    {BIND_TO, "--bind-to", NULL, "WHAT", "core, numa or none (default: core, or none where ranks outnumber cores)"},
    {MAP_BY, "--map-by", NULL, "WHAT", "slot, core, numa or node: which core the next rank is given (default: slot)"},
    {TAG_OUTPUT, "--tag-output", NULL, NULL, "begin each line of output with its rank, as in [3]"},
    {OUTPUT_DIR, "--output-dir", NULL, "DIR", "write each rank's output to DIR/rank.N.out and DIR/rank.N.err"},
    {TIMEOUT, "--timeout", NULL, "SECONDS", "end the job after SECONDS, with status 124"},
    {REPORT_BINDINGS, "--report-bindings", NULL, NULL, "say on stderr where each rank is bound"},
    {VERBOSE, "-v", "--verbose", NULL, "say on stderr what is started and how it ends"},
    {VERSION_, "--version", NULL, NULL, "print the version and exit"},
    {HELP, "-h", "--help", NULL, "print this help and exit"},
};
#define N_ENTRIES (sizeof entries / sizeof *entries)

void vcci_opt_help(FILE *out)
{
    fputs("Usage: vcclrun [options] program [arguments] [: [options] program [arguments]]...\n"
          "Starts the ranks of a VCCL job and waits for them.\n\n",
          out);
    for (size_t i = 0; i < N_ENTRIES; i++) {
        const struct opt_entry *entry = &entries[i];
        int n = fprintf(out, "  %s%s%s%s%s", entry->name, entry->other ? ", " : "", entry->other ? entry->other : "", entry->arg ? " " : "",
                        entry->arg ? entry->arg : "");
        fprintf(out, "%*s%s\n", n < HELP_COLUMN ? HELP_COLUMN - n : 1, "", entry->help);
    }
    fputs("\n-n, -x and --wdir belong to one program, the others to the job. See vcclrun(1).\n", out);
}

/* The entry that arg names, and *value_out what follows its '='. */
static const struct opt_entry *opt_find(const char *arg, const char **value_out)
{
    size_t len = strncmp(arg, "--", 2) == 0 ? strcspn(arg, "=") : strlen(arg);

    *value_out = arg[len] ? arg + len + 1 : NULL;
    for (size_t i = 0; i < N_ENTRIES; i++) {
        const char *names[] = {entries[i].name, entries[i].other};
        for (int k = 0; k < 2; k++)
            if (names[k] && strlen(names[k]) == len && strncmp(names[k], arg, len) == 0)
                return &entries[i];
    }
    return NULL;
}

/* "--np" and "--n" too, which users of other launchers type: only the number of dashes differs. */
static const char *opt_meant(const char *arg)
{
    const char *bare = arg + strspn(arg, "-");

    for (size_t i = 0; i < N_ENTRIES; i++) {
        const char *names[] = {entries[i].name, entries[i].other};
        for (int k = 0; k < 2; k++)
            if (names[k] && strcmp(names[k] + strspn(names[k], "-"), bare) == 0)
                return names[k];
    }
    return NULL;
}

static int parse_np(struct vcci_app *app, const char *text)
{
    char *end;

    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < 1 || n > RANKS_MAX)
        return vcci_fail(VCCL_ERR_ARG, "-n wants a number of ranks from 1 to %d, not '%s'", RANKS_MAX, text);
    app->np = (int)n;
    return 0;
}

static int parse_export(struct vcci_app *app, const char *text)
{
    size_t len = strcspn(text, "=");
    const char *name_end = text + len, *value;
    const char **grown;
    char *pair;

    if (len == 0)
        return vcci_fail(VCCL_ERR_ARG, "-x wants VAR or VAR=VALUE, not '%s'", text);
    value = *name_end ? name_end + 1 : getenv(text);
    if (!value) { /* as other launchers: a script may name more than is set */
        fprintf(stderr, "vcclrun: -x %s: that variable is not set here, so it is not passed on\n", text);
        return 0;
    }
    pair = malloc(len + strlen(value) + 2);
    grown = realloc(app->exports, ((size_t)app->n_exports + 1) * sizeof *grown);
    if (grown)
        app->exports = grown;
    if (!pair || !grown) {
        free(pair);
        return vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for -x %s", text);
    }
    memcpy(pair, text, len);
    pair[len] = '=';
    strcpy(pair + len + 1, value);
    app->exports[app->n_exports++] = pair;
    return 0;
}

/* The number of text in the '|'-separated list, or an error. */
static int parse_word(const char *option, const char *text, const char *const *words, int n_words, int *out)
{
    char list[64] = "";

    for (int i = 0; i < n_words; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = i;
            return 0;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i == 0 ? "" : i + 1 < n_words ? ", " : " or ", words[i]);
    }
    return vcci_fail(VCCL_ERR_ARG, "%s wants %s, not '%s'", option, list, text);
}

static int parse_timeout(struct vcci_opt *opt, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end || !isfinite(seconds) || seconds < 0 || seconds > 1e9)
        return vcci_fail(VCCL_ERR_ARG, "--timeout wants a number of seconds, not '%s'", text);
    opt->timeout = seconds;
    return 0;
}

static int opt_apply(struct vcci_opt *opt, struct vcci_app *app, const struct opt_entry *entry, const char *value)
{
    static const char *const binds[] = {"core", "numa", "none"}, *const maps[] = {"slot", "core", "numa", "node"};
    int rc = 0, word = 0;

    switch (entry->id) {
    case NP:
        return parse_np(app, value);
    case EXPORT:
        return parse_export(app, value);
    case WDIR:
        app->wdir = value;
        break;
    case BIND_TO:
        rc = parse_word(entry->name, value, binds, 3, &word);
        opt->bind = rc ? opt->bind : (enum vcci_bind)(VCCI_BIND_CORE + word);
        break;
    case MAP_BY:
        rc = parse_word(entry->name, value, maps, 4, &word);
        opt->map_by = rc ? opt->map_by : (enum vcci_map_by)word;
        break;
    case TAG_OUTPUT:
        opt->tag_output = 1;
        break;
    case OUTPUT_DIR:
        opt->output_dir = value;
        break;
    case TIMEOUT:
        return parse_timeout(opt, value);
    case REPORT_BINDINGS:
        opt->report_bindings = 1;
        break;
    case VERBOSE:
        opt->verbose = 1;
        break;
    case VERSION_:
        opt->action = VCCI_OPT_VERSION;
        break;
    case HELP:
        opt->action = VCCI_OPT_HELP;
        break;
    }
    return rc;
}

/* Options up to the program's name; *at becomes its place. Stops early once help or version was asked for. */
static int parse_options(struct vcci_opt *opt, struct vcci_app *app, char **argv, int *at)
{
    for (; argv[*at] && argv[*at][0] == '-' && argv[*at][1] && opt->action == VCCI_OPT_RUN; ++*at) {
        const char *arg = argv[*at], *value, *meant;
        const struct opt_entry *entry;
        int rc;

        if (strcmp(arg, "--") == 0) {
            ++*at;
            break;
        }
        entry = opt_find(arg, &value);
        if (!entry) {
            meant = opt_meant(arg);
            return meant ? vcci_fail(VCCL_ERR_ARG, "there is no option %s; did you mean %s?", arg, meant)
                         : vcci_fail(VCCL_ERR_ARG, "there is no option %s", arg);
        }
        if (!entry->arg && value)
            return vcci_fail(VCCL_ERR_ARG, "%s takes no value", entry->name);
        if (entry->arg && !value) {
            value = argv[*at + 1];
            if (!value || strcmp(value, ":") == 0)
                return vcci_fail(VCCL_ERR_ARG, "%s wants %s", arg, entry->arg);
            ++*at;
        }
        rc = opt_apply(opt, app, entry, value);
        if (rc)
            return rc;
    }
    return 0;
}

static struct vcci_app *opt_add_app(struct vcci_opt *opt)
{
    struct vcci_app *grown = realloc(opt->apps, ((size_t)opt->n_apps + 1) * sizeof *grown);

    if (!grown)
        return NULL;
    opt->apps = grown;
    grown[opt->n_apps] = (struct vcci_app){0};
    return &grown[opt->n_apps++];
}

static int opt_count_ranks(struct vcci_opt *opt, int cores)
{
    for (int i = 0; i < opt->n_apps; i++) {
        struct vcci_app *app = &opt->apps[i];
        if (!app->np && opt->n_apps > 1)
            return vcci_fail(VCCL_ERR_ARG, "with several programs each needs its own -n; %s has none", app->argv[0]);
        if (!app->np)
            app->np = cores;
        app->first_rank = opt->size;
        opt->size += app->np;
        if (opt->size > RANKS_MAX)
            return vcci_fail(VCCL_ERR_ARG, "a job has at most %d ranks", RANKS_MAX);
    }
    return 0;
}

int vcci_opt_parse(struct vcci_opt *opt, int argc, char **argv, int cores)
{
    int at = 1, more = 1;

    *opt = (struct vcci_opt){0};
    while (more) {
        struct vcci_app *app = opt_add_app(opt);
        int rc = app ? parse_options(opt, app, argv, &at) : vcci_fail(VCCL_ERR_NO_MEMORY, "no memory for the command line");
        if (rc || opt->action != VCCI_OPT_RUN)
            return rc;
        if (at >= argc || strcmp(argv[at], ":") == 0)
            return vcci_fail(VCCL_ERR_ARG, opt->n_apps == 1 && at >= argc ? "which program?" : "a program is missing next to ':'");
        app->argv = &argv[at];
        while (at < argc && strcmp(argv[at], ":") != 0)
            at++;
        more = at < argc;
        if (more)
            argv[at++] = NULL;
    }
    return opt_count_ranks(opt, cores);
}

void vcci_opt_free(struct vcci_opt *opt)
{
    for (int i = 0; i < opt->n_apps; i++) {
        for (int k = 0; k < opt->apps[i].n_exports; k++)
            free((char *)(uintptr_t)opt->apps[i].exports[k]);
        free(opt->apps[i].exports);
    }
    free(opt->apps);
    *opt = (struct vcci_opt){0};
}
