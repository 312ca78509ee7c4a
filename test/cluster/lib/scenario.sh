# shellcheck shell=bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##
# shellcheck disable=SC2034,SC2153,SC2154

# One run with one fault (or several at the same moment), judged; and many of them, as a table.
# Sourced by test/cluster/cluster.
#
# A run is judged by what FaultLoc wrote: the lines "[faultloc] CLASS: ..." on stderr, with the
# moment at which they came out of mpiexec, and the verdicts in the JSON report. Expected is what
# each fault file's fault_expect says. A verdict that was withdrawn counts as told to people, but
# not as one that stands at the end.

readonly CLASSES='node-outage|node-frozen|process-crash|process-stopped|nic-fault|link-fault|'\
'switch-fault|network-degraded|user-code-hang|mpi-hang|io-hang|deadlock|'\
'collective-mismatch|straggler|unknown|gpu-fault|node-at-risk'
readonly VERDICT_LINE="^[0-9]+ \[faultloc\] ($CLASSES): "

# --- faults -----------------------------------------------------------------------------------

load_fault() {
    local file=$CLUSTER_HOME/faults/$1
    [[ $1 =~ ^[a-z-]+$ ]] && [ -f "$file" ] ||
        usage_error "unknown fault '$1'; the faults are: $(cd "$CLUSTER_HOME/faults" && echo *)"
    # shellcheck source=/dev/null
    . "$file"
    [ -z "${needs_cluster:-}" ] || [ -z "${LOCAL:-}" ] ||
        fail "fault '$1' needs a cluster of namespaces; local mode has stop, cont, pause and kill"
}

# inject_one NUMBER FAULT ARGS... [@MS | @+MS]: in a subshell. Waits for the common start (@+: until
# the fault before it is done), then MS more, and notes the instant; a fault that knows it better
# puts it into INJECTED_US.
inject_one() {
    local number=$1 name=$2 delay=0 start=go
    shift 2
    if [[ ${*: -1} =~ ^@(\+?)([0-9]+)$ ]]; then
        delay=${BASH_REMATCH[2]}
        [ -z "${BASH_REMATCH[1]}" ] || start=done.$((number - 1))
        set -- "${@:1:$#-1}"
    fi
    load_fault "$name"
    fault_check "$@"
    if [ -n "$NO_EXPECT" ]; then echo none; else fault_expect "$@"; fi >"$RUN/expect.$number"
    : >"$RUN/ready.$number"
    wait_until 30 test -e "$RUN/go"
    wait_until 30 test -e "$RUN/$start"
    pause_ms "$delay"
    now_us >"$RUN/injected.$number"
    fault_inject "$@"
    [ -z "${INJECTED_US:-}" ] || echo "$INJECTED_US" >"$RUN/injected.$number"
    now_us >"$RUN/done.$number"
    [ -z "${UNDO:-}" ] || echo "$UNDO" >>"$RUN/undo"
}

# inject_all FAULT...: each "NAME ARGS" in one word; all at the same moment.
inject_all() {
    local fault pids=() i=0 pid
    rm -f "$RUN"/{ready,expect,injected,done}.* "$RUN/go"
    for fault in "$@"; do
        i=$((i + 1))
        # shellcheck disable=SC2086
        (trap - EXIT; inject_one $i $fault) &
        pids+=($!)
    done
    for ((i = 1; i <= $#; i++)); do
        wait_until 30 test -e "$RUN/ready.$i" || fail "cannot inject '${!i}'"
    done
    : >"$RUN/go"
    for pid in "${pids[@]}"; do wait "$pid" || fail "injecting one of '$*' failed"; done
}

expected() { cat "$RUN"/expect.* 2>/dev/null | grep -v '^none$' || :; }

# --- what FaultLoc said -----------------------------------------------------------------------

# The lines on stderr, where "node-outage: 3 nodes h[2,5-6] ..." is three.
said_lines() {
    awk '$2 == "[faultloc]" && $4 ~ /^[0-9]+$/ && $5 ~ /^(node|link|nic)s$/ {
            at = index($6, "[")
            n = split(substr($6, at + 1, length($6) - at - 1), range, ",")
            for (i = 1; i <= n; i++) {
                ends = split(range[i], end, "-")
                for (h = end[1]; h <= end[ends]; h++)
                    print $1, $2, $3, substr($5, 1, length($5) - 1), substr($6, 1, at - 1) h, "of", $4
            }
            next
        }
        { print }' "$RUN/err" 2>/dev/null
}
verdict_lines() { said_lines | grep -cE "$VERDICT_LINE" || :; }
json_verdicts() {
    jq '[.verdicts[] | select(.withdrawn == null)] | length' "$RUN/report.json" 2>/dev/null ||
        echo 0
}

# True once every verdict that is expected has its line; those of --before do not count.
enough_said() {
    local class kind name ranks
    ! job_ended || return 0
    while read -r class kind name ranks; do
        [ -n "$(line_time "$class" "$kind" "$name")" ] || return 1
    done < <(expected)
}
json_has() { [ "$(json_verdicts)" -ge "$1" ]; }
more_said() { [ "$(verdict_lines)" -gt "$1" ] || [ "$(json_verdicts)" -gt "$1" ]; }

# find_verdict CLASS KIND NAME: the verdict in the report, as JSON; nothing if there is none.
find_verdict() {
    jq -c --arg class "$1" --arg kind "$2" --arg name "$3" '
        [.verdicts[] | select(.withdrawn == null and .class == $class and
            .component.kind == $kind and
            (.component.name == $name or .component.name == $kind + " " + $name))][0] // empty' \
        "$RUN/report.json" 2>/dev/null || :
}

# Microsecond at which the line that names this verdict came; nothing if it did not.
line_time() {
    said_lines | awk -v line="^[0-9]+ \\[faultloc\\] $1: (.*[^a-z0-9])?$2 $3([^0-9]|\$)" \
        '$0 ~ line && !t { t = $1 } END { if (t) print t }'
}

iso_us() {
    local t
    t=$(date -d "$1" +%s%6N 2>/dev/null) && echo "$t"
}

# --- judging ----------------------------------------------------------------------------------

# Adds one reason why the run is not good.
blame() { WHY+="${WHY:+; }$*"; }

# note_victims VERDICT-JSON: collects who is listed as a victim of some fault.
note_victims() {
    ALL_VICTIMS+=$(jq -r '.victims.ranks // [] | .[]' <<<"$1")$'\n'
}

# Every rank that is not itself lost must be listed as a victim, and no other; those behind a switch
# are its victims. With several faults a rank may be listed for one of them only. Bystanders, and
# ranks with a fault of --before, are not checked.
judge_victims() {
    local lost want got
    lost=$(expected | awk '$2 != "switch" { print $4 }' | tr , '\n')
    want=$(all_ranks | tr , '\n' | { grep -vxF "$lost"$'\n'"$APART" || :; } | paste -sd,)
    got=$({ grep . <<<"$ALL_VICTIMS" || :; } | { grep -vxF "${APART:-none}" || :; } |
        sort -nu | paste -sd,)
    VICTIMS=$({ grep . <<<"$ALL_VICTIMS" || :; } | sort -nu | wc -l)
    [ "$want" = "$got" ] || [ -n "$ANY_VICTIMS" ] || blame "victims are '$got', not '$want'"
}

# judge_one NUMBER CLASS KIND NAME RANKS: sets CLASS COMPONENT FLN LATENCY LOCATED CONFIDENCE.
judge_one() {
    local injected verdict ranks place t
    injected=$(cat "$RUN/injected.$1")
    verdict=$(find_verdict "$2" "$3" "$4")
    if [ -z "$verdict" ]; then
        blame "no $2 of $3 $4 in the report"
        return
    fi
    CLASS=$2
    COMPONENT+="${COMPONENT:+,}$4"
    FLN+="${FLN:+,}$(jq -r .fln <<<"$verdict")"
    CONFIDENCE=$(jq -r .confidence <<<"$verdict")
    ranks=$(jq -r '.component.ranks // [] | map(tostring) | join(",")' <<<"$verdict")
    [ "$ranks" = "$5" ] || blame "ranks of $3 $4 are '$ranks', not '$5'"
    note_victims "$verdict"
    if [ "$3" = rank ]; then
        place=$(rank_place "$4")
        jq -e --arg host "${place% *}" --argjson pid "${place#* }" \
            '[.. | scalars | tostring] as $all | any($all[]; test("(^|[^0-9])\($pid)([^0-9]|$)"))
                and any($all[]; test("(^|[^a-z0-9])\($host)([^a-z0-9]|$)"))' \
            <<<"$verdict" >/dev/null ||
            blame "the report does not have host and pid of rank $4 ($place)"
    fi
    t=$(iso_us "$(jq -r '.located // ""' <<<"$verdict")")
    [ -z "$t" ] || LOCATED=$(later "${LOCATED:-}" "$(seconds "$injected" "$t")")
    t=$(line_time "$2" "$3" "$4")
    if [ -z "$t" ]; then
        blame "no line '[faultloc] $2: ... $3 $4 ...' on stderr"
        return
    fi
    LATENCY=$(later "${LATENCY:-}" "$(seconds "$injected" "$t")")
    LAST_LINE_US=$t
}

# What --expect-json, --expect-trace and --forbid-trace ask for.
judge_expectations() {
    local e
    for e in ${EXPECT_JSON[@]+"${EXPECT_JSON[@]}"}; do
        jq -e "$e" "$RUN/report.json" >/dev/null 2>&1 || blame "not true of the report: $e"
    done
    for e in ${EXPECT_TRACE[@]+"${EXPECT_TRACE[@]}"}; do
        grep -qE -e "$e" "$RUN/trace" 2>/dev/null || blame "no line of the trace matches '$e'"
    done
    for e in ${FORBID_TRACE[@]+"${FORBID_TRACE[@]}"}; do
        ! grep -qE -e "$e" "$RUN/trace" 2>/dev/null ||
            blame "the trace has '$(grep -E -m 1 -e "$e" "$RUN/trace" | cut -d' ' -f2-)'"
    done
}

later() { printf '%s\n' "$@" | grep . | sort -g | tail -n 1; }
exceeds() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'; }

judge_run() {
    local want line number=0 class kind name ranks
    want=$(expected | wc -l)
    VERDICTS=$(verdict_lines)
    for line in "$RUN"/expect.*; do
        [ -f "$line" ] || continue
        number=${line##*.}
        while read -r class kind name ranks; do
            [ "$class" = none ] || judge_one "$number" "$class" "$kind" "$name" "$ranks"
        done <"$line"
    done
    [ "$want" = 0 ] || judge_victims
    judge_count "$want"
    judge_expectations
    [ -z "$MAX_LATENCY" ] || [ -z "$LATENCY" ] || ! exceeds "$LATENCY" "$MAX_LATENCY" ||
        blame "located after $LATENCY s, more than the allowed $MAX_LATENCY s"
    [ "$LEFT" = 0 ] || blame "$LEFT processes left behind ($RUN/left-over)"
    judge_exit "$want"
}

# Faults injected by --before may have a verdict of their own, but need not.
judge_count() {
    local in_json
    in_json=$(json_verdicts)
    if [ "$VERDICTS" -lt "$1" ] || [ "$VERDICTS" -gt $(($1 + BEFORE_ALLOWED)) ]; then
        blame "$VERDICTS verdicts on stderr, not $1"
    fi
    if [ "$in_json" -lt "$1" ] || [ "$in_json" -gt $(($1 + BEFORE_ALLOWED)) ]; then
        blame "$in_json verdicts in the report, not $1"
    fi
}

judge_exit() {
    EXIT_CODE=- EXIT_TIME=-
    [ -z "$ENDED_BY_US" ] || return 0
    EXIT_CODE=$(cut -d' ' -f1 "$RUN/exit")
    [ -z "$LAST_LINE_US" ] ||
        EXIT_TIME=$(seconds "$LAST_LINE_US" "$(cut -d' ' -f2 "$RUN/exit")")
    if [ "$1" = 0 ]; then
        # MPICH's own MPI_Finalize hangs now and then, see test/mpi/testutil.c
        [ "$EXIT_CODE" = 0 ] || grep -q "MPICH's own MPI_Finalize hangs" "$RUN/err" ||
            blame "mpiexec's exit code is $EXIT_CODE, not 0"
    elif [ -n "$ACTION_ABORT" ]; then
        [ "$EXIT_CODE" != 0 ] || blame "mpiexec's exit code is 0 after a fault"
        [ -z "$MAX_EXIT" ] || [ "$EXIT_TIME" = - ] || ! exceeds "$EXIT_TIME" "$MAX_EXIT" ||
            blame "mpiexec ended $EXIT_TIME s after the report, more than the allowed $MAX_EXIT s"
    fi
}

# --- one run ----------------------------------------------------------------------------------

reset_result() {
    CLASS=- COMPONENT='' FLN='' CONFIDENCE='' LATENCY='' LOCATED='' VICTIMS=- VERDICTS=0
    EXIT_CODE=- EXIT_TIME=- LEFT=0
    WHY='' LAST_LINE_US='' ENDED_BY_US='' ACTION_ABORT='' BEFORE_ALLOWED=0
    APART=$(tr , '\n' <<<"$BYSTANDERS") ALL_VICTIMS=''
    ! grep -qx 'MPIR_CVAR_FAULTLOC_ACTION=abort' \
        <<<"$(printf '%s\n' ${JOB_ENV[@]+"${JOB_ENV[@]}"})" ||
        ACTION_ABORT=1
}

# The faults of --before come first, and are done before the others begin.
inject_faults() {
    if [ ${#BEFORE[@]} -gt 0 ]; then
        say "injecting before: $(printf "'%s' " "${BEFORE[@]}")"
        inject_all "${BEFORE[@]}"
        BEFORE_ALLOWED=$(expected | wc -l)
        APART+=$'\n'$(expected | awk '{ print $4 }' | tr , '\n')
    fi
    [ ${#FAULTS[@]} -gt 0 ] || return 0
    pause_ms $((RANDOM % (JITTER_MS + 1)))
    say "injecting $(printf "'%s' " "${FAULTS[@]}")"
    inject_all "${FAULTS[@]}"
}

# Waits until all that is expected has been said, and then a while for what should not be said.
await_report() {
    local want
    want=$(expected | wc -l)
    if [ "$want" = 0 ]; then
        wait_until "$DEADLINE" job_ended || { blame "the job did not end in $DEADLINE s"; return; }
        return
    fi
    wait_until "$DEADLINE" enough_said || blame "no report in $DEADLINE s"
    [ -n "$WHY" ] || wait_until 5 json_has "$want" || :
    if [ -n "$ACTION_ABORT" ]; then
        wait_until 30 job_ended || blame "mpiexec does not end after the report"
    elif [ -z "$WHY" ]; then
        ! wait_until "$SETTLE" more_said $((want + BEFORE_ALLOWED)) ||
            blame "more verdicts than expected"
    fi
}

# run_scenario PROGRAM ARGS...: one run in a cluster that is up (or local). Sets the result.
run_scenario() {
    reset_result
    start_job "$@"
    await_loop "$START_DEADLINE"
    inject_faults
    await_report
    undo_faults
    if ! job_ended; then
        ENDED_BY_US=1
        end_job
    fi
    sweep_job 10
    [ ! -e "$RUN/report.judged" ] || mv -f "$RUN/report.judged" "$RUN/report.json"
    judge_run
}

# What is undone ends verdicts, which may be said before the job has ended: the report from before is
# judged.
undo_faults() {
    [ -s "$RUN/undo" ] || return 0
    job_ended || cp "$RUN/report.json" "$RUN/report.judged" 2>/dev/null || :
    bash "$RUN/undo" 2>/dev/null || :
}

result_json() {
    jq -nc --arg run "$1" --arg injected "$(printf '%s + ' "${FAULTS[@]:-none}" | sed 's/ + $//')" \
        --arg class "$CLASS" --arg component "$COMPONENT" --arg fln "$FLN" \
        --arg confidence "$CONFIDENCE" --arg latency "$LATENCY" \
        --arg located "$LOCATED" --arg verdicts "$VERDICTS" --arg victims "$VICTIMS" \
        --arg code "$EXIT_CODE" --arg exit "$EXIT_TIME" --arg left "$LEFT" --arg why "$WHY" '
        def num: if . == "" or . == "-" then null else tonumber end;
        { run: ($run | tonumber), injected: $injected, class: $class, component: $component,
          fln: $fln, confidence: ($confidence | num), latency_s: ($latency | num),
          located_s: ($located | num), verdicts: ($verdicts | num),
          victims: ($victims | num), exit_code: ($code | num), exit_s: ($exit | num),
          left_over: ($left | num), ok: ($why == ""), why: $why }'
}

result_line() {
    local word=ok
    [ -z "$WHY" ] || word=FAILED
    printf '%s: %s: %s %s, latency %s s, %s verdicts, %s victims, ' "$word" \
        "$(printf '%s + ' "${FAULTS[@]:-no fault}" | sed 's/ + $//')" "$CLASS" \
        "${COMPONENT:--}" "${LATENCY:--}" "$VERDICTS" "$VICTIMS"
    printf 'mpiexec %s after %s s, %s left%s\n' "$EXIT_CODE" "$EXIT_TIME" "$LEFT" \
        "${WHY:+ -- $WHY}"
}

# --- many runs --------------------------------------------------------------------------------

table_head() {
    printf '%4s  %-16s %-10s %-8s %9s %9s %8s %7s %6s %7s %5s  %s\n' run class component fln \
        latency/s located/s verdicts victims mpiexec exit/s left result
}
table_row() {
    printf '%4s  %-16s %-10s %-8s %9s %9s %8s %7s %6s %7s %5s  %s\n' "$1" "$CLASS" \
        "${COMPONENT:--}" "${FLN:--}" "${LATENCY:--}" "${LOCATED:--}" "$VERDICTS" "$VICTIMS" \
        "$EXIT_CODE" "$EXIT_TIME" "$LEFT" "$([ -z "$WHY" ] && echo ok || echo "FAILED: $WHY")"
}
table_foot() {
    jq -rs '
        def med: sort | if length == 0 then null else .[(length - 1) / 2 | floor] end;
        def show: if . == null then "-" else . * 1000 | round / 1000 | tostring end;
        [.[] | .latency_s | values] as $l | [.[] | .exit_s | values] as $e
        | "latency: median \($l | med | show) s, max \($l | max | show) s; "
        + "mpiexec ended after: median \($e | med | show) s, max \($e | max | show) s",
        "\(map(select(.ok)) | length) of \(length) runs passed"' "$1"
}
