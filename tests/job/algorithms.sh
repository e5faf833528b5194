#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every algorithm of every collective, forced by name, on real data.
. "${top_srcdir:-.}/tests/job/common.sh"
table=$(sed -n 's/^ *X([A-Z_]*, \([a-z_]*\), \([a-z_]*\),.*/\1:\2/p' "${top_srcdir:-.}/coll/algo.h")
[ -n "$table" ] || {
    echo "no algorithms found in coll/algo.h"
    exit 1
}
for rule in $table; do
    for n in 2 5 8; do
        VCCL_COLL=$rule fake $n matrix $n 25 "${rule%%:*}"
    done
done
finish
