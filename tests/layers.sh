#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Includes point down only, and each outside library is seen by one place only (doc/ARCHITECTURE.md).
cd "${top_srcdir:-$(dirname "$0")/..}" || exit 99

for dir in lib/base lib/engine lib/device p2p coll pmix lib/api launcher tools bench examples compat tests; do
    test -d "$dir" && find "$dir" -name '*.[ch]' -o -name '*.cu' -o -name '*.cc'
done | sort | xargs awk '
BEGIN {
    below["lib/base"] = "lib/base/ include/"
    below["lib/engine"] = "lib/engine/ lib/base/ include/"
    below["lib/device"] = "lib/device/ lib/engine/ lib/base/ include/"
    below["p2p"] = "p2p/ lib/device/ lib/engine/ lib/base/ include/"
    below["coll"] = "coll/ p2p/ lib/device/ lib/engine/ lib/base/ include/"
    below["pmix"] = "pmix/ lib/engine/ lib/base/ include/"
    below["lib/api"] = "lib/api/ coll/ p2p/ pmix/ lib/device/ lib/engine/ lib/base/ include/"
    below["launcher"] = "launcher/ pmix/ lib/engine/ lib/base/ include/"
    below["tools"] = "tools/ include/vccl.h"
    below["bench"] = "bench/ include/vccl.h"
    below["examples"] = "examples/ include/vccl.h"
    below["compat"] = "compat/ lib/api/ include/"
    below["tests"] = "tests/ lib/ p2p/ coll/ pmix/ launcher/ tools/ include/"
    outside["ev[.]h|ev[+][+][.]h"] = "^lib/engine/libev[.]h$"
    outside["pmix.*[.]h"] = "^(pmix|tests)/"
    outside["infiniband/.*|rdma/.*"] = "^p2p/rdma_"
    outside["cuda.*[.]h|nvml[.]h"] = "^lib/device/cuda"
}
function wrong(why) {
    printf "%s:%d: %s: %s\n", FILENAME, FNR, $0, why
    bad = 1
}
FNR == 1 { files++ }
/^[ \t]*#[ \t]*include[ \t]*"/ {
    name = $0
    sub(/^[^"]*"/, "", name)
    sub(/".*/, "", name)
    if (name == "config.h") next
    match(FILENAME, /^(lib\/[a-z]+|[a-z0-9]+)/)
    n = split(below[substr(FILENAME, 1, RLENGTH)], allowed, " ")
    for (i = 1; i <= n; i++)
        if (index(name, allowed[i]) == 1) next
    # The benchmarks are also built outside this tree.
    if (FILENAME ~ /^bench\// && name !~ /\//) next
    wrong(name ~ /\// ? "points up or aside" : "is not from the root")
}
/^[ \t]*#[ \t]*include[ \t]*</ {
    name = $0
    sub(/^[^<]*</, "", name)
    sub(/>.*/, "", name)
    for (pattern in outside)
        if (name ~ ("^(" pattern ")$") && FILENAME !~ outside[pattern])
            wrong("only " outside[pattern] " may include it")
}
END {
    printf "%d files looked at\n", files
    exit bad || files == 0
}'
