#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages agree with what they describe: prototypes with include/vccl.h, variables with lib/base/env.h, algorithms with coll/algo.h; no page
# is missing, left out of the installation, or refers to one that is not there; their programs compile; mandoc finds no fault.
cd "${top_srcdir:-$(dirname "$0")/..}" || exit 99
: "${CC:=cc}"
LC_ALL=C
export LC_ALL
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
bad=0
wrong() {
    echo "$*"
    bad=1
}
same() { # what, file of what there is, file of what the pages say
    diff "$2" "$3" >"$dir/diff" || {
        echo "$1 (<: in the source, >: in the pages):"
        cat "$dir/diff"
        bad=1
    }
}
tight() { sed 's/  */ /g; s/ *\([(),*]\) */\1/g; s/^ //; s/ $//; /^$/d'; }

# Prototypes, "name prototype" a line.
sed -e ':a' -e 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||; /\/\*/{N;ba' -e '}' -e '/^#/d' include/vccl.h | tr '\n' ' ' | tr ';' '\n' |
    sed 's/.*extern "C" {//' | grep -E '^ *(const )?[a-z_]+ \*?vccl_[a-z0-9_]+\(' >"$dir/header"
tight <"$dir/header" | sed 's/^[^(]*\(vccl_[a-z0-9_]*\)(.*/\1 &/' | sort >"$dir/calls"
test -s "$dir/calls" || wrong "no prototype found in include/vccl.h"

# What .B and .BI lines of a SYNOPSIS say.
synopsis() {
    awk '/^[.]SH/ { on = $2 == "SYNOPSIS" } on && /^[.]BI? "/ { sub(/^[.]BI? /, ""); gsub(/" "/, ""); gsub(/"/, ""); print }' "$1" |
        tr '\n' ' ' | tr ';' '\n' | tight
}
for page in man/*.3; do
    name=$(basename "$page" .3)
    target=$(sed -n 's/^[.]so //p' "$page")
    test -z "$target" || page=man/$(basename "$target")
    test -e "$page" || {
        echo "$name.3 stands for $target, which is not there" >&2
        continue
    }
    synopsis "$page" | sed -n "s/.*[ *]$name(.*/$name &/p"
    sed -n '/^[.]SH NAME/,/^[.]SH SYNOPSIS/p' "$page" | grep -qw "$name" || echo "$page: NAME does not name $name" >&2
    for section in NAME SYNOPSIS DESCRIPTION 'RETURN VALUE' 'THREAD SAFETY' 'SEE ALSO'; do
        grep -q "^[.]SH $section\$" "$page" || echo "$page: no section $section" >&2
    done
done 2>"$dir/complaints" | sort -u >"$dir/pages"
test -s "$dir/complaints" && wrong "$(cat "$dir/complaints")"
same "calls" "$dir/calls" "$dir/pages"

# Result codes, datatypes and ops.
sed -n 's/^ *\(VCCL_[A-Z_0-9]* = [0-9]*\),\{0,1\}.*/\1/p' include/vccl.h | grep -E '^VCCL_(ERR_|SUCCESS)' | tr -d '=' | tr -s ' ' | sort >"$dir/codes"
sed -n 's/^[.]BR* \(VCCL_ERR_[A-Z_]*\|VCCL_SUCCESS\) " (\([0-9]*\))".*/\1 \2/p' man/vccl_errors.7 | sort >"$dir/said"
same "result codes" "$dir/codes" "$dir/said"
cat man/*.[37] | sed 's/\\f[BRI]//g' >"$dir/text"
for word in $(grep -oE 'VCCL_[A-Z0-9_]+' include/vccl.h | sort -u); do
    case $word in *_NR | *_MAX_ | VCCL_H | VCCL_ERR_*) continue ;; esac
    grep -qw "$word" "$dir/text" || wrong "$word of include/vccl.h is in no page"
done

# Variables: name, default, choices.
variables() { # lines of the table
    sed -n '/define VCCI_ENV_TABLE/,/^$/p' lib/base/env.h | sed 's/ *\\$//' | tr '\n' ' ' | sed 's/ X(/\
X(/g' | sed -n 's/^X([a-z_]*, "\([A-Z_]*\)", [A-Z]*, "\([^"]*\)", "\([^"]*\)".*/\1|\2|\3/p'
}
variables | sort >"$dir/variables"
awk '/^[.]SH/ { on = $2 == "VARIABLES" }
    on && /^[.]B VCCL_/ { name = $2 }
    on && /^Default: / { sub(/^Default: /, ""); dflt = $0 == "empty" ? "" : $0 }
    on && /^Choices: / { sub(/^Choices: /, ""); gsub(/\\/, "", dflt); gsub(/\\/, ""); print name "|" dflt "|" $0 }' man/vccl_env.7 | sort >"$dir/said"
test -s "$dir/variables" || wrong "no variable found in lib/base/env.h"
same "variables" "$dir/variables" "$dir/said"

# Algorithms, as collective/algorithm|source.
sed -n 's/^ *X([A-Z_]*, \([a-z_]*\), \([a-z_]*\), .*"\(.*\)").*/\1\/\2|\3/p' coll/algo.h | sort >"$dir/algorithms"
awk '/^[.]SS / { coll = $2 } /^[.]SH/ { coll = "" } coll && /^[.]B / { algo = coll "/" $2 }
    coll && /^Source: / { sub(/^Source: /, ""); sub(/[.]$/, ""); print algo "|" $0 }' man/vccl_coll.7 | sort >"$dir/said"
same "algorithms" "$dir/algorithms" "$dir/said"

# The list of what is installed, and references from page to page.
ls man/*.[1-9] | sort >"$dir/there"
cat Makefile.am ./*/local.mk | grep -oE 'man/[a-z_0-9]+[.][1-9]' | sort >"$dir/listed"
diff "$dir/there" "$dir/listed" >"$dir/diff" || wrong "<: in man/, >: listed in a local.mk: $(cat "$dir/diff")"
cat man/*.[1-9] | sed -n 's/\\f[BRI]//g; s/^[.]BR \(vccl[a-z_0-9]*\) (\([1-9]\)).*/\1(\2)/p; s/.*[^a-z_0-9]\(vccl[a-z_0-9]*([1-9])\).*/\1/p' | tr -d '\\' | sort -u |
    while read -r ref; do
        page=man/$(echo "$ref" | sed 's/(\(.\))/.\1/')
        test -e "$page" || echo "$ref is referred to, but there is no $page"
    done >"$dir/missing"
test -s "$dir/missing" && wrong "$(cat "$dir/missing")"

# Programs in them: what begins with an #include must compile.
for page in man/*.[1-9]; do
    awk '/^[.]EX/ { on = 1; n = 0; next } /^[.]EE/ { if (keep) exit; on = 0 } on { if (!n++) keep = /^#include/; if (keep) print }' "$page" |
        sed 's/\\e/\\/g; s/\\-/-/g; s/^\\&//; s|<vccl.h>|"include/vccl.h"|' >"$dir/program.c"
    test -s "$dir/program.c" || continue
    $CC -std=c11 -Wall -Wextra -Werror -fsyntax-only -I. "$dir/program.c" >"$dir/out" 2>&1 || wrong "$page: $(cat "$dir/out")"
done

# Style.
if command -v mandoc >/dev/null; then
    for page in man/*.[1-9]; do
        grep -q '^[.]so ' "$page" || mandoc -Tlint -Wwarning "$page"
    done >"$dir/lint" 2>&1
    test -s "$dir/lint" && wrong "$(cat "$dir/lint")"
else
    echo "mandoc is not installed: the pages' style was not looked at"
fi
echo "$(ls man/*.[1-9] | wc -l) pages looked at"
exit $bad
