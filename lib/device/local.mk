# lib/device
lib_libvcci_la_SOURCES += \
	lib/device/dtype.c lib/device/dtype.h lib/device/reduce.c lib/device/reduce.h lib/device/reduce_avx2.c lib/device/reduce_avx512.c \
	lib/device/reduce_base.c lib/device/reduce_kernels_template.h lib/device/reduce_level.h lib/device/reduce_scalar.c \
	lib/device/reduce_table_template.h lib/device/reduce_vec_template.h
