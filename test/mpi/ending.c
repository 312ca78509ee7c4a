/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* The last rank tells its launcher, as its agent would, that FaultLoc ends the job by a signal to it, and
 * ends by that signal. The others wait for it. */

#include "../../src/mpid/ch4/faultloc/faultloc_launcher.h"
#include "testutil.h"

#include <mpi.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void send_word(const struct faultloc_launcher_word *w)
{
    const char *name = getenv(FAULTLOC_LAUNCHER_ENV);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    socklen_t len;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    if (!name || name[0] != '@')
        tu_fail("ending", "the launcher has no socket");
    snprintf(to.sun_path + 1, sizeof(to.sun_path) - 1, "%s", name + 1);
    len = (socklen_t) (offsetof(struct sockaddr_un, sun_path) + strlen(name));
    if (sendto(fd, w, sizeof(*w), 0, (struct sockaddr *) &to, len) != (ssize_t) sizeof(*w))
        tu_fail("ending", "the launcher does not hear");
    close(fd);
}

int main(int argc, char **argv)
{
    struct faultloc_launcher_word w;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    tu_hello(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) {
        memset(&w, 0, sizeof(w));
        w.magic = FAULTLOC_LAUNCHER_MAGIC;
        w.bytes = sizeof(w);
        w.kind = FAULTLOC_LAUNCHER_ENDING;
        w.ended_rank = rank;
        w.ended_pid = getpid();
        snprintf(w.class_, sizeof(w.class_), "process-stopped");
        snprintf(w.line, sizeof(w.line), "process-stopped: rank 0 (a test)");
        w.ranks.count = w.ranks.ranges = 1;
        send_word(&w);
        kill(getpid(), (int) tu_number(argc, argv, "--signal", SIGKILL));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
