# Simulation: the schedules of all ranks in one process.
check_PROGRAMS += tests/sim/schedules
tests_sim_schedules_SOURCES = \
	tests/sim/engine.c tests/sim/expr.c tests/sim/flat.c tests/sim/mutate.c tests/sim/schedules.c tests/sim/sim.h tests/sim/world.c
tests_sim_schedules_LDADD = lib/libvcci.la
TESTS += tests/sim/schedules
ASAN_TESTS += tests/sim/schedules
