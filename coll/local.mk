lib_libvcci_la_SOURCES += \
	coll/coll.c coll/coll.h coll/flat.h coll/flat_area.c coll/flat_run.c coll/plan.c coll/plan.h coll/sched.h coll/sched_build.c \
	coll/sched_build.h coll/sched_dump.c coll/sched_flat.c coll/sched_freeze.c coll/sched_run.c coll/sched_run.h coll/select.c \
	coll/select.h coll/sig.c coll/sig.h

# Algorithms: patterns, what they share, one file each, costs.
lib_libvcci_la_SOURCES += \
	coll/algo.c coll/algo.h coll/algo_table.c coll/cost.c coll/pat_exchange.c coll/pat_exchange.h coll/pat_ring.c coll/pat_ring.h \
	coll/pat_tree.c coll/pat_tree.h \
	coll/allgather_bruck.c coll/allgather_flat.c coll/allgather_ring.c coll/allreduce_flat.c coll/allreduce_flat_rsag.c \
	coll/allreduce_rabenseifner.c coll/allreduce_recursive_doubling.c coll/allreduce_ring.c coll/allreduce_tree.c \
	coll/alltoall_bruck.c coll/alltoall_flat.c coll/alltoall_pairwise.c coll/barrier_dissemination.c coll/barrier_flat.c \
	coll/bcast_binomial.c coll/bcast_chain.c coll/bcast_flat.c coll/bcast_scatter_allgather.c coll/gather_binomial.c \
	coll/gather_flat.c coll/gather_linear.c coll/reduce_binomial.c coll/reduce_flat.c coll/reduce_flat_rsg.c coll/reduce_rsg.c \
	coll/reduce_scatter_block_flat.c coll/reduce_scatter_block_halving.c coll/reduce_scatter_block_pairwise.c \
	coll/reduce_scatter_block_ring.c coll/scatter_binomial.c coll/scatter_flat.c coll/scatter_linear.c
