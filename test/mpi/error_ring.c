/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* An error is added to one that it was caused by, and both can still be looked at.  A collective
 * operation that goes on after an error does that; here it is done by MPICH's own functions, of
 * which libmpi exports the first only.  Stock MPICH 4.0.2 closes a ring, and MPI_Error_string
 * never returns.
 *
 * error_ring --distance N
 *
 * --distance  of MPIR_Err_combine_codes behind MPIR_Err_create_code in libmpi, in bytes */

#include "testutil.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define DEADLINE_S 20

typedef int create_fn(int last, int fatal, const char function[], int line, int error_class,
                      const char generic[], const char specific[], ...);
typedef int combine_fn(int first, int second);

int main(int argc, char **argv)
{
    char text[MPI_MAX_ERROR_STRING];
    int cause, effect, length = 0;
    create_fn *create;
    combine_fn *combine;

    MPI_Init(&argc, &argv);
    create = (create_fn *) (intptr_t) dlsym(RTLD_NEXT, "MPIR_Err_create_code");
    if (!create)
        tu_fail("error_ring", "libmpi has no MPIR_Err_create_code");
    combine = (combine_fn *) ((intptr_t) create + (intptr_t) tu_number(argc, argv, "--distance", 0));
    cause = create(MPI_SUCCESS, 0, __func__, __LINE__, MPI_ERR_OTHER, "**fail", NULL);
    effect = create(cause, 0, __func__, __LINE__, MPI_ERR_OTHER, "**fail", NULL);
    alarm(DEADLINE_S); /* a ring is walked for ever */
    MPI_Error_string(combine(cause, effect), text, &length);
    MPI_Error_string(effect, text, &length);
    alarm(0);
    printf("error_ring: ends\n");
    MPI_Finalize();
    return 0;
}
