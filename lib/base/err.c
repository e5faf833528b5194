/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"

#define TEXT_BYTES 512

static __thread char err_text[TEXT_BYTES];

/* Formats aside first: an argument may be the thread's old sentence. */
static void err_format(const char *fmt, va_list args, const char *tail)
{
    char text[TEXT_BYTES];
    int n = vsnprintf(text, sizeof text, fmt, args);

    if (n < 0)
        n = 0;
    if ((size_t)n < sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, "%s", tail);
    memcpy(err_text, text, sizeof text);
}

int vcci_fail(vccl_result_t result, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    err_format(fmt, args, "");
    va_end(args);
    return -(int)result;
}

int vcci_fail_errno(vccl_result_t result, int err, const char *fmt, ...)
{
    char tail[160], reason[96];
    va_list args;

    snprintf(tail, sizeof tail, ": %s (errno %d)", strerror_r(err, reason, sizeof reason), err);
    va_start(args, fmt);
    err_format(fmt, args, tail);
    va_end(args);
    return -(int)result;
}

const char *vcci_err_text(void)
{
    return err_text;
}

void vcci_err_set_text(const char *text)
{
    size_t n = strnlen(text, TEXT_BYTES - 1);

    memmove(err_text, text, n);
    err_text[n] = '\0';
}

_Noreturn void vcci_broken(const char *what, const char *file, int line)
{
    vcci_log(VCCI_LOG_ERROR, "a bug in VCCL: %s does not hold (%s:%d)", what, file, line);
    abort();
}
