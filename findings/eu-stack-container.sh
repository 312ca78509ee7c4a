#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# elfutils 0.188 (Debian 0.188-2.1), eu-stack -p: of a process in another mount namespace (a container) it names
# functions that do not run, with exit code 0.
#
# eu-stack(1) prints "a stack trace for each thread in a process".  A guess: of a process in a container, whose
# libraries are not those of the host, there are names from the container's files (/proc/PID/root has them), or no names.
# Seen: the libraries are opened by the names in /proc/PID/maps, which are those of the container, in the namespace of
# eu-stack.  A file that is there under the same name, as libc.so.6 is, is taken, though it has another build ID: the
# address in it gives a wrong function, and its unwinding data a wrong caller ("main" may be left out).  Nothing is said,
# and the exit code is 0.  So: run it in the namespace of the process (nsenter -t PID -m).
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/packages.sh"
[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { echo "SKIP: needs root and mount namespaces"; exit 77; }
unpack_elfutils
pid=
trap '[ -z "$pid" ] || kill $pid; rm -rf "$work"' EXIT

# The same library in two builds, on the "host" and in the "container".
mkdir host container
{
    echo '#include <unistd.h>'
    echo 'int open_input(int n) { return write(n, "", 0) + write(n, "", 0) + write(n, "", 0) + write(n, "", 0); }'
    echo 'int compute_step(int n) { pause(); return n; }'
} >container.c
{
    echo '#include <unistd.h>'
    echo 'int write_output(int n) { while (n < 9) n += write(n, "", 0) + write(n, "", 0) + write(n, "", 0)'
    echo '    + write(n, "", 0) + write(n, "", 0) + write(n, "", 0) + write(n, "", 0) + pause(); return n; }'
    echo 'int compute_step(int n) { pause(); return n; }'
} >host.c
echo 'int compute_step(int n); int main(void) { return compute_step(1) + 1; }' >main.c
gcc -w -O1 -fPIC -shared -Wl,--build-id -o host/libstep.so host.c
gcc -w -O1 -fPIC -shared -Wl,--build-id -o container/libstep.so container.c
gcc -w -O1 -o main main.c -Lhost -lstep -Wl,-rpath,"$PWD/host"
unshare -m sh -c 'mount --bind container/libstep.so host/libstep.so && exec ./main' &
pid=$!
until grep -q pause /proc/$pid/wchan 2>/dev/null || [ "$(cut -d' ' -f1 /proc/$pid/syscall 2>/dev/null)" = 34 ]; do
    kill -0 $pid
    sleep 0.1
done

stack() { LD_LIBRARY_PATH=$libraries "$@" usr/bin/eu-stack -p $pid | grep -oE ' (compute_step|write_output|main)$' | paste -sd'\0'; }
{
    echo "from outside:$(stack env)"
    echo "in its namespace:$(stack nsenter -t $pid -m --wd="$PWD")"
} | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
from outside: write_output
in its namespace: compute_step main
END
echo "as seen with elfutils $version"
