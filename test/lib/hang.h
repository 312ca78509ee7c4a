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
 * A file system that hangs: who opens the file, or asks for its size and time, is held in the
 * kernel until it hangs no more.  A file of that name and ".hangs" says so, and counts whom it
 * holds, in all processes whose program has this.
 *
 * To be included by one source file of a program: it takes the place of open(2) and stat(2).
 */

static char hang_path[2048]; /* the file that says so */
static atomic_int *hang_held;

static inline int hang_open(const char *path, int flags)
{
    char name[2048];

    snprintf(name, sizeof(name), "%s.hangs", path);
    return (int) syscall(SYS_openat, AT_FDCWD, name, flags | O_RDWR | O_CLOEXEC, 0600);
}

/* The count; NULL: there is none. */
static inline atomic_int *hang_map(int fd)
{
    void *at = mmap(NULL, sizeof(atomic_int), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

/* Purpose: `path` hangs from now on. */
static inline void hang_begin(const char *path)
{
    int fd = hang_open(path, O_CREAT | O_EXCL);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, sizeof(*hang_held)), 0);
    hang_held = hang_map(fd);
    ck_assert_ptr_nonnull(hang_held);
    snprintf(hang_path, sizeof(hang_path), "%s.hangs", path);
}

/* Purpose: it hangs no more. */
static inline void hang_end(void)
{
    ck_assert_int_eq(unlink(hang_path), 0);
}

static inline void hang_if(const char *path)
{
    int fd = hang_open(path, 0);
    atomic_int *held = fd < 0 ? NULL : hang_map(fd);

    if (!held)
        return;
    ++*held;
    while ((fd = hang_open(path, 0)) >= 0) {
        close(fd);
        poll(NULL, 0, 1);
    }
    --*held;
    munmap(held, sizeof(*held));
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
