/* SPDX-License-Identifier: BSD-3-Clause
 * What the command lines of the tools share. */
#ifndef TOOLS_CLI_H
#define TOOLS_CLI_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLI_PATIENCE_US 300000

/* One line on stderr for a bad command line, from the first rank only (every rank has the same one). Returns 2, the exit status. The others
 * wait a little: the first rank that ends, ends the job, and it should be the one that has spoken. */
__attribute__((format(printf, 2, 3))) static inline int cli_bad(const char *tool, const char *format, ...)
{
    const char *rank = getenv("PMIX_RANK");
    va_list args;

    if (rank && strcmp(rank, "0") != 0) {
        usleep(CLI_PATIENCE_US);
        return 2;
    }
    va_start(args, format);
    fprintf(stderr, "%s: ", tool);
    vfprintf(stderr, format, args);
    fprintf(stderr, " (%s --help lists what there is)\n", tool);
    va_end(args);
    return 2;
}

/* May this process speak for all ranks, before they know their ranks? */
static inline int cli_speaks(void)
{
    const char *rank = getenv("PMIX_RANK");

    return !rank || strcmp(rank, "0") == 0;
}

#endif
