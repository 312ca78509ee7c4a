/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/handler/handler.h"

#include <stddef.h>
#include <sys/syscall.h>

/* Those in which a process waits, and those that ask a file system. */

#define PLAIN(name) {SYS_##name, #name, -1, -1}
#define OF_FD(name, argument) {SYS_##name, #name, argument, -1}
#define OF_PATH(name, argument) {SYS_##name, #name, -1, argument}

static const struct handler_syscall calls[] = {
    OF_FD(read, 0), OF_FD(write, 0), OF_FD(pread64, 0), OF_FD(pwrite64, 0), OF_FD(readv, 0),
    OF_FD(writev, 0), OF_FD(preadv, 0), OF_FD(pwritev, 0), OF_FD(fsync, 0), OF_FD(fdatasync, 0),
    OF_FD(sync_file_range, 0), OF_FD(ftruncate, 0), OF_FD(fallocate, 0), OF_FD(getdents64, 0),
    OF_FD(fstat, 0), OF_FD(lseek, 0), OF_FD(flock, 0), OF_FD(fcntl, 0), OF_FD(close, 0),
    OF_FD(ioctl, 0), OF_FD(sendfile, 1), OF_FD(splice, 0), OF_FD(syncfs, 0), OF_FD(fstatfs, 0),
    OF_FD(copy_file_range, 0), OF_FD(fadvise64, 0), OF_FD(fchdir, 0), OF_FD(fchmod, 0),
    OF_FD(fchown, 0), OF_FD(fsetxattr, 0), OF_FD(fgetxattr, 0),
    OF_FD(recvfrom, 0), OF_FD(sendto, 0), OF_FD(recvmsg, 0), OF_FD(sendmsg, 0), OF_FD(connect, 0),
    OF_FD(accept, 0), OF_FD(accept4, 0), OF_FD(recvmmsg, 0), OF_FD(sendmmsg, 0),
    OF_PATH(openat, 1), OF_PATH(newfstatat, 1), OF_PATH(statx, 1), OF_PATH(faccessat, 1),
    OF_PATH(faccessat2, 1), OF_PATH(unlinkat, 1), OF_PATH(renameat2, 1), OF_PATH(mkdirat, 1),
    OF_PATH(readlinkat, 1), OF_PATH(statfs, 0), OF_PATH(truncate, 0), OF_PATH(chdir, 0),
    OF_PATH(execve, 0), OF_PATH(utimensat, 1), OF_PATH(fchmodat, 1), OF_PATH(fchownat, 1),
#ifdef SYS_open
    OF_PATH(open, 0), OF_PATH(stat, 0), OF_PATH(lstat, 0), OF_PATH(access, 0), OF_PATH(unlink, 0),
    OF_PATH(rename, 0), OF_PATH(mkdir, 0), OF_PATH(rmdir, 0), OF_PATH(readlink, 0), OF_PATH(creat, 0),
    OF_FD(getdents, 0),
    PLAIN(poll), PLAIN(select), PLAIN(pause), PLAIN(epoll_wait),
#endif
    PLAIN(futex), PLAIN(nanosleep), PLAIN(clock_nanosleep), PLAIN(ppoll), PLAIN(pselect6),
    PLAIN(wait4), PLAIN(waitid), PLAIN(rt_sigsuspend), PLAIN(sched_yield), PLAIN(mmap), PLAIN(munmap),
    PLAIN(madvise), PLAIN(msync), PLAIN(sync), PLAIN(process_vm_readv), PLAIN(process_vm_writev),
    PLAIN(restart_syscall),
    PLAIN(epoll_pwait),
#ifdef SYS_epoll_pwait2
    PLAIN(epoll_pwait2),
#endif
#ifdef SYS_io_uring_enter
    OF_FD(io_uring_enter, 0),
#endif
    PLAIN(io_getevents), PLAIN(rt_sigtimedwait), PLAIN(semop), PLAIN(semtimedop), PLAIN(msgrcv),
    PLAIN(msgsnd), PLAIN(mq_timedreceive), PLAIN(mq_timedsend)};

const struct handler_syscall *handler_syscall(long number)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}
