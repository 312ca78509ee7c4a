/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A tool, or the program itself, is called when a fault has been located.
 *
 *     mpicc -o event event.c
 *     export MPIR_CVAR_FAULTLOC=1
 *     mpiexec -n 4 ./event                             a healthy job: no event
 *     mpiexec -disable-auto-cleanup -n 4 ./event 2     rank 2 dies
 */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What MPI_T_event_copy() brings: see faultloc_verdict(3). */
struct verdict {
    int64_t located_ms;
    uint32_t id;
    int32_t fln, class_number, rank, node, pid, confidence, withdrawn, victims, failures;
    char class_name[24], node_name[64];
};

static struct verdict last;
static int events;

/* Called inside MPI: it must not call MPI itself, but for MPI_T_event_copy and the like. */
static void on_verdict(MPI_T_event_instance instance, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void *user_data)
{
    (void) registration;
    (void) safety;
    (void) user_data;
    MPI_T_event_copy(instance, &last);
    events++;
}

static MPI_T_event_registration listen_to_verdicts(void)
{
    MPI_T_event_registration registration;
    int index;

    if (MPI_T_event_get_index("faultloc_verdict", &index) != MPI_SUCCESS) {
        fprintf(stderr, "this MPI has no event faultloc_verdict\n");
        exit(1);
    }
    MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration);
    MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL,
                                  NULL, on_verdict);
    return registration;
}

int main(int argc, char **argv)
{
    int rank, provided, victim = argc > 1 ? atoi(argv[1]) : -1;
    MPI_T_event_registration registration;
    double until;

    MPI_Init(&argc, &argv); /* the event is there from here on */
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    registration = listen_to_verdicts();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == victim)
        _exit(3);

    /* Events come while a rank waits in MPI, and when it asks, as it does here. */
    until = MPI_Wtime() + 30;
    while (events == 0 && victim >= 0 && MPI_Wtime() < until) {
        MPIX_Comm_failure_ack(MPI_COMM_WORLD);
        usleep(10000);
    }
    if (events > 0)
        printf("rank %d: %s of rank %d on node %s, confidence %.3f\n", rank, last.class_name,
               last.rank, last.node_name, last.confidence / 1000.0);
    else
        printf("rank %d: no event\n", rank);
    fflush(stdout);
    MPI_T_event_handle_free(registration, NULL, NULL);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
