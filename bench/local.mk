# bench/compare builds these itself, once for each contender.
EXTRA_DIST += bench/compare bench/layer.h bench/loop.c bench/compute.c bench/runahead.c bench/startup.c bench/threads.c
