/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/writer.h"

#include "faultloc/base/clock.h"
#include "faultloc/base/say.h"
#include "faultloc/io/worker.h"
#include "faultloc/io/loop.h"
#include "ftree/base/text.h"
#include "ftree/report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <json.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINES_BYTES (64 * 1024) /* of messages wait, at most: room is left for texts of verdicts */
#define TEXTS_BYTES (256 * 1024)
#define TRACE_BYTES (256 * 1024)
#define REPORT_PATIENCE (200 * FTREE_MS) /* of a text, for the file that it names */
#define OPEN_TRIES 3
#define REPORT_BYTES (64 * 1024 * 1024) /* of one that is read again */

enum {
    PEOPLE,
    REPORT,
    TRACE,
    WORKERS
};

struct faultloc_writer {
    struct faultloc_worker worker[WORKERS];
    atomic_int holders; /* owner and workers: the last frees */
    char *report_path, *trace_path; /* "": none */
    int notify; /* eventfd for the owner */
    int settled_fd; /* eventfd for the thread of messages: look at `settled` */
    atomic_uint reports; /* so far */
    atomic_uint written, settled; /* the newest report that is in the file; that is or cannot be */
    pthread_mutex_t file_lock; /* of the report's file: it is written by one thread at a time */
    uint32_t tried; /* the newest report that was to be written; under the lock */
    atomic_int number; /* of that file: base/say.h */
    atomic_bool late; /* a text did not name the file, which was not there yet */
    bool report_failed; /* and it was said */
    bool trace_tried, trace_failed; /* to open it; to write to it, and it was said */
    int trace_fd; /* -1: none */
};

struct writing {
    struct faultloc_task job;
    char *text; /* `line`, or the job's own */
    char *otherwise; /* a text's other version, the job's own */
    uint32_t report;
    ftree_time by; /* when a text waits for its report no more */
    char line[];
};

/* ---- jobs ------------------------------------------------------------------------------------ */

static void drop(struct faultloc_task *job)
{
    struct writing *j = (struct writing *) job;

    if (j->text != j->line)
        free(j->text);
    free(j->otherwise);
    free(j);
}

static struct faultloc_task *make_line(const char *line)
{
    size_t room = strlen(line) + 1;
    struct writing *j = calloc(1, sizeof(*j) + room);

    if (!j)
        return NULL;
    memcpy(j->line, line, room);
    j->text = j->line;
    j->job.bytes = sizeof(*j) + room;
    return &j->job;
}

/* The texts are the job's, or freed. */
static struct faultloc_task *make_text(char *text, char *otherwise, uint32_t report)
{
    struct writing *j = text ? calloc(1, sizeof(*j)) : NULL;

    if (!j) {
        free(text);
        free(otherwise);
        return NULL;
    }
    j->text = text;
    j->otherwise = otherwise;
    j->report = report;
    j->by = faultloc_now() + REPORT_PATIENCE;
    j->job.bytes = sizeof(*j) + strlen(text) + (otherwise ? strlen(otherwise) : 0);
    return &j->job;
}

static void let_go(struct faultloc_writer *w)
{
    if (atomic_fetch_sub(&w->holders, 1) > 1)
        return;
    for (int i = 0; i < WORKERS; i++)
        faultloc_worker_destroy(&w->worker[i]);
    pthread_mutex_destroy(&w->file_lock);
    if (w->trace_fd > STDERR_FILENO)
        close(w->trace_fd);
    if (w->notify >= 0)
        close(w->notify);
    if (w->settled_fd >= 0)
        close(w->settled_fd);
    free(w->report_path);
    free(w->trace_path);
    free(w);
}

static void ended(struct faultloc_worker *worker)
{
    let_go(worker->owner);
}

/* True: it is not yet time, and fd may have been rung. */
static bool wait_until(ftree_time by, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    if (faultloc_now() >= by)
        return false;
    poll(&p, 1, faultloc_loop_ms(by));
    faultloc_eventfd_clear(fd);
    return true;
}

const char *faultloc_writer_report_path(const struct faultloc_writer *w, char name[PATH_MAX])
{
    return faultloc_number_path(w->report_path, w->number, name, PATH_MAX) ? name : w->report_path;
}

/* ---- people ---------------------------------------------------------------------------------- */

static void say_lost(struct faultloc_worker *worker, uint32_t jobs)
{
    char line[128];

    (void) worker;
    snprintf(line, sizeof(line), "[faultloc] %u messages dropped: standard error was not read\n",
             (unsigned) jobs);
    faultloc_write_all(STDERR_FILENO, line, -1);
}

/* `late` is set before the last look, and read by the report's thread when the file is there: one
 * of the two names it. */
static bool is_in_its_file(struct faultloc_writer *w, const struct writing *j)
{
    while (w->settled < j->report && wait_until(j->by, w->settled_fd))
        ;
    if (w->settled < j->report) {
        w->late = true;
        if (w->settled >= j->report)
            w->late = false;
    }
    return w->written >= j->report;
}

/* The text names the file as it was to be called; its number is known only now. */
static void write_with_number(const struct faultloc_writer *w, const struct writing *j)
{
    char name[PATH_MAX], line[PATH_MAX + 64];

    snprintf(line, sizeof(line) - 1, "[faultloc]   full report: %s",
             faultloc_writer_report_path(w, name));
    ftree_text_clean(line, strlen(line), '?');
    strcat(line, "\n");
    faultloc_write_all(STDERR_FILENO, j->otherwise, -1);
    faultloc_write_all(STDERR_FILENO, line, -1);
}

static void write_report(struct faultloc_worker *worker, struct faultloc_task *job);

/* The program may have taken all threads that there are: then this one writes the report, too. */
static void help_out(struct faultloc_writer *w)
{
    struct faultloc_task *job;

    while ((job = faultloc_worker_take_back(&w->worker[REPORT])))
        write_report(&w->worker[REPORT], job);
}

static void write_to_people(struct faultloc_worker *worker, struct faultloc_task *job)
{
    struct faultloc_writer *w = worker->owner;
    struct writing *j = (struct writing *) job;
    bool there;

    help_out(w);
    there = is_in_its_file(w, j);
    if (there && j->report && w->number > 1)
        write_with_number(w, j);
    else
        faultloc_write_all(STDERR_FILENO, there ? j->text : j->otherwise, -1);
    if (!there && w->late)
        faultloc_say("the report is still being written to %s", w->report_path);
    drop(job);
}

static const struct faultloc_worker_ops people_ops = {.name = "faultloc-stderr",
                                                    .run = write_to_people,
                                                    .lost = say_lost,
                                                    .ended = ended,
                                                    .drop = drop};

/* ---- the report ------------------------------------------------------------------------------ */

/* Said again if a text has said that it would come. */
static void say_unwritten(struct faultloc_writer *w, int error)
{
    bool late = atomic_exchange(&w->late, false);

    if (late || !w->report_failed)
        faultloc_say("cannot write the report to %s: %s; set MPIR_CVAR_FAULTLOC_REPORT to a file "
                     "that can be written",
                     w->report_path, strerror(error));
    w->report_failed = true;
}

static void say_written(struct faultloc_writer *w)
{
    char name[PATH_MAX];

    if (atomic_exchange(&w->late, false))
        faultloc_say("full report: %s", faultloc_writer_report_path(w, name));
    w->report_failed = false;
}

/* A report begins with the job and its start.  The job's number may have any character, but no
 * quote that is not escaped. */
static size_t head_of(const char *json)
{
    const char *start = strstr(json, "\"started\""), *end = start ? strchr(start, '}') : NULL;

    return end ? (size_t) (end - json) : 0;
}

/* What is in the job's file by now, which another agent may have written; NULL: nothing is, or it is
 * of another start. */
static struct json_object *read_report(const struct faultloc_writer *w, const char *head, size_t len)
{
    char name[PATH_MAX], *text = NULL;
    struct json_object *report = NULL;
    struct stat st;
    size_t bytes = 0;
    int fd = -1;

    for (int n = w->number; !report && faultloc_number_path(w->report_path, n, name, sizeof(name)) &&
                            !lstat(name, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid(); n++) {
        fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            break;
        if (!faultloc_read_whole(fd, REPORT_BYTES, &text, &bytes) && bytes > len &&
            !memcmp(text, head, len))
            report = json_tokener_parse(text);
        close(fd);
    }
    free(text);
    return report;
}

/* The same verdict there; NULL: it is not. */
static struct json_object *find_verdict(struct json_object *report, struct json_object *v)
{
    struct json_object *list = json_object_object_get(report, "verdicts");
    size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;

    for (size_t i = 0; i < n; i++) {
        struct json_object *other = json_object_array_get_idx(list, i);
        if (json_object_is_type(other, json_type_object) &&
            json_object_equal(json_object_object_get(other, "id"), json_object_object_get(v, "id")) &&
            json_object_equal(json_object_object_get(other, "fln"), json_object_object_get(v, "fln")))
            return other;
    }
    return NULL;
}

/* Only the agent that has reported a verdict knows where its ranks were in their code. Another one,
 * which writes the report after it, leaves that as it is.  Its text, or NULL: there is nothing to be
 * added, or no memory. */
static char *with_stacks(const struct faultloc_writer *w, const char *json, size_t head)
{
    struct json_object *there = head > 0 ? read_report(w, json, head) : NULL, *stacks;
    struct json_object *report = there ? json_tokener_parse(json) : NULL;
    struct json_object *list = json_object_object_get(report, "verdicts");
    bool any = false;
    char *text;

    for (size_t i = 0; list && i < json_object_array_length(list); i++) {
        struct json_object *v = json_object_array_get_idx(list, i);
        stacks = json_object_object_get(find_verdict(there, v), "stacks");
        if (stacks && !json_object_object_get(v, "stacks") && !json_object_object_get(v, "no_stacks"))
            any |= !json_object_object_add(v, "stacks", json_object_get(stacks));
    }
    text = any ? ftree_report_json_text(report, FTREE_REPORT_JSON_FLAGS) : NULL;
    json_object_put(report);
    json_object_put(there);
    return text;
}

static void replace_report(struct faultloc_writer *w, const struct writing *j)
{
    int number = w->number;
    char *more = with_stacks(w, j->text, head_of(j->text));
    const char *text = more ? more : j->text;
    int rc = faultloc_replace_file(w->report_path, text, head_of(text), &number);

    free(more);

    if (!rc) {
        w->number = number;
        w->written = j->report;
    }
    w->settled = j->report;
    faultloc_eventfd_signal(w->settled_fd);
    if (rc)
        say_unwritten(w, rc);
    else
        say_written(w);
}

/* The thread that helps out may come after the one of reports, which was started meanwhile. */
static void write_report(struct faultloc_worker *worker, struct faultloc_task *job)
{
    struct faultloc_writer *w = worker->owner;
    struct writing *j = (struct writing *) job;

    pthread_mutex_lock(&w->file_lock);
    if (j->report > w->tried) {
        w->tried = j->report;
        replace_report(w, j);
    }
    pthread_mutex_unlock(&w->file_lock);
    drop(job);
}

static void say_no_report(struct faultloc_worker *worker, uint32_t jobs)
{
    struct faultloc_writer *w = worker->owner;

    (void) jobs;
    w->settled = w->reports;
    faultloc_eventfd_signal(w->settled_fd);
    say_unwritten(w, ENOMEM);
}

static const struct faultloc_worker_ops report_ops = {.name = "faultloc-report",
                                                    .newest = true,
                                                    .run = write_report,
                                                    .lost = say_no_report,
                                                    .ended = ended,
                                                    .drop = drop};

/* ---- the trace ------------------------------------------------------------------------------- */

/* A new file, or what is there.  -1: errno says why. */
static int open_as_it_is(const char *path)
{
    const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int fd = -1;

    errno = ENOENT;
    for (int i = 0; fd < 0 && errno == ENOENT && i < OPEN_TRIES; i++) { /* others come and go */
        fd = open(path, flags | O_CREAT | O_EXCL, 0666);
        if (fd < 0 && errno == EEXIST)
            fd = open(path, flags);
    }
    return fd;
}

static const char *why_not_opened(int error)
{
    switch (error) {
        case ELOOP:
            return "it is a symbolic link, which is not followed";
        case ENXIO:
            return "it is a pipe or socket that nobody reads";
        default:
            return strerror(error);
    }
}

/* A user who may make files in that folder must neither read our trace nor have it written into
 * another file of the user's.  NULL: nothing is wrong. */
static const char *why_not_used(int fd)
{
    struct stat st;

    if (fstat(fd, &st))
        return strerror(errno);
    if (S_ISCHR(st.st_mode))
        return NULL;
    if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
        return "it is not a regular file";
    if (st.st_uid != geteuid())
        return "it belongs to another user";
    return st.st_nlink > 1 ? "it has another name, too (a hard link)" : NULL;
}

static void open_trace(struct faultloc_writer *w)
{
    int fd = faultloc_own_descriptor(w->trace_path);
    const char *why = NULL;

    w->trace_tried = true;
    if (fd < 0) {
        fd = open_as_it_is(w->trace_path);
        why = fd < 0 ? why_not_opened(errno) : why_not_used(fd);
    }
    if (why)
        faultloc_say("cannot write the trace to %s: %s; set MPIR_CVAR_FAULTLOC_TRACE to a file of "
                     "your own",
                     w->trace_path, why);
    if (why && fd >= 0)
        close(fd);
    w->trace_fd = why ? -1 : fd;
}

static void write_line(struct faultloc_writer *w, const char *line)
{
    int rc = w->trace_fd < 0 ? 0 : faultloc_write_all(w->trace_fd, line, -1);

    if (rc && !w->trace_failed)
        faultloc_say("cannot write the trace to %s: %s; lines of it are lost", w->trace_path,
                     strerror(rc));
    w->trace_failed = w->trace_failed || rc;
}

static void write_trace(struct faultloc_worker *worker, struct faultloc_task *job)
{
    struct faultloc_writer *w = worker->owner;

    if (!w->trace_tried)
        open_trace(w);
    write_line(w, ((struct writing *) job)->text);
    drop(job);
}

static void trace_lost(struct faultloc_worker *worker, uint32_t jobs)
{
    char line[64];

    snprintf(line, sizeof(line), "%u lines of the trace dropped\n", (unsigned) jobs);
    write_line(worker->owner, line);
}

static const struct faultloc_worker_ops trace_ops = {.name = "faultloc-trace",
                                                   .run = write_trace,
                                                   .lost = trace_lost,
                                                   .ended = ended,
                                                   .drop = drop};

/* ---- the writer of this process -------------------------------------------------------------- */

static pthread_mutex_t current_lock = PTHREAD_MUTEX_INITIALIZER;
static struct faultloc_writer *current;

/* False: there is none any more. */
static bool take_line(const char *line)
{
    struct faultloc_task *job = make_line(line);
    bool taken;

    pthread_mutex_lock(&current_lock);
    taken = current != NULL;
    if (taken)
        faultloc_worker_add(&current->worker[PEOPLE], job, LINES_BYTES);
    pthread_mutex_unlock(&current_lock);
    if (!taken && job)
        drop(job);
    return taken;
}

static void set_current(struct faultloc_writer *w)
{
    pthread_mutex_lock(&current_lock);
    current = w;
    pthread_mutex_unlock(&current_lock);
    faultloc_say_by(w ? take_line : NULL);
}

pid_t faultloc_writer_fork(void)
{
    pid_t pid;

    /* so that no thread that the child does not have holds it at that moment */
    pthread_mutex_lock(&current_lock);
    pid = fork();
    if (pid == 0) {
        current = NULL;
        faultloc_say_by(NULL);
    }
    pthread_mutex_unlock(&current_lock);
    return pid;
}

int faultloc_writer_start(const char *trace, const char *report, bool ready,
                          struct faultloc_writer **out)
{
    static const struct faultloc_worker_ops *const ops[] = {&people_ops, &report_ops, &trace_ops};
    struct faultloc_writer *w = calloc(1, sizeof(*w));

    *out = NULL;
    if (!w)
        return ENOMEM;
    w->holders = 1;
    w->trace_fd = -1;
    w->number = 1;
    pthread_mutex_init(&w->file_lock, NULL);
    w->notify = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    w->settled_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    w->report_path = strdup(report);
    w->trace_path = strdup(trace);
    for (int i = 0; i < WORKERS; i++)
        faultloc_worker_init(&w->worker[i], ops[i], w, w->notify);
    if (w->notify < 0 || w->settled_fd < 0 || !w->report_path || !w->trace_path) {
        int rc = w->notify < 0 || w->settled_fd < 0 ? EMFILE : ENOMEM;
        let_go(w);
        return rc;
    }
    w->holders = 1 + WORKERS;
    if (ready) /* if it cannot be, the first job tries it again */
        faultloc_worker_start(&w->worker[PEOPLE]);
    set_current(w);
    *out = w;
    return 0;
}

int faultloc_writer_fd(const struct faultloc_writer *w)
{
    return w->notify;
}

/* All workers are asked, for those that have no thread try to get one; that of messages at last,
 * for the others add to it. */
bool faultloc_writer_idle(struct faultloc_writer *w)
{
    bool idle = true;

    for (int i = WORKERS - 1; i >= 0; i--)
        idle = faultloc_worker_idle(&w->worker[i]) && idle;
    return idle;
}

bool faultloc_writer_done(struct faultloc_writer *w)
{
    faultloc_eventfd_clear(w->notify);
    faultloc_writer_idle(w);
    return faultloc_worker_idle(&w->worker[PEOPLE]);
}

uint32_t faultloc_writer_report(struct faultloc_writer *w, char *json)
{
    if (!w->report_path[0]) {
        free(json);
        return 0;
    }
    w->reports++;
    faultloc_worker_add(&w->worker[REPORT], make_text(json, NULL, w->reports), TEXTS_BYTES);
    return w->reports;
}

void faultloc_writer_text(struct faultloc_writer *w, char *text, char *otherwise, uint32_t report)
{
    if (report && !otherwise) { /* it cannot be said truthfully */
        free(text);
        text = NULL;
    }
    faultloc_worker_add(&w->worker[PEOPLE], make_text(text, otherwise, report), TEXTS_BYTES);
}

void faultloc_writer_trace(struct faultloc_writer *w, const char *line)
{
    if (w->trace_path[0])
        faultloc_worker_add(&w->worker[TRACE], make_line(line), TRACE_BYTES);
}

bool faultloc_writer_has_trace(const struct faultloc_writer *w)
{
    return w->trace_path[0];
}

bool faultloc_writer_end(struct faultloc_writer *w, int patience_ms)
{
    ftree_time by = faultloc_now() + (ftree_time) patience_ms * FTREE_MS;
    bool idle;

    if (!w)
        return true;
    while (!(idle = faultloc_writer_idle(w)) && wait_until(by, w->notify))
        ;
    set_current(NULL);
    for (int i = 0; i < WORKERS; i++)
        if (!faultloc_worker_stop(&w->worker[i]))
            let_go(w);
    let_go(w);
    return idle;
}
