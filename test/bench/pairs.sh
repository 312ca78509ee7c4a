# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2154

# Times, in rounds: in each round every measurement is made with each build, in an order that is
# drawn, so that what disturbs the machine for a while disturbs all three. Sourced by bench.sh.

# list_measurements: a line for each, "PART CLASS RANKS TRANSPORT PROGRAM ARGUMENTS".
list_measurements() {
    local transport ranks kernel class
    for transport in ${transports//,/ }; do
        ! has_part messages || echo "messages - 2 $transport times messages --seconds 0.5"
        for ranks in ${ranks_list//,/ }; do
            ! has_part collectives ||
                echo "collectives - $ranks $transport times collectives --seconds 0.5"
            for class in ${classes//,/ }; do
                for kernel in $kernels; do
                    echo "kernels $class $ranks $transport $kernel --class $class --seconds 1"
                done
            done
        done
    done
}

# over TRANSPORT: adds to the environment what makes MPICH use it. Over tcp each rank is a node of
# its own, for MPICH and for FaultLoc.
over() {
    [ "$1" = tcp ] || return 0
    environment+=(MPIR_CVAR_NOLOCAL=1 "UCX_TLS=tcp,self" UCX_NET_DEVICES=lo
        FI_PROVIDER=tcp FI_TCP_IFACE=lo)
}

# time_once BUILD ROUND PART CLASS RANKS TRANSPORT PROGRAM ARGUMENTS...: adds a line to the samples
# for each time that the program prints.
time_once() {
    local b=$1 round=$2 part=$3 class=$4 ranks=$5 transport=$6 program=$7 name seconds
    shift 7
    build "$b"
    over "$transport"
    env "${environment[@]}" timeout -k 10 "$run_limit" "$prefix/bin/mpiexec" -n "$ranks" \
        "$programs/$program" "$@" </dev/null >"$work/run.out" 2>"$work/run.log" ||
        die 1 "$program $* ($b, $ranks ranks, $transport): exit code $?, see $work/run.log"
    # a kernel has one time; the line before says that it is verified
    while read -r name seconds; do
        [ "$name" != seconds ] || name=$program
        printf '%s\t' "$round" "$b" "$part" "$name" "$class" "$ranks" "$transport"
        echo "$seconds"
    done < <(grep -E '^[a-z0-9-]+ [0-9.]+$' "$work/run.out") >>"$work/samples"
}

# Sets order to the three builds, shuffled.
draw_order() {
    local -a all=(stock off on)
    local n
    order=()
    for n in 3 2 1; do
        draw 1 $n
        order+=("${all[DRAWN - 1]}")
        all[DRAWN - 1]=${all[n - 1]}
    done
}

measure_pairs() {
    local round i b begin=$SECONDS
    local -a order lines words
    mapfile -t lines < <(list_measurements)
    [ ${#lines[@]} != 0 ] || return 0
    seed_draws "$seed"
    : >"$work/samples"
    for ((round = 1; round <= rounds; round++)); do
        for i in "${!lines[@]}"; do
            read -r -a words <<<"${lines[i]}"
            say "round $round of $rounds, $((i + 1)) of ${#lines[@]}, $((SECONDS - begin)) s:" \
                "${words[0]} ${words[4]} ${words[1]}, ${words[2]} ranks, ${words[3]}"
            draw_order
            for b in "${order[@]}"; do time_once "$b" $round "${words[@]}"; done
        done
    done
    jq -R -n -f "$here/summary.jq" "$work/samples" >"$work/pairs.json"
}
