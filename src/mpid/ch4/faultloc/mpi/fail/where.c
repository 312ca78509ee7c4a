/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/mpi/fail/fail.h"

#include "faultloc/base/proc.h"
#include "faultloc/base/spawn.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

/*
 * Where the program has called MPI, as function, file and line: said by faultloc-handler, as debugging
 * information is not to be read in a rank.  The rank is about to end, and waits for that.
 */

#define FRAMES 32
#define DEADLINE_MS 500 /* of the handler; */
#define PATIENCE_MS 1000 /* it may hang in a file system that does not answer */

static const char *name_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

static bool is_of_mpi(const char *file)
{
    return strncmp(name_of(file), "libmpi", 6) == 0;
}

/* Starts it; returns where its output comes, -1: it cannot be started. */
static int start_handler(const char *at, pid_t * pid)
{
    char path[FAULTLOC_SPAWN_PATH], address[24], self[16], deadline[16];
    char *arguments[] = { (char *) "faultloc-handler", (char *) "--deadline", deadline,
        (char *) "--where", address, self, NULL
    };
    struct faultloc_spawn_child child = {.path = path,.arguments = arguments,.fd = -1,.input = -1 };
    int fd[2], rc;

    if (faultloc_spawn_find("faultloc-handler", path) || pipe2(fd, O_CLOEXEC))
        return -1;
    snprintf(deadline, sizeof(deadline), "%d", DEADLINE_MS);
    snprintf(address, sizeof(address), "%lx", (unsigned long) (uintptr_t) at);
    snprintf(self, sizeof(self), "%d", (int) getpid());
    child.output = fd[1];
    rc = faultloc_spawn_child(&child, pid);
    close(fd[1]);
    if (rc)
        close(fd[0]);
    return rc ? -1 : fd[0];
}

/* "main(), app.c:12"; false: it is not known. */
static bool ask_handler(const char *at, char *out, size_t room)
{
    pid_t pid;
    int fd = start_handler(at, &pid);
    struct pollfd p = {.fd = fd,.events = POLLIN };
    ssize_t n = 0;

    if (fd < 0)
        return false;
    if (poll(&p, 1, PATIENCE_MS) > 0)
        n = read(fd, out, room - 1);
    close(fd);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, __WALL | WNOHANG);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return out[0] != '\0';
}

/* "app+0x1234", as addr2line(1) takes it. */
static void put_address(const char *at, const Dl_info * info, char *out, size_t room)
{
    if (((const ElfW(Ehdr) *) info->dli_fbase)->e_type == ET_DYN)
        at -= (uintptr_t) info->dli_fbase;
    snprintf(out, room, "%s+0x%lx", name_of(info->dli_fname), (unsigned long) (uintptr_t) at);
}

bool MPIDI_faultloc_where(char *out, size_t room)
{
    void *frame[FRAMES];
    int n = backtrace(frame, FRAMES);
    Dl_info info;

    if (!dladdr((void *) (uintptr_t) & MPIDI_faultloc_where, &info) || !is_of_mpi(info.dli_fname))
        return false;   /* a static program: its own calls are not distinguished from MPI's */
    for (int i = 0; i < n; i++) {
        const char *at = (const char *) frame[i] - 1;
        if (!dladdr(at, &info) || !info.dli_fname || is_of_mpi(info.dli_fname) ||
            faultloc_proc_is_glue(name_of(info.dli_fname)))
            continue;
        if (!ask_handler(at, out, room))
            put_address(at, &info, out, room);
        return true;
    }
    return false;
}
