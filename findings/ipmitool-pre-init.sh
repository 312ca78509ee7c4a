#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# ipmitool 1.8.19 (Debian 1.8.19-4+deb12u2): the clock of a BMC that knows no date, which counts seconds since its
# start, has one form on the first day and another from the second one on; its log has a third.
#
# IPMI calls times up to 0x20000000 "relative to the initialization of the SEL device".  A guess: `sel time get` shows
# them as "S+ 25:00:00" or "S+ 1 day 01:00:00" after a day, and the same form is in `sel list`.
# Seen: "S+ 23:00:00" before, and after a day "S+ 70/002 01:00:00": the last two digits of 1970, or of a later year, and
# the day of it, from 001 on, as if the BMC had started with 1970; no manual has that form.  `sel list` shows the
# seconds as a number, and "Pre-Init" for the date.  Who reads "S+ %d:%d:%d" alone finds no age of any record from the
# second day on; the number of seconds itself is to be had by `raw 0x0a 0x48`.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ipmi_sim.sh"
run_bmc
export TZ=UTC0

# The clock is so many seconds; what passes meanwhile is cut off with the last digits.
set_clock() {
    local hex
    hex=$(printf '%08x' "$1")
    tool raw 0x0a 0x49 "0x${hex:6:2}" "0x${hex:4:2}" "0x${hex:2:2}" "0x${hex:0:2}" >/dev/null
}

{
    for s in 82800 90000 40000000; do
        set_clock $s
        echo "$s s: $(tool sel time get | sed 's/:..$//')"
    done
    set_clock 90000
    tool raw 0x0a 0x44 0 0 2 0 0 0 0 0x20 0 4 1 0x30 1 0x59 0x10 0x20 >/dev/null
    echo "in the log: $(tool -c sel list | tail -n 1 | cut -d, -f2-3 | sed 's/..$//')"
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
82800 s: S+ 23:00
90000 s: S+ 70/002 01:00
40000000 s: S+ 71/098 23:06
in the log:  Pre-Init ,00000900
END
echo "as seen with ipmitool 1.8.19"
