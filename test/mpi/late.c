/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* Ranks that are late for MPI_Init, for a message, or for MPI_Finalize, until they are let go.
 *
 * late [--init R,...] [--send R,...] [--finalize R,...] [--skip R,...] [--fifo 1]
 *
 * Each of these ranks writes the file init.R, send.R or finalize.R, as tu_note() does, and waits
 * until there is a file go.init.R and so on in the same folder, FAULTLOC_TEST_PIDFILE. It waits
 * outside MPI; for a rank of --send all others are meanwhile in MPI_Recv.
 *
 * --skip  ranks that do not send after all, and go to MPI_Finalize
 * --fifo  1: a file go... is a FIFO, and the rank sleeps until it can read from it */

#include "rest.h"
#include "testutil.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *skip;
static bool by_fifo;

static bool is_listed(const char *list, int rank)
{
    char *end;

    for (; *list; list = *end == ',' ? end + 1 : end)
        if (strtol(list, &end, 10) == rank && end != list)
            return true;
        else if (end == list)
            break;
    return false;
}

static void read_fifo(const char *path)
{
    char byte;
    int fd = mkfifo(path, 0600) ? -1 : open(path, O_RDWR);

    if (fd < 0 || read(fd, &byte, 1) != 1)
        tu_fail("late", "cannot read from a FIFO");
    close(fd);
}

static void wait_for_go(const char *what, int rank)
{
    struct timespec t = {.tv_nsec = 10000000};
    const char *folder = getenv("FAULTLOC_TEST_PIDFILE");
    char path[4096];

    if (!folder)
        tu_fail("late", "FAULTLOC_TEST_PIDFILE must be set");
    snprintf(path, sizeof(path), "%s/go.%s.%d", folder, what, rank);
    if (by_fifo) {
        read_fifo(path);
        return;
    }
    tu_note(what, rank);
    while (access(path, F_OK))
        nanosleep(&t, NULL);
}

/* Every rank that is listed sends one message to all others. */
static void send_late(const char *list, int rank)
{
    int size, word = 0;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (is_listed(skip, rank))
        return;
    for (int from = 0; from < size; from++) {
        if (!is_listed(list, from))
            continue;
        if (from != rank) {
            MPI_Recv(&word, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            continue;
        }
        wait_for_go("send", rank);
        for (int to = 0; to < size; to++)
            if (to != rank)
                MPI_Send(&word, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
    }
    if (*list)
        tu_meet(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *at_init = tu_string(argc, argv, "--init", "");
    const char *at_send = tu_string(argc, argv, "--send", "");
    const char *at_finalize = tu_string(argc, argv, "--finalize", "");
    const char *number = getenv("PMI_RANK");
    int rank = number ? atoi(number) : 0;

    skip = tu_string(argc, argv, "--skip", "");
    by_fifo = tu_number(argc, argv, "--fifo", 0) > 0;
    rest_while_idle(200);
    if (is_listed(at_init, rank))
        wait_for_go("init", rank);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    send_late(at_send, rank);
    if (is_listed(at_finalize, rank))
        wait_for_go("finalize", rank);
    MPI_Finalize();
    return 0;
}
