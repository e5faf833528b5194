# Faults: the first, second, third ... allocation or system call fails, until a run has none left to fail (nth.h). A program needs its own file,
# $(FAULT_SOURCES), $(FAULT_WRAP) and $(TEST_LIBS).
FAULT_SOURCES = tests/fault/nth.c tests/fault/nth.h
FAULT_WRAP = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=strdup,--wrap=mmap \
	-Wl,--wrap=memfd_create,--wrap=ftruncate,--wrap=fchmod,--wrap=fstat,--wrap=pread,--wrap=getrandom,--wrap=pipe2 \
	-Wl,--wrap=eventfd,--wrap=epoll_create1,--wrap=socketpair,--wrap=pidfd_open,--wrap=pthread_create,--wrap=open,--wrap=fcntl
FAULT_TESTS =
if HAVE_CHECK
FAULT_TESTS += tests/fault/base
tests_fault_base_SOURCES = tests/fault/base.c $(FAULT_SOURCES)
tests_fault_base_LDFLAGS = $(FAULT_WRAP)
tests_fault_base_LDADD = $(TEST_LIBS)
FAULT_TESTS += tests/fault/engine
tests_fault_engine_SOURCES = tests/fault/engine.c $(FAULT_SOURCES)
tests_fault_engine_LDFLAGS = $(FAULT_WRAP)
tests_fault_engine_LDADD = $(TEST_LIBS)
FAULT_TESTS += tests/fault/library
tests_fault_library_SOURCES = tests/fault/library.c $(FAULT_SOURCES)
tests_fault_library_LDFLAGS = $(FAULT_WRAP)
tests_fault_library_LDADD = $(TEST_LIBS)
FAULT_TESTS += tests/fault/p2p
tests_fault_p2p_SOURCES = tests/fault/p2p.c $(FAULT_SOURCES)
tests_fault_p2p_LDFLAGS = $(FAULT_WRAP)
tests_fault_p2p_LDADD = $(TEST_LIBS)
endif
check_PROGRAMS += $(FAULT_TESTS)
TESTS += $(FAULT_TESTS)
SAN_TESTS += $(FAULT_TESTS)
