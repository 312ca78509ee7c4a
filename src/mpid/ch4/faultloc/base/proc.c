/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/proc.h"

#include "faultloc/base/syscalls.h"
#include "faultloc/base/text_file.h"
#include "ftree/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A stat file has 52 fields, of which most are numbers of at most 20 digits. */
#define STAT_MAX 2048
#define PATH_LENGTH_MAX 512
/* Fields as proc(5) counts them, from 1. */
#define FIELD_STATE 3
#define FIELD_FLAGS 9
#define FIELD_FAULTS 10 /* and from here to the last of CPU time all that it has done */
#define FIELD_MAJOR_FAULTS 12
#define FIELD_USER_TIME 14
#define FIELD_SYSTEM_TIME 15
#define FIELD_CHILDREN_TIME 17
#define FIELD_THREADS 20
#define FIELD_START 22
#define FIELD_PENDING 31
#define FIELD_PROCESSOR 39

#define PF_EXITING 0x4 /* of the kernel's include/linux/sched.h; it never was another */

/* Reads a number at *at, and the blank behind it.  Returns false when there is none, or one that
 * does not fit. */
static bool take_number(const char **at, const char *end, uint64_t *number)
{
    const char *p = *at;

    *number = 0;
    while (p < end && *p >= '0' && *p <= '9') {
        uint64_t digit = (uint64_t) (*p - '0');
        if (*number > (UINT64_MAX - digit) / 10)
            return false;
        *number = *number * 10 + digit;
        p++;
    }
    if (p == *at || p == end || *p != ' ')
        return false;
    *at = p + 1;
    return true;
}

static bool skip_field(const char **at, const char *end)
{
    const char *blank = memchr(*at, ' ', (size_t) (end - *at));

    if (!blank)
        return false;
    *at = blank + 1;
    return true;
}

/* Skips fields `from` to the one before `to`, and reads that one. */
static bool take_field(const char **at, const char *end, int from, int to, uint64_t *number)
{
    for (int field = from; field < to; field++)
        if (!skip_field(at, end))
            return false;
    return take_number(at, end, number);
}

/* A number that does not fit, or is negative, counts as none. */
static bool take_done(const char **at, const char *end, struct faultloc_proc *proc)
{
    uint64_t number;

    for (int field = FIELD_FAULTS; field <= FIELD_CHILDREN_TIME; field++) {
        const char *p = *at;
        if (!take_number(&p, end, &number))
            number = 0;
        if (!skip_field(at, end))
            return false;
        proc->done += number;
        if (field == FIELD_USER_TIME || field == FIELD_SYSTEM_TIME)
            proc->ticks += number;
        if (field == FIELD_MAJOR_FAULTS)
            proc->major = number;
    }
    return true;
}

/* What stands behind the start time.  It may be missing: nothing else depends on it. */
static void take_rest(const char *at, const char *end, struct faultloc_proc *proc)
{
    uint64_t pending, processor;

    proc->processor = -1;
    if (!take_field(&at, end, FIELD_START + 1, FIELD_PENDING, &pending))
        return;
    proc->ending |= pending >> (SIGKILL - 1) & 1;
    if (take_field(&at, end, FIELD_PENDING + 1, FIELD_PROCESSOR, &processor) &&
        processor <= INT32_MAX)
        proc->processor = (int32_t) processor;
}

/* The fields behind the name, of which there can be no doubt: no blank and no name is in them. */
static bool take_fields(const char *at, const char *end, struct faultloc_proc *proc)
{
    uint64_t flags, threads;

    if (end - at < 2 || at[1] != ' ')
        return false;
    proc->state = at[0];
    if (!((proc->state >= 'A' && proc->state <= 'Z') || (proc->state >= 'a' && proc->state <= 'z')))
        return false;
    at += 2;
    if (!take_field(&at, end, FIELD_STATE + 1, FIELD_FLAGS, &flags) ||
        !take_done(&at, end, proc) ||
        !take_field(&at, end, FIELD_CHILDREN_TIME + 1, FIELD_THREADS, &threads) ||
        threads > UINT32_MAX ||
        !take_field(&at, end, FIELD_THREADS + 1, FIELD_START, &proc->start))
        return false;
    proc->threads = (uint32_t) threads;
    proc->ending = flags & PF_EXITING;
    take_rest(at, end, proc);
    return true;
}

int faultloc_proc_parse(const char *bytes, size_t len, pid_t pid, struct faultloc_proc *proc)
{
    struct faultloc_proc parsed = {.state = 0};
    const char *end = bytes + len, *at = bytes;
    uint64_t number;

    if (!take_number(&at, end, &number) || number != (uint64_t) pid || at == end || *at != '(')
        return EBADMSG;
    /* The name may hold blanks and parentheses, what follows it cannot: the last one ends it. */
    const char *close = memrchr(at, ')', (size_t) (end - at));
    if (!close || end - close < 2 || close[1] != ' ' || !take_fields(close + 2, end, &parsed))
        return EBADMSG;
    size_t comm = (size_t) (close - at - 1);
    if (comm > sizeof(parsed.comm) - 1)
        comm = sizeof(parsed.comm) - 1;
    memcpy(parsed.comm, at + 1, comm);
    *proc = parsed;
    return 0;
}

int faultloc_proc_read(const char *root, pid_t pid, struct faultloc_proc *proc)
{
    char bytes[STAT_MAX];
    size_t len;

    if (pid <= 0)
        return ESRCH;
    len = faultloc_text_read(root, bytes, sizeof(bytes), "%d/stat", (int) pid);
    if (len == 0 && errno)
        return errno == ENOENT ? ESRCH : errno;
    return faultloc_proc_parse(bytes, len, pid, proc);
}

bool faultloc_proc_sched(const char *root, pid_t pid, struct faultloc_proc_sched *sched)
{
    unsigned long long ran, waited, turns;
    char text[128];

    *sched = (struct faultloc_proc_sched){0};
    faultloc_text_read(root, text, sizeof(text), "%d/schedstat", (int) pid);
    if (sscanf(text, "%llu %llu %llu", &ran, &waited, &turns) != 3)
        return false;
    *sched = (struct faultloc_proc_sched){ran, waited, turns};
    return true;
}

uint64_t faultloc_proc_moved(const char *root, pid_t pid)
{
    unsigned long long in, out;
    char text[256];

    faultloc_text_read(root, text, sizeof(text), "%d/io", (int) pid);
    return sscanf(text, "rchar: %llu wchar: %llu", &in, &out) == 2 ? in + out : 0;
}

/* /proc may not be mounted, or hide a process that is there (hidepid). */
static bool is_hidden(const char *root, pid_t pid)
{
    return !root && pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

/* Where main() has called pthread_exit() the process goes on as a Z with threads. */
static bool has_ended(const struct faultloc_proc *proc)
{
    return proc->state == 'X' || proc->state == 'x' || (proc->state == 'Z' && proc->threads < 2);
}

enum faultloc_proc_fate faultloc_proc_fate(const char *root, pid_t pid, uint64_t start)
{
    struct faultloc_proc proc;
    int rc = faultloc_proc_read(root, pid, &proc);

    if (rc == ESRCH)
        return is_hidden(root, pid) ? FAULTLOC_PROC_UNKNOWN : FAULTLOC_PROC_GONE;
    if (rc)
        return FAULTLOC_PROC_UNKNOWN;
    return (start && proc.start != start) || has_ended(&proc) ? FAULTLOC_PROC_GONE
                                                              : FAULTLOC_PROC_LIVES;
}

int faultloc_proc_pidfd(pid_t pid)
{
    int fd = (int) syscall(SYS_pidfd_open, pid, 0);

    /* A container's filter says EPERM for what it does not know. */
    if (fd < 0 && errno == EPERM)
        errno = ENOSYS;
    return fd;
}

void faultloc_proc_wchan(const char *root, pid_t pid, char *wchan, size_t room)
{
    faultloc_text_read(root, wchan, room, "%d/wchan", (int) pid);
    wchan[strcspn(wchan, "\n")] = '\0';
    if (!strcmp(wchan, "0"))
        wchan[0] = '\0';
    ftree_text_ascii(wchan);
}

bool faultloc_proc_awaits_memory(const char *wchan)
{
    return !strncmp(wchan, "mem_cgroup_oom", 14);
}

/* Names begin like these; .constprop.0 and the like may follow. */
static bool begins_with_any(const char *name, const char *const *begin)
{
    for (; *begin; begin++)
        if (!strncmp(name, *begin, strlen(*begin)))
            return true;
    return false;
}

/* Not all places where a thread can be interrupted: in those of pipes, for example, it may also
 * wait for a lock of the kernel, which has the name of its caller. */
bool faultloc_proc_is_frozen(char state, const char *wchan)
{
    static const char *const sleeps[] = {
        "__refrigerator", "futex_",    "hrtimer_nanosleep",     "do_nanosleep", "do_poll",
        "do_sys_poll",    "do_select", "poll_schedule_timeout", "ep_poll",      "do_epoll_wait",
        "do_sigtimedwait", "sk_wait_data", NULL};
    static const char *const traps[] = {"__refrigerator", "do_freezer_trap", "get_signal", NULL};

    return (state == 'D' && begins_with_any(wchan, sleeps)) ||
           (state == 'S' && begins_with_any(wchan, traps));
}

enum faultloc_proc_place faultloc_proc_waits_in(const char *wchan)
{
    static const struct {
        const char *begin;
        enum faultloc_proc_place place;
    } places[] = {{"futex_", FAULTLOC_PROC_LOCK},
                  {"hrtimer_nanosleep", FAULTLOC_PROC_SLEEP},
                  {"do_nanosleep", FAULTLOC_PROC_SLEEP},
                  {"anon_pipe_", FAULTLOC_PROC_PIPE},
                  {"pipe_", FAULTLOC_PROC_PIPE},
                  {"wait_for_partner", FAULTLOC_PROC_PIPE},
                  {"unix_", FAULTLOC_PROC_SOCKET},
                  {"sk_", FAULTLOC_PROC_SOCKET},
                  {"inet_", FAULTLOC_PROC_SOCKET},
                  {"tcp_", FAULTLOC_PROC_SOCKET},
                  {"__skb_", FAULTLOC_PROC_SOCKET},
                  {"wait_woken", FAULTLOC_PROC_SOCKET},
                  {"poll_", FAULTLOC_PROC_POLL},
                  {"do_poll", FAULTLOC_PROC_POLL},
                  {"do_sys_poll", FAULTLOC_PROC_POLL},
                  {"do_select", FAULTLOC_PROC_POLL},
                  {"ep_poll", FAULTLOC_PROC_POLL},
                  {"do_epoll_", FAULTLOC_PROC_POLL},
                  {"locks_lock_", FAULTLOC_PROC_FILE_LOCK},
                  {"do_lock_file_", FAULTLOC_PROC_FILE_LOCK},
                  {"fcntl_setlk", FAULTLOC_PROC_FILE_LOCK},
                  {"flock_lock_", FAULTLOC_PROC_FILE_LOCK},
                  {"do_wait", FAULTLOC_PROC_CHILD},
                  {"do_sigtimedwait", FAULTLOC_PROC_SIGNAL},
                  {"sigsuspend", FAULTLOC_PROC_SIGNAL},
                  {"wait_for_vfork_done", FAULTLOC_PROC_VFORK},
                  {"mem_cgroup_", FAULTLOC_PROC_MEMORY},
                  {"request_wait_answer", FAULTLOC_PROC_FUSE},
                  {"fuse_", FAULTLOC_PROC_FUSE},
                  {"nfs", FAULTLOC_PROC_NFS},
                  {"rpc_", FAULTLOC_PROC_NFS},
                  {"ptlrpc_", FAULTLOC_PROC_LUSTRE},
                  {"cl_sync_io_wait", FAULTLOC_PROC_LUSTRE},
                  {"ldlm_", FAULTLOC_PROC_LUSTRE},
                  {"osc_", FAULTLOC_PROC_LUSTRE},
                  {"swap_", FAULTLOC_PROC_SWAP},
                  {"swapin_", FAULTLOC_PROC_SWAP},
                  {"do_swap_page", FAULTLOC_PROC_SWAP},
                  {"folio_wait_", FAULTLOC_PROC_FILES},
                  {"wait_on_page", FAULTLOC_PROC_FILES},
                  {"wait_on_buffer", FAULTLOC_PROC_FILES},
                  {"__wait_on_buffer", FAULTLOC_PROC_FILES},
                  {"io_schedule", FAULTLOC_PROC_FILES},
                  {"blk_", FAULTLOC_PROC_FILES},
                  {"submit_bio_wait", FAULTLOC_PROC_FILES},
                  {"rq_qos_wait", FAULTLOC_PROC_FILES},
                  {"balance_dirty_pages", FAULTLOC_PROC_FILES},
                  {"__iomap_dio", FAULTLOC_PROC_FILES},
                  {"jbd2_", FAULTLOC_PROC_FILES},
                  {"ext4_", FAULTLOC_PROC_FILES},
                  {"xfs_", FAULTLOC_PROC_FILES},
                  {"xlog_", FAULTLOC_PROC_FILES},
                  {"btrfs_", FAULTLOC_PROC_FILES},
                  {"ceph_", FAULTLOC_PROC_FILES},
                  {"cifs_", FAULTLOC_PROC_FILES},
                  {"nvidia_", FAULTLOC_PROC_DRIVER},
                  {"uvm_", FAULTLOC_PROC_DRIVER},
                  {"amdgpu_", FAULTLOC_PROC_DRIVER},
                  {"kfd_", FAULTLOC_PROC_DRIVER},
                  {"drm_", FAULTLOC_PROC_DRIVER},
                  {"dma_fence_", FAULTLOC_PROC_DRIVER},
                  {"ib_", FAULTLOC_PROC_DRIVER},
                  {"uverbs_", FAULTLOC_PROC_DRIVER},
                  {"rdma_", FAULTLOC_PROC_DRIVER},
                  {"mlx", FAULTLOC_PROC_DRIVER},
                  {"hfi1_", FAULTLOC_PROC_DRIVER}};

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (!strncmp(wchan, places[i].begin, strlen(places[i].begin)))
            return places[i].place;
    return FAULTLOC_PROC_ELSEWHERE;
}

const char *faultloc_proc_place_name(enum faultloc_proc_place place)
{
    static const char *const names[] = {
        [FAULTLOC_PROC_ELSEWHERE] = "",       [FAULTLOC_PROC_LOCK] = "a lock",
        [FAULTLOC_PROC_SLEEP] = "a sleep",    [FAULTLOC_PROC_PIPE] = "a pipe",
        [FAULTLOC_PROC_SOCKET] = "a socket",  [FAULTLOC_PROC_POLL] = "a poll",
        [FAULTLOC_PROC_FILE_LOCK] = "a file lock",
        [FAULTLOC_PROC_CHILD] = "a wait for a child",
        [FAULTLOC_PROC_SIGNAL] = "a signal",  [FAULTLOC_PROC_VFORK] = "vfork",
        [FAULTLOC_PROC_MEMORY] = "a memory limit",
        [FAULTLOC_PROC_FILES] = "files",      [FAULTLOC_PROC_FUSE] = "FUSE",
        [FAULTLOC_PROC_NFS] = "NFS",          [FAULTLOC_PROC_LUSTRE] = "Lustre",
        [FAULTLOC_PROC_SWAP] = "swap",        [FAULTLOC_PROC_DRIVER] = "a driver"};

    return names[place];
}

/* ---- how it ended ---------------------------------------------------------------------------- */

/* As in linux/pidfd.h, which older systems do not have: the first version of it, 64 bytes. */
struct pidfd_info_1 {
    uint64_t mask, cgroup;
    uint32_t pid, tgid, ppid, ids[8];
    int32_t exit_code;
};

#define GET_INFO _IOWR(0xff, 11, struct pidfd_info_1)
#define INFO_EXIT 8u

_Static_assert(sizeof(struct pidfd_info_1) == 64, "as the kernel has it");

static bool status_of_zombie(pid_t pid, int *status)
{
    char bytes[STAT_MAX];
    struct faultloc_proc proc;
    const char *last;
    size_t len = faultloc_text_read(NULL, bytes, sizeof(bytes), "%d/stat", (int) pid);

    if (faultloc_proc_parse(bytes, len, pid, &proc) || proc.state != 'Z')
        return false;
    last = strrchr(bytes, ' ');
    return last && sscanf(last, " %d", status) == 1;
}

static bool status_of_reaped(int pidfd, int *status)
{
    struct pidfd_info_1 info = {.mask = INFO_EXIT};

    if (pidfd < 0 || ioctl(pidfd, GET_INFO, &info) || !(info.mask & INFO_EXIT))
        return false;
    *status = info.exit_code;
    return true;
}

/* Its parent is about to wait for it: it may do so between the first two. */
bool faultloc_proc_status(int pidfd, pid_t pid, int *status)
{
    return status_of_reaped(pidfd, status) || status_of_zombie(pid, status) ||
           status_of_reaped(pidfd, status);
}

/* ---- threads --------------------------------------------------------------------------------- */

#define THREAD_FILE_MAX 4096

/* False: it cannot be read, or does not fit. */
static bool read_of_thread(const char *root, pid_t pid, pid_t tid, const char *name, char *text)
{
    size_t len = faultloc_text_read(root, text, THREAD_FILE_MAX, "%d/task/%d/%s", (int) pid,
                                    (int) tid, name);

    return len > 0 && len < THREAD_FILE_MAX - 1;
}

bool faultloc_proc_call_parse(const char *line, struct faultloc_proc_call *c)
{
    if (sscanf(line, "%ld 0x%" SCNx64 " 0x%" SCNx64, &c->number, &c->sp, &c->pc) == 3 &&
        c->number == -1)
        return true;
    return sscanf(line,
                  "%ld 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64
                  " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64,
                  &c->number, &c->arg[0], &c->arg[1], &c->arg[2], &c->arg[3], &c->arg[4],
                  &c->arg[5], &c->sp, &c->pc) == 9 &&
           c->number >= 0;
}

bool faultloc_proc_call(const char *root, pid_t pid, pid_t tid, struct faultloc_proc_call *c)
{
    char line[THREAD_FILE_MAX];

    return read_of_thread(root, pid, tid, "syscall", line) && faultloc_proc_call_parse(line, c);
}

bool faultloc_proc_all_threads(const char *root, pid_t pid, bool (*is)(void *ctx, pid_t tid),
                               void *ctx)
{
    char path[PATH_LENGTH_MAX];
    const struct dirent *entry;
    bool all = true;
    DIR *dir;

    snprintf(path, sizeof(path), "%s/%d/task", root ? root : "/proc", (int) pid);
    dir = opendir(path);
    if (!dir)
        return false;
    while (all && (entry = readdir(dir)) != NULL) {
        long tid = strtol(entry->d_name, NULL, 10);
        all = tid <= 0 || is(ctx, (pid_t) tid);
    }
    closedir(dir);
    return all;
}

bool faultloc_proc_is_among(const pid_t *known, int n, pid_t pid)
{
    for (int i = 0; i < n; i++)
        if (known[i] == pid)
            return true;
    return false;
}

/* What is asked about the threads of a process. */
struct threads {
    const char *root;
    pid_t pid;
    const pid_t *known;
    int n;
    uintptr_t lock;
    size_t lock_bytes;
    uint64_t switches;
    const char *name;
    pid_t named; /* of that name, the last, */
    int names; /* and how many */
    bool found;
};

/* A thread is joined by a futex that is not marked as the process's own, but whose value is the
 * number of that thread. */
static bool waits_for_process(const struct threads *t, const struct faultloc_proc_call *c)
{
    int op = (int) c->arg[1], command = op & FUTEX_CMD_MASK;
    char name[THREAD_FILE_MAX];

    if (c->number != SYS_futex || c->arg[3] != 0 ||
        (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET) ||
        (c->arg[0] >= t->lock && c->arg[0] - t->lock < t->lock_bytes))
        return false;
    return (op & FUTEX_PRIVATE_FLAG) ||
           (c->arg[2] > 0 && c->arg[2] <= INT32_MAX &&
            read_of_thread(t->root, t->pid, (pid_t) c->arg[2], "comm", name));
}

/* The count is read after the thread was seen to sleep, so that one that is the same next time says
 * that it has slept in between. */
static bool add_switches(struct threads *t, pid_t tid)
{
    static const char title[] = "\nvoluntary_ctxt_switches:";
    char bytes[THREAD_FILE_MAX];
    const char *at =
        read_of_thread(t->root, t->pid, tid, "status", bytes) ? strstr(bytes, title) : NULL;

    if (!at)
        return false;
    t->switches += strtoull(at + sizeof(title) - 1, NULL, 10);
    return true;
}

static bool thread_sleeps(void *ctx, pid_t tid)
{
    struct threads *t = ctx;
    struct faultloc_proc_call c;

    return faultloc_proc_is_among(t->known, t->n, tid) ||
           (faultloc_proc_call(t->root, t->pid, tid, &c) && waits_for_process(t, &c) &&
            add_switches(t, tid));
}

bool faultloc_proc_others_sleep(const char *root, pid_t pid, const pid_t *known, int n,
                                const void *lock, size_t lock_bytes, uint64_t *switches)
{
    struct threads t = {.root = root,
                        .pid = pid,
                        .known = known,
                        .n = n,
                        .lock = (uintptr_t) lock,
                        .lock_bytes = lock_bytes};
    bool all = faultloc_proc_all_threads(root, pid, thread_sleeps, &t);

    *switches = t.switches;
    return all;
}

static bool thread_rests(void *ctx, pid_t tid)
{
    struct threads *t = ctx;
    char line[THREAD_FILE_MAX];

    t->found = !faultloc_proc_is_among(t->known, t->n, tid) &&
               read_of_thread(t->root, t->pid, tid, "syscall", line) &&
               !strncmp(line, "running", strlen("running"));
    return !t->found;
}

bool faultloc_proc_any_runs(const char *root, pid_t pid, const pid_t *known, int n)
{
    struct threads t = {.root = root, .pid = pid, .known = known, .n = n};

    faultloc_proc_all_threads(root, pid, thread_rests, &t);
    return t.found;
}

static bool look_for_name(void *ctx, pid_t tid)
{
    struct threads *t = ctx;
    char name[THREAD_FILE_MAX];

    if (read_of_thread(t->root, t->pid, tid, "comm", name)) {
        name[strcspn(name, "\n")] = '\0';
        if (!strcmp(name, t->name)) {
            t->named = tid;
            t->names++;
        }
    }
    return true;
}

pid_t faultloc_proc_thread(const char *root, pid_t pid, const char *name)
{
    struct threads t = {.root = root, .pid = pid, .name = name};

    faultloc_proc_all_threads(root, pid, look_for_name, &t);
    return t.names == 1 ? t.named : 0;
}

/* ---- children -------------------------------------------------------------------------------- */

static bool has_no_child(void *ctx, pid_t tid)
{
    struct threads *t = ctx;
    char list[THREAD_FILE_MAX], *at = list;
    struct faultloc_proc child;

    if (!read_of_thread(t->root, t->pid, tid, "children", list))
        return true;
    for (long pid; !t->found && (pid = strtol(at, &at, 10)) > 0;)
        t->found = faultloc_proc_read(t->root, (pid_t) pid, &child) == 0 && !has_ended(&child);
    return !t->found;
}

bool faultloc_proc_has_child(const char *root, pid_t pid)
{
    struct threads t = {.root = root, .pid = pid};

    faultloc_proc_all_threads(root, pid, has_no_child, &t);
    return t.found;
}

/* ---- modules --------------------------------------------------------------------------------- */

bool faultloc_proc_is_library(const char *module)
{
    static const char *const begins[] = {
        "libmpi.", "libmpi_",    "libmpich", "libmpifort",  "libmpicxx", "libuc", "libfabric", "libc.",
        "libc-",   "libpthread", "libgcc_s", "libgfortran", "libstdc++", "ld-",   "[vdso",     "linux-vdso",
        NULL};

    return !module || !*module || begins_with_any(module, begins);
}

static bool is_of_interpreter(const char *module, const char *begin)
{
    size_t len = strlen(begin);

    return !strncmp(module, begin, len) &&
           (strchr(".0123456789", module[len]) || (module[len] == '-' && !strncmp(begin, "lib", 3)));
}

/* Not "R", "java", "julia" or "node": programs of others are called so, and these have a library. */
const char *faultloc_proc_language(const char *module, const char **tool)
{
    static const struct {
        const char *begin, *language, *tool;
    } rows[] = {{"python", "Python", "py-spy dump --pid"}, {"libpython", "Python", "py-spy dump --pid"},
                {"libjvm", "Java", "jstack"},              {"ruby", "Ruby", "rbspy snapshot --pid"},
                {"libruby", "Ruby", "rbspy snapshot --pid"}, {"libR", "R", NULL},
                {"libjulia", "Julia", NULL},               {"perl", "Perl", NULL},
                {"libperl", "Perl", NULL},                 {"lua", "Lua", NULL},
                {"liblua", "Lua", NULL},                   {"libluajit", "Lua", NULL},
                {"liboctinterp", "Octave", NULL},          {"libtcl", "Tcl", NULL}};

    for (size_t i = 0; module && i < sizeof(rows) / sizeof(rows[0]); i++)
        if (is_of_interpreter(module, rows[i].begin)) {
            *tool = rows[i].tool;
            return rows[i].language;
        }
    return NULL;
}

bool faultloc_proc_is_glue(const char *module)
{
    static const char *const begins[] = {"libffi.", "_ctypes.", "_cffi_backend.", "MPI.", NULL};

    return module && begins_with_any(module, begins);
}

/* ---- what it sleeps for ---------------------------------------------------------------------- */

/* Calls whose first argument is a descriptor. */
static bool has_descriptor(long call)
{
    static const long calls[] = {SYS_read,    SYS_readv,   SYS_pread64,  SYS_write,   SYS_writev,
                                 SYS_pwrite64, SYS_recvfrom, SYS_recvmsg, SYS_sendto,  SYS_sendmsg,
                                 SYS_accept,  SYS_accept4, SYS_connect,  SYS_flock,   SYS_fcntl,
                                 SYS_fsync,   SYS_fdatasync, SYS_ioctl};

    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (calls[i] == call)
            return true;
    return false;
}

void faultloc_proc_link(const char *root, pid_t pid, long fd, char *link, size_t room)
{
    char path[PATH_LENGTH_MAX];
    ssize_t n;

    snprintf(path, sizeof(path), "%s/%d/fd/%ld", root ? root : "/proc", (int) pid, fd);
    n = readlink(path, link, room - 1);
    link[n > 0 ? n : 0] = '\0';
}

static bool is_open_for(const char *root, pid_t pid, const char *fd, int mode)
{
    char text[256];
    unsigned flags;

    faultloc_text_read(root, text, sizeof(text), "%d/fdinfo/%s", (int) pid, fd);
    return sscanf(text, "pos: %*s flags: %o", &flags) == 1 &&
           ((flags & O_ACCMODE) == (unsigned) mode || (flags & O_ACCMODE) == O_RDWR);
}

bool faultloc_proc_has_open(const char *root, pid_t pid, const char *link, int mode, int *left)
{
    char path[PATH_LENGTH_MAX], name[PATH_LENGTH_MAX];
    const struct dirent *entry;
    bool found = false;
    ssize_t n;
    DIR *dir;

    snprintf(path, sizeof(path), "%s/%d/fd", root ? root : "/proc", (int) pid);
    dir = opendir(path);
    while (dir && !found && *left > 0 && (entry = readdir(dir)) != NULL) {
        --*left;
        n = readlinkat(dirfd(dir), entry->d_name, name, sizeof(name) - 1);
        name[n > 0 ? n : 0] = '\0';
        found = !strcmp(name, link) && (mode < 0 || is_open_for(root, pid, entry->d_name, mode));
    }
    if (dir)
        closedir(dir);
    return found;
}

#define CHILDREN_MAX 4 /* a shell, the one that it starts, ... */

/* 0: there is none, or there are several. */
static pid_t only_child(const char *root, pid_t pid)
{
    char list[THREAD_FILE_MAX], *at = list;
    struct faultloc_proc proc;
    pid_t child = 0;

    if (!read_of_thread(root, pid, pid, "children", list))
        return 0;
    for (long next; (next = strtol(at, &at, 10)) > 0;) {
        if (faultloc_proc_read(root, (pid_t) next, &proc) || has_ended(&proc) ||
            !strncmp(proc.comm, FAULTLOC_PROC_OWN, strlen(FAULTLOC_PROC_OWN)))
            continue;
        if (child)
            return 0;
        child = (pid_t) next;
    }
    return child;
}

pid_t faultloc_proc_last_child(const char *root, pid_t parent)
{
    pid_t pid = only_child(root, parent), next;
    char wchan[32];

    for (int depth = 0; depth < CHILDREN_MAX; depth++) {
        faultloc_proc_wchan(root, pid, wchan, sizeof(wchan));
        if (faultloc_proc_waits_in(wchan) != FAULTLOC_PROC_CHILD ||
            !(next = only_child(root, pid)))
            break;
        pid = next; /* a shell only waits */
    }
    return pid;
}

static void name_child(const char *root, pid_t parent, char *out, size_t room)
{
    pid_t pid = faultloc_proc_last_child(root, parent);
    bool of_shell = pid != only_child(root, parent);
    char wchan[32] = "", in[64] = "";
    struct faultloc_proc proc;
    const char *place;

    *out = '\0';
    if (pid == 0 || faultloc_proc_read(root, pid, &proc))
        return;
    faultloc_proc_wchan(root, pid, wchan, sizeof(wchan));
    place = faultloc_proc_place_name(faultloc_proc_waits_in(wchan));
    if (*wchan && proc.state != 'R')
        snprintf(in, sizeof(in), ", asleep in %s%s%s%s", place, *place ? " (" : "", wchan,
                 *place ? ")" : "");
    snprintf(out, room, "%s %d (%.16s)%s", of_shell ? "process" : "child", (int) pid, proc.comm,
             in);
}

void faultloc_proc_sleeps_on(const char *root, pid_t pid, const char *wchan, char *out, size_t room)
{
    char link[PATH_LENGTH_MAX] = "";
    struct faultloc_proc_call c;

    *out = '\0';
    if (faultloc_proc_call(root, pid, pid, &c) && has_descriptor(c.number))
        faultloc_proc_link(root, pid, (long) c.arg[0], link, sizeof(link));
    if (faultloc_proc_waits_in(wchan) == FAULTLOC_PROC_CHILD || !strncmp(link, "pipe:", 5))
        name_child(root, pid, out, room);
    else if (*link == '/') /* "socket:[4711]" says nothing to people */
        snprintf(out, room, "%.*s", (int) room - 1, link);
    ftree_text_ascii(out);
}
