# What `make check` runs. Each subfolder lists its own in its local.mk; all of it runs under automake's parallel harness, each with a time limit.
TEST_EXTENSIONS = .sh .py
TEST_SECONDS = 300
TEST_LIMIT = timeout -k 10 $(TEST_SECONDS)
LOG_COMPILER = $(TEST_LIMIT)
SH_LOG_COMPILER = $(TEST_LIMIT) $(SHELL)
PY_LOG_COMPILER = $(TEST_LIMIT) python3
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; top_builddir='$(abs_top_builddir)'; CC='$(CC)'; CXX='$(CXX)'; VERSION='$(VERSION)'; \
	TEST_CPPFLAGS='$(AM_CPPFLAGS)'; \
	ASAN_OPTIONS=$${ASAN_OPTIONS-allocator_may_return_null=1:detect_stack_use_after_return=1}; \
	UBSAN_OPTIONS=$${UBSAN_OPTIONS-print_stacktrace=1}; TSAN_OPTIONS=$${TSAN_OPTIONS-allocator_may_return_null=1:second_deadlock_stack=1}; \
	export top_srcdir top_builddir CC CXX VERSION TEST_CPPFLAGS ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS;
TEST_LIBS = lib/libvcci.la $(CHECK_LIBS)

# Those that tests/run_sanitizers.sh runs too, in trees built with ASan+UBSan and with TSan; SAN_NEEDS is what they need built.
# ASAN_TESTS, which have one thread, run with ASan+UBSan only.
SAN_TESTS =
SAN_NEEDS =
ASAN_TESTS =
SAN_MORE =

# The tree itself: layers, headers, style, manual pages, exported symbols, what is in the tarball, what is installed.
TREE_TESTS = tests/layers.sh tests/headers.sh tests/style.sh tests/man.sh tests/man_options.sh tests/docs.sh \
	tests/symbols.sh tests/dist.sh tests/install.sh
dist_check_SCRIPTS += $(TREE_TESTS)
TESTS += $(TREE_TESTS)
EXTRA_DIST += tests/install_client.c

include tests/unit/local.mk
include tests/sim/local.mk
include tests/conf/local.mk
include tests/fault/local.mk
include tests/job/local.mk
include tests/net/local.mk

.PHONY: sanitizer-programs sanitizer-check
sanitizer-programs: $(SAN_NEEDS) $(SAN_TESTS) $(SAN_MORE)
sanitizer-check: sanitizer-programs
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(SAN_TESTS) $(SAN_MORE)'
