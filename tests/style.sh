#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What CONTRIBUTING.md says of the sources and a script can see: a licence line, sizes of files and functions, no tabs, nothing left undone.
cd "${top_srcdir:-$(dirname "$0")/..}" || exit 99
FILE_LINES=800 BUILDER_LINES=200 FUNCTION_LINES=80
export FILE_LINES BUILDER_LINES FUNCTION_LINES

for dir in include lib p2p coll pmix launcher tools bench examples compat tests; do
    test -d "$dir" && find "$dir" -name '*.[ch]' -o -name '*.cu' -o -name '*.cc'
done | sort | xargs awk '
function wrong(why) {
    printf "%s:%d: %s\n", FILENAME, FNR, why
    bad = 1
}
function file_ends() {
    if (lines > limit) {
        printf "%s: %d lines, the limit is %d\n", last, lines, limit
        bad = 1
    }
}
FNR == 1 {
    file_ends()
    files++
    last = FILENAME
    tests = FILENAME ~ /^tests\//
    builder = FILENAME ~ /^coll\/(barrier|bcast|reduce|allreduce|gather|scatter|allgather|alltoall|reduce_scatter|scan|exscan)_.*[.]c$/
    limit = builder ? ENVIRON["BUILDER_LINES"] : ENVIRON["FILE_LINES"]
    if ($0 !~ /SPDX-License-Identifier: BSD-3-Clause/) wrong("no SPDX-License-Identifier: BSD-3-Clause in the first line")
}
{ lines = FNR }
/\t/ { wrong("a tab") }
/[ ]$/ { wrong("a space at the end") }
/TODO|FIXME|XXX/ { wrong("left undone") }
/^[{]/ { begin = FNR }
/^[}]/ && begin {
    if (FNR - begin - 1 > ENVIRON["FUNCTION_LINES"] && !tests)
        wrong("a function of " FNR - begin - 1 " lines, the limit is " ENVIRON["FUNCTION_LINES"])
    begin = 0
}
END {
    file_ends()
    printf "%d files looked at\n", files
    exit bad || files == 0
}'
