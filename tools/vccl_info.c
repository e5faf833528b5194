/* SPDX-License-Identifier: BSD-3-Clause
 * vccl_info: what this VCCL is, what it can use here, and how it would run a collective. Everything comes from vccl_query. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "include/vccl.h"
#include "tools/cli.h"

#define TOOL "vccl_info"

static const char *const help =
    "usage: vccl_info [sections and options]\n"
    "sections (default: version, build, links, limits)\n"
    "  --version             of the library\n"
    "  --build               how it was configured\n"
    "  --links               the links between ranks that can be used here, and why the others cannot\n"
    "  --limits              sizes and numbers that cannot be exceeded\n"
    "  --env                 every VCCL_ variable: value, default, choices, meaning\n"
    "  --selection [COLL]    which algorithm runs for which size; --np N: for so many ranks\n"
    "  --schedule COLL       what one rank does in a collective, with\n"
    "      --alg NAME        its algorithm (default: the one that would run; an unknown one lists them)\n"
    "      --np N, --rank R, --root R, --count N, --type NAME, --op NAME, --inplace 0|1\n"
    "      --format text|dot dot is Graphviz's language: vccl_info --schedule ... --format dot | dot -Tsvg\n"
    "  --counters            messages, bytes, copies, allocations and system calls of a process that does nothing\n"
    "  --all                 all sections but schedule\n"
    "  -h, --help\n"
    "Exit status: 0, 1 if a report cannot be had, 2 for a bad option.\n";

enum section { VERSION, BUILD, LINKS, LIMITS, ENV, SELECTION, SCHEDULE, COUNTERS, SECTION_NR, ALL = SECTION_NR };
static const char *const section_names[SECTION_NR] = {"version", "build",     "links",    "limits",
                                                      "env",     "selection", "schedule", "counters"};

enum detail { COLL, ALG, NP, RANK, ROOT, COUNT, TYPE, OP, INPLACE, FORMAT, DETAIL_NR };
static const char *const detail_names[DETAIL_NR] = {"coll",  "alg",  "np", "rank",    "root",
                                                    "count", "type", "op", "inplace", "format"};

#define DETAIL 64 /* getopt's values of the details, then help */
static const struct option longs[] = {{"version", no_argument, NULL, VERSION},
                                      {"build", no_argument, NULL, BUILD},
                                      {"links", no_argument, NULL, LINKS},
                                      {"limits", no_argument, NULL, LIMITS},
                                      {"env", no_argument, NULL, ENV},
                                      {"selection", optional_argument, NULL, SELECTION},
                                      {"schedule", required_argument, NULL, SCHEDULE},
                                      {"counters", no_argument, NULL, COUNTERS},
                                      {"all", no_argument, NULL, ALL},
                                      {"alg", required_argument, NULL, DETAIL + ALG},
                                      {"np", required_argument, NULL, DETAIL + NP},
                                      {"rank", required_argument, NULL, DETAIL + RANK},
                                      {"root", required_argument, NULL, DETAIL + ROOT},
                                      {"count", required_argument, NULL, DETAIL + COUNT},
                                      {"type", required_argument, NULL, DETAIL + TYPE},
                                      {"op", required_argument, NULL, DETAIL + OP},
                                      {"inplace", required_argument, NULL, DETAIL + INPLACE},
                                      {"format", required_argument, NULL, DETAIL + FORMAT},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

struct request {
    int wanted[SECTION_NR];
    const char *selection;          /* its collective, may be NULL */
    const char *details[DETAIL_NR]; /* of the schedule; np of the selection too */
};

/* -1: go on, otherwise the exit status. */
static int parse(struct request *req, int argc, char **argv)
{
    int c, any = 0;

    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return 0;
        } else if (c == ':') {
            return cli_bad(TOOL, "%s wants a value", argv[optind - 1]);
        } else if (c == '?') {
            return optopt >= DETAIL || optopt == 0 ? cli_bad(TOOL, "no option %s", argv[optind - 1])
                                                   : cli_bad(TOOL, "no option -%c", optopt);
        } else if (c >= DETAIL) {
            req->details[c - DETAIL] = optarg;
            continue;
        }
        any = 1;
        for (int i = 0; i < SECTION_NR; i++)
            req->wanted[i] |= c == ALL ? i != SCHEDULE : c == i;
        if (c == SCHEDULE)
            req->details[COLL] = optarg;
        if (c == SELECTION) /* its word may also stand apart */
            req->selection = optarg || optind >= argc || argv[optind][0] == '-' ? optarg : argv[optind++];
    }
    if (optind < argc)
        return cli_bad(TOOL, "\"%.60s\" is one argument too many", argv[optind]);
    for (int i = 0; i < SECTION_NR && !any; i++)
        req->wanted[i] = i <= LIMITS;
    for (int i = 0; i < DETAIL_NR; i++)
        if (req->details[i] && !req->wanted[SCHEDULE] && !(i == NP && req->wanted[SELECTION]))
            return cli_bad(TOOL, "--%s says something about --schedule%s, which is not there", detail_names[i],
                           i == NP ? " or --selection" : "");
    return -1;
}

/* What vccl_query is asked for: the section and its details, "schedule:coll=bcast:np=4". */
static void question(const struct request *req, enum section section, char *out, size_t cap)
{
    int n = snprintf(out, cap, "%s", section_names[section]);

    for (int i = 0; i < DETAIL_NR; i++) {
        const char *value = req->details[i];

        if (section == SELECTION)
            value = i == COLL ? req->selection : i == NP ? value : NULL;
        else if (section != SCHEDULE)
            value = NULL;
        if (value && n >= 0 && (size_t)n < cap)
            n += snprintf(out + n, cap - (size_t)n, ":%s=%s", detail_names[i], value);
    }
}

static int report(const struct request *req, enum section section, int with_title)
{
    char what[512];
    char *text;
    size_t len;
    vccl_result_t rc;

    question(req, section, what, sizeof what);
    rc = vccl_query(what, NULL, 0, &len);
    if (rc != VCCL_SUCCESS) {
        fprintf(stderr, TOOL ": %s\n", vccl_last_error());
        return rc == VCCL_ERR_ARG ? 2 : 1;
    }
    text = malloc(len + 1);
    if (!text || vccl_query(what, text, len + 1, &len) != VCCL_SUCCESS) {
        fprintf(stderr, TOOL ": %s\n", text ? vccl_last_error() : "out of memory");
        free(text);
        return 1;
    }
    if (with_title)
        printf("[%s]\n", section_names[section]);
    printf("%s%s%s", text, len && text[len - 1] == '\n' ? "" : "\n", with_title ? "\n" : "");
    free(text);
    return 0;
}

int main(int argc, char **argv)
{
    struct request req = {0};
    int status = parse(&req, argc, argv), sections = 0;

    if (status >= 0 || !cli_speaks()) /* as ranks of a job, one is enough */
        return status >= 0 ? status : 0;
    status = 0;
    for (int i = 0; i < SECTION_NR; i++)
        sections += req.wanted[i];
    for (int i = 0; i < SECTION_NR && status == 0; i++)
        if (req.wanted[i])
            status = report(&req, (enum section)i, sections > 1);
    if (fflush(stdout) != 0) {
        perror(TOOL);
        status = status ? status : 1;
    }
    return status;
}
