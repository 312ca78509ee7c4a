#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# A signal wakes hydra's proxy before mpiexec has told it what to launch: the job runs as usual,
# with FaultLoc on and off.
# Exit code: 0 passed, 1 failed.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/same.sh"

"$here/build.sh" --mpi "$mpi" --out "$bin" alltoall

# Instead of ssh: mpiexec stands still from before the proxy waits for what it is to launch until
# the proxy has been woken by the signal.
cat >"$work/ssh" <<END
#!/usr/bin/env bash
while [[ \$1 == -* ]]; do shift; done
shift
kill -STOP \$PPID
eval "exec \$* <&0 &"
proxy=\$!
echo \$proxy >"$work/proxy"
polls() { [[ \$(cat "/proc/\$proxy/comm" "/proc/\$proxy/wchan") == *hydra*poll* ]]; }
switches() { grep ctxt "/proc/\$proxy/status"; }
until polls; do :; done
before=\$(switches)
kill -INT \$proxy
until [ "\$(switches)" != "\$before" ]; do :; done
kill -CONT \$PPID
wait \$proxy
END
chmod +x "$work/ssh"

for on in 0 1; do
    MPIR_CVAR_FAULTLOC=$on timeout -k 5 60 "$mpi/bin/mpiexec" -launcher ssh \
        -launcher-exec "$work/ssh" -hosts otherhost -n 2 "$bin/alltoall" --seconds 0.2 \
        >"$work/out" 2>&1 </dev/null || {
        cat "$work/out"
        pkill -KILL -P "$(cat "$work/proxy")" || :
        bad "with FaultLoc $on the job did not end well"
    }
done
