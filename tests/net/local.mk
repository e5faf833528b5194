# Real jobs under vcclrun.
check_PROGRAMS += tests/net/boot_check
tests_net_boot_check_LDADD = lib/libvcci.la

# The tools and the examples.
dist_check_SCRIPTS += tests/net/examples.sh tests/net/tools.sh
TESTS += tests/net/examples.sh tests/net/tools.sh
