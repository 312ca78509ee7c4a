#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): the reason of a drained node stands as it was typed in each form of output:
# a line of "sinfo -R" may be two, and "scontrol -o" may have two fields State=.
#
# scontrol(1) says of -o: "Print information one line per record", and its fields are NAME=VALUE.  A guess: a value with
# spaces is quoted or escaped, so that a reader who splits at spaces, or looks for State=, has the fields; and sinfo -R
# -o '%n|%E' is a line for each node.
# Seen: nothing is quoted.  A reason "cable 3 State=DOWN until noon", of a health check that quotes what it has found, is a
# second State= in the line, after the right one.  A reason with a line feed, the output of a command, say, makes two
# lines of one node in sinfo -R; scontrol -o has its second line behind the "[user@time]" that ends the first.  So: take
# the first State=, or --json; a check that sets a reason sets the first line of what it has.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/slurm.sh"

show() {
    scontrol update NodeName=n1 State=DRAIN Reason="$1"
    echo "sinfo -R: $(sinfo -h -R -n n1 -o '%N|%E|%t' | sed 's/^/[/; s/$/]/' | paste -sd' ')"
    scontrol show node n1 -o >line
    echo "scontrol -o: $(wc -l <line) lines, $(grep -oE '(State|Reason)=[^ ]+' line | paste -sd' ')"
}
{
    show 'cable 3 State=DOWN until noon'
    show 'cable 3
State=DOWN until noon'
} | tee seen
diff - seen <<'END' || { cat line; echo "it is otherwise now"; exit 1; }
sinfo -R: [n1|cable 3 State=DOWN until noon|drain]
scontrol -o: 1 lines, State=IDLE+DRAIN Reason=cable State=DOWN
sinfo -R: [n1|cable 3] [State=DOWN until noon|drain]
scontrol -o: 1 lines, State=IDLE+DRAIN Reason=cable State=DOWN
END
echo "as seen with Slurm $version"
