/* SPDX-License-Identifier: BSD-3-Clause
 * A text that grows at its end inside a buffer of fixed size, and counts what did not fit: the manners of snprintf over many calls. */
#ifndef VCCI_BASE_TEXT_H
#define VCCI_BASE_TEXT_H

#include <stddef.h>

struct vcci_text {
    char *buf; /* may be NULL with cap 0 */
    size_t cap, len;
};

void vcci_text_put(struct vcci_text *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
