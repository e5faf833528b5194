# The tools see the library as any program does: its header and its exported symbols.
bin_PROGRAMS += tools/vccl_perf tools/vccl_info
tools_vccl_perf_SOURCES = \
	tools/cli.h tools/perf.h tools/perf_coll.c tools/perf_data.c tools/perf_opt.c tools/perf_out.c tools/perf_time.c \
	tools/perf_value.c tools/vccl_perf.c
tools_vccl_perf_LDADD = lib/libvccl.la
tools_vccl_info_SOURCES = tools/cli.h tools/vccl_info.c
tools_vccl_info_LDADD = lib/libvccl.la
