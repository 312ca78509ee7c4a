/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/handler/handler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * One sample of a thread's CPU time.  Of the time in its own code one may be taken by who may trace it, up
 * to kernel.perf_event_paranoid = 2, the kernel's default; of the time in the kernel, too, up to 1, or
 * with CAP_PERFMON: then the registers are those with which the kernel was called.
 */

#define PERIOD_NS 50000 /* of CPU time */
#define STACK_BYTES 65024 /* a record has less than 64 KiB */
#define DATA_PAGES 32

#if defined(__x86_64__)
#define REGISTERS 17
/* AX to IP and R8 to R15 in the order of asm/perf_regs.h, and where DWARF has each. */
#define REGISTER_MASK 0xff01ffULL
static const int dwarf_of[REGISTERS] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15};
#define REGISTER_SP 7
#define REGISTER_PC 16
#elif defined(__aarch64__)
#define REGISTERS 33
#define REGISTER_MASK 0x1ffffffffULL /* X0 to X30, SP, PC: DWARF's order */
#define REGISTER_SP 31
#define REGISTER_PC 32
#endif

#ifdef REGISTER_MASK

static int dwarf_register(int i)
{
#if defined(__x86_64__)
    return dwarf_of[i];
#else
    return i;
#endif
}

static int open_event(pid_t tid, bool own_code)
{
    struct perf_event_attr a = {.size = sizeof(a),
                                .type = PERF_TYPE_SOFTWARE,
                                .config = PERF_COUNT_SW_TASK_CLOCK,
                                .sample_period = PERIOD_NS,
                                .sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
                                .sample_regs_user = REGISTER_MASK,
                                .sample_stack_user = STACK_BYTES,
                                .wakeup_events = 1,
                                .disabled = 1,
                                .exclude_kernel = own_code,
                                .exclude_hv = 1};

    return (int) syscall(SYS_perf_event_open, &a, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* As perf_event_open(2) has it for these two: abi, registers, size, stack, size that was copied. */
struct record {
    struct perf_event_header header;
    uint64_t abi, registers[REGISTERS], stack_size;
    uint8_t stack[STACK_BYTES];
    uint64_t copied;
};

static bool take_record(const struct record *r, struct handler_thread *t, struct handler_copy *copy)
{
    if (r->header.type != PERF_RECORD_SAMPLE || r->header.size != sizeof(*r) ||
        r->abi != PERF_SAMPLE_REGS_ABI_64 || r->stack_size != STACK_BYTES)
        return false;
    for (int i = 0; i < REGISTERS; i++)
        t->registers[dwarf_register(i)] = r->registers[i];
    t->has_registers = true;
    t->sp = t->registers[REGISTER_SP];
    t->pc = t->registers[REGISTER_PC];
    copy->at = t->sp;
    copy->bytes = r->copied <= STACK_BYTES ? (size_t) r->copied : 0;
    memcpy(copy->stack, r->stack, copy->bytes);
    return true;
}

static enum handler_sampled sample(int fd, struct handler_thread *t, struct handler_copy *copy,
                                   int wait_ms)
{
    size_t page = (size_t) sysconf(_SC_PAGESIZE), len = (1 + DATA_PAGES) * page;
    void *ring = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    const struct perf_event_mmap_page *head = ring;
    bool taken = false;

    if (ring == MAP_FAILED)
        return HANDLER_DENIED; /* kernel.perf_event_mlock_kb */
    if (ioctl(fd, PERF_EVENT_IOC_REFRESH, 1) == 0 && poll(&p, 1, wait_ms) > 0 &&
        __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE) >= sizeof(struct record))
        taken = take_record((const struct record *) (const void *) ((char *) ring + page), t, copy);
    munmap(ring, len);
    return taken ? HANDLER_SAMPLED : HANDLER_NOT_SAMPLED;
}

enum handler_sampled handler_sample(struct handler_thread *t, struct handler_copy *copy, int wait_ms)
{
    enum handler_sampled sampled;
    int fd = open_event(t->tid, false);

    if (fd < 0 && errno != ESRCH)
        fd = open_event(t->tid, true);
    if (fd < 0)
        return errno == ESRCH ? HANDLER_NOT_SAMPLED : HANDLER_DENIED;
    sampled = sample(fd, t, copy, wait_ms);
    close(fd);
    return sampled;
}

#else

enum handler_sampled handler_sample(struct handler_thread *t, struct handler_copy *copy, int wait_ms)
{
    (void) t;
    (void) copy;
    (void) wait_ms;
    return HANDLER_DENIED;
}

#endif
