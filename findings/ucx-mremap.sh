#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# UCX 1.13.1 (Debian 1.13.1-1): in a program that is linked with it, mremap(2) loses its fifth argument.
#
# UCX watches for memory that is unmapped, and puts a function of its own (ucm_mremap(), ucm/api/ucm.h) in
# the place of the C library's mremap().  A guess: what a program asks for is passed on as it is.
# Seen: the function has four parameters, so the address that MREMAP_FIXED asks for is not passed on.
# The kernel gets 0 instead: the memory is moved to address 0 where the caller may map that (root), and
# mremap() fails with EPERM for others.  It is so as soon as the library is loaded, before ucp_init().  With
# UCX_MEM_EVENTS=n, or by syscall(SYS_mremap, ...), the memory is where it was asked for.
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had.
. "$(dirname "$0")/lib/ucx.sh"

compile move <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

static void say(const char *how, void *got, void *asked)
{
    printf("%s: %s\n", how, got == asked ? "as asked" : "not as asked");
}

int main(void)
{
    unsigned major, minor, release;
    const int flags = MREMAP_MAYMOVE | MREMAP_FIXED, prot = PROT_READ | PROT_WRITE;
    char *a = mmap(NULL, 16384, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *to = mmap(NULL, 4096, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ucp_get_version(&major, &minor, &release);
    say("mremap", mremap(a, 4096, 4096, flags, to), to);
    say("system call", (void *) syscall(SYS_mremap, a + 8192, 4096, 4096, flags, to), to);
    return 0;
}
END
{ ./move; echo "UCX_MEM_EVENTS=n"; UCX_MEM_EVENTS=n ./move; } | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
mremap: not as asked
system call: as asked
UCX_MEM_EVENTS=n
mremap: as asked
system call: as asked
END
echo "as seen with UCX $version"
