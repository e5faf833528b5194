# Real jobs under vcclrun.
NET_TESTS = tests/net/boot.sh tests/net/status.sh tests/net/io.sh tests/net/signal.sh tests/net/kill.sh
dist_check_SCRIPTS += $(NET_TESTS)
EXTRA_DIST += tests/net/lib.sh
TESTS += $(NET_TESTS)
check_PROGRAMS += tests/net/boot_check tests/net/boot_death tests/net/brat tests/net/talk
tests_net_boot_check_LDADD = lib/libvcci.la
tests_net_boot_death_LDADD = pmix/libvcci_server.la
tests_net_brat_LDADD =
tests_net_talk_LDADD =

# The tools and the examples.
dist_check_SCRIPTS += tests/net/examples.sh tests/net/tools.sh
TESTS += tests/net/examples.sh tests/net/tools.sh
