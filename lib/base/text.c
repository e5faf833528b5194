/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/text.h"

#include <stdarg.h>
#include <stdio.h>

void vcci_text_put(struct vcci_text *text, const char *fmt, ...)
{
    int fits = text->len < text->cap;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(fits ? text->buf + text->len : NULL, fits ? text->cap - text->len : 0, fmt, args);
    va_end(args);
    text->len += n > 0 ? (size_t)n : 0;
}
