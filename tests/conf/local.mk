# Conformance: one list that every link passes.
CONF_TESTS =
if HAVE_CHECK
CONF_TESTS += tests/conf/links
tests_conf_links_SOURCES = tests/conf/links.c tests/conf/rig.c tests/conf/rig.h
tests_conf_links_LDADD = $(TEST_LIBS)
endif
check_PROGRAMS += $(CONF_TESTS)
TESTS += $(CONF_TESTS)
SAN_TESTS += $(CONF_TESTS)
