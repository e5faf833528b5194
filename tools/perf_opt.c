/* SPDX-License-Identifier: BSD-3-Clause
 * vccl_perf's command line. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cli.h"
#include "tools/perf.h"

#define TOOL "vccl_perf"

static const char *const help =
    "usage: vccl_perf COLL [options]        (under vcclrun -np N, or alone as one rank)\n"
    "COLL: barrier bcast reduce allreduce gather scatter allgather alltoall reduce_scatter_block sendrecv pingpong bandwidth, or "
    "all\n"
    "  -b, --minbytes SIZE     smallest size (default 8); K, M, G mean 1024, ...\n"
    "  -e, --maxbytes SIZE     largest size (default 16M)\n"
    "  -f, --stepfactor N      from size to size times N (default 4)\n"
    "  -i, --stepbytes SIZE    from size to size plus SIZE, instead of -f\n"
    "  -n, --iters N           timed calls per line and place (default: what 0.1 s allows)\n"
    "  -w, --warmup_iters N    calls before the timed ones (default 1)\n"
    "  -c, --check N           checked calls per line and place (default 1; 0: no check)\n"
    "  -d, --datatype NAME     float32 (default), int8, ..., or all\n"
    "  -o, --op NAME           sum (default), prod, ..., or all that fit the datatype\n"
    "  -r, --root RANK         default 0; all (or -1): every rank in turn\n"
    "  -a, --average N         time shown: 0 rank 0's, 1 average, 2 least, 3 most of all ranks (default 3)\n"
    "  -z, --nonblocking       call the nonblocking twin and wait for it\n"
    "  -T, --timeout SECONDS   end the job if it takes longer\n"
    "      --percentiles       also time single calls: p50, p99 and max\n"
    "      --mem malloc|alloc  buffers from malloc (default) or vccl_mem_alloc\n"
    "      --json FILE, --csv FILE   write the results there too; -: to stdout, instead of the table\n"
    "  -h, --help\n"
    "Sizes are of the larger buffer of a rank. Exit status: 0, 1 if a result was wrong, 2 for a bad option.\n";

enum { PERCENTILES = 256, MEM, JSON, CSV };

static const struct option longs[] = {{"minbytes", required_argument, NULL, 'b'},
                                      {"maxbytes", required_argument, NULL, 'e'},
                                      {"stepfactor", required_argument, NULL, 'f'},
                                      {"stepbytes", required_argument, NULL, 'i'},
                                      {"iters", required_argument, NULL, 'n'},
                                      {"warmup_iters", required_argument, NULL, 'w'},
                                      {"check", required_argument, NULL, 'c'},
                                      {"datatype", required_argument, NULL, 'd'},
                                      {"op", required_argument, NULL, 'o'},
                                      {"root", required_argument, NULL, 'r'},
                                      {"average", required_argument, NULL, 'a'},
                                      {"nonblocking", no_argument, NULL, 'z'},
                                      {"timeout", required_argument, NULL, 'T'},
                                      {"percentiles", no_argument, NULL, PERCENTILES},
                                      {"mem", required_argument, NULL, MEM},
                                      {"json", required_argument, NULL, JSON},
                                      {"csv", required_argument, NULL, CSV},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

/* "64k", "1M", "123"; 0 or -1. */
static int parse_size(const char *text, size_t *out)
{
    static const char units[] = "kmgt";
    const char *unit;
    char *end;

    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || errno)
        return -1;
    if (*end) {
        unit = strchr(units, *end | 0x20);
        if (!unit || !*unit || (end[1] && strcmp(end + 1, "B") != 0 && strcmp(end + 1, "b") != 0))
            return -1;
        unsigned shift = 10 * (unsigned)(unit - units + 1);
        if (n > SIZE_MAX >> shift)
            return -1;
        n <<= shift;
    }
    *out = (size_t)n;
    return 0;
}

static int parse_number(const char *text, long least, long most, long *out)
{
    char *end;

    errno = 0;
    long n = strtol(text, &end, 10);
    if (errno || end == text || *end || n < least || n > most)
        return -1;
    *out = n;
    return 0;
}

/* nccl-tests' names for the same things. */
static const char *alias(const char *name)
{
    static const char *const pairs[][2] = {{"half", "float16"},         {"float", "float32"},
                                           {"double", "float64"},       {"f8e4m3", "float8_e4m3"},
                                           {"f8e5m2", "float8_e5m2"},   {"broadcast", "bcast"},
                                           {"all_reduce", "allreduce"}, {"all_gather", "allgather"},
                                           {"all_to_all", "alltoall"},  {"reduce_scatter", "reduce_scatter_block"},
                                           {"latency", "pingpong"}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(name, pairs[i][0]) == 0)
            return pairs[i][1];
    return name;
}

static const char *type_name(int i)
{
    return vccl_type_name((vccl_datatype_t)i);
}

static const char *op_name(int i)
{
    return vccl_op_name((vccl_op_t)i);
}

static const char *coll_name(int i)
{
    return perf_colls[i].name;
}

/* Index of a name in first..last, -1 for "all", -2 if there is none such. */
static int find(const char *name, const char *(*name_of)(int), int first, int last)
{
    if (strcmp(name, "all") == 0)
        return -1;
    for (int i = first; i <= last; i++)
        if (name_of(i) && strcmp(name_of(i), alias(name)) == 0)
            return i;
    return -2;
}

static int bad_choice(const char *what, const char *given, const char *(*name_of)(int), int first, int last)
{
    char list[512] = "";

    for (int i = first; i <= last; i++)
        if (name_of(i) && strlen(list) + strlen(name_of(i)) + 2 < sizeof list)
            strcat(strcat(list, name_of(i)), " ");
    return cli_bad(TOOL, "no %s \"%.60s\"; there are %sand all", what, given, list);
}

static int parse_root(struct perf_opt *opt, const char *text)
{
    long n = -1;

    if (strcmp(text, "all") != 0 && parse_number(text, -1, 1 << 30, &n) < 0)
        return cli_bad(TOOL, "-r wants a rank, or all (-1), not \"%.60s\"", text);
    opt->root = (int)n;
    return -1;
}

static int parse_sizes(struct perf_opt *opt, int c)
{
    size_t *where = c == 'b' ? &opt->min_bytes : c == 'e' ? &opt->max_bytes : c == 'i' ? &opt->step_bytes : &opt->factor;

    if (parse_size(optarg, where) < 0)
        return cli_bad(TOOL, "-%c wants a size such as 64, 8K or 1M, not \"%.60s\"", c, optarg);
    if (c == 'f' && opt->factor < 2)
        return cli_bad(TOOL, "-f wants a factor of at least 2");
    if (c == 'i' && opt->step_bytes == 0)
        return cli_bad(TOOL, "-i wants a step of at least one byte");
    return -1;
}

static int parse_counts(struct perf_opt *opt, int c)
{
    long n, least = c == 'n' || c == 'T' ? 1 : 0, most = c == 'a' ? 3 : 1000000000;

    if (parse_number(optarg, least, most, &n) < 0)
        return cli_bad(TOOL, "-%c wants a whole number from %ld to %ld, not \"%.60s\"", c, least, most, optarg);
    switch (c) {
    case 'n':
        opt->iters = n;
        break;
    case 'w':
        opt->warmup = n;
        break;
    case 'c':
        opt->check = (int)n;
        break;
    case 'T':
        opt->timeout = (int)n;
        break;
    default:
        opt->report = (enum perf_report)n;
    }
    return -1;
}

static int parse_names(struct perf_opt *opt, int c)
{
    if (c == 'd') {
        opt->type = find(optarg, type_name, 1, VCCL_DATATYPE_NR - 1);
        return opt->type == -2 ? bad_choice("datatype", optarg, type_name, 1, VCCL_DATATYPE_NR - 1) : -1;
    }
    if (c == 'o') {
        opt->op = find(optarg, op_name, 1, VCCL_OP_NR - 1);
        return opt->op == -2 ? bad_choice("op", optarg, op_name, 1, VCCL_OP_NR - 1) : -1;
    }
    opt->mem_alloc = strcmp(optarg, "alloc") == 0;
    return opt->mem_alloc || strcmp(optarg, "malloc") == 0 ? -1
                                                           : cli_bad(TOOL, "--mem is malloc or alloc, not \"%.60s\"", optarg);
}

/* -1: go on, else the exit status. */
static int parse_option(struct perf_opt *opt, int c, char **argv)
{
    switch (c) {
    case 'b':
    case 'e':
    case 'f':
    case 'i':
        return parse_sizes(opt, c);
    case 'n':
    case 'w':
    case 'c':
    case 'a':
    case 'T':
        return parse_counts(opt, c);
    case 'd':
    case 'o':
    case MEM:
        return parse_names(opt, c);
    case 'r':
        return parse_root(opt, optarg);
    case 'z':
        opt->nonblocking = 1;
        return -1;
    case PERCENTILES:
        opt->percentiles = 1;
        return -1;
    case JSON:
        opt->json = optarg;
        return -1;
    case CSV:
        opt->csv = optarg;
        return -1;
    case 'h':
        if (cli_speaks())
            fputs(help, stdout);
        return 0;
    case ':':
        return cli_bad(TOOL, "%s wants a value", argv[optind - 1]);
    default:
        return optopt && optopt < 256 ? cli_bad(TOOL, "no option -%c", optopt) : cli_bad(TOOL, "no option %s", argv[optind - 1]);
    }
}

/* What no single option can tell. */
static int check(struct perf_opt *opt, int argc, char **argv)
{
    if (optind == argc)
        return cli_bad(TOOL, "say what to run, for example: vccl_perf allreduce");
    if (optind + 1 < argc)
        return cli_bad(TOOL, "\"%.60s\" is one argument too many", argv[optind + 1]);
    opt->coll = find(argv[optind], coll_name, 0, perf_coll_nr - 1);
    if (opt->coll == -2)
        return bad_choice("collective", argv[optind], coll_name, 0, perf_coll_nr - 1);
    if (opt->max_bytes == 0)
        opt->max_bytes = opt->min_bytes > 16 << 20 ? opt->min_bytes : 16 << 20;
    if (opt->min_bytes > opt->max_bytes)
        return cli_bad(TOOL, "the smallest size, %zu, is larger than the largest, %zu", opt->min_bytes, opt->max_bytes);
    if (opt->type > 0 && opt->op > 0 && opt->coll >= 0 && perf_colls[opt->coll].flags & PERF_OP &&
        !perf_op_fits((vccl_op_t)opt->op, (vccl_datatype_t)opt->type))
        return cli_bad(TOOL, "there is no %s of %s", op_name(opt->op), type_name(opt->type));
    if (opt->json && opt->csv && strcmp(opt->json, "-") == 0 && strcmp(opt->csv, "-") == 0)
        return cli_bad(TOOL, "--json and --csv cannot both go to stdout");
    return -1;
}

int perf_opt_parse(struct perf_opt *opt, int argc, char **argv)
{
    int c, status = -1;

    *opt = (struct perf_opt){
        .min_bytes = 8, .factor = 4, .warmup = 1, .check = 1, .type = VCCL_FLOAT32, .op = VCCL_SUM, .report = PERF_MAX};
    opterr = 0;
    while (status == -1 && (c = getopt_long(argc, argv, ":b:e:f:i:n:w:c:d:o:r:a:zT:h", longs, NULL)) != -1)
        status = parse_option(opt, c, argv);
    return status == -1 ? check(opt, argc, argv) : status;
}
