# Real jobs under vcclrun.
check_PROGRAMS += tests/net/boot_check
tests_net_boot_check_LDADD = lib/libvcci.la
