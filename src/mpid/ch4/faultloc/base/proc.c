/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/proc.h"

#include "faultloc/base/syscalls.h"
#include "faultloc/base/text_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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

/* Reads at most `room` bytes of a file into `bytes`. */
static int read_file(const char *path, char *bytes, size_t room, size_t *len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int rc = 0;

    *len = 0;
    if (fd < 0)
        return errno == ENOENT ? ESRCH : errno;
    while (*len < room) {
        ssize_t n = read(fd, bytes + *len, room - *len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            rc = errno;
        if (n <= 0)
            break;
        *len += (size_t) n;
    }
    close(fd);
    return rc;
}

int faultloc_proc_read(const char *root, pid_t pid, struct faultloc_proc *proc)
{
    char path[PATH_LENGTH_MAX], bytes[STAT_MAX];
    size_t len;
    int rc;

    if (pid <= 0)
        return ESRCH;
    rc = snprintf(path, sizeof(path), "%s/%ld/stat", root ? root : "/proc", (long) pid);
    if (rc < 0 || (size_t) rc >= sizeof(path))
        return ENAMETOOLONG;
    rc = read_file(path, bytes, sizeof(bytes), &len);
    return rc ? rc : faultloc_proc_parse(bytes, len, pid, proc);
}

bool faultloc_proc_sched(const char *root, pid_t pid, struct faultloc_proc_sched *sched)
{
    unsigned long long ran, waited, turns;
    char text[128];

    *sched = (struct faultloc_proc_sched){0};
    faultloc_text_read(root ? root : "/proc", text, sizeof(text), "%d/schedstat", (int) pid);
    if (sscanf(text, "%llu %llu %llu", &ran, &waited, &turns) != 3)
        return false;
    *sched = (struct faultloc_proc_sched){ran, waited, turns};
    return true;
}

uint64_t faultloc_proc_moved(const char *root, pid_t pid)
{
    unsigned long long in, out;
    char text[256];

    faultloc_text_read(root ? root : "/proc", text, sizeof(text), "%d/io", (int) pid);
    return sscanf(text, "rchar: %llu wchar: %llu", &in, &out) == 2 ? in + out : 0;
}

/* /proc may not be mounted, or hide a process that is there (hidepid). */
static bool is_hidden(const char *root, pid_t pid)
{
    return !root && pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
}

int faultloc_proc_fate(const char *root, pid_t pid, uint64_t start, enum faultloc_proc_fate *fate)
{
    struct faultloc_proc proc;
    int rc = faultloc_proc_read(root, pid, &proc);

    if (rc == ESRCH && is_hidden(root, pid))
        rc = EACCES;
    if (rc && rc != ESRCH)
        return rc;
    if (rc || (start && proc.start != start) || proc.state == 'X' || proc.state == 'x' ||
        (proc.state == 'Z' && proc.threads < 2))
        *fate = FAULTLOC_PROC_GONE;
    else if (proc.state == 'T' || proc.state == 't')
        *fate = FAULTLOC_PROC_STOPPED;
    else if (proc.state == 'D')
        *fate = FAULTLOC_PROC_BLOCKED;
    else
        *fate = FAULTLOC_PROC_ALIVE;
    return 0;
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
    faultloc_text_read(root ? root : "/proc", wchan, room, "%d/wchan", (int) pid);
    wchan[strcspn(wchan, "\n")] = '\0';
    if (!strcmp(wchan, "0"))
        wchan[0] = '\0';
    for (char *p = wchan; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
}

bool faultloc_proc_awaits_memory(const char *wchan)
{
    return !strncmp(wchan, "mem_cgroup_oom", 14);
}

/* Names begin like these; .constprop.0 and the like may follow. */
static bool begins_with_any(const char *wchan, const char *const *begin)
{
    for (; *begin; begin++)
        if (!strncmp(wchan, *begin, strlen(*begin)))
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
    char path[PATH_LENGTH_MAX], bytes[STAT_MAX];
    struct faultloc_proc proc;
    const char *last;
    size_t len;

    snprintf(path, sizeof(path), "/proc/%ld/stat", (long) pid);
    if (read_file(path, bytes, sizeof(bytes) - 1, &len) ||
        faultloc_proc_parse(bytes, len, pid, &proc) || proc.state != 'Z')
        return false;
    bytes[len] = '\0';
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
#define FUTEX_COMMAND 0x7f      /* as in linux/futex.h: what is done, */
#define FUTEX_OF_PROCESS 0x80   /* a flag, */
#define FUTEX_WAITS 0           /* and the two commands that wait */
#define FUTEX_WAITS_FOR_BITS 9

struct threads {
    const char *root;
    pid_t pid;
    const pid_t *known;
    int n;
    uintptr_t lock;
    size_t lock_bytes;
};

/* False: it cannot be read, or does not fit. */
static bool read_of_thread(const struct threads *t, long tid, const char *name, char *bytes)
{
    char path[PATH_LENGTH_MAX];
    size_t len;
    int rc = snprintf(path, sizeof(path), "%s/%ld/task/%ld/%s", t->root ? t->root : "/proc",
                      (long) t->pid, tid, name);

    if (rc < 0 || (size_t) rc >= sizeof(path) ||
        read_file(path, bytes, THREAD_FILE_MAX, &len) || len == THREAD_FILE_MAX)
        return false;
    bytes[len] = '\0';
    return true;
}

static bool is_known(const struct threads *t, long tid)
{
    for (int i = 0; i < t->n; i++)
        if (t->known[i] == tid)
            return true;
    return false;
}

static bool is_of_process(const struct threads *t, unsigned long tid)
{
    char name[THREAD_FILE_MAX];

    return tid > 0 && tid <= INT32_MAX && read_of_thread(t, (long) tid, "comm", name);
}

/* A thread is joined by a futex that is not marked as the process's own, but whose value is the
 * number of that thread. */
static bool waits_for_process(const struct threads *t, const char *line)
{
    unsigned long at, op, value, timeout;
    long call;

    if (sscanf(line, "%ld %lx %lx %lx %lx", &call, &at, &op, &value, &timeout) != 5 ||
        call != SYS_futex || timeout != 0)
        return false;
    if ((op & FUTEX_COMMAND) != FUTEX_WAITS && (op & FUTEX_COMMAND) != FUTEX_WAITS_FOR_BITS)
        return false;
    if (at >= t->lock && at - t->lock < t->lock_bytes)
        return false;
    return (op & FUTEX_OF_PROCESS) || is_of_process(t, value);
}

/* The count is read after the thread was seen to sleep, so that one that is the same next time says
 * that it has slept in between. */
static bool add_switches(const struct threads *t, long tid, uint64_t *switches)
{
    static const char title[] = "\nvoluntary_ctxt_switches:";
    char bytes[THREAD_FILE_MAX];
    const char *at = read_of_thread(t, tid, "status", bytes) ? strstr(bytes, title) : NULL;

    if (!at)
        return false;
    *switches += strtoull(at + sizeof(title) - 1, NULL, 10);
    return true;
}

/* Whether all threads are what `is` asks.  False also where they are not known. */
static bool all_threads(const struct threads *t,
                        bool (*is)(const struct threads *t, long tid, void *out), void *out)
{
    char path[PATH_LENGTH_MAX];
    const struct dirent *entry;
    bool all = true;
    DIR *dir;

    snprintf(path, sizeof(path), "%s/%ld/task", t->root ? t->root : "/proc", (long) t->pid);
    dir = opendir(path);
    if (!dir)
        return false;
    while (all && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            all = is(t, strtol(entry->d_name, NULL, 10), out);
    closedir(dir);
    return all;
}

static bool thread_sleeps(const struct threads *t, long tid, void *switches)
{
    char line[THREAD_FILE_MAX];

    return is_known(t, tid) ||
           (read_of_thread(t, tid, "syscall", line) && waits_for_process(t, line) &&
            add_switches(t, tid, switches));
}

bool faultloc_proc_others_sleep(const char *root, pid_t pid, const pid_t *known, int n,
                                const void *lock, size_t lock_bytes, uint64_t *switches)
{
    const struct threads t = {root, pid, known, n, (uintptr_t) lock, lock_bytes};

    *switches = 0;
    return all_threads(&t, thread_sleeps, switches);
}

static bool thread_rests(const struct threads *t, long tid, void *runs)
{
    char line[THREAD_FILE_MAX];

    *(bool *) runs = !is_known(t, tid) && read_of_thread(t, tid, "syscall", line) &&
                     !strncmp(line, "running", strlen("running"));
    return !*(bool *) runs;
}

bool faultloc_proc_any_runs(const char *root, pid_t pid, const pid_t *known, int n)
{
    const struct threads t = {.root = root, .pid = pid, .known = known, .n = n};
    bool runs = false;

    all_threads(&t, thread_rests, &runs);
    return runs;
}

struct named {
    const char *name;
    long tid;
    int n;
};

static bool look_for_name(const struct threads *t, long tid, void *found)
{
    struct named *named = found;
    char name[THREAD_FILE_MAX];

    if (read_of_thread(t, tid, "comm", name)) {
        name[strcspn(name, "\n")] = '\0';
        if (!strcmp(name, named->name)) {
            named->tid = tid;
            named->n++;
        }
    }
    return true;
}

pid_t faultloc_proc_thread(const char *root, pid_t pid, const char *name)
{
    const struct threads t = {.root = root,.pid = pid };
    struct named named = {.name = name };

    all_threads(&t, look_for_name, &named);
    return named.n == 1 ? (pid_t) named.tid : 0;
}

/* ---- children -------------------------------------------------------------------------------- */

static bool has_no_child(const struct threads *t, long tid, void *found)
{
    char list[THREAD_FILE_MAX], *at = list, *end;
    struct faultloc_proc child;

    if (!read_of_thread(t, tid, "children", list))
        return true;
    for (long pid; (pid = strtol(at, &end, 10)) > 0 && end > at; at = end)
        if (faultloc_proc_read(t->root, (pid_t) pid, &child) == 0 && child.state != 'Z') {
            *(bool *) found = true;
            return false;
        }
    return true;
}

bool faultloc_proc_has_child(const char *root, pid_t pid)
{
    const struct threads t = {.root = root, .pid = pid};
    bool found = false;

    all_threads(&t, has_no_child, &found);
    return found;
}

/* ---- modules --------------------------------------------------------------------------------- */

bool faultloc_proc_is_library(const char *module)
{
    static const char *const begins[] = {
        "libmpi.", "libmpi_",    "libmpich", "libmpifort",  "libmpicxx", "libuc", "libfabric", "libc.",
        "libc-",   "libpthread", "libgcc_s", "libgfortran", "libstdc++", "ld-",   "[vdso",     "linux-vdso"};

    if (!module || !*module)
        return true;
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        if (!strncmp(module, begins[i], strlen(begins[i])))
            return true;
    return false;
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
    return module && (!strncmp(module, "libffi.", 7) || !strncmp(module, "_ctypes.", 8) ||
                      !strncmp(module, "_cffi_backend.", 14) || !strncmp(module, "MPI.", 4));
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

/* "": none, or it is not known. */
static void name_of_file(const struct threads *t, char *out, size_t room)
{
    char line[THREAD_FILE_MAX], path[PATH_LENGTH_MAX];
    unsigned long fd;
    ssize_t n = -1;
    long call;

    if (read_of_thread(t, t->pid, "syscall", line) && sscanf(line, "%ld %lx", &call, &fd) == 2 &&
        has_descriptor(call)) {
        snprintf(path, sizeof(path), "%s/%ld/fd/%lu", t->root ? t->root : "/proc", (long) t->pid,
                 fd);
        n = readlink(path, out, room - 1);
    }
    out[n > 0 ? n : 0] = '\0';
}

#define CHILDREN_MAX 4 /* a shell, the one that it starts, ... */

/* The only child that lives; 0: there is none, or there are several. */
static pid_t only_child(const struct threads *t)
{
    char list[THREAD_FILE_MAX], *at = list;
    struct faultloc_proc proc;
    pid_t child = 0;

    if (!read_of_thread(t, t->pid, "children", list))
        return 0;
    for (long pid; (pid = strtol(at, &at, 10)) > 0;) {
        if (faultloc_proc_read(t->root, (pid_t) pid, &proc) || proc.state == 'Z' ||
            !strncmp(proc.comm, "faultloc-", strlen("faultloc-")))
            continue;
        if (child)
            return 0;
        child = (pid_t) pid;
    }
    return child;
}

static void name_child(const struct threads *t, char *out, size_t room)
{
    pid_t pid = only_child(t);
    char wchan[32] = "", in[64] = "";
    bool of_shell = false;
    struct faultloc_proc proc;
    const char *place;

    *out = '\0';
    for (int depth = 0; depth < CHILDREN_MAX; depth++) {
        const struct threads of_child = {.root = t->root, .pid = pid};
        pid_t next;
        faultloc_proc_wchan(t->root, pid, wchan, sizeof(wchan));
        if (faultloc_proc_waits_in(wchan) != FAULTLOC_PROC_CHILD || !(next = only_child(&of_child)))
            break;
        pid = next; /* a shell only waits */
        of_shell = true;
    }
    if (pid == 0 || faultloc_proc_read(t->root, pid, &proc))
        return;
    place = faultloc_proc_place_name(faultloc_proc_waits_in(wchan));
    if (*wchan && proc.state != 'R')
        snprintf(in, sizeof(in), ", asleep in %s%s%s%s", place, *place ? " (" : "", wchan,
                 *place ? ")" : "");
    snprintf(out, room, "%s %d (%.16s)%s", of_shell ? "process" : "child", (int) pid, proc.comm,
             in);
}

void faultloc_proc_sleeps_on(const char *root, pid_t pid, const char *wchan, char *out, size_t room)
{
    const struct threads t = {.root = root, .pid = pid};
    char link[PATH_LENGTH_MAX];

    *out = '\0';
    name_of_file(&t, link, sizeof(link));
    if (faultloc_proc_waits_in(wchan) == FAULTLOC_PROC_CHILD || !strncmp(link, "pipe:", 5))
        name_child(&t, out, room);
    else if (*link == '/') /* "socket:[4711]" says nothing to people */
        snprintf(out, room, "%.*s", (int) room - 1, link);
    for (char *p = out; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
}
