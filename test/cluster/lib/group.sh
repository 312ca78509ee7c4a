# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A control group of the kernel for one process of a job: it has little memory, or little CPU time. Either
# version of the kernel's interface does. $group is its folder, "" where there is none.
group=

# make_group memory|cpu NAME: false where none can be made.
make_group() {
    group=/sys/fs/cgroup/$1/$2
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
        group=/sys/fs/cgroup/$2
        { echo "+$1" >/sys/fs/cgroup/cgroup.subtree_control || :; } 2>/dev/null
    fi
    mkdir "$group" 2>/dev/null || { group=; return 1; }
}
leave_group() { [ -z "$group" ] || rmdir "$group" 2>/dev/null || :; group=; }

# 200 MB, and no swap.
limit_memory() {
    if [ -e "$group/memory.max" ]; then
        echo 200M >"$group/memory.max" && { echo 0 >"$group/memory.swap.max" || :; } 2>/dev/null
    else
        echo 200M >"$group/memory.limit_in_bytes"
    fi
}

# The kernel has ended a process of the group: to fill its memory takes longer than all that follows.
is_short_of_memory() {
    local file=$group/memory.events what n
    [ -e "$file" ] || file=$group/memory.oom_control
    while read -r what n; do
        [ "$what" != oom_kill ] || [ "$n" = 0 ] || return 0
    done <"$file"
    return 1
}

# used_us PID: CPU time of its first thread so far.
used_us() {
    local ns rest
    read -r ns rest <"/proc/$1/schedstat"
    echo $((ns / 1000))
}

# limit_cpu PID PERCENT: of what it uses now. Sets DID. The kernel's least quota is 1 ms, and its
# longest period 1 s.
limit_cpu() {
    local used us period=1000000
    used=$(used_us "$1")
    pause_ms 2000
    us=$((($(used_us "$1") - used) * $2 / 200))
    ((us >= 1000)) || us=1000
    ((us < 10000)) || us=$((us / 10)) period=100000
    DID="$us us in $((period / 1000)) ms"
    if [ -e "$group/cpu.max" ]; then
        echo "$us $period" >"$group/cpu.max"
    else
        echo $period >"$group/cpu.cfs_period_us"
        echo $us >"$group/cpu.cfs_quota_us"
    fi
    echo "$1" >"$group/cgroup.procs"
}

free_cpu() { echo -1 >"$group/cpu.cfs_quota_us" 2>/dev/null || echo max >"$group/cpu.max"; }
