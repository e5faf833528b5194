#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every option that a program's --help prints stands in its manual page, and every option of vcclrun that README.md names is one.
: "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}" "${top_builddir:=$top_srcdir}"
LC_ALL=C
export LC_ALL
bad=0 seen=0
for program in launcher/vcclrun tools/vccl_perf tools/vccl_info; do
    name=$(basename "$program")
    if ! test -x "$top_builddir/$program"; then
        echo "$program is not built"
        continue
    fi
    page=$top_srcdir/man/$name.1
    test -e "$page" || {
        echo "there is no man/$name.1"
        bad=1
        continue
    }
    seen=$((seen + 1))
    text=$(sed 's/\\f[BRIP]//g; s/\\-/-/g; s/\\&//g' "$page")
    help=$("$top_builddir/$program" --help) || {
        echo "$name --help: status $?"
        bad=1
    }
    # Options begin the indented lines; others may follow after a comma.
    options=$(echo "$help" | grep -E '^ +-' | grep -oE '(^|[ ,])--?[a-zA-Z][-a-zA-Z0-9_]*' | tr -d ' ,' | sort -u)
    n=0
    for option in $options; do
        n=$((n + 1))
        echo "$text" | grep -qE -- "(^|[^-A-Za-z0-9_])$option([^-A-Za-z0-9_]|\$)" || {
            echo "$name --help lists $option, man/$name.1 does not"
            bad=1
        }
    done
    test $n -gt 2 || {
        echo "$name --help lists $n options"
        bad=1
    }
    echo "$name: $n options"
    test $name = vcclrun || continue
    for option in $(grep -E '^[|] `-' "$top_srcdir/README.md" | cut -d'|' -f2 | grep -oE '`--?[-a-z]+' | tr -d '`'); do
        echo "$options" | grep -qx -- "$option" || {
            echo "README.md names $option, vcclrun --help does not"
            bad=1
        }
    done
done
test $bad = 0 || exit 1
test $seen -gt 0 || exit 77
