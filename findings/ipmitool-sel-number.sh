#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# ipmitool 1.8.19 (Debian 1.8.19-4+deb12u2): "sel delete 10" does not delete the event that "sel list" shows as 10.
#
# sel list has a number before each event, and sel get and sel delete take one.  A guess: it is the same number.
# Seen: the list's numbers are hexadecimal, without a sign of it, and an argument is decimal unless it begins with 0x: of
# twenty events "sel delete 10" deletes the one that is shown as a, and says "Deleted entry 10".  "sel get 11" shows event b.
# With a letter in it, the number as shown is refused.  So: write 0x before what the list shows.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ipmi_sim.sh"
run_bmc

for i in $(seq 20); do
    tool raw 0x0a 0x44 0 0 2 0 0 0 0 0x20 0 4 1 "$i" 0x6f 0 0xff 0xff >/dev/null
done
shown() { tool sel list | awk '{ print $1 }' | paste -sd' '; }
{
    echo "before: $(shown)"
    echo "sel delete 10: $(tool sel delete 10)"
    echo "after: $(shown)"
    echo "sel get 11: record $(tool sel get 11 | sed -n 's/^ *SEL Record ID *: *//p')"
    echo "sel get b: $(tool sel get b)"
    echo "sel delete 0x10: $(tool sel delete 0x10)"
    echo "after: $(shown)"
} | tee seen
diff - seen <<'END' || { cat sim.log; echo "it is otherwise now"; exit 1; }
before: 1 2 3 4 5 6 7 8 9 a b c d e f 10 11 12 13 14
sel delete 10: Deleted entry 10
after: 1 2 3 4 5 6 7 8 9 b c d e f 10 11 12 13 14
sel get 11: record 000b
sel get b: Given SEL ID 'b' is invalid.
sel delete 0x10: Deleted entry 16
after: 1 2 3 4 5 6 7 8 9 b c d e f 11 12 13 14
END
echo "as seen with ipmitool 1.8.19"
