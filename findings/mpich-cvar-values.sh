#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# MPICH 4.0.2 (Debian 4.0.2-3+b1): of the values of MPIR_CVAR_ variables a word is refused, while an empty one is 0, and a
# number beyond an int is another number.
#
# A guess: MPI_Init() fails for each value that cannot be what was meant, as it does for 64k, "maybe" and the name of an
# algorithm that is not there; and an empty value is as if the variable were not set.
# Seen: 4294967297 is 1 and 3000000000 a negative number, without a word; the empty value is 0, not the default, which for a
# size or a time is an extreme; a misspelt name of a variable is not looked at.  The same variable may have the
# prefix MPICH_ or MPIR_PARAM_, too: of several the one with MPIR_CVAR_ counts.  So: ask for the value by
# MPI_T_cvar_read() (mpivars prints all), and take a variable back by unset, not by "export NAME=".  (FaultLoc reads those
# of its own again, and says what is out of range; an empty one counts as not set.)
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/mpich.sh"

compile read <<'END'
#include <mpi.h>
#include <stdio.h>

int main(void)
{
    int provided, i, count, value, rc = MPI_Init(NULL, NULL);
    MPI_T_cvar_handle handle;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (MPI_T_cvar_get_index("MPIR_CVAR_BCAST_SHORT_MSG_SIZE", &i) ||
        MPI_T_cvar_handle_alloc(i, NULL, &handle, &count) || MPI_T_cvar_read(handle, &value))
        return 1;
    printf("%d\n", value);
    MPI_Finalize();
    return 0;
}
END
name=BCAST_SHORT_MSG_SIZE
show() {
    echo "$*: $(env "$@" ./read 2>err </dev/null || :)" \
        "$(grep -ohE 'Invalid character .|Unable to parse' err | sort -u | paste -sd,)"
}
{
    show A=B
    show MPIR_CVAR_$name=64k
    show MPIR_CVAR_$name=1e6
    show MPIR_CVAR_$name=
    show MPIR_CVAR_$name=4294967297
    show MPIR_CVAR_$name=3000000000
    show MPIR_CVAR_BCAST_SHORT_MSG_SZIE=5
    show MPICH_$name=7
    show MPIR_PARAM_$name=8
    show MPIR_PARAM_$name=8 MPICH_$name=7 MPIR_CVAR_$name=9
} | tee seen
diff - seen <<'END' || { cat err; echo "it is otherwise now"; exit 1; }
A=B: 12288 
MPIR_CVAR_BCAST_SHORT_MSG_SIZE=64k:  Invalid character k,Unable to parse
MPIR_CVAR_BCAST_SHORT_MSG_SIZE=1e6:  Invalid character e,Unable to parse
MPIR_CVAR_BCAST_SHORT_MSG_SIZE=: 0 
MPIR_CVAR_BCAST_SHORT_MSG_SIZE=4294967297: 1 
MPIR_CVAR_BCAST_SHORT_MSG_SIZE=3000000000: -1294967296 
MPIR_CVAR_BCAST_SHORT_MSG_SZIE=5: 12288 
MPICH_BCAST_SHORT_MSG_SIZE=7: 7 
MPIR_PARAM_BCAST_SHORT_MSG_SIZE=8: 8 
MPIR_PARAM_BCAST_SHORT_MSG_SIZE=8 MPICH_BCAST_SHORT_MSG_SIZE=7 MPIR_CVAR_BCAST_SHORT_MSG_SIZE=9: 9 
END
echo "as seen with MPICH 4.0.2"
