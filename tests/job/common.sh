# SPDX-License-Identifier: BSD-3-Clause
# For the scripts beside it: runs jobs, each within its own time limit, and says which one failed.
dir=${top_builddir:-.}/tests/job
failed=0 ran=0

# fake N program [args]: N ranks as threads of one process
fake() {
    n=$1 prog=$2
    shift 2
    ran=$((ran + 1))
    VCCL_JOB_FAKE=$n timeout -k 5 "${LIMIT:-120}" "$dir/$prog" "$@" || {
        echo "FAILED (status $?): VCCL_JOB_FAKE=$n VCCL_COLL=$VCCL_COLL $prog $*"
        failed=$((failed + 1))
    }
}

# real N program [args]: N processes under vcclrun
real() {
    n=$1 prog=$2
    shift 2
    ran=$((ran + 1))
    timeout -k 5 "${LIMIT:-120}" "${top_builddir:-.}/launcher/vcclrun" -np "$n" "$dir/$prog" "$@" || {
        echo "FAILED (status $?): vcclrun -np $n $prog $*"
        failed=$((failed + 1))
    }
}

finish() {
    echo "$ran jobs, $failed failed"
    [ "$failed" = 0 ]
}
