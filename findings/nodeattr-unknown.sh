#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# genders 1.22 (Debian 1.22-1+b5): nodeattr -q with a misspelt attribute succeeds, and where the attribute was to exclude
# nodes, it excludes none.
#
# Sites mark nodes that are not to be used by an attribute, and their scripts exclude these, "nodeattr -q compute--down".  A
# guess: an attribute that no node of the file has is an error, at the least where it is to exclude, as a node that is not in
# the file is.
# Seen: "compute--dwon", "-X dwon" and "~dwon" list the nodes that are down with the others, with exit code 0 and without a
# word, and an attribute, or a value, that no node has is an empty list.  "compute-down", with one minus, is the name of an
# attribute, so the list is empty too; an empty query is all nodes.  -k, which checks the file, finds no word of this.
# So: a script tests that the attribute is among those of "nodeattr -l" first.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/packages.sh"
unpack 'genders 1.22-1+b5' genders=1.22-1+b5 libgenders0=1.22-1+b5
export LD_LIBRARY_PATH=$libraries
printf 'n1 compute,down\nn2 compute\nn3 compute,rack=r1\n' >genders
usr/bin/nodeattr -f genders -k >out 2>&1 || { echo "SKIP: it does not run here"; cat out; exit 77; }

ask() {
    local code=0
    usr/bin/nodeattr -f genders "$@" >out 2>err </dev/null || code=$?
    echo "nodeattr $*: '$(paste -sd' ' out)', $(grep -c . err || :) lines of errors, exit code $code"
}
{
    ask -q compute--down
    ask -q compute--dwon
    ask -X down -q compute
    ask -X dwon -q compute
    ask -q '~dwon'
    ask -q compute-down
    ask -q compute~down
    ask -q dwon
    ask -q rack=r9
    ask -q ''
    ask -l
    ask -l n9
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
nodeattr -q compute--down: 'n[2-3]', 0 lines of errors, exit code 0
nodeattr -q compute--dwon: 'n[1-3]', 0 lines of errors, exit code 0
nodeattr -X down -q compute: 'n[2-3]', 0 lines of errors, exit code 0
nodeattr -X dwon -q compute: 'n[1-3]', 0 lines of errors, exit code 0
nodeattr -q ~dwon: 'n[1-3]', 0 lines of errors, exit code 0
nodeattr -q compute-down: '', 0 lines of errors, exit code 0
nodeattr -q compute~down: '', 1 lines of errors, exit code 1
nodeattr -q dwon: '', 0 lines of errors, exit code 0
nodeattr -q rack=r9: '', 0 lines of errors, exit code 0
nodeattr -q : 'n[1-3]', 0 lines of errors, exit code 0
nodeattr -l: 'compute down rack', 0 lines of errors, exit code 0
nodeattr -l n9: '', 1 lines of errors, exit code 1
END
echo "as seen with genders 1.22"
