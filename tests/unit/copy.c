/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/base/copy.h"

#include <string.h>

#include "tests/unit/unit.h"

static unsigned char from[20000], to[20200];

static void check(void (*copy)(void *, const void *, size_t), size_t at, size_t skip, size_t bytes)
{
    memset(to, 0xee, at + bytes + 80);
    copy(to + at, from + skip, bytes);
    UNIT_HOLDS(memcmp(to + at, from + skip, bytes) == 0);
    for (size_t i = 0; i < 80; i++)
        UNIT_HOLDS(to[at + bytes + i] == 0xee && (i >= at || to[at - 1 - i] == 0xee));
}

static void check_all(void (*copy)(void *, const void *, size_t))
{
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)(i * 11 + (i >> 8) * 5);
    for (size_t at = 0; at < 70; at++) {
        for (size_t bytes = 0; bytes < 300; bytes += 1 + at % 3)
            check(copy, at, at / 2, bytes);
        for (size_t bytes = 1000; bytes < 1200; bytes += 7)
            check(copy, at, at % 9, bytes);
        check(copy, at, 3, 16384 + at);
    }
}

START_TEST(through)
{
    check_all(vcci_copy_bytes);
}
END_TEST

START_TEST(around)
{
    check_all(vcci_copy_around);
}
END_TEST

UNIT_MAIN("copy", through, around)
