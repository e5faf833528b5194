/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define LINE_BYTES 1024

_Atomic int vcci_log_limit_now = VCCI_LOG_WARN;

static __thread int thread_rank = -1;
static _Atomic int process_rank = -1;

void vcci_log_limit(enum vcci_log_level limit)
{
    atomic_store_explicit(&vcci_log_limit_now, (int)limit, memory_order_relaxed);
}

void vcci_log_rank(int rank)
{
    int none = -1;

    thread_rank = rank;
    if (rank >= 0)
        atomic_compare_exchange_strong(&process_rank, &none, rank);
}

/* A line that vcclrun or a terminal could mistake for two is made one. */
static void log_flatten(char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\n' || text[i] == '\r')
            text[i] = ' ';
}

void vcci_log(enum vcci_log_level level, const char *fmt, ...)
{
    char line[LINE_BYTES];
    int saved = errno, rank = thread_rank >= 0 ? thread_rank : atomic_load(&process_rank), n, m;
    va_list args;

    if ((int)level > atomic_load_explicit(&vcci_log_limit_now, memory_order_relaxed))
        return;
    n = rank >= 0 ? snprintf(line, sizeof line, "vccl: rank %d: ", rank) : snprintf(line, sizeof line, "vccl: ");
    va_start(args, fmt);
    m = vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, args);
    va_end(args);
    if (m < 0)
        m = 0;
    n += m;
    if (n > LINE_BYTES - 2)
        n = LINE_BYTES - 2;
    log_flatten(line, (size_t)n);
    line[n++] = '\n';
    /* Where stderr is gone or full there is nobody left to tell. */
    ssize_t written = write(STDERR_FILENO, line, (size_t)n);
    (void)written;
    errno = saved;
}
