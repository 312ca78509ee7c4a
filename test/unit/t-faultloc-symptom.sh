#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The program `faultloc symptom`: it gets an answer, it makes no file, and as root it reports a symptom
# to the agents of the job's user, whatever other users have put in the way.
# Environment: top_builddir, where tools/faultloc and test/lib/symptom_listener are.
# Exit code: 0 passed, 1 failed.
# needs no MPI
set -euo pipefail

case ${1:-} in --help) sed -n '/^# The program/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
command=("${top_builddir:?}/tools/faultloc" symptom --kind power-off)
. "$(dirname "${BASH_SOURCE[0]}")/program.sh"

keeper=$work/keeper
job=t$$
folders=()
keepers=()
# shellcheck disable=SC2317
clean_up() {
    exec 9>&-
    [ ${#keepers[@]} -eq 0 ] || wait "${keepers[@]}" || :
    rm -rf "$work" ${folders[@]+"${folders[@]}"}
}
trap clean_up EXIT

# Keepers end with this test: nobody has the other end of their input open then.
mkfifo "$work/end"
exec 9<>"$work/end"
cp "$top_builddir/test/lib/symptom_listener" "$keeper"

# keep NAME COMMAND...: runs a keeper in the background; what it says is in $work/NAME.
keep() {
    local name=$1 i
    shift
    : >"$work/$name"
    "$@" <"$work/end" >>"$work/$name" 2>"$work/$name.err" 9>&- &
    keepers+=($!)
    for ((i = 0; i < 300; i++)); do
        if grep -q '^open' "$work/$name"; then : >"$work/$name"; return; fi
        kill -0 $! 2>/dev/null || break
        sleep 0.1
    done
    bad "keeper $name has not begun: $(cat "$work/$name.err")"
    exit 1
}

# expect_said NAME LINES WHY: what the keeper has said since it was last asked.
expect_said() {
    local i
    for ((i = 0; i < 100; i++)); do
        [ "$(cat "$work/$1")" != "$2" ] || break
        sleep 0.1
    done
    [ $i -lt 100 ] || bad "$3: keeper $1 says '$(cat "$work/$1")', not '$2'"
    : >"$work/$1"
}

# --- a job of one's own -------------------------------------------------------------------------

XDG_RUNTIME_DIR=$work/run
export XDG_RUNTIME_DIR
mkdir "$XDG_RUNTIME_DIR"
sockets=$XDG_RUNTIME_DIR/faultloc
keep own "$keeper" "$job" h1
expect 0 "reported to the agent of node h1 of job $job: power-off of its own node" --job "$job"
[ ! -s "$work/err" ] || bad "a symptom that is taken: $(cat "$work/err")"

# The same agent says what its ranks do.
symptom=("${command[@]}")
command=("$top_builddir/tools/faultloc" status)
run "$job" --here
said="job 4711: 6 ranks on 1 node, as of now (node h1 alone)
       3  waiting
withdrawn: node-outage: node ?h2 is down"
if [ $code -ne 0 ] || [ "$(cat "$work/out")" != "$said" ]; then
    bad "status ends with $code and says: $(cat "$work/out" "$work/err")"
fi
run "$job" --here --json
if [ $code -ne 0 ] || ! grep -q '"schema": *"faultloc-status/2"' "$work/out"; then
    bad "status --here --json says: $(cat "$work/out" "$work/err")"
fi
ok "status --here: what ranks do, in words and as JSON"
expect 0 "Usage: faultloc status [JOB]" --help
expect 2 "no such job on this host" "none-of-$$"
expect 2 "no such option: --all" --all
expect 2 "no such option: second" "$job" second
expect 2 "missing value after --node" --node
expect 2 "no such user: nobody-at-all" --user nobody-at-all
command=("${symptom[@]}")
expect_said own "heard power-off" "one symptom, and no file"
expect 1 "the agent of node h1 of job $job refused it: the job has no node \"h2\"" \
    --job "$job" --component "node h2"
expect 2 "no such job on this host" --job "$job" --user 4294967294
expect 2 "no such user: nobody-of-that-name" --job "$job" --user nobody-of-that-name
keep mute "$keeper" --at "$sockets/$job@h2.sock"
expect 2 "this host has several agents of the job: select one with --node or --component" --job "$job"
expect 0 "the agent of node h2 has not answered yet" --job "$job" --node h2
keep odd "$keeper" --at "$sockets/$job-odd"$'\e[31m\xff@h\e]0;x\a.sock'
expect 2 "this host has several jobs: select one with --job"
expect 0 "the agent of node h?]0;x? has not answered yet" --job "$job-odd"$'\e[31m\xff'
expect 2 "no such job on this host" --job $'\e[31m'

chmod 750 "$sockets"
expect 2 "no such job on this host" --job "$job"
chmod 700 "$sockets"
mv "$sockets" "$sockets.real"
ln -s "$sockets.real" "$sockets"
expect 2 "no such job on this host" --job "$job"
rm "$sockets"
mv "$sockets.real" "$sockets"
: >"$work/own"
expect 0 "reported to the agent of node h1" --job "$job" --node h1
expect_said own "heard power-off" "the folder is as it was"

# --- jobs of others -----------------------------------------------------------------------------

finish() { [ $failed -eq 0 ] || exit 1; echo "all passed$1"; exit 0; }
[ "$(id -u)" = 0 ] || finish " but what only root can do"
command -v setpriv >/dev/null || finish " but what needs setpriv"

chmod 711 "$work"
users=()
for ((uid = 54321; ${#users[@]} < 2; uid++)); do
    [ -e "/tmp/faultloc-$uid" ] || [ -e "/run/user/$uid" ] || users+=("$uid")
done
one=${users[0]} two=${users[1]}
folders=("/tmp/faultloc-$one" "/tmp/faultloc-$two")
as() { setpriv --reuid "$1" --regid "$1" --clear-groups env -u XDG_RUNTIME_DIR "${@:2}"; }

keep one as "$one" "$keeper" "$job-u" h1
expect 0 "reported to the agent of node h1 of job $job-u" --job "$job-u"
[ ! -s "$work/err" ] || bad "root's symptom to a user's job: $(cat "$work/err")"
expect_said one "heard power-off" "root makes no file in a user's folder"
if unshare --net true 2>/dev/null; then
    command=(unshare --net "${command[@]}")
    expect 0 "reported to the agent of node h1 of job $job-u" --job "$job-u"
    [ ! -s "$work/err" ] || bad "from another network: $(cat "$work/err")"
    command=("${command[@]:2}")
    expect_said one "heard power-off" "a symptom from another network namespace"
fi

# Another user's symptom socket of the same name: it is not told what is meant for the job's user.
keep two as "$two" "$keeper" "$job-u" h1
expect 2 "this host has jobs of several users: select one with --user" --job "$job-u"
expect 2 "found: job $job-u, node h1, user $two" --job "$job-u"
expect 0 "reported to the agent of node h1 of job $job-u" --job "$job-u" --user "$one"
expect_said one "heard power-off" "the user's own symptom socket"
expect_said two "" "another user's symptom socket of the same name"

# refused WHAT: there is no such job, and root's own agent is not told by mistake.
refused() {
    expect 2 "no such job on this host" --job "$job-v"
    expect_said own "" "$1"
}
in_two=/tmp/faultloc-$two
as "$two" ln -s "$sockets/$job@h1.sock" "$in_two/$job-v@h1.sock"
refused "a link to root's own symptom socket"
rm "$in_two/$job-v@h1.sock"
keep planted "$keeper" --at "$in_two/$job-v@h1.sock"
refused "a socket of root's in a user's folder"
rm "$in_two/$job-v@h1.sock"
as "$two" mv "$in_two" "$in_two.real"
folders+=("$in_two.real")
as "$two" ln -s "$in_two.real" "$in_two"
keep linked as "$two" "$keeper" --at "$in_two.real/$job-v@h1.sock"
refused "a link to a folder"
rm "$in_two"
as "$one" mkdir -m 700 "$in_two"
keep false as "$one" "$keeper" --at "$in_two/$job-v@h1.sock"
refused "a folder in another user's name"

# Whoever answers must be the job's user.
keep changed "$keeper" --as "$two" "$job-w" h1
expect 2 "the answer for node h1 of job $job-w is not from user 0" --job "$job-w"
rm -f "$sockets/$job-w@h1.sock"

finish ""
