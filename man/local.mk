# Manual pages: one per public call, tool and concept; tests/man.sh compares them with the header, the tables and this list.
dist_man_MANS += \
	man/vccl_abort.3 man/vccl_allgather.3 man/vccl_allreduce.3 man/vccl_alltoall.3 man/vccl_barrier.3 \
	man/vccl_bcast.3 man/vccl_comm_dup.3 man/vccl_comm_free.3 man/vccl_comm_rank.3 man/vccl_comm_size.3 \
	man/vccl_comm_split.3 man/vccl_comm_split_shared.3 man/vccl_finalize.3 man/vccl_finalized.3 man/vccl_gather.3 \
	man/vccl_get_count.3 man/vccl_get_version.3 man/vccl_iallgather.3 man/vccl_iallreduce.3 man/vccl_ialltoall.3 \
	man/vccl_ibarrier.3 man/vccl_ibcast.3 man/vccl_igather.3 man/vccl_init.3 man/vccl_initialized.3 \
	man/vccl_iprobe.3 man/vccl_irecv.3 man/vccl_ireduce.3 man/vccl_ireduce_scatter_block.3 man/vccl_iscatter.3 \
	man/vccl_isend.3 man/vccl_last_error.3 man/vccl_mem_alloc.3 man/vccl_mem_free.3 \
	man/vccl_op_create_premul_sum.3 man/vccl_op_free.3 man/vccl_op_name.3 man/vccl_probe.3 man/vccl_query.3 \
	man/vccl_recv.3 man/vccl_reduce.3 man/vccl_reduce_scatter_block.3 man/vccl_scatter.3 man/vccl_send.3 \
	man/vccl_sendrecv.3 man/vccl_strerror.3 man/vccl_test.3 man/vccl_testall.3 man/vccl_testany.3 \
	man/vccl_testsome.3 man/vccl_type_name.3 man/vccl_type_size.3 man/vccl_wait.3 man/vccl_waitall.3 \
	man/vccl_waitany.3 man/vccl_waitsome.3 man/vccl_wtime.3 man/vccl.7 man/vccl_coll.7 man/vccl_env.7 \
	man/vccl_errors.7 man/vccl_info.1 man/vccl_perf.1 man/vcclrun.1
