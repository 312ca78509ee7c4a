/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/handler/handler.h"

#include "faultloc/base/proc.h"
#include "faultloc/base/text_file.h"
#include "ftree/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX (256 * 1024)

/* ---- mounts ---------------------------------------------------------------------------------- */

/* In mountinfo a blank is "\040". */
static void unescape(char *s)
{
    char *to = s;

    for (; *s; s++)
        if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
            s[3] >= '0' && s[3] <= '7') {
            *to++ = (char) ((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
            s += 3;
        } else {
            *to++ = *s;
        }
    *to = '\0';
}

/* "fs1:/home" (NFS, Ceph, sshfs), "//fs1/home" (CIFS), "10.0.0.1@tcp:/scratch" (Lustre). */
static void find_server(struct handler_mount *m)
{
    const char *end = strstr(m->source, ":/");
    const char *begin = strncmp(m->source, "//", 2) ? m->source : m->source + 2;

    if (begin > m->source)
        end = strchr(begin, '/');
    if (end && end > begin)
        snprintf(m->server, sizeof(m->server), "%.*s", (int) (end - begin), begin);
}

struct mount_line {
    long id;
    char point[PATH_MAX], type[64], source[HANDLER_TEXT_MAX];
};

/* id parent major:minor root point options [optional]... - type source options */
static bool read_mount(const char *line, struct mount_line *m)
{
    const char *rest = strstr(line, " - ");
    char type[64], source[HANDLER_TEXT_MAX];

    if (!rest || sscanf(line, "%ld %*d %*s %*s %4095s", &m->id, m->point) != 2 ||
        sscanf(rest + 3, "%63s %255s", type, source) != 2)
        return false;
    unescape(m->point);
    unescape(source);
    ftree_text_copy(m->type, sizeof(m->type), type);
    ftree_text_copy(m->source, sizeof(m->source), source);
    return true;
}

static bool is_below(const char *path, const char *point)
{
    size_t len = strlen(point);

    return !strcmp(point, "/") || (!strncmp(path, point, len) && (!path[len] || path[len] == '/'));
}

bool handler_mount_find(const char *text, long id, const char *path, struct handler_mount *out)
{
    size_t best = 0;
    struct mount_line m;
    char line[2 * PATH_MAX];

    memset(out, 0, sizeof(*out));
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = strchrnul(text, '\n');
        snprintf(line, sizeof(line), "%.*s", (int) (end - text), text);
        if (!read_mount(line, &m) || (id >= 0 ? m.id != id : !is_below(path, m.point)))
            continue;
        /* of two at one place the later one covers the other */
        if (id < 0 && strlen(m.point) < best)
            continue;
        best = strlen(m.point);
        memset(out, 0, sizeof(*out));
        ftree_text_copy(out->point, sizeof(out->point), m.point);
        ftree_text_copy(out->type, sizeof(out->type), m.type);
        ftree_text_copy(out->source, sizeof(out->source), m.source);
        find_server(out);
    }
    return best > 0;
}

static void find_mount(const char *root, pid_t pid, long id, const char *path,
                       struct handler_mount *out)
{
    char *text = malloc(FILE_MAX);

    if (text && faultloc_text_read(root, text, FILE_MAX, "%d/mountinfo", (int) pid) > 0)
        handler_mount_find(text, id, path, out);
    free(text);
}

/* ---- the file of a system call --------------------------------------------------------------- */

static long mount_of_fd(const char *root, pid_t pid, int fd)
{
    char text[4096];
    const char *at;
    long id = -1;

    faultloc_text_read(root, text, sizeof(text), "%d/fdinfo/%d", (int) pid, fd);
    if ((at = strstr(text, "mnt_id:")))
        id = strtol(at + 7, NULL, 10);
    return id;
}

static void find_fd(const char *root, pid_t pid, int fd, struct handler_file *f)
{
    char target[PATH_MAX];

    faultloc_proc_link(root, pid, fd, target, sizeof(target));
    if (!*target)
        return;
    f->fd = fd;
    ftree_text_copy(f->path, sizeof(f->path), target);
    if (target[0] == '/')
        find_mount(root, pid, mount_of_fd(root, pid, fd), target, &f->mount);
}

/* A path as the process has it in its memory: one from its own folder has no mount here. */
static void find_path(const char *root, pid_t pid, uint64_t at, struct handler_file *f)
{
    char path[PATH_MAX], text[HANDLER_PATH_MAX] = "";
    ssize_t n = -1;
    int fd;

    snprintf(path, sizeof(path), "%s/%d/mem", root ? root : "/proc", (int) pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        n = pread(fd, text, sizeof(text) - 1, (off_t) at);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return;
    ftree_text_copy(f->path, sizeof(f->path), text);
    if (text[0] == '/')
        find_mount(root, pid, -1, text, &f->mount);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void read_turns(const char *folder, struct handler_thread *t)
{
    struct faultloc_proc_sched sched;

    if (faultloc_proc_sched(folder, t->tid, &sched)) {
        t->turns = sched.turns;
        t->cpu_s = (double) sched.ran / 1e9;
    }
}

static void read_call(const char *root, pid_t pid, struct handler_thread *t,
                      struct faultloc_proc_call *c)
{
    if (!faultloc_proc_call(root, pid, t->tid, c))
        return;
    t->syscall = c->number;
    t->sp = c->sp;
    t->pc = c->pc;
}

/* Where its threads are like processes. */
static void find_folder(const char *root, pid_t pid, char folder[PATH_MAX])
{
    snprintf(folder, PATH_MAX, "%s/%d/task", root ? root : "/proc", (int) pid);
}

void handler_thread_facts(const char *root, pid_t pid, struct handler_thread *t)
{
    char folder[PATH_MAX];
    struct faultloc_proc proc;
    const struct handler_syscall *s;
    struct faultloc_proc_call c;

    *t = (struct handler_thread){.tid = t->tid, .syscall = -1, .cpu_s = -1, .file = {.fd = -1}};
    find_folder(root, pid, folder);
    if (faultloc_proc_read(folder, t->tid, &proc)) {
        t->why = "the thread has ended";
        return;
    }
    t->state = proc.state;
    ftree_text_copy(t->name, sizeof(t->name), proc.comm);
    faultloc_proc_wchan(folder, t->tid, t->wait_channel, sizeof(t->wait_channel));
    read_turns(folder, t);
    read_call(root, pid, t, &c);
    s = handler_syscall(t->syscall);
    if (s && s->fd >= 0)
        find_fd(root, pid, (int) c.arg[s->fd], &t->file);
    else if (s && s->path >= 0)
        find_path(root, pid, c.arg[s->path], &t->file);
}

bool handler_still_waits(pid_t pid, const struct handler_thread *t)
{
    struct handler_thread now = {.tid = t->tid};
    struct faultloc_proc_call c;
    char folder[PATH_MAX];

    find_folder(NULL, pid, folder);
    read_call(NULL, pid, &now, &c);
    read_turns(folder, &now);
    return now.turns == t->turns && now.sp == t->sp && now.pc == t->pc;
}

static int by_number(const void *a, const void *b)
{
    const struct handler_thread *x = a, *y = b;

    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static bool take_thread(void *process, pid_t tid)
{
    struct handler_process *p = process;

    p->all_threads++;
    if (p->threads < HANDLER_THREADS_MAX)
        p->thread[p->threads++].tid = tid;
    return true;
}

/* The first thread has the number of the process, which need not be the lowest: numbers start again
 * from 300 after kernel.pid_max. */
static void put_first(struct handler_process *p)
{
    int i = 0;

    while (i < p->threads && p->thread[i].tid != p->pid)
        i++;
    if (i == p->threads)
        return;
    memmove(&p->thread[1], &p->thread[0], (size_t) i * sizeof(*p->thread));
    p->thread[0] = (struct handler_thread){.tid = p->pid};
}

static bool list_threads(const char *root, struct handler_process *p)
{
    bool listed = faultloc_proc_all_threads(root, p->pid, take_thread, p);

    qsort(p->thread, (size_t) p->threads, sizeof(*p->thread), by_number);
    put_first(p);
    return listed;
}

void handler_facts(const char *root, struct handler_process *p)
{
    struct faultloc_proc proc;
    int rc = faultloc_proc_read(root, p->pid, &proc);

    if (!rc && p->start && proc.start != p->start)
        rc = ESRCH;
    p->why = rc == ESRCH ? "there is no such process" : rc ? "/proc cannot be read" : NULL;
    if (p->why)
        return;
    p->start = proc.start;
    p->state = proc.state;
    ftree_text_copy(p->name, sizeof(p->name), proc.comm);
    p->thread = calloc(HANDLER_THREADS_MAX, sizeof(*p->thread));
    if (!p->thread || !list_threads(root, p)) {
        p->why = p->thread ? "its threads cannot be listed" : "out of memory";
        return;
    }
    for (int i = 0; i < p->threads; i++)
        handler_thread_facts(root, p->pid, &p->thread[i]);
}

void handler_free(struct handler_process *p)
{
    for (int i = 0; i < p->threads; i++)
        free(p->thread[i].frame);
    free(p->thread);
    p->thread = NULL;
    p->threads = 0;
}
