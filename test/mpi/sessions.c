/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A program that never calls MPI_Init: one session, a communicator made from it, one sum.
 *
 * sessions [--how kill|deadlock|init|mixed|part|again]
 *
 *     kill      rank 1 is killed before the sum
 *     deadlock  each rank waits for a message of its neighbour's
 *     init      MPI_Init besides, in all ranks after the communicator is made
 *     mixed     rank 0 calls MPI_Init first, and the others after they have opened a session
 *     part      a communicator of two ranks first
 *     again     MPI ends, and begins again */

#include "testutil.h"

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Session session;

static MPI_Comm make(MPI_Group group, const char *tag)
{
    MPI_Comm comm;

    MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    return comm;
}

static void make_part(MPI_Group world)
{
    static const int both[] = {0, 1};
    MPI_Group part;
    MPI_Comm comm;
    int rank;

    MPI_Group_rank(world, &rank);
    if (rank > 1)
        return;
    MPI_Group_incl(world, 2, both, &part);
    comm = make(part, "faultloc-part");
    MPI_Barrier(comm);
    MPI_Group_free(&part);
    MPI_Comm_free(&comm);
}

static MPI_Comm begin(int is_part)
{
    MPI_Group group;
    MPI_Comm comm;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    if (is_part)
        make_part(group);
    comm = make(group, "faultloc-test");
    MPI_Group_free(&group);
    return comm;
}

static void init_in_turn(void)
{
    const char *rank = getenv("PMI_RANK");
    MPI_Session first;

    if (rank && atoi(rank) > 0)
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first);
    MPI_Init(NULL, NULL);
    if (rank && atoi(rank) > 0)
        MPI_Session_finalize(&first);
}

static int sum_of(MPI_Comm comm)
{
    int rank, sum = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

static void end(MPI_Comm comm)
{
    tu_meet(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    const char *how = tu_string(argc, argv, "--how", "");
    int rank, size, sum, is_mixed = !strcmp(how, "mixed"), is_init = !strcmp(how, "init");
    MPI_Comm comm;

    if (is_mixed)
        init_in_turn();
    comm = begin(!strcmp(how, "part"));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    tu_hello(rank);
    tu_looping(rank);
    if (is_init)
        MPI_Init(&argc, &argv);
    if (!strcmp(how, "kill") && rank == 1)
        raise(SIGKILL);
    if (!strcmp(how, "deadlock"))
        MPI_Recv(&sum, 1, MPI_INT, rank ^ 1, 7, comm, MPI_STATUS_IGNORE);
    sum = sum_of(comm);
    if (rank == 0)
        printf("sessions: %d ranks, sum %d\n", size, sum);
    end(comm);
    if (!strcmp(how, "again")) {
        comm = begin(0);
        sum = sum_of(comm);
        end(comm);
    }
    if (is_init || is_mixed)
        MPI_Finalize();
    return sum == size * (size - 1) / 2 ? 0 : 1;
}
