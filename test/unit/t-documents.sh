#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The documents against the code: classes, settings, messages, commands, message types, times, signs
# and thresholds are those of the code; every link leads somewhere; every file, function, setting and manual
# page that a document names is there; the documents are short.
# Environment: top_builddir, where tools/faultloc is; top_srcdir.
# Exit code: 0 passed, 1 failed, 77 no program jq.
# needs no MPI
# shellcheck disable=SC2001,SC2013
set -euo pipefail
export LC_ALL=C

case ${1:-} in --help) sed -n '/^# The documents/,/^# Exit/s/^# //p' "$0"; exit 0 ;; esac
faultloc=$(realpath "${top_builddir:?}")/tools/faultloc
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v jq >/dev/null || { echo "SKIP: no program jq"; exit 77; }
command=("$faultloc")
. "$here/program.sh"
cd "${top_srcdir:?}"

readme_lines=150
markdown=(*.md doc/*.md)
manuals=(doc/*.[1-8])

# --- what both sides have -----------------------------------------------------------------------

# file NAME: where the source file of that name is, whatever folder it is in.
file() { find src test tools -name "$1" | head -n 1; }
header=$(file ftree.h)
types=src/util/ftree/base/types.h
builtin=$(file rules_builtin.json)

# plain FILE: a manual page without its markup: "\-" is "-", \fB and the like are gone.
plain() { sed 's/\\-/-/g; s/\\(dq/"/g; s/\\(rs/\\/g; s/\\f[BIRP]//g; s/\\&//g' "$1"; }

# section FILE TITLE: of a manual page, or of a Markdown document.
section() {
    case $1 in
        *.md) awk -v t="## $2" '/^## / { on = $0 == t } on' "$1" ;;
        *) plain "$1" | awk -v t=".SH $2" '/^\.SH / { on = $0 == t } on' ;;
    esac
}

# rows FILE MACRO: an X-macro's table, a row a line.
rows() {
    sed -n "/^#define $2(X)/,/[^\\\\]\$/p" "$1" | tr -d '\\\n' | sed 's/X(/\n/g' | sed 1d
}

# same WHAT CODE DOCUMENT: two lists, a word or line each, in any order.
same() {
    local missing extra
    missing=$(comm -23 <(sort -u <<<"$2") <(sort -u <<<"$3") | paste -sd' ')
    extra=$(comm -13 <(sort -u <<<"$2") <(sort -u <<<"$3") | paste -sd' ')
    [ -n "$2" ] || bad "$1: nothing found in the code"
    [ -z "$missing" ] || bad "$1: missing: $missing"
    [ -z "$extra" ] || bad "$1: not in the code: $extra"
    [ -z "$2" ] || [ -n "$missing$extra" ] || ok "$1"
}

# column SECTION-OF...: the first column of the tables there, without backticks; lists are split.
column() {
    section "$@" | sed -n 's/^| \(`[^|]*\) |.*/\1/p' | tr -d '` ' | tr ',' '\n'
}

# --- README -------------------------------------------------------------------------------------

lines=$(wc -l <README.md)
if [ "$lines" -le $readme_lines ]; then ok "README.md has $lines lines"; else
    bad "README.md has $lines lines, more than $readme_lines: move what is not needed at first to doc/"
fi
# most WHAT NUMBER LIMIT
most() { if [ "$2" -le "$3" ]; then ok "$1: $2, at most $3"; else bad "$1: $2, more than $3"; fi; }
most "words of all documents" \
    "$(cat README.md CONTRIBUTING.md CHANGES doc/*.md "${manuals[@]}" | wc -w)" 40000
for document in doc/protocol.md doc/hangs.md; do
    most "words of $document" "$(wc -w <"$document")" 4000
done
most "lines of CHANGES" "$(wc -l <CHANGES)" 40
grep -qF maint/test.sh README.md || bad "README.md does not name the test command, maint/test.sh"
grep -qF 'exec maint/test.sh' .ci/run || bad ".ci/run does not run the command that README.md names"

# --- classes ------------------------------------------------------------------------------------

names=$(rows "$(file fault_classes.h)" FTREE_CLASSES | cut -d'"' -f2)
if maint/list-classes.sh --check; then ok "lists of classes"; else bad "lists of classes"; fi
same "classes in faultloc(7)" "$names" "$(section doc/faultloc.7 VERDICTS |
    awk '/^\.TP/ { getline; if ($1 == ".B") print $2 }')"
same "classes in what-to-do.md" "$names" \
    "$(sed -n 's/^### \([a-z, -]*\)$/\1/p' doc/what-to-do.md | tr -d ' ' | tr ',' '\n')"

# The classes for which no job is ended, and the warnings, by name where others are not meant.
while IFS='"' read -r _ class _; do
    for place in doc/faultloc.7 src/mpid/ch4/faultloc/mpi/rank/settings.c; do
        plain "$place" | sed -n '/MPIR_CVAR_FAULTLOC_ACTION\( "\|$\)/,+13p' |
            grep -wF -- "$class" >/dev/null || bad "$place: MPIR_CVAR_FAULTLOC_ACTION: $class ends no job"
    done
done < <(rows "$(file fault_classes.h)" FTREE_CLASSES | grep -v FTREE_ENDS_JOB)
while IFS='"' read -r _ class _; do
    for place in doc/slurm-drain-node doc/examples/pbs-offline-node.sh; do
        grep -qwF -- "!= $class" "$place" || bad "$place does not except $class, a warning"
    done
done < <(rows "$(file fault_classes.h)" FTREE_CLASSES | grep FTREE_IS_WARNING)
ok "classes that end no job"

# --- settings -----------------------------------------------------------------------------------

cvars=$(grep -rhoE '^ *- name +: MPIR_CVAR_FAULTLOC[A-Z_]*' src | sed 's/.*: //')
same "settings in faultloc(7)" "$cvars" "$(section doc/faultloc.7 VARIABLES |
    sed -n '/^\.TP/{n;s/^\.BR \(MPIR_[A-Z_]*\).*/\1/p;}')"
for cvar in $(grep -ohE 'MPIR_CVAR_FAULTLOC[A-Z_]*[A-Z]' "${markdown[@]}" CHANGES doc/*.json \
    doc/examples/* | sort -u) $(plain <(cat "${manuals[@]}") |
    grep -oE 'MPIR_CVAR_FAULTLOC[A-Z_]*[A-Z]' | sort -u); do
    grep -qxF "$cvar" <<<"$cvars" || bad "a document names $cvar, which is no setting"
done
# Range and default, where the code has them: in_range("NAME", NAME, least, most, otherwise).
limits=$(find src -name '*.c' -exec cat {} + | tr -d '\n' |
    grep -oE 'in_range\("MPIR_[A-Z_]*", *MPIR_[A-Z_]*, *[0-9]+, *[0-9]+, *[0-9]+\)' | sort -u |
    tr -d ' "' | tr '(,)' '   ')
[ -n "$limits" ] || bad "no ranges of settings found in the code"
while read -r _ cvar _ least most otherwise; do
    entry=$(section doc/faultloc.7 VARIABLES | awk -v c="$cvar" '/^\.TP/ { on = 0 }
        $1 == ".BR" && $2 == c { on = 1 } on' | tr '\n' ' ')
    [[ $entry == *"$least to $most"* ]] || bad "faultloc(7): the range of $cvar is $least to $most"
    [[ $entry == *"\" ($otherwise)\""* ]] || bad "faultloc(7): the default of $cvar is $otherwise"
done <<<"$limits"
default_of() {
    grep -rhA3 -E "^ *- name +: $1\$" src | sed -n 's/^ *default *: *//p' | tr -d '"'
}
while read -r cvar default; do
    is=$(default_of "$cvar")
    [ "${is:-none}" = "$default" ] || bad "README.md: the default of $cvar is ${is:-none}"
done < <(section README.md "The five settings that people change" |
    sed -n 's/^| `\(MPIR_[A-Z_]*\)` | \([^|]*\) |.*/\1 \2/p' | tr -d '`' | grep -v ' found$')
[ "$(section README.md "The five settings that people change" | grep -c '^| `MPIR_')" = 5 ] ||
    bad "README.md does not have five settings in its table of five"
ok "ranges and defaults"

# --- messages: the longest piece between two conversions is in faultloc(7) ----------------------

plain doc/faultloc.7 | sed 's/^\.[A-Z]* //' | tr -d '"' | tr -s ' \n' '  ' >"$work/manual"
literal='"([^"\\]|\\.)*"( *"([^"\\]|\\.)*")*'
find src -name '*.c' -exec cat {} + | tr '\n' ' ' | sed 's/sizeof(line), *"\[fault/fputs("[fault/g' |
    grep -oE "(faultloc_say\\((stderr, *|out, *)?|fprintf\\((stderr|out), *|fputs\\()$literal" |
    sed -E 's/^[^"]*"//; s/"$//; s/" +"//g; s/\[faultloc\] //; s/\\n/ /g; s/\\"//g; s/ \(further.*//' |
    sed -E 's/%%/%/g; s/%[-0-9.*l]*[a-z]/\n/g; s/$/\n./' | awk '
        /^\.$/ { print best; best = ""; next }
        { gsub(/^[ :;,(]+|[ :;,(]+$/, ""); if (length($0) > length(best)) best = $0 }' |
    awk 'length($0) > 7' | sort -u >"$work/messages"
[ "$(wc -l <"$work/messages")" -gt 20 ] || bad "the messages of the code were not found"
while read -r piece; do
    ! grep -qF -- "$piece" "$work/manual" || continue
    # The manual may end a message early, by "...".
    some=$piece
    while [[ $some == *' '* ]] && ! grep -qF -- "$some ..." "$work/manual"; do some=${some% *}; done
    [[ $some == *' '* ]] || bad "faultloc(7) does not have the message \"$piece\""
done <"$work/messages"
ok "$(wc -l <"$work/messages") messages are in faultloc(7)"

# --- commands -----------------------------------------------------------------------------------

# commands_of ARGUMENT...: the words at which the lines of --help explain something.
commands_of() {
    run "$@" --help
    sed -n 's/^  \([a-z]*\)  .*/\1/p' "$work/out" | sort -u
}
synopsis=$(section doc/faultloc.1 SYNOPSIS | sed -n 's/^\.B faultloc \([a-z]\)/\1/p')
same "commands in faultloc(1)" "$(commands_of)" "$(cut -d' ' -f1 <<<"$synopsis")"
same "commands of rules in faultloc(1)" "$(commands_of rules)" \
    "$(sed -n 's/^rules //p' <<<"$synopsis")"
explained=$(section doc/faultloc.1 DESCRIPTION | sed -n 's/^\.BI "*\(rules [a-z]*\|[a-z]*\) *".*/\1/p')
same "commands explained in faultloc(1)" "$(sort -u <<<"$synopsis")" "$explained"
for name in '' rules simulate symptom status replay; do
    run $name --help
    cat "$work/out"
done >"$work/help"
for option in $(plain doc/faultloc.1 | grep -oE -- '--[a-z][a-z-]*' | sort -u); do
    grep -qF -- "$option" "$work/help" || bad "faultloc(1) names $option, which no --help has"
done
for line in $(grep -ohE '`faultloc [a-z]+( [a-z]+)?|^ +faultloc [a-z]+( [a-z]+)?' "${markdown[@]}" |
    tr -d '`' | sed 's/^ *faultloc //' | sed 's/^\(rules [a-z]*\).*/\1/; t; s/ .*//' | tr ' ' _ | sort -u); do
    grep -qxF "${line/_/ }" <<<"$synopsis" || bad "a document names 'faultloc ${line/_/ }'"
done

# --- the protocol -------------------------------------------------------------------------------

same "types of messages in doc/protocol.md" \
    "$(rows "$(file wire.h)" WIRE_TYPES | cut -d'"' -f2)" \
    "$(awk '/^\| type \|/ { on = 1; getline; next } !/^\|/ { on = 0 }
        on { print $2 }' doc/protocol.md)"
same "what a path says in doc/protocol.md" \
    "$(rows "$types" FTREE_REACHES | cut -d'"' -f2 | tr ' ' _)" \
    "$(awk -F'|' '/^\| reach \|/ { on = 1; getline; next } !/^\|/ { on = 0 }
        on { print $2 }' doc/protocol.md | sed 's/^ *//; s/ *$//' | tr ' ' _)"
same "times in doc/protocol.md" \
    "$(sed -n 's|^ *ftree_time \([a-z_]*\); /\* \[\([^]]*\)\].*|\1=\2|p' "$header" | tr ' ' _)" \
    "$(awk -F'|' '/^\| field \|/ { on = 1; getline; next } !/^\|/ { on = 0 }
        on { gsub(/[ `]/, "", $2); gsub(/^ | $/, "", $3); print $2 "=" $3 }' doc/protocol.md |
        tr ' ' _)"
run rules print "$builtin"
cp "$work/out" "$work/base.json"
signs=$(jq -r '(.models[] | .name as $m | .signs // [] | .[] | "\($m)/\(.name)"),
    (.well[] | "well/\(.name)")' "$work/base.json" | sort -u)
models=$(jq -r '.models[].name' "$work/base.json" | paste -sd'|')
same "signs in doc/protocol.md" "$signs" \
    "$(grep -oE "\`(well|$models)/[a-z-]*\`" doc/protocol.md | tr -d '`')"
for sign in $(cat "${markdown[@]}" <(plain <(cat "${manuals[@]}")) |
    grep -oE "\\b(well|$models)/[a-z]+-[a-z-]*[a-z]" | sort -u); do
    grep -qxF "$sign" <<<"$signs" || bad "a document names the sign $sign, which the base has not"
done

for model in $(jq -r '.models[] | select(.even_if_well).name' "$work/base.json"); do
    sed -n '/^What ends a verdict/,/^A withdrawal/p' doc/protocol.md | grep -wF -- "$model" >/dev/null ||
        bad "doc/protocol.md does not say what ends $model, which is decided for even if the node is well"
done

# --- thresholds -----------------------------------------------------------------------------------

# A document quotes a threshold as `FILE: NAME` = VALUE, where NAME is a #define or an enumerator of
# that file, and VALUE a number, "s" or "ms" behind it if it is a time. `FILE: CODE` alone is a piece
# of that file.
in_ms() { sed -E 's/([0-9]+) ms$/\1/; s/([0-9]+) s$/\1000/' <<<"$1"; }
defined() {
    sed -nE "s/^ *(#define +)?$2 (= )?([0-9(]([-0-9A-Z_ *()+]*[0-9A-Z)])?),?( .*)?\$/\\3/p" "$1" | head -n 1 |
        sed 's,/\*.*,,; s/ \* FTREE_MS//; s/FTREE_MS \* //'
}
quoted=0
while read -r document; do
    while IFS='|' read -r name code value; do
        quoted=$((quoted + 1))
        sources=$(find src -name "$name")
        [ -n "$sources" ] || bad "$document quotes $name, which is not there"
        if [ -z "$value" ]; then
            # shellcheck disable=SC2086
            grep -qF -- "$code" $sources || bad "$document: $name does not have: $code"
            continue
        fi
        is=''
        for source in $sources; do is=${is:-$(defined "$source" "$code")}; done
        if [ -z "$is" ]; then
            bad "$document: $name does not define $code"
        elif [ $((is)) -ne "$(in_ms "$value")" ]; then
            bad "$document: $code is $((is)) in $name, not $value"
        fi
    done < <(tr '\n' ' ' <"$document" | tr -s ' ' |
        grep -oE '`[a-z_]+\.[ch]: [^`]+`( = [0-9]+( ms| s)?\b)?' |
        sed -E 's/^`([a-z_]+\.[ch]): ([^`]+)`( = )?(.*)$/\1|\2|\4/')
done < <(printf '%s\n' "${markdown[@]}")

# The table of stays in doc/hangs.md against the rule base: "2 S" is a stay-percent above 200.
stays_of() {
    jq -r --arg model "${1%/*}" --arg sign "${1#*/}" '
        .models[] | select(.name == $model) | .signs[] | select(.name == $sign) | .when | .. |
        objects | to_entries[] | select(.value | type == "object" and has("above")) |
        (.value.above) as $n |
        if .key == "stay-percent" then "\($n / 100) S"
        elif .key == "stay-of-any-percent" then "\($n / 100) L"
        elif .key != "stay-seconds" and .key != "still-seconds" then empty
        elif $n >= 120 then "\($n / 60) minutes" else "\($n) s" end' "$work/base.json" | sort -u
}
names=''
while read -r row; do
    new=$(grep -oE '`[a-z-]+/[a-z-]+`' <<<"$row" | tr -d '`' || true)
    names=${new:-$names}
    for sign in $names; do printf '%s %s\n' "$sign" "$row"; done
done < <(awk '/^\| sign \| what it does/ { on = 1; getline; next } !/^\|/ { on = 0 } on' doc/hangs.md) \
    >"$work/stays"
for sign in $(cut -d' ' -f1 "$work/stays" | sort -u); do
    while read -r stay; do
        grep "^$sign " "$work/stays" | grep -qwF -- "$stay" ||
            bad "doc/hangs.md: the stay of $sign is $stay"
    done < <(stays_of "$sign")
done
[ "$(wc -l <"$work/stays")" -gt 5 ] || bad "no table of stays found in doc/hangs.md"
[ $quoted -gt 5 ] || bad "no thresholds found in the documents"
ok "$quoted thresholds are those of the code"

# --- links, files, functions, manual pages ------------------------------------------------------

# slug HEADING: the anchor that a reader of Markdown gives it.
slug() { tr 'A-Z ' 'a-z-' <<<"$1" | tr -cd 'a-z0-9_\n-'; }
anchors() {
    local heading
    sed -n 's/^##* //p' "$1" | while read -r heading; do slug "$heading"; done
}
for document in "${markdown[@]}"; do
    for link in $(grep -oE '\]\([^)]*\)' "$document" | sed 's/^](//; s/)$//' | sort -u); do
        [[ $link != http* ]] || continue
        target=${link%%#*}
        target=${target:+$(dirname "$document")/$target}
        target=${target:-$document}
        if [ ! -e "$target" ]; then
            bad "$document: the link $link leads nowhere"
        elif [[ $link == *#* ]] && ! grep -qxF -- "${link#*#}" <(anchors "$target"); then
            bad "$document: $target has no section ${link#*#}"
        fi
    done
done

# What a document names and this repository does not have: files of MPICH, and of an example.
theirs=' app.c solver.c ch4_comm.c mpi.h memory_fault.scenario '
find .ci maint test src doc patches tools ./* -maxdepth 0 -type f -printf '%f\n' >"$work/all"
find .ci maint test src doc patches tools -type f -printf '%f\n' >>"$work/all"
sort -u "$work/all" >"$work/names"

# is_there PATH: a path from the top (of a test program its source, of a scenario its row) or of a
# room, or a name alone, of any file.
is_there() {
    local path=${1%.log} top
    case $theirs in *" ${path##*/} "*) return ;; esac
    case $path in *.scenario) test/cluster/scenario --print "$path" >/dev/null 2>&1; return ;; esac
    if [[ $path == */* ]]; then
        for top in . src/util/ftree src/mpid/ch4/faultloc; do
            ! compgen -G "$top/$path" >/dev/null || return 0
        done
        [ -e "$path.c" ]
    else
        grep -qxE -- "$(sed 's/\./\\./g; s/\*/.*/g' <<<"$path")" "$work/names"
    fi
}
folders='(\.ci|maint|test|src|doc|patches|tools)'
kinds='(c|h|sh|md|patch|mk|m4|svg|schema\.json)'
for document in "${markdown[@]}" CHANGES "${manuals[@]}"; do
    for name in $(plain "$document" | grep -vE '^\.\\"' | sed 's/\[--[a-z]*\]//g' |
        grep -oE "(^|[^A-Za-z0-9_./@~-])($folders/[][A-Za-z0-9_.*/-]*[A-Za-z0-9*]|([a-z]+/)?[A-Za-z0-9_*][A-Za-z0-9_.*-]*\\.$kinds)([^A-Za-z0-9_/.]|\\.?\$|\\. )" |
        sed -E 's/^[^A-Za-z0-9_.*]//; s/[^A-Za-z0-9*]+$//' | sort -u); do
        is_there "$name" || bad "$document names $name, which is not there"
    done
done
for document in doc/*.md; do
    grep -qwF -- "$document" Makefile.am || bad "Makefile.am does not install $document"
done
ok "links and files"

find src test tools patches -type f ! -name '*.o' -exec cat {} + >"$work/code"
for name in $(grep -ohE '`[A-Za-z_]+\(\)`' "${markdown[@]}" | tr -d '`()' | sort -u) \
    $(grep -ohE '`MPIDI_[A-Za-z_]*[A-Za-z]`' "${markdown[@]}" | tr -d '`' | sort -u); do
    grep -qwF -- "$name" "$work/code" || bad "a document names $name, which is not in the code"
done
for page in $(cat "${manuals[@]}" | plain - | grep -oE '^\.BR? (faultloc|MPIX_)[A-Za-z_-]* \([1-8]\)' |
    sed 's/^\.BR* //; s/ (\(.\))/.\1/' | sort -u) $(grep -ohE 'man [1-8] (faultloc|MPIX_)[A-Za-z_-]*' \
    "${markdown[@]}" | sed 's/man \(.\) \(.*\)/\2.\1/' | sort -u); do
    [ -e "doc/$page" ] || bad "a document names the manual page $page"
done
for target in $(grep -ohE '`?make [a-z]+-?[a-z]*' README.md CONTRIBUTING.md doc/*.md | tr -d '`' |
    sed 's/make //' | sort -u); do
    case $target in check | install | bench | coverage | sim-* | mpich-tests) ;; *) continue ;; esac
    case $target in check | install) continue ;; esac
    grep -qE "^$target:" Makefile.am || bad "a document names 'make $target'"
done
ok "functions, manual pages, targets of make"

[ $failed -eq 0 ] || exit 1
echo "all passed"
