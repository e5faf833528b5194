/* SPDX-License-Identifier: BSD-3-Clause
 * vcclrun: starts the ranks of a job. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "config.h"
#include "launcher/guard.h"
#include "launcher/job.h"
#include "launcher/opt.h"
#include "launcher/scratch.h"
#include "lib/base/cpu.h"
#include "lib/base/err.h"

struct inner_args {
    const struct vcci_opt *opt;
    const char *scratch;
    int cores;
};

static int run_inner(int guard_fd, void *arg)
{
    const struct inner_args *args = arg;
    const struct vcci_job_conf conf = {.opt = args->opt, .scratch = args->scratch, .cores = args->cores, .guard_fd = guard_fd};

    return vcci_job_run(&conf);
}

/* Descriptors 0 to 2 are open from here on, so that none of ours is taken for one of them. */
static void open_std(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

int main(int argc, char **argv)
{
    int cores = vcci_cpu_usable(), status = 0;
    char scratch[PATH_MAX];
    struct vcci_opt opt;
    sigset_t signals;

    open_std();
    if (vcci_opt_parse(&opt, argc, argv, cores)) {
        fprintf(stderr, "vcclrun: %s (vcclrun --help lists the options)\n", vcci_err_text());
        status = VCCI_EXIT_USAGE;
    } else if (opt.action == VCCI_OPT_HELP) {
        vcci_opt_help(stdout);
    } else if (opt.action == VCCI_OPT_VERSION) {
        printf("vcclrun (VCCL) %s\n", PACKAGE_VERSION);
    } else if (vcci_scratch_name(scratch, sizeof scratch)) {
        fprintf(stderr, "vcclrun: %s\n", vcci_err_text());
        status = VCCI_EXIT_FAILURE;
    } else {
        struct inner_args args = {.opt = &opt, .scratch = scratch, .cores = cores};
        vcci_guard_signals(&signals);
        sigprocmask(SIG_BLOCK, &signals, NULL);
        status = vcci_guard_run(scratch, run_inner, &args);
    }
    vcci_opt_free(&opt);
    return status;
}
