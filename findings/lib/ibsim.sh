##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# For the findings about InfiniBand's tools: infiniband-diags 44.0 in a temporary folder, in which the script goes on, and a
# simulated fabric (ibsim 0.10) of two switches, S1 with the hosts H1 and H2, S2 with H3.

. "$(dirname "${BASH_SOURCE[0]}")/packages.sh"

# run_fabric [PACKAGE=VERSION...]: with these packages, too.
run_fabric() {
    unpack "infiniband-diags 44.0-2 and ibsim 0.10-2" infiniband-diags=44.0-2 libibmad5=44.0-2 libibumad3=44.0-2 \
        libibnetdisc5=44.0-2 ibsim-utils=0.10-2 libumad2sim0=0.10-2 "$@"
    cat >net <<'END_NET'
Switch 4 "S1"
[1] "H1"[1]
[2] "H2"[1]
[3] "S2"[3]
[4] "S2"[4]

Switch 4 "S2"
[1] "H3"[1]
[3] "S1"[3]
[4] "S1"[4]

Hca 1 "H1"
[1] "S1"[1]

Hca 1 "H2"
[1] "S1"[2]

Hca 1 "H3"
[1] "S2"[1]
END_NET
    mkfifo commands
    exec 9<>commands
    export IBSIM_SOCKNAME=ibsim$$ IBPATH=$PWD/usr/sbin
    LD_LIBRARY_PATH=$libraries usr/bin/ibsim -s net <&9 9>&- >ibsim.log 2>&1 &
    sim=$!
    trap 'kill "$sim"; rm -rf "$work"' EXIT
    until grep -q 'simulator ready' ibsim.log; do
        kill -0 "$sim" 2>/dev/null || { echo "SKIP: it does not run here"; trap 'rm -rf "$work"' EXIT; exit 77; }
        sleep 0.1
    done
}

# fabric COMMAND: one of ibsim's own commands, which prompts when it has done it.
fabric() {
    local before
    before=$(grep -o 'sim> ' ibsim.log | wc -l)
    echo "$1" >&9
    until [ "$(grep -o 'sim> ' ibsim.log | wc -l)" -gt "$before" ]; do kill -0 "$sim"; sleep 0.1; done
}

# as HOST COMMAND ARGUMENT...: runs it in place of this shell, as on that host; on ... comes back, and its standard output is
# in out then, its errors are in err, its exit code is $code.
as() {
    export SIM_HOST=$1 LD_LIBRARY_PATH=$libraries OSM_TMP_DIR=$PWD OSM_CACHE_DIR=$PWD
    LD_PRELOAD=$libraries/umad2sim/libumad2sim.so exec "${@:2}" 9>&-
}
on() {
    code=0
    (as "$1" timeout 40 "usr/sbin/$2" "${@:3}") >out 2>err </dev/null || code=$?
}
