/* SPDX-License-Identifier: BSD-3-Clause
 * vcclrun's command line and the environment it makes. */
#include <stdio.h>
#include <string.h>

#include "launcher/env.h"
#include "launcher/opt.h"
#include "lib/base/err.h"
#include "tests/unit/unit.h"

#define WORDS_MAX 32

/* Splits text at spaces into *argv behind the program's name, and parses. */
static int parse(struct vcci_opt *opt, const char *text)
{
    static char copy[512], *argv[WORDS_MAX];
    int argc = 1;

    snprintf(copy, sizeof copy, "%s", text);
    argv[0] = "vcclrun";
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return vcci_opt_parse(opt, argc, argv, 6);
}

START_TEST(reads_options)
{
    struct vcci_opt opt;

    ck_assert_int_eq(parse(&opt, "prog"), 0);
    ck_assert_int_eq(opt.size, 6);
    ck_assert_int_eq(opt.bind, VCCI_BIND_AUTO);
    ck_assert_int_eq(opt.map_by, VCCI_MAP_SLOT);
    vcci_opt_free(&opt);
    ck_assert_int_eq(parse(&opt, "-np 3 --bind-to=numa --map-by node --timeout=1.5 --tag-output --output-dir d -v --report-bindings --wdir w "
                                 "prog -np 9 --wdir"),
                     0);
    ck_assert_int_eq(opt.size, 3);
    ck_assert_int_eq(opt.bind, VCCI_BIND_NUMA);
    ck_assert_int_eq(opt.map_by, VCCI_MAP_NODE);
    ck_assert(opt.timeout > 1.49 && opt.timeout < 1.51);
    ck_assert(opt.tag_output && opt.verbose && opt.report_bindings);
    ck_assert_str_eq(opt.output_dir, "d");
    ck_assert_str_eq(opt.apps[0].wdir, "w");
    ck_assert_str_eq(opt.apps[0].argv[3], "--wdir");
    ck_assert_ptr_null(opt.apps[0].argv[4]);
    vcci_opt_free(&opt);
    ck_assert_int_eq(parse(&opt, "-- -n"), 0);
    ck_assert_str_eq(opt.apps[0].argv[0], "-n");
    vcci_opt_free(&opt);
}
END_TEST

START_TEST(reads_several_programs)
{
    struct vcci_opt opt;

    ck_assert_int_eq(parse(&opt, "-n 2 -x A=1 one a : -n 3 --wdir w -x A=2 -x B= two : --tag-output -np 1 three x y"), 0);
    ck_assert_int_eq(opt.n_apps, 3);
    ck_assert_int_eq(opt.size, 6);
    ck_assert_int_eq(opt.apps[1].first_rank, 2);
    ck_assert_int_eq(opt.apps[2].first_rank, 5);
    ck_assert_int_eq(opt.apps[1].n_exports, 2);
    ck_assert_str_eq(opt.apps[1].exports[0], "A=2");
    ck_assert_str_eq(opt.apps[1].exports[1], "B=");
    ck_assert_str_eq(opt.apps[0].argv[1], "a");
    ck_assert_ptr_null(opt.apps[0].argv[2]);
    ck_assert_ptr_null(opt.apps[0].wdir);
    ck_assert_str_eq(opt.apps[2].argv[2], "y");
    ck_assert_int_eq(opt.tag_output, 1);
    vcci_opt_free(&opt);
}
END_TEST

START_TEST(asks_for_help)
{
    struct vcci_opt opt;

    ck_assert_int_eq(parse(&opt, "-n 2 --help --nonsense"), 0);
    ck_assert_int_eq(opt.action, VCCI_OPT_HELP);
    vcci_opt_free(&opt);
    ck_assert_int_eq(parse(&opt, "--version"), 0);
    ck_assert_int_eq(opt.action, VCCI_OPT_VERSION);
    vcci_opt_free(&opt);
}
END_TEST

START_TEST(refuses_nonsense)
{
    static const struct {
        const char *line, *word; /* the sentence names it */
    } cases[] = {
        {"", "program"},           {"-n", "-n"},           {"-n 0 p", "'0'"},         {"-np -1 p", "'-1'"},   {"-np 1x p", "'1x'"},
        {"-np 65537 p", "65536"},  {"--np 2 p", "-np"},    {"--foo p", "--foo"},      {"-x =1 p", "'=1'"},    {"--bind-to x p", "numa"},
        {"--map-by x p", "slot"},  {"--timeout x p", "x"}, {"--timeout nan p", "nan"}, {"--tag-output=1 p", "--tag-output"},
        {"-n 1 p :", "':'"},       {": p", "':'"},         {"p : q", "-n"},           {"-n 1 p : q", "q"},    {"-n : p", "-n"},
        {"-n 65536 p : -n 1 q", "65536"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vcci_opt opt;
        ck_assert_msg(parse(&opt, cases[i].line) == -VCCL_ERR_ARG, "'%s' is taken", cases[i].line);
        ck_assert_msg(strstr(vcci_err_text(), cases[i].word) != NULL, "'%s' does not name %s", vcci_err_text(), cases[i].word);
        vcci_opt_free(&opt);
    }
}
END_TEST

START_TEST(makes_environments)
{
    char *base[] = {"A=1", "B=2", "AB=3", NULL};
    const char *exports[] = {"A=x", "C=4", "A=y"};
    char **env = vcci_launch_env(base, exports, 3);

    ck_assert_ptr_nonnull(env);
    ck_assert_str_eq(env[0], "B=2");
    ck_assert_str_eq(env[1], "AB=3");
    ck_assert_str_eq(env[2], "C=4");
    ck_assert_str_eq(env[3], "A=y");
    ck_assert_ptr_null(env[4]);
    free(env);
}
END_TEST

UNIT_MAIN("launch", reads_options, reads_several_programs, asks_for_help, refuses_nonsense, makes_environments)
