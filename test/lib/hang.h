/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef HANG_H_INCLUDED
#define HANG_H_INCLUDED

#include "suite.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * A file system that hangs: who opens the file, or asks for its size and time, is held in the kernel
 * until it hangs no more, in this process and in those forked from then on.
 *
 * To be included by one source file of a program: it takes the place of open(2) and stat(2).
 */

static char hang_path[1024];
static int hang_ends[2]; /* a pipe: there is something in it when it hangs no more */
static atomic_int *hang_held;

/* Purpose: `path` hangs from now on. */
static inline void hang_begin(const char *path)
{
    ck_assert_int_eq(pipe2(hang_ends, O_CLOEXEC), 0);
    hang_held =
        mmap(NULL, sizeof(*hang_held), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(hang_held, MAP_FAILED);
    snprintf(hang_path, sizeof(hang_path), "%s", path);
}

/* Purpose: it hangs no more. */
static inline void hang_end(void)
{
    ck_assert_int_eq(write(hang_ends[1], "x", 1), 1);
}

static inline void hang_if(const char *path)
{
    struct pollfd p = {.fd = hang_ends[0], .events = POLLIN};

    if (!hang_path[0] || strcmp(path, hang_path) != 0)
        return;
    ++*hang_held;
    poll(&p, 1, -1);
    --*hang_held;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    int mode = 0;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = va_arg(args, int);
    va_end(args);
    hang_if(path);
    return (int) syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int stat(const char *restrict path, struct stat *restrict st)
{
    hang_if(path);
    return fstatat(AT_FDCWD, path, st, 0);
}

#endif /* HANG_H_INCLUDED */
