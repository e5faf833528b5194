/* SPDX-License-Identifier: BSD-3-Clause
 * Copies of a few KiB and more between buffers that do not overlap. memcpy itself takes twice as long on some processors where the destination does not
 * begin on a cache line (it uses "rep movsb" there), which is what malloc's memory looks like. Any thread. */
#ifndef VCCI_BASE_COPY_H
#define VCCI_BASE_COPY_H

#include <stddef.h>

/* As memcpy. */
void vcci_copy_bytes(void *to, const void *from, size_t bytes);
/* The same by stores that go round the caches; they are ordered before all later stores. */
void vcci_copy_around(void *to, const void *from, size_t bytes);

#endif
