/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FAULTLOC_SYSCALLS_H_INCLUDED
#define FAULTLOC_SYSCALLS_H_INCLUDED

#include <sys/syscall.h>

/* System calls that are newer than some C libraries; the numbers are the same on every
 * architecture.  hydra's proxy includes this file, too. */

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#endif /* FAULTLOC_SYSCALLS_H_INCLUDED */
