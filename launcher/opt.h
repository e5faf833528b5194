/* SPDX-License-Identifier: BSD-3-Clause
 * vcclrun's command line. */
#ifndef VCCI_LAUNCHER_OPT_H
#define VCCI_LAUNCHER_OPT_H

#include <stdio.h>

enum vcci_bind { VCCI_BIND_AUTO, VCCI_BIND_CORE, VCCI_BIND_NUMA, VCCI_BIND_NONE };
enum vcci_map_by { VCCI_MAP_SLOT, VCCI_MAP_CORE, VCCI_MAP_NUMA, VCCI_MAP_NODE };
enum vcci_opt_action { VCCI_OPT_RUN, VCCI_OPT_HELP, VCCI_OPT_VERSION };

/* One program of the job; its ranks follow those of the program before. */
struct vcci_app {
    int np, first_rank;
    char **argv;      /* into the command line, NULL-ended */
    const char *wdir; /* NULL: where vcclrun is */
    const char **exports; /* NAME=VALUE, in order */
    int n_exports;
};
struct vcci_opt {
    enum vcci_opt_action action;
    struct vcci_app *apps;
    int n_apps, size;
    enum vcci_bind bind;
    enum vcci_map_by map_by;
    const char *output_dir; /* NULL: to vcclrun's own stdout and stderr */
    double timeout;         /* seconds, 0: none */
    int tag_output, report_bindings, verbose;
};

/* Reads the command line; `cores` is the number of ranks of a job that does not say. argv is kept and its ":" become NULL. Errors:
 * VCCL_ERR_ARG, the sentence is for the user. *opt is to be freed in any case. */
int vcci_opt_parse(struct vcci_opt *opt, int argc, char **argv, int cores);
void vcci_opt_free(struct vcci_opt *opt);
void vcci_opt_help(FILE *out);

#endif
