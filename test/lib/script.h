/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef SCRIPT_H_INCLUDED
#define SCRIPT_H_INCLUDED

#include "program.h"
#include "suite.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A script in place of a program that the agent starts, and the agent's program with an epoll for it.  It
 * may write a file "arguments" beside itself, and nothing else: script_end() checks that.
 */

static char folder[] = "/tmp/faultloc-script-XXXXXX", script[80];
static struct faultloc_program program;

static inline void script_begin(void)
{
    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(script, sizeof(script), "%s/program", folder);
    program_open(&program, 0);
    program.epoll = epoll_create1(EPOLL_CLOEXEC);
    signal(SIGCHLD, SIG_IGN); /* as the agent does */
}

static inline void script_end(void)
{
    char path[120];

    snprintf(path, sizeof(path), "%s/arguments", folder);
    unlink(path);
    unlink(script);
    ck_assert_int_eq(rmdir(folder), 0);
    close(program.epoll);
    program_close(&program);
}

static inline void write_script(const char *lines)
{
    FILE *f = fopen(script, "w");

    fprintf(f, "#!/bin/sh\n%s", lines);
    fclose(f);
    ck_assert_int_eq(chmod(script, 0700), 0);
}

#endif /* SCRIPT_H_INCLUDED */
