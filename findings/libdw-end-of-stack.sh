#!/usr/bin/env bash
##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# elfutils 0.188 (Debian 0.188-2.1), libdwfl: who unwinds a stack with callbacks of his own, and knows only
# some registers of a thread (Linux tells stack pointer and program counter of one that waits, in
# /proc/PID/task/TID/syscall), sees no error where another register is needed.
#
# The header libdwfl.h says of dwfl_getthread_frames(): zero if all frames have been processed, -1 on
# error.  A guess by that: -1, and dwfl_errmsg() says that a register is undefined.
# Seen: zero, with the frames up to the function that keeps its frame by the frame pointer
# (code without optimization), as if that were the outermost one.  With all registers it is zero, too, and main
# is among the frames.  So the end of a stack has to be recognized by the caller: here by the call frame
# information of the last frame (dwarf_frame_cfa() names register 6 of x86-64).
#
# Exit code: 0 it is still so, 1 it is otherwise now, 77 the packages are not to be had, or no x86-64.
set -euo pipefail
[ "$(uname -m)" = x86_64 ] || { echo "SKIP: not x86-64"; exit 77; }
version=0.188-2.1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq "libdw1=$version" "libdw-dev=$version" "libelf1=$version" "libelf-dev=$version" 2>/dev/null ||
    { echo "SKIP: no packages of elfutils $version"; exit 77; }
for package in ./*.deb; do dpkg-deb -x "$package" .; done
lib=$PWD/usr/lib/x86_64-linux-gnu

cat >unwind.c <<'END'
#define _GNU_SOURCE
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static int mem, frames, has_main, pipe_[2];
static pid_t child;
static struct user_regs_struct r;
static int all_registers;

__attribute__((noinline)) void wait_here(void)
{
    char c;

    if (read(pipe_[0], &c, 1)) {
    }
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
    if (*thread)
        return 0;
    *thread = dwfl;
    return child;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *word, void *arg)
{
    return pread(mem, word, sizeof(*word), (off_t) at) == sizeof(*word);
}

static bool set_registers(Dwfl_Thread *t, void *arg)
{
    Dwarf_Word all[17] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                          r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};

    if (all_registers)
        return dwfl_thread_state_registers(t, 0, 17, all);
    return dwfl_thread_state_registers(t, 7, 1, &all[7]) &&
           dwfl_thread_state_registers(t, 16, 1, &all[16]);
}

static int take(Dwfl_Frame *f, void *arg)
{
    Dwarf_Addr pc;
    Dwfl_Module *m;
    const char *name;

    dwfl_frame_pc(f, &pc, NULL);
    m = dwfl_addrmodule(arg, pc - 1);
    name = m ? dwfl_module_addrname(m, pc - 1) : NULL;
    frames++;
    has_main |= name && !strcmp(name, "main");
    return DWARF_CB_OK;
}

int main(void)
{
    static const Dwfl_Callbacks modules = {.find_elf = dwfl_linux_proc_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo};
    static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
                                                  .memory_read = read_word,
                                                  .set_initial_registers = set_registers};
    char path[64];

    if (pipe(pipe_))
        return 1;
    child = fork();
    if (child == 0) {
        wait_here();
        _exit(0);
    }
    usleep(200000);
    ptrace(PTRACE_ATTACH, child, 0, 0);
    waitpid(child, NULL, 0);
    ptrace(PTRACE_GETREGS, child, 0, &r);
    snprintf(path, sizeof(path), "/proc/%d/mem", (int) child);
    mem = open(path, O_RDONLY);
    for (all_registers = 0; all_registers < 2; all_registers++) {
        Dwfl *dwfl = dwfl_begin(&modules);
        int rc;
        frames = has_main = 0;
        dwfl_linux_proc_report(dwfl, child);
        dwfl_report_end(dwfl, NULL, NULL);
        dwfl_attach_state(dwfl, NULL, child, &threads, dwfl);
        rc = dwfl_getthread_frames(dwfl, child, take, dwfl);
        printf("%s registers: returned %d, main %s\n", all_registers ? "all" : "two", rc,
               has_main ? "reached" : "not reached");
        dwfl_end(dwfl);
    }
    kill(child, SIGKILL);
    return 0;
}
END
gcc -O0 -g -w -I"$PWD/usr/include" -o unwind unwind.c -L"$lib" -ldw -lelf -Wl,-rpath,"$lib"
./unwind | tee seen
diff - seen <<'END' || { echo "it is otherwise now"; exit 1; }
two registers: returned 0, main not reached
all registers: returned 0, main reached
END
echo "as seen with elfutils $version"
