#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2034,SC2154

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cluster=$here/cluster
for part in common net campaign watch matrix group ../../lib/bmc_switch; do
    . "$here/lib/$part.sh"
done

silent_kinds="power-off nic-down port-off frozen"
all_kinds="$silent_kinds switch-down port-errors bmc-fan bmc-temp bmc-psu bmc-ecc bmc-disk oom edac"
all_kinds+=" throttle gpu-xid gpu-throttle gpu-hang no-answer refused healthy"
all_withs="none bmc switch both"

usage() {
    cat <<END
Usage: test/cluster/handlers_campaign.sh [OPTION]...

Breaks jobs with one network whose switches are asked by SNMP (real snmpd), whose hosts have a BMC
each (real ipmi_sim) on a network that the job does not use, and whose kernels and GPUs are trees of
files and a library in place of NVML; in random order, at random instants. Checks class, component,
first cause, whom to call and what the handlers say, and prints a confusion matrix.

  --kinds K,K,...     these (all but healthy):
                        power-off          a host loses its power
                        nic-down port-off  its interface goes down; its port is switched off
                        frozen             it is silent, with power and carrier
                        switch-down        a leaf switch of three forwards nothing (six hosts at least)
                        port-errors        every third packet to a host is lost
                        bmc-fan bmc-temp bmc-psu bmc-ecc bmc-disk
                                           the BMC's log has an event of that, and the power goes off
                        oom                a rank ends for the memory limit of its control group
                        edac               a rank does not return, and its kernel's log has an error of
                                           memory that could not be corrected: a warning
                        throttle           a rank gets less of its CPU, which is throttled for heat
                        gpu-xid            a rank does not return, its GPU has fallen off the bus,
                        gpu-throttle       it gets less of its CPU, and its GPU is throttled,
                        gpu-hang           it does not return, its GPU is busy
                        no-answer          no power, and neither BMC nor switch answers
                        refused            no power, and others may read the file of handlers
                        healthy            no fault, for --minutes: no verdict, and no handler is run
  --with W,W,...      these handlers: none bmc switch both (both); with fewer than both the kinds above
                      from power-off to frozen get what can be told then, the others what is told without
  --runs N            runs of each kind (1)
  --seed S            what is drawn; each run has one of its own, which its line tells (1)
  --hosts N           hosts, behind two leaf switches (8)
  --ppn 1             ranks per host
  --minutes M         how long a healthy job lasts (10)
  --deadline S        how long to wait for a verdict (90)
  --mpi PREFIX        the MPI under test (FAULTLOC_MPI)
  --out FOLDER        also write FOLDER/matrix.txt, matrix.json, matrix.svg and runs.json
  --keep FOLDER       keep the files of every run there
  --help              this text

Exit code: 0 all runs passed, 1 a run failed, 2 wrong usage, 77 no snmpd, ipmi_sim, ipmitool, no root
or no namespaces here.
END
}

kinds=${all_kinds% healthy} withs=both runs=1 seed=1 hosts=8 ppn=1 minutes=10 deadline=90 out='' keep=''
kinds=${kinds// /,}
read_options '--kinds=kinds --with=withs --runs=runs --seed=seed --hosts=hosts --ppn=ppn
    --minutes=minutes --deadline=deadline --mpi=FAULTLOC_MPI --out=out --keep=keep' "$@"
check_words kind "$kinds" "$all_kinds"
check_words "set of handlers" "$withs" "$all_withs"
check_values '--runs, --minutes and --deadline' '[1-9][0-9]*' "$runs" "$minutes" "$deadline"
check_values --seed '[0-9]+' "$seed"
check_values --hosts '[4-9]' "$hosts"
check_values --ppn 1 "$ppn"
need jq jq
need_bmc_and_switch
"$cluster" check --quiet || exit
CLUSTER_HOME=$here MPI=''
find_mpi
export FAULTLOC_MPI=$MPI
program=${FAULTLOC_PROGRAM:-$MPI/bin/faultloc}
all_hosts=$hosts

name=b$$
results=$(mktemp -d)
site=$results/site work=$results/run job=/run/faultloc-cluster/$name/job
handlers=$site/handlers.json
secret=pass-$$-word
finish() {
    local code=$?
    trap - EXIT
    end_run
    rm -rf "$results"
    exit $code
}
end_run() {
    [ -z "${pid:-}" ] || end_cluster
    "$cluster" down --name "$name" --quiet 2>/dev/null || : # ends the servers, too
    wait 2>/dev/null || :
    leave_group
}
trap finish EXIT
trap 'exit 130' INT TERM

# --- the site ---------------------------------------------------------------------------------

# Which side of a network has failed nobody can tell where there are two.
plan_leaves() {
    leaves=2 hosts=$all_hosts
    [ "$kind" != switch-down ] || { leaves=3; ((hosts >= 6)) || hosts=6; }
}
leaf_of_host() { leaf_of "${1#h}" $leaves "$hosts"; }
switch_of_host() { echo "$name-dsw$(leaf_of_host "$1")"; }
on() { ip netns exec "$name-$1" "${@:2}"; }

# A kernel that started 1,000 s ago and has nothing to say, and a GPU.
make_host_files() { # FOLDER
    mkdir -p "$1/proc/pressure" "$1/sys/devices/system/edac/mc/mc0" \
        "$1/sys/devices/system/cpu/cpu0/thermal_throttle"
    echo "btime $(($(date +%s) - 1000))" >"$1/proc/stat"
    echo "1000.00 0.00" >"$1/proc/uptime"
    echo "some avg10=0.00 avg60=0.00 avg300=0.00 total=0" | tee "$1/proc/pressure/"{cpu,io,memory} >/dev/null
    echo 0 | tee "$1/sys/devices/system/edac/mc/mc0/"{ue_count,ce_count} \
        "$1/sys/devices/system/cpu/cpu0/thermal_throttle/"{core,package}_throttle_count >/dev/null
    : >"$1/kmsg"
    cp "$results/nvml.so" "$1/nvml.so"
    echo 0 0 0 0 >"$1/nvml.so.state"
}

make_site() {
    local i
    bmcs=() agents=()
    rm -rf "$site"
    mkdir "$site"
    for ((i = 1; i <= hosts; i++)); do
        make_bmc "$site/h$i" 10.1.0.254 $((9000 + i)) "$secret"
        make_host_files "$site/h$i"
        run_bmc "$site/h$i" ip netns exec "$name-login"
        bmcs+=($!)
    done
    for ((i = 1; i <= leaves; i++)); do
        mkdir -p "$site/switch$i"
        make_switch_agent "$site/switch$i" "udp:10.0.0.20$i:161" "$secret"
        ip -n "$name-dsw$i" addr add "10.0.0.20$i/24" dev br0
        run_switch_agent "$site/switch$i" ip netns exec "$name-dsw$i"
        agents+=($!)
    done
    write_handlers
}

bmc_entry() {
    cat <<END
    { "name": "bmc", "ask": "ipmi", "deadline_ms": 3500,
      "settings": { "address": "10.1.0.254", "user": "faultloc", "password": "$secret" },
      "of_node": { "port": "h[1-9] -> [9001-9009]" } },
END
}
switch_addresses() {
    local i
    for ((i = 1; i <= hosts; i++)); do echo "\"h$i -> udp:10.0.0.20$(leaf_of_host h$i):161\""; done | paste -sd,
}
switch_entry() {
    cat <<END
    { "name": "switch", "ask": "snmp", "deadline_ms": 4500,
      "settings": { "user": "faultloc", "cache_ms": 4000,
                    "auth_password": "$secret", "privacy_password": "$secret" },
      "of_node": { "port": "h[1-9] -> h[1-9]",
                   "address": [ $(switch_addresses) ] } },
END
}
write_handlers() {
    {
        echo '{ "handlers": ['
        case $with in bmc | both) bmc_entry ;; esac
        case $with in switch | both) switch_entry ;; esac
        cat <<END
    { "name": "os", "ask": "os",
      "of_node": { "sys_root": "h[1-9] -> $site/h[1-9]/sys", "proc_root": "h[1-9] -> $site/h[1-9]/proc",
                   "kernel_log": "h[1-9] -> $site/h[1-9]/kmsg" } },
    { "name": "gpu", "ask": "gpu", "of_node": { "library": "h[1-9] -> $site/h[1-9]/nvml.so" } } ] }
END
    } >"$handlers"
    chmod 600 "$handlers"
}

# All that are asked about a silent host.
site_answers() {
    "$cluster" exec --name "$name" h1 "$program" handlers check --file "$handlers" \
        --from "$([ "$host" = h1 ] && echo h2 || echo h1)" "$host" >"$results/said" 2>&1 || :
    case $with in bmc | both) grep -q power-on "$results/said" || return 1 ;; esac
    case $with in switch | both) grep -q port-up "$results/said" || return 1 ;; esac
}

# Who reads the file of handlers changes the time of its last access, which is older than the file.
forget_reads() { touch -a -d @1000000000 "$handlers"; }
was_read() { [ "$(stat -c %X "$handlers")" != 1000000000 ]; }

# --- what a run is ----------------------------------------------------------------------------

# Sets PROGRAM; WANT is "CLASS NAME"; CAUSE, TICKET and EVIDENCE (patterns of what handlers say) are
# what is known with both.
plan() {
    draw 1 "$hosts"
    host=h$DRAWN rank=$((DRAWN - 1))
    draw 0 3000
    delay=$DRAWN
    PROGRAM=(alltoall --seconds 3600) OPTIONS=()
    CAUSE='' TICKET=node EVIDENCE=() DID=$host WANT="node-outage $host"
    case $kind in
        power-off) EVIDENCE=("bmc: power-off" "switch: port-down") ;;
        nic-down) WANT="link-fault $host" TICKET=network EVIDENCE=("bmc: power-on" "switch: port-down") ;;
        port-off) WANT="link-fault $host" TICKET=network EVIDENCE=("switch: port-disabled") ;;
        frozen) WANT="node-frozen $host" EVIDENCE=("bmc: power-on" "switch: port-up") ;;
        switch-down) DID=leaf$(leaf_of_host "$host") WANT="switch-fault $DID" TICKET=network ;;
        port-errors) WANT="network-degraded $host" TICKET=network; PROGRAM+=(--count 8000) ;;
        bmc-fan) CAUSE=fan-failed ;;
        bmc-temp) CAUSE=temperature-high ;;
        bmc-psu) CAUSE=power-supply-failed ;;
        bmc-ecc) CAUSE=memory-uncorrected ;;
        bmc-disk) EVIDENCE=("bmc: disk-failed") ;; # which explains no lost power
        oom)
            WANT="process-crash $rank" CAUSE=out-of-memory TICKET=application
            PROGRAM=(die --how memory --ranks "$rank") OPTIONS=(--mpiexec-arg -disable-auto-cleanup) ;;
        edac) WANT="node-at-risk $host" ;;
        throttle | gpu-throttle)
            WANT="straggler $rank" CAUSE=cpu-throttled
            [ $kind = throttle ] || CAUSE=gpu-slow
            PROGRAM=(outside --kind even --computes 50 --seconds 3600 --rank "$rank") ;;
        gpu-xid) WANT="gpu-fault $host" EVIDENCE=("gpu-failed: GPU 0 H100: Xid 79") ;;
        gpu-hang) WANT="user-code-hang $rank" TICKET=application EVIDENCE=("gpu-usage: GPU 0 100 % ") ;;
        no-answer) EVIDENCE=("bmc: the BMC does not answer" "switch: ") ;;
        refused) EVIDENCE=("others than its owner") ;;
        healthy) PROGRAM=(alltoall --seconds $((60 * minutes))) WANT='' ;;
    esac
    case $kind in
        edac | gpu-xid | gpu-hang) PROGRAM=(outside --kind spin --after 25 --rank "$rank") ;;
    esac
    case $kind in
        edac | throttle | gpu-*) OPTIONS+=(--env MPIR_CVAR_FAULTLOC_SAMPLE_MS=200) ;;
    esac
    [ "$with" = both ] || plan_less
}

# What is known with fewer of them.
plan_less() {
    CAUSE='' TICKET='' EVIDENCE=()
    case $kind,$with in
        nic-down,bmc | port-off,bmc | frozen,bmc) WANT="unknown $host" ;;
        port-off,switch) WANT="link-fault $host" ;;
        nic-down,* | port-off,* | frozen,*) WANT="node-outage $host" ;;
        edac,none | gpu-xid,none) WANT="user-code-hang $rank" ;;
    esac
}

# event HEX: the BMC logs it; it is older than a fan's that stands still without power.
event() {
    echo "$1" >"$results/event"
    on login ipmitool -I lanplus -C 3 -H 10.1.0.254 -p $((9000 + ${host#h})) -U faultloc -P "$secret" \
        sel add "$results/event" >"$results/said" 2>&1 || blame "the BMC takes no event: $(cat "$results/said")"
    pause_ms 8000
}

# To the microsecond: what is older than the job does not count.
kernel_says() { # TEXT
    local us
    us=$(($(now_us) - 1000000 * $(cut -d' ' -f2 "$site/$host/proc/stat")))
    printf '%d.%06d 0.00\n' $((us / 1000000)) $((us % 1000000)) >"$site/$host/proc/uptime"
    echo "3,100,$us,-;$1" >>"$site/$host/kmsg"
}

# While the job runs: its throttle count grows.
throttle() {
    local n=0
    while :; do
        n=$((n + 1))
        echo $n >"$site/$host/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count"
        pause_ms 100
    done
}

# Its ports lose their carrier, and nobody switches them off.
power_off() {
    echo 0 >"$site/$host/power"
    printf 'link set eth0 down\nlink set eth1 down\n' | ip -n "$name-$host" -batch -
    ip netns pids "$name-$host" | xargs -r kill -KILL
}
cluster_fault() { "$cluster" fault --name "$name" --quiet "$@"; }

pid_of() { cut -d' ' -f2 "$job/pids/rank.$rank"; }

# What comes before: the moment of the fault itself is what times are measured from.
prepare() {
    case $kind in
        # the event: generator, kind of sensor, its number, kind and direction, data
        bmc-fan) event "0x04 0x04 0x30 0x01 0x52 0x00 0x64" ;;
        bmc-temp) event "0x04 0x01 0x31 0x01 0x59 0x60 0x5f" ;;
        bmc-psu) event "0x04 0x08 0x32 0x6f 0x01 0xff 0xff" ;;
        bmc-ecc) event "0x04 0x0c 0x33 0x6f 0x01 0xff 0xff" ;;
        bmc-disk) event "0x04 0x0d 0x34 0x6f 0x01 0xff 0xff" ;;
        edac) kernel_says "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0" ;;
        oom) pid_of >"$group/cgroup.procs" ;;
        throttle | gpu-throttle)
            pause_ms 60000
            [ $kind = throttle ] || echo "0 64 90 $(pid_of)" >"$site/$host/nvml.so.state"
            limit_cpu "$(pid_of)" 5; DID=$host ;;
        gpu-xid) echo "79 0 0 0" >"$site/$host/nvml.so.state" ;;
        gpu-hang) echo "0 0 100 $(pid_of)" >"$site/$host/nvml.so.state" ;;
        no-answer) kill -STOP "${agents[@]}"; kill -KILL "${bmcs[@]}" ;;
        refused) chmod 644 "$handlers" ;;
    esac
    case $kind in edac | gpu-xid | gpu-hang) wait_until 120 test -e "$job/pids/blocked.$rank" || blame "no hang" ;; esac
}

inject() {
    case $kind in
        power-off | bmc-* | no-answer | refused) power_off ;;
        nic-down) cluster_fault data-down "$host" ;;
        port-off) cluster_fault cable "$host" ;;
        frozen) (trap - EXIT; exec "$cluster" fault --name "$name" --quiet silence "$host" 45000) & ;;
        switch-down) cluster_fault switch-off "$(leaf_of_host "$host")" ;;
        port-errors) cluster_fault loss "$host" 33 ;;
        oom) : >"$job/pids/in-group"; wait_until 60 is_short_of_memory || blame "not short of memory" ;;
    esac
}

# --- one run ----------------------------------------------------------------------------------

begin_job() {
    local on=(--faultloc --env MPIR_CVAR_FAULTLOC_MGMT_IFACE=none)
    [ "$with" = none ] || on+=(--env "MPIR_CVAR_FAULTLOC_HANDLERS=$handlers")
    forget_reads
    run_cluster "${on[@]}" "${OPTIONS[@]}" -- "${PROGRAM[@]}"
    wait_until 120 may_begin || blame "the job does not begin"
}
all_are_there() { [ "$(find "$job/pids" -name 'rank.*' 2>/dev/null | wc -l)" = "$hosts" ]; }
may_begin() { all_are_there && { [ "$kind" = oom ] || [ -n "$(find "$job/pids" -name 'looping*')" ]; }; }

run_healthy() {
    wait_until $((60 * minutes + 300)) ended || blame "the job does not end"
    end_cluster
    [ "$CODE" = 0 ] || blame "exit code $CODE"
    ! grep -F '[faultloc]' "$work/err" >"$results/said" || blame "it says $(head -n 1 "$results/said")"
    ! was_read || blame "a handler was run"
}

run_fault() {
    local began throttled=''
    pause_ms "$delay"
    ! was_read || blame "a healthy job asks handlers"
    prepare
    if [ $kind = throttle ]; then throttle & throttled=$!; fi
    began=$(now_us)
    inject
    wait_until "$deadline" has_own_verdict || blame "no verdict in $deadline s"
    pause_ms 1500
    judge "$began"
    [ -z "$throttled" ] || kill $throttled
    end_run
}

one_run() {
    WHY='' LATENCY=null GOT=none SKIP='' pid=
    seed_draws "$run_seed $kind"
    plan_leaves
    plan
    rm -rf "$work"
    mkdir "$work"
    case $kind in
        oom) make_group memory "faultloc-$name" && limit_memory || SKIP="no control group" ;;
        *throttle) make_group cpu "faultloc-$name" || SKIP="no control group" ;;
    esac
    [ -z "$SKIP" ] || { WHY="SKIPPED: $SKIP"; return; }
    "$cluster" up --name "$name" --hosts "$hosts" --switches $leaves --quiet
    make_site
    wait_until 60 site_answers || blame "BMC or switch do not answer: $(paste -sd';' "$results/said")"
    begin_job
    if [ "$kind" = healthy ]; then run_healthy; else run_fault; fi
    end_run
    [ -z "$keep" ] || { rm -rf "$keep/$kind-$with-$run_seed"; keep_run "$keep/$kind-$with-$run_seed"; }
}

# --- judging ----------------------------------------------------------------------------------

# All hosts share this machine's CPUs, which have too many runnable tasks at times: true, and not asked for.
own_verdicts() { jq '.verdicts |= map(select(.rule != "straggler/cpu-pressure"))' "$work/report.json" 2>/dev/null; }
has_own_verdict() { has_verdict && [ "$(own_verdicts | jq '.verdicts | length')" -gt 0 ]; }

judge() { # MICROSECOND
    local line
    own_verdicts >"$work/judged.json" || return 0
    compare_verdicts "$WANT" "$(given "$work/judged.json")"
    line=$(verdict_lines | head -n 1)
    LATENCY=$(seconds "$1" "${line%% *}")
    [ -n "$WHY" ] || judge_reasons
    ! grep -rqF "$secret" "$work" || blame "the password is in $(grep -rlF "$secret" "$work" | head -n 1)"
    "$program" check "$work/judged.json" >"$results/said" 2>&1 || blame "the report is not valid"
}

evidence() { # SOURCE...
    jq -r --args '.verdicts[].evidence[] | select(.source | IN($ARGS.positional[])).detail' "$@" <"$work/report.json"
}
judge_reasons() {
    local pattern cause
    cause=$(evidence cause | head -n 1)
    for pattern in "${EVIDENCE[@]}"; do
        evidence handler symptom >"$results/said"
        grep -qE -- "$pattern" "$results/said" && grep -qE -- "$pattern" "$work/err" || blame "not said: $pattern"
    done
    [ "${cause%%: *}" = "$CAUSE" ] || [ "$with" != both ] || blame "first cause '$cause', not '$CAUSE'"
    [ -z "$TICKET" ] || grep -qE "conclusion: .*; ticket: $TICKET$" "$work/err" ||
        blame "$(grep -o 'conclusion: .*' "$work/err"), not ticket $TICKET"
}

# --- all of it --------------------------------------------------------------------------------

row_of() { [ "$with" = both ] && echo "$kind" || echo "$kind/$with"; }
tell_run() {
    printf '%3d/%-3d %5s  %-20s %-6s %-18s %7s  %s\n' "$number" "$total" "$run_seed" "$(row_of)" "$DID" \
        "$GOT" "${LATENCY/null/-}" "${WHY:-ok}"
}

cc=${CC:-cc}
need "$cc" gcc
"$cc" -shared -fPIC -o "$results/nvml.so" "$here/lib/nvml.c"
rows=$(for kind in $all_kinds; do for with in $all_withs; do row_of; done; done | paste -sd' ')
mapfile -t order < <(for kind in ${kinds//,/ }; do
    for with in ${withs//,/ }; do
        for ((i = seed; i < seed + runs; i++)); do echo "$kind $with $i"; done
    done
done | draw_order "$seed")
total=${#order[@]} number=0
printf '%7s %5s  %-20s %-6s %-18s %7s  %s\n' run seed fault at verdict s result
for entry in "${order[@]}"; do
    read -r kind with run_seed <<<"$entry"
    number=$((number + 1))
    one_run
    [ -n "$SKIP" ] || note_run "$(row_of)" "${PROGRAM[0]}" "$DID"
    tell_run
    count_run
done
echo
[ $all = 0 ] || write_matrix "$rows"
end_campaign
