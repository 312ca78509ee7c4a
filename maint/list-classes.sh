#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

set -euo pipefail
export LC_ALL=C
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

table=src/util/ftree/fault_classes.h
symptoms=src/util/ftree/base/symptom.h
targets=(CHANGES README.md doc/faultloc-report.schema.json doc/faultloc-rules.schema.json
    doc/faultloc-rules.5 doc/faultloc_verdict.3 test/cluster/lib/scenario.sh)

usage() {
    cat <<EOF
Usage: maint/list-classes.sh --check | --update

The classes of verdicts are the table of $table, the kinds of symptoms
that of $symptoms. This script makes the lists of them in
$(printf '  %s\n' "${targets[@]}")

  --check    name the files whose lists differ
  --update   rewrite the lists
  --help     this text

Exit code: 0 they are the same, 1 they differ, 2 wrong arguments.
EOF
}

# rewrite FILE: what --update would write, to standard output.
rewrite() {
    perl -0777 -e '
        my ($tables, $more, $file) = map { local @ARGV = $_; scalar <> } @ARGV;
        $tables .= $more;
        $tables =~ s/" *\\\n *"//g;    # pieces of a string
        my ($rows) = $tables =~ /#define FTREE_CLASSES\(X\)(.*?[^\\])\n/s or die "no classes";
        my ($kinds) = $tables =~ /#define FTREE_SYMPTOMS\(X\)(.*?[^\\])\n/s or die "no symptoms";
        my (@name, $readme, $manual, @symptom, @source, %of, $by_source);
        while ($rows =~ /X\(\w+, "([^"]+)", (\w+), (\w+),.*?"([^"]+)"\)/gs) {
            push @name, $1;
            $readme .= "| `$1` | $4 |\n";
            $manual .= sprintf("%-19s  %-9s  %s\n", $1, lc $2, lc $3) =~ s/-/\\-/gr;
        }
        # wrap TEXT, INDENT: lines of at most 90 characters
        sub wrap { my ($text, $indent) = @_; $text =~ s/(.{1,90})(?: |$)/$indent$1\n/g; $text }
        while ($kinds =~ /X\(\w+, "([^"]+)", (\w+),/g) {
            push @symptom, $1;
            push @source, $2 unless $of{$2};
            push @{$of{$2}}, $1 =~ s/-/\\-/gr;
        }
        for (@source) {
            my $source = sprintf("%-19s", lc tr/_/-/r) =~ s/-/\\-/gr;
            $by_source .= wrap(join(", ", @{$of{$_}}), " " x 19) =~ s/^ {19}/$source/r;
        }
        my $seen = wrap(join(", ", map { "\"$_\"" } @symptom), " " x 8);
        my $quoted = wrap(join(", ", map { "\"$_\"" } @name), " " x 8);
        my $listed = wrap(join(", ", map { s/-/\\-/gr } @name) . "; see", "");
        my $parts = join("\\\n", map { "\x27$_\x27" } join("|", @name) =~ /.{1,85}(?:\||$)/g);
        my $found =
            $file =~ s/(\n\| verdict \| when \|\n\|---\|---\|\n)(?:\|.*\n)+/$1$readme/ +
            $file =~ s/(\n    "class": \{[^}]*?"enum": \[\n).*?(      \])/$1$quoted$2/s +
            $file =~ s/(\n            true, false,\n).*?(          \])/$1${\($quoted =~ s{^}{    }gmr)}$2/s +
            $file =~ s/(\.SH CLASSES\n\.nf\nclass [^\n]*\n).*?(\.fi\n)/$1$manual$2/s +
            $file =~ s/(\n    "symptom": \{[^}]*?"enum": \[\n).*?(      \])/$1$seen$2/s +
            $file =~ s/(By source:\n\.PP\n\.nf\n).*?(\.fi\n)/$1$by_source$2/s +
            $file =~ s/(\n# Verdicts, [^\n]*:\n).*?(# )/$1${\wrap(join(", ", @name), "  ")}$2/s +
            $file =~ s/(\nClasses, from 0:\n).*?; see\n/$1$listed/s +
            $file =~ s/(\nreadonly CLASSES=).*?(\nreadonly )/$1$parts$2/s;
        die "$ARGV[2] has no list of classes\n" unless $found;
        print $file' "$table" "$symptoms" "$1"
}

cd "$top_srcdir"
code=0
case ${1:-} in
    --help | -h) usage ;;
    --check | --update)
        for file in "${targets[@]}"; do
            text=$(rewrite "$file") || die "$file was not understood"
            [ "$text" != "$(cat "$file")" ] || continue
            if [ "$1" = --update ]; then printf '%s\n' "$text" >"$file"; else
                warn "the classes in $file are not those of $table; $prog --update rewrites them"
                code=1
            fi
        done ;;
    *) usage_error "one of --check, --update" ;;
esac
exit $code
