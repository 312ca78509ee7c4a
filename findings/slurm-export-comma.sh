#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Slurm 22.05.8 (Debian 22.05.8-4+deb12u3): "srun --export=ALL,UCX_TLS=tcp,self" sets UCX_TLS to tcp, and a value in quotes
# has the quotes in it.
#
# Lists with commas are the values of UCX_TLS, UCX_NET_DEVICES, OMPI_MCA_btl.  srun(1) has commas between the variables, and
# no word of values with commas.  A guess: srun refuses "self", which is no variable, or the rest is part of the value; and
# with quotes that reach srun the value is what stands between them, as in a shell.
# Seen: without quotes the value ends at the comma, "self" is taken for the name of a variable to pass on, and nothing is
# said of its not being there.  With single or double quotes the list is whole, and the quotes are characters of the value,
# which UCX takes for parts of names.  The same list exported before arrives as it is, with --export=ALL or with the name
# alone.  So: export the variable in the script, and use --export for nothing but names.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, no root or no namespaces.
. "$(dirname "$0")/lib/slurm.sh"

unset UCX_TLS # the caller's

run() {
    local code=0
    # shellcheck disable=SC2016 # the task's own
    timeout 60 srun -N 1 -n 1 --mpi=none "$@" sh -c 'echo "UCX_TLS is $UCX_TLS"' </dev/null >out 2>err || code=$?
    echo "srun $*: $(cat out), $(grep -c . err || :) lines of errors, exit code $code"
}
{
    run --export=ALL,UCX_TLS=tcp,self
    run '--export=ALL,UCX_TLS="tcp,self"'
    run "--export=ALL,UCX_TLS='tcp,self'"
    export UCX_TLS=tcp,self
    run --export=ALL
    run --export=PATH,UCX_TLS
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
srun --export=ALL,UCX_TLS=tcp,self: UCX_TLS is tcp, 0 lines of errors, exit code 0
srun --export=ALL,UCX_TLS="tcp,self": UCX_TLS is "tcp,self", 0 lines of errors, exit code 0
srun --export=ALL,UCX_TLS='tcp,self': UCX_TLS is 'tcp,self', 0 lines of errors, exit code 0
srun --export=ALL: UCX_TLS is tcp,self, 0 lines of errors, exit code 0
srun --export=PATH,UCX_TLS: UCX_TLS is tcp,self, 0 lines of errors, exit code 0
END
echo "as seen with Slurm $version"
