# Units: one program per object, tests/unit/<object>.c, linked with everything in the library. Add a name to UNIT_TESTS and an LDADD line.
UNIT_TESTS =
if HAVE_CHECK
UNIT_TESTS += tests/unit/board
tests_unit_board_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/boot
tests_unit_boot_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/copy
tests_unit_copy_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/cpu
tests_unit_cpu_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/engine
tests_unit_engine_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/dtype
tests_unit_dtype_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/env
tests_unit_env_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/err
tests_unit_err_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/handle
tests_unit_handle_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/list
tests_unit_list_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/launch
tests_unit_launch_LDADD = launcher/libvcci_launcher.la $(TEST_LIBS)
UNIT_TESTS += tests/unit/map
tests_unit_map_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/match
tests_unit_match_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/pattern
tests_unit_pattern_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/pool
tests_unit_pool_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/reduce
tests_unit_reduce_SOURCES = tests/unit/reduce.c tests/unit/reduce_ref.c tests/unit/reduce_ref.h
tests_unit_reduce_LDADD = $(TEST_LIBS) -lm
UNIT_TESTS += tests/unit/ring
tests_unit_ring_LDADD = $(TEST_LIBS)
UNIT_TESTS += tests/unit/shm
tests_unit_shm_LDADD = $(TEST_LIBS)
endif
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)
SAN_TESTS += $(UNIT_TESTS)
EXTRA_DIST += tests/unit/engine_mail.h tests/unit/unit.h

# GB/s of the reductions: make tests/unit/reduce_bench
EXTRA_PROGRAMS += tests/unit/reduce_bench
tests_unit_reduce_bench_LDADD = lib/libvcci.la
CLEANFILES += tests/unit/reduce_bench
