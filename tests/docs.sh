#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# README.md and doc/: at most three pages each, links and names of files lead somewhere, the README's program is examples/allreduce.c, and where a time
# or a rate was measured the same section says with which command.
cd "${top_srcdir:-$(dirname "$0")/..}" || exit 99
PAGE_LINES=200
LC_ALL=C
export LC_ALL
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0
wrong() {
    echo "$*"
    bad=1
}

for doc in README.md CONTRIBUTING.md doc/*.md; do
    lines=$(wc -l <"$doc")
    test "$lines" -le $PAGE_LINES || wrong "$doc: $lines lines, the limit is $PAGE_LINES"
    # `folder/file.c` and [text](file) name files of the tree; tests are named without .c, as they are run.
    grep -oE '`[a-z]+/[a-zA-Z0-9_/]+[.](c|h|sh|py|md|mk|1|3|7)`' "$doc" | tr -d '`' | sort -u >"$dir/names"
    grep -oE ']\([^):#]+\)' "$doc" | sed 's/^](//; s/)$//' | sort -u >>"$dir/names"
    while read -r name; do
        test -e "$name" || test -e "$(dirname "$doc")/$name" || echo "$doc: there is no $name"
    done <"$dir/names" >"$dir/missing"
    test -s "$dir/missing" && wrong "$(cat "$dir/missing")"
    # `NAME` (number) is a macro's value.
    grep -oE '`[A-Z][A-Z_0-9]+` \([0-9]+\)' "$doc" | tr -d '`()' | sort -u | while read -r name value; do
        grep -rqE "define $name[ ]+${value}u?( |\$)" lib p2p coll include || echo "$doc: $name is not $value"
    done >"$dir/missing"
    test -s "$dir/missing" && wrong "$(cat "$dir/missing")"
    # man pages
    grep -oE 'man vccl[a-z_]*' "$doc" | sort -u | while read -r _ name; do
        ls man/"$name".[1-9] >/dev/null 2>&1 || echo "$doc: there is no page $name"
    done >"$dir/missing"
    test -s "$dir/missing" && wrong "$(cat "$dir/missing")"
    # A figure: a number with a unit of time below a second, or of rate.
    awk -v doc="$doc" '
        function section_ends() {
            if (figure && !command) {
                print doc ":" figure ": a figure, but its section names no command (a line with vccl_perf or bench/ in code)"
                bad = 1
            }
            figure = command = 0
        }
        /^#/ && !code { section_ends() }
        /^```/ { code = !code }
        (code || /`[^`]*(vccl_perf|bench\/)[^`]*`/ || /^    /) && /vccl_perf|bench\// { command = 1 }
        !code && /(^|[^-A-Za-z0-9_])[0-9][0-9.,]* ?(us|ns|GB\/s|MB\/s|GiB\/s)([^a-z]|$)/ && !figure { figure = FNR }
        END { section_ends(); exit bad }' "$doc" || bad=1
done

awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' README.md >"$dir/program"
cmp -s "$dir/program" examples/allreduce.c || wrong "README.md: the first program is not examples/allreduce.c: $(diff examples/allreduce.c "$dir/program")"
for option in 'sh quickstart.sh' 'sh quickstart.sh check'; do
    head -n 12 README.md | grep -q "^    $option " || wrong "README.md does not begin with $option"
done
exit $bad
