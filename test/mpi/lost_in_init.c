/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Rank 1 is lost as MPI_Init ends. Nobody needs it for MPI_Init any more, so all others come out of
 * it, and say so.
 *
 * lost_in_init [--when inside|after] [--send N]
 *
 *     inside   killed in what FaultLoc does last in MPI_Init: the ranks tell each other that all
 *              agents run; where they do that by a collective (a device without shared memory, as
 *              ch4:ucx of 5.0) nobody is killed, and rank 1 says how many messages it has sent
 *     after    exit(1) right after its MPI_Init; others may still be in theirs
 *     --send   instead, killed in place of its N-th message by UCX */

#include "testutil.h"

#include <dlfcn.h>
#include <linux/futex.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static int is_lost_inside;
static double sends, last_send;

#define LAST_WORD 3 /* that a rank says to the first one of its node */

/* In place of the C library's: after each of its words a rank wakes the one that waits for it. */
long syscall(long number, ...)
{
    static long (*real)(long, ...);
    static int words;
    long a[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (is_lost_inside && number == SYS_futex && a[1] == FUTEX_WAKE && ++words == LAST_WORD)
        raise(SIGKILL);
    if (!real)
        *(void **) &real = dlsym(RTLD_NEXT, "syscall");
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* In place of UCX's. */
void *ucp_tag_send_nbx(void *ep, const void *buf, size_t count, uint64_t tag, const void *param);
void *ucp_tag_send_nbx(void *ep, const void *buf, size_t count, uint64_t tag, const void *param)
{
    static void *(*real)(void *, const void *, size_t, uint64_t, const void *);

    if (++sends == last_send)
        raise(SIGKILL);
    if (!real)
        *(void **) &real = dlsym(RTLD_NEXT, "ucp_tag_send_nbx");
    return real(ep, buf, count, tag, param);
}

int main(int argc, char **argv)
{
    int rank, is_inside = !strcmp(tu_string(argc, argv, "--when", "inside"), "inside");
    const char *pmi_rank = getenv("PMI_RANK");

    is_lost_inside = is_inside && pmi_rank && atoi(pmi_rank) == 1;
    last_send = is_lost_inside ? tu_number(argc, argv, "--send", 0) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1 && is_inside)
        printf("rank 1 was not killed, %.0f messages\n", sends);
    fflush(stdout);
    if (rank == 1)
        exit(EXIT_FAILURE);
    printf("rank %d is out of MPI_Init\n", rank);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
