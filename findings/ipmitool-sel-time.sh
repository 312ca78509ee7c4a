#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# ipmitool 1.8.19 (Debian 1.8.19-4+deb12u2): outside UTC, `sel time set now` puts the BMC's clock wrong by hours, and
# FreeIPMI's ipmi-sel (1.6.10) shows another time than ipmitool for one record.
#
# ipmitool(1) says of `sel time set`: "Sets the SEL clock", in the form "MM/DD/YYYY HH:MM:SS".  A guess: after
# `sel time set now`, `sel time get` says the time that date(1) says, in each time zone.
# Seen: it does in UTC alone.  ipmitool takes the clock for UTC where it reads it, and for local time where it sets it:
# in a zone of five hours behind the clock is five hours ahead then, by its own reading; -Z is no help.  The form of
# the manual is refused; %m/%d/%y is taken.  ipmi-sel prints what the BMC has as it is, with no zone (its manual names
# --utc-to-localtime), so a record of ten minutes ago has two times.  So: TZ=UTC for whatever sets or reads this
# clock, and the age of a record is the difference from `sel time get` of the same tool.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ipmi_sim.sh"
run_bmc freeipmi-tools=1.6.10-1+b1 libipmidetect0=1.6.10-1+b1 libipmiconsole2=1.6.10-1+b1
export TZ

# The BMC's clock in seconds: four bytes, the lowest first.
clock() { printf '%d' "$(tool raw 0x0a 0x48 | awk '{ print "0x" $4 $3 $2 $1 }')"; }
# How many hours the clock is ahead.
ahead() { echo "$((($(clock) - $(date +%s) + 86400 + 1800) / 3600 - 24)) h"; }

# Zones as POSIX writes them: five hours behind Greenwich, nine ahead.
{
    for TZ in UTC0 EST5 JST-9; do
        tool sel time set now >/dev/null
        echo "TZ=$TZ set now: $(ahead)"
        tool -Z sel time set now >/dev/null
        echo "TZ=$TZ -Z set now: $(ahead)"
    done
    TZ=UTC0
    echo "in the manual's form: $(tool sel time set "$(date '+%m/%d/%Y %H:%M:%S')")"
    tool sel time set "$(date '+%m/%d/%y %H:%M:%S')" >/dev/null
    echo "with a year of two digits: $(ahead)"
    # A record, and its hour as each of the two shows it.
    tool raw 0x0a 0x44 0 0 2 0 0 0 0 0x20 0 4 1 0x30 1 0x59 0x10 0x20 >/dev/null
    for TZ in UTC0 EST5; do
        date=$(date -u -d "@$(clock)" +%s)
        ipmitool=$(tool -L USER sel list | cut -d'|' -f3 | awk '{ print $1 }')
        freeipmi=$(timeout 60 usr/sbin/ipmi-sel -D LAN_2_0 -W opensesspriv -h "127.0.0.1:$port" -u admin -p test -l USER \
            --ignore-sdr-cache --no-header-output 2>err </dev/null | cut -d'|' -f3 | tr -d ' ' || :)
        hours() { echo "$(((date - $(TZ=UTC0 date -d "$(date -u -d "@$date" +%F) $1" +%s) + 86400 + 1800) / 3600 % 24)) h"; }
        echo "TZ=$TZ a record's time behind UTC: ipmitool $(hours "$ipmitool"), ipmi-sel $(hours "$freeipmi")"
    done
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
TZ=UTC0 set now: 0 h
TZ=UTC0 -Z set now: 0 h
TZ=EST5 set now: 5 h
TZ=EST5 -Z set now: 5 h
TZ=JST-9 set now: -9 h
TZ=JST-9 -Z set now: -9 h
in the manual's form: Specified time could not be parsed
with a year of two digits: 0 h
TZ=UTC0 a record's time behind UTC: ipmitool 0 h, ipmi-sel 0 h
TZ=EST5 a record's time behind UTC: ipmitool 5 h, ipmi-sel 0 h
END
echo "as seen with ipmitool 1.8.19"
