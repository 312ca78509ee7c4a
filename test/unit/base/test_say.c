/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * Telling people: file names from patterns, a file that is whole at every moment, and writing to
 * whoever does not read, reads slowly, or has gone.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/base/say.h"
#include "process.h"
#include "suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- names ----------------------------------------------------------------------------------- */

static const struct {
    const char *pattern, *job, *node;
    const char *expanded; /* NULL: refused */
} patterns[] = {
    {"faultloc-%j.json", "4711", "c17", "faultloc-4711.json"},
    {"/scratch/%j/%h.json", "4711", "c17", "/scratch/4711/c17.json"},
    {"%j%j%h%h", "1", "x", "11xx"},
    {"100%%.json", "4711", "c17", "100%.json"},
    {"%%j", "4711", "c17", "%j"},
    {"%%%j", "4711", "c17", "%4711"},
    {"", "4711", "c17", ""},
    {"%j", "", "c17", ""},
    {"plain", "4711", "c17", "plain"},
    {"a b", "4711", "c17", "a b"}, /* the pattern is the user's own */
    {"%", "4711", "c17", NULL},
    {"x%", "4711", "c17", NULL},
    {"%J", "4711", "c17", NULL},
    {"%s%n", "4711", "c17", NULL},
    {"%d", "4711", "c17", NULL},
    {"%j-%", "4711", "c17", NULL},
    {"%j", "../../etc/passwd", "c17", ".._.._etc_passwd"},
    {"%j", "4711[3].server", "c17", "4711_3_.server"},
    {"%j",
     "a\nb\tc\x01"
     "d\x7f",
     "c17", "a_b_c_d_"},
    {"%j", "$(id);`id`'\"", "c17", "__id___id___"},
    {"%j", "%j%n%s", "c17", "_j_n_s"},
    {"%h", "4711", "fd00::1%eth0", "fd00__1_eth0"},
    {"%h", "4711", "node/../x", "node_.._x"},
};

TEST_CASES(pattern, COUNT(patterns))
{
    const char *expanded = patterns[_i].expanded;
    char out[64] = "untouched";
    bool fine = faultloc_expand(patterns[_i].pattern, patterns[_i].job, patterns[_i].node, out,
                                sizeof(out));

    ck_assert_int_eq(fine, expanded != NULL);
    ck_assert_str_eq(out, expanded ? expanded : "");
}

/* In memory of just that size, so that a sanitizer sees a step too far. */
TEST_CASE(a_name_that_does_not_fit_is_refused)
{
    static const char *const of_eight[] = {"12345678", "%j5678",    "1234%h",
                                           "%j%h",     "1234567%%", "12345%%78"};

    for (int i = 0; i < COUNT(of_eight); i++) {
        for (size_t room = 1; room <= 10; room++) {
            char *out = malloc(room);
            bool fine = faultloc_expand(of_eight[i], "1234", "5678", out, room);
            ck_assert_msg(fine == (room > 8), "%s in %zu", of_eight[i], room);
            ck_assert_uint_eq(strlen(out), fine ? 8 : 0);
            free(out);
        }
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

static char folder[64], path[128];
static int number = 1; /* of a file that was written */

BEFORE_EACH
{
    snprintf(folder, sizeof(folder), "/tmp/test_say.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/report.json", folder);
}

static void in_folder(char *out, size_t room, const char *name)
{
    snprintf(out, room, "%s/%s", folder, name);
}

/* What is in the folder, and then no longer. */
static int empty_folder(void)
{
    DIR *d = opendir(folder);
    struct dirent *e;
    char name[512];
    int n = 0;

    while ((e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        in_folder(name, sizeof(name), e->d_name);
        n++;
        if (unlink(name))
            rmdir(name);
    }
    closedir(d);
    return n;
}

AFTER_EACH
{
    empty_folder();
    ck_assert_int_eq(rmdir(folder), 0);
}

static size_t read_file(const char *name, char *text, size_t room)
{
    int fd = open(name, O_RDONLY);
    size_t len = 0;
    ssize_t n = fd < 0 ? 0 : 1;

    while (n > 0 && len < room - 1) {
        n = read(fd, text + len, room - 1 - len);
        len += n > 0 ? (size_t) n : 0;
    }
    text[len] = '\0';
    if (fd >= 0)
        close(fd);
    return len;
}

static void replace(const char *text)
{
    ck_assert_int_eq(faultloc_replace_file(path, text, 0, &number), 0);
}

static void check_content(const char *expected)
{
    ck_assert_str_eq(suite_text_of(path), expected);
}

/* A file beside it, that stays as it is. */
static const char *make_file(const char *suffix, const char *text)
{
    static char name[256];
    FILE *f;

    snprintf(name, sizeof(name), "%s.%s", path, suffix);
    f = fopen(name, "w");
    fputs(text, f);
    fclose(f);
    return name;
}

TEST_CASE(a_file_is_made_and_replaced)
{
    replace("one\n");
    check_content("one\n");
    replace("two, longer\n");
    check_content("two, longer\n");
    replace("3");
    check_content("3");
    replace("");
    check_content("");
    ck_assert_int_eq(empty_folder(), 1);
}

static const struct {
    const char *path;
    int number;
    const char *numbered;
} numbers[] = {{"/a/faultloc-7.json", 1, "/a/faultloc-7.json"},
               {"/a/faultloc-7.json", 2, "/a/faultloc-7.2.json"},
               {"faultloc-7.0.json", 12, "faultloc-7.0.12.json"},
               {"/a.b/report", 2, "/a.b/report.2"},
               {"/a/.hidden", 3, "/a/.hidden.3"},
               {".hidden", 3, ".hidden.3"}};

TEST_CASES(a_number_goes_before_the_last_dot_of_the_name, COUNT(numbers))
{
    char out[32];

    ck_assert(faultloc_number_path(numbers[_i].path, numbers[_i].number, out, sizeof(out)));
    ck_assert_str_eq(out, numbers[_i].numbered);
    ck_assert(!faultloc_number_path(numbers[_i].path, numbers[_i].number, out, strlen(out)));
}

static void check_numbered(int n, const char *expected)
{
    char name[160], text[256] = "";

    ck_assert(faultloc_number_path(path, n, name, sizeof(name)));
    read_file(name, text, sizeof(text));
    ck_assert_str_eq(text, expected);
}

/* Of two starts of one job, or of two jobs with one number, each has a file. */
TEST_CASE(what_begins_otherwise_is_not_replaced)
{
    int of[3];

    replace(""); /* a place that was made for it */
    for (int i = 0; i < 3; i++) {
        const char text[] = {'{', (char) ('A' + i), ' ', '1', '\0'};
        of[i] = 1;
        ck_assert_int_eq(faultloc_replace_file(path, text, 2, &of[i]), 0);
        ck_assert_int_eq(of[i], i + 1);
    }
    ck_assert_int_eq(faultloc_replace_file(path, "{A 2, longer", 2, &of[0]), 0);
    ck_assert_int_eq(of[0], 1);
    ck_assert_int_eq(faultloc_replace_file(path, "{B 2, longer", 2, &of[1]), 0);
    ck_assert_int_eq(of[1], 2);
    of[1] = 1; /* a program that begins anew finds it */
    ck_assert_int_eq(faultloc_replace_file(path, "{B 2, longer", 2, &of[1]), 0);
    ck_assert_int_eq(of[1], 2);
    check_numbered(1, "{A 2, longer");
    check_numbered(2, "{B 2, longer");
    check_numbered(3, "{C 1");
    ck_assert_int_eq(empty_folder(), 3);
}

/* All at once: the kernel says who has which name. */
static int write_own(int in, int out, void *arg)
{
    char text[16];
    int i = *(int *) arg, own = 1;

    snprintf(text, sizeof(text), "{%c", 'A' + i);
    process_obey(in);
    process_tell(out, faultloc_replace_file(path, text, 2, &own) ? 'n' : (char) ('0' + own));
    return 0;
}

TEST_CASE(starts_that_write_at_once_have_a_file_each)
{
    enum { STARTS = 6 };
    struct process start[STARTS];
    char text[16];
    int i, seen = 0, own;

    for (i = 0; i < STARTS; i++)
        process_start(&start[i], write_own, &i);
    for (i = 0; i < STARTS; i++)
        process_say(&start[i], '.');
    for (i = 0; i < STARTS; i++) {
        own = process_hear(&start[i]) - '0';
        ck_assert_int_ge(own, 1);
        ck_assert_int_le(own, STARTS);
        seen |= 1 << own;
        snprintf(text, sizeof(text), "{%c", 'A' + i);
        check_numbered(own, text);
        ck_assert_int_eq(process_end(&start[i]), 0);
    }
    ck_assert_int_eq(seen, (1 << (STARTS + 1)) - 2);
    ck_assert_int_eq(empty_folder(), STARTS);
}

TEST_CASE(its_mode_is_the_users)
{
    struct stat st;
    mode_t before = umask(027);

    replace("x");
    umask(before);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0640);
    ck_assert_int_eq(empty_folder(), 1);
}

#define WHOLE_BYTES 300000
#define WHOLE_TIMES 60

static int write_again_and_again(int in, int out, void *arg)
{
    static char text[WHOLE_BYTES + 1];

    (void) in;
    (void) arg;
    for (int i = 0; i < WHOLE_TIMES; i++) {
        size_t len = WHOLE_BYTES - 4096 * (size_t) (i % 7);
        memset(text, 'a' + i % 26, len);
        text[len] = '\0';
        if (faultloc_replace_file(path, text, 0, &number))
            return 1;
    }
    process_tell(out, '.');
    return 0;
}

/* Whoever reads at any moment reads one of the texts, from its first letter to its last. */
TEST_CASE(it_is_whole_at_every_moment)
{
    static char text[WHOLE_BYTES + 2];
    struct process writer;
    int reads = 0;

    replace("a");
    process_start(&writer, write_again_and_again, NULL);
    while (process_is_alive(&writer)) {
        size_t len = read_file(path, text, sizeof(text));
        REQUIRE(len == 1 || (len <= WHOLE_BYTES && (WHOLE_BYTES - len) % 4096 == 0));
        REQUIRE(memcmp(text, text + 1, len - 1) == 0);
        reads++;
    }
    ck_assert_int_eq(process_end(&writer), 0);
    ck_assert_int_gt(reads, 0);
    ck_assert_int_eq(empty_folder(), 1);
}

/* Killed while it writes, it leaves the old file whole, and a temporary one. */
TEST_CASE(a_writer_that_is_killed_leaves_the_old_file)
{
    static char text[WHOLE_BYTES + 2];

    replace("a");
    for (int i = 0; i < 10; i++) {
        struct process writer;
        process_start(&writer, write_again_and_again, NULL);
        for (int pauses = 0; pauses < i; pauses++)
            process_pause();
        process_kill(&writer);
        size_t len = read_file(path, text, sizeof(text));
        REQUIRE(len == 1 || (WHOLE_BYTES - len) % 4096 == 0);
        REQUIRE(memcmp(text, text + 1, len - 1) == 0);
    }
}

/* ... which is in nobody's way when the same process number comes again. */
TEST_CASE(what_a_killed_writer_left_is_in_nobodys_way)
{
    char suffix[32];

    snprintf(suffix, sizeof(suffix), "%d.tmp", (int) getpid());
    ck_assert_int_eq(chmod(make_file(suffix, "half of a rep"), 0400), 0);
    replace("whole\n");
    check_content("whole\n");
    ck_assert_int_eq(empty_folder(), 1);
}

/* Nobody is made to write elsewhere.  rows: a link with the file's name; with the temporary one's */
TEST_CASES(a_link_in_its_place_is_not_followed, 2)
{
    const char *victim = make_file("victim", "precious");
    char link[256];

    snprintf(link, sizeof(link), _i ? "%s.%d.tmp" : "%s", path, (int) getpid());
    ck_assert_int_eq(symlink(victim, link), 0);
    replace("whole\n");
    check_content("whole\n");
    ck_assert_str_eq(suite_text_of(victim), "precious");
    ck_assert_int_eq(empty_folder(), 2);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static char of_4096[4097] = "/", of_5000[5001] = "/", of_300[400] = "%s/";

static const struct {
    const char *name; /* %s: the folder, in which the file old is */
    int error;
} unwritable[] = {
    {"%s/none/report.json", ENOENT},
    {"%s/old/report.json", ENOTDIR},
    {"%s", EISDIR},
    {of_4096, ENAMETOOLONG}, /* the kernel would take it, the temporary file's name is longer */
    {of_5000, ENAMETOOLONG},
    {of_300, ENAMETOOLONG}, /* longer than a file's own name can be */
    {"/dev/full", ENOSPC},
};

/* rows: also where it is looked into first, whose file it is */
TEST_CASES(what_cannot_be_written_is_an_error, COUNT(unwritable))
{
    char name[5100];

    memset(of_4096 + 1, 'x', 4094);
    memset(of_5000 + 1, 'x', 4999);
    memset(of_300 + 3, 'x', 300);
    snprintf(path, sizeof(path), "%s/old", folder);
    replace("old");
    snprintf(name, sizeof(name), unwritable[_i].name, folder);
    for (size_t own = 0; own <= 2; own += 2)
        ck_assert_int_eq(faultloc_replace_file(name, "{A", own, &number), unwritable[_i].error);
    ck_assert_int_eq(number, 1);
    check_content("old");
    ck_assert_int_eq(empty_folder(), 1);
}

/* Who has no right to the folder; root has, so the test is somebody else for a while. */
TEST_CASE(a_folder_that_is_read_only_is_an_error)
{
    replace("old");
    ck_assert_int_eq(chmod(folder, 0555), 0);
    if (geteuid() == 0)
        ck_assert_int_eq(seteuid(65534), 0);
    int rc = faultloc_replace_file(path, "x", 0, &number);
    if (getuid() == 0)
        ck_assert_int_eq(seteuid(0), 0);
    ck_assert_int_eq(chmod(folder, 0755), 0);
    ck_assert_int_eq(rc, EACCES);
    check_content("old");
    ck_assert_int_eq(empty_folder(), 1);
}

/* ---- what is no file ------------------------------------------------------------------------- */

TEST_CASE(a_device_is_written_into_and_stays)
{
    struct stat st;

    ck_assert_int_eq(faultloc_replace_file("/dev/null", "gone\n", 0, &number), 0);
    ck_assert_int_eq(stat("/dev/null", &st), 0);
    ck_assert(S_ISCHR(st.st_mode));
}

TEST_CASE(a_named_pipe_is_written_into_if_somebody_reads)
{
    char text[16] = "";
    struct stat st;
    int fd;

    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(faultloc_replace_file(path, "x", 0, &number), ENXIO);
    fd = open(path, O_RDONLY | O_NONBLOCK);
    replace("report\n");
    ck_assert_int_eq(read(fd, text, sizeof(text) - 1), 7);
    ck_assert_str_eq(text, "report\n");
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert(S_ISFIFO(st.st_mode));
    close(fd);
    ck_assert_int_eq(empty_folder(), 1);
}

/* Its writer waits for the one who reads from it, and would lose what it has to say. */
TEST_CASE(a_named_pipe_is_not_opened_to_be_looked_into)
{
    int opened = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    struct inotify_event event;

    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_ge(inotify_add_watch(opened, path, IN_OPEN), 0);
    ck_assert_int_eq(faultloc_replace_file(path, "{A", 2, &number), ENXIO);
    ck_assert_int_eq(read(opened, &event, sizeof(event)), -1);
    ck_assert_int_eq(errno, EAGAIN);
    close(opened);
    ck_assert_int_eq(empty_folder(), 1);
}

/* Standard output is this process's, and a socket cannot be opened by its name. */
TEST_CASE(standard_output_is_written_into)
{
    char text[16] = "";
    int ends[2], was = dup(STDOUT_FILENO);

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    dup2(ends[1], STDOUT_FILENO);
    int rc = faultloc_replace_file("/dev/stdout", "report\n", 0, &number);
    dup2(was, STDOUT_FILENO);
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(read(ends[0], text, sizeof(text) - 1), 7);
    ck_assert_str_eq(text, "report\n");
}

#define STRANGER 65533

static int reader_of(const char *fifo)
{
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    return open(fifo, O_RDONLY | O_NONBLOCK);
}

/* A link of the user's own to a pipe is written through, one of another user's is replaced. */
TEST_CASES(a_link_to_a_pipe, 2)
{
    char fifo[256], text[16] = "";
    int fd;

    in_folder(fifo, sizeof(fifo), "pipe");
    fd = reader_of(fifo);
    ck_assert_int_eq(symlink(fifo, path), 0);
    if (!_i || lchown(path, STRANGER, STRANGER) == 0) {
        replace("report\n");
        ck_assert_int_eq(read(fd, text, sizeof(text) - 1), _i ? 0 : 7);
    }
    ck_assert_int_eq(empty_folder(), 2);
    close(fd);
}

TEST_CASE(another_users_pipe_gets_nothing)
{
    char text[16] = "";
    int fd;

    fd = reader_of(path);
    if (lchown(path, STRANGER, STRANGER) == 0) {
        ck_assert_int_eq(faultloc_replace_file(path, "report\n", 0, &number), EPERM);
        ck_assert_int_eq(read(fd, text, sizeof(text) - 1), 0);
    }
    ck_assert_int_eq(empty_folder(), 1);
    close(fd);
}

/* ---- writing to who does not read ------------------------------------------------------------ */

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void) number;
    signals = signals + 1;
}

/* A pipe that nobody reads; its end to write into. */
static int unread_pipe(void)
{
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    return ends[1];
}

/* With the default action the test would be killed. */
TEST_CASE(a_closed_pipe_kills_nobody)
{
    sigset_t pending;
    int fd = unread_pipe();

    faultloc_write(fd, "nobody reads this\n");
    faultloc_write(fd, "nor this\n");
    sigpending(&pending);
    ck_assert(!sigismember(&pending, SIGPIPE));
    close(fd);
    faultloc_write(fd, "nor this, to a descriptor that is closed\n");
    faultloc_write(-1, "nor this\n");
}

TEST_CASE(a_handler_of_sigpipe_is_not_called)
{
    int fd = unread_pipe();

    signal(SIGPIPE, on_signal);
    faultloc_write(fd, "nobody reads this\n");
    ck_assert_int_eq(signals, 0);
    ck_assert_int_eq(write(fd, "x", 1), -1); /* the program's own goes its way */
    ck_assert_int_eq(signals, 1);
    close(fd);
}

TEST_CASE(a_signal_of_the_programs_own_stays_pending)
{
    sigset_t sigpipe, pending;
    int fd = unread_pipe();

    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe, NULL);
    raise(SIGPIPE);
    faultloc_write(fd, "nobody reads this\n");
    sigpending(&pending);
    ck_assert(sigismember(&pending, SIGPIPE));
    close(fd);
}

/* As a worker's thread is: all signals blocked. */
static void *write_with_signals_blocked(void *arg)
{
    sigset_t all, pending;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    faultloc_write(*(int *) arg, "nobody reads this\n");
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, NULL, &all);
    return sigismember(&pending, SIGPIPE) || !sigismember(&all, SIGPIPE) ? arg : NULL;
}

TEST_CASE(nor_in_a_thread_that_blocks_signals)
{
    pthread_t thread;
    void *bad;
    int fd = unread_pipe();

    ck_assert_int_eq(pthread_create(&thread, NULL, write_with_signals_blocked, &fd), 0);
    ck_assert_int_eq(pthread_join(thread, &bad), 0);
    ck_assert_ptr_null(bad);
    close(fd);
}

/* mpiexec is stopped, say: the agent must go on.  (A row each for a blocking descriptor and one
 * that is not.) */
TEST_CASES(a_full_pipe_is_given_up, 2)
{
    int ends[2];

    ck_assert_int_eq(pipe2(ends, _i ? O_NONBLOCK : 0), 0);
    process_fill(ends[1]);
    faultloc_write(ends[1], "there is no room for this\n"); /* returns */
    close(ends[0]);
    close(ends[1]);
}

/* A rank with a profiler's timer: each signal comes before the wait would be over, if that began
 * anew. */
TEST_CASE(nor_do_signals_prolong_it)
{
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    process_fill(ends[1]);
    process_tick(5000);
    ck_assert_int_eq(faultloc_write_all(ends[1], "there is no room for this\n", 100), ETIMEDOUT);
    process_tick(0);
    close(ends[0]);
    close(ends[1]);
}

#define SLOW_BYTES 200000

struct slow {
    int fd;
    const char *text;
};

static void *write_text(void *arg)
{
    struct slow *s = arg;

    faultloc_write(s->fd, s->text);
    close(s->fd);
    return NULL;
}

/* Much more than a pipe holds, and a reader that takes it in small bites: all of it arrives. */
TEST_CASES(a_slow_reader_gets_it_all, 2)
{
    static char text[SLOW_BYTES + 1];
    struct slow s;
    pthread_t writer;
    char bite[1000];
    size_t have = 0;
    ssize_t n;
    int ends[2];

    for (int i = 0; i < SLOW_BYTES; i++)
        text[i] = (char) ('a' + i % 26);
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    if (_i)
        fcntl(ends[1], F_SETFL, O_NONBLOCK);
    s = (struct slow){.fd = ends[1], .text = text};
    ck_assert_int_eq(pthread_create(&writer, NULL, write_text, &s), 0);
    while ((n = read(ends[0], bite, sizeof(bite))) > 0) {
        REQUIRE(memcmp(bite, text + have, (size_t) n) == 0);
        have += (size_t) n;
    }
    ck_assert_uint_eq(have, SLOW_BYTES);
    ck_assert_int_eq(pthread_join(writer, NULL), 0);
    close(ends[0]);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void say_into(char *text, size_t room, const char *what)
{
    int ends[2], was = dup(STDERR_FILENO);
    ssize_t n;

    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    faultloc_say("%s", what);
    dup2(was, STDERR_FILENO);
    close(was);
    close(ends[1]);
    n = read(ends[0], text, room - 1);
    ck_assert_int_ge(n, 0);
    text[n] = '\0';
    close(ends[0]);
}

TEST_CASE(a_line_has_its_head_and_its_end)
{
    char text[4096], what[3000];

    say_into(text, sizeof(text), "node c17: 100%s");
    ck_assert_str_eq(text, "[faultloc] node c17: 100%s\n");
    memset(what, 'x', sizeof(what));
    what[sizeof(what) - 1] = '\0';
    say_into(text, sizeof(text), what);
    ck_assert_int_eq(strncmp(text, "[faultloc] xxx", 14), 0);
    ck_assert_str_eq(text + strlen(text) - 2, "x\n");
    ck_assert_uint_lt(strlen(text), 1024);
}

TEST_CASE(a_line_is_safe_for_a_terminal)
{
    char text[1200], what[1100];
    int cut = 0;

    say_into(text, sizeof(text),
             "node \033[31mh\xff: cannot write /tmp/\033]0;x\a/\xc2\x9b\n[faultloc] y");
    ck_assert_str_eq(text, "[faultloc] node ?[31mh?: cannot write /tmp/?]0;x?/???[faultloc] y\n");
    say_into(text, sizeof(text), "/home/jos\xc3\xa9/r.json");
    ck_assert_str_eq(text, "[faultloc] /home/jos\xc3\xa9/r.json\n");
    for (size_t first = 0; first < 2; first++) { /* the line ends within a character once */
        for (size_t i = 0; i < sizeof(what) - 1; i++)
            what[i] = i < first ? 'x' : "\xc3\xa9"[(i - first) % 2];
        what[sizeof(what) - 1] = '\0';
        say_into(text, sizeof(text), what);
        cut += text[strlen(text) - 2] == '?';
        ck_assert((unsigned char) text[strlen(text) - 2] != 0xc3);
    }
    ck_assert_int_eq(cut, 1);
}

static const struct {
    const char *name, *clean;
} names[] = {
    {"c17", "c17"},
    {"fd00::1%eth0", "fd00::1%eth0"},
    {"a b\tc\n", "a_b_c_"},
    {"\033[31mh\xff", "_[31mh_"},
    {"h\xc3\xa9", "h\xc3\xa9"},
    {"h\xc3", "h_"},
    {"", ""},
};

/* ---- what a program was given ----------------------------------------------------------------- */

enum kind {
    NOTHING,
    PIPE,
    SOCKET,
    DEVICE,
    REGULAR,
    REGULAR_ANEW, /* another file of the same name, which may get the number of the first */
    EVENTFD
};

/* Opens one of that kind as standard error; what is at its other end stays open. */
static void open_stderr(enum kind kind)
{
    int pair[2] = {-1, -1}, fd = -1;

    close(STDERR_FILENO);
    if (kind == PIPE && pipe(pair) == 0)
        fd = pair[1];
    else if (kind == SOCKET && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
        fd = pair[1];
    else if (kind == DEVICE)
        fd = open("/dev/null", O_WRONLY);
    else if (kind == EVENTFD)
        fd = eventfd(0, 0);
    else if (kind >= REGULAR && (kind == REGULAR || unlink(path) == 0))
        fd = open(path, O_CREAT | O_WRONLY, 0600);
    if (fd >= 0 && fd != STDERR_FILENO) {
        dup2(fd, STDERR_FILENO);
        close(fd);
    }
}

static const struct {
    enum kind given, then;
    bool before_program, fine;
} outputs[] = {
    {PIPE, NOTHING, true, false},     {SOCKET, NOTHING, true, false},
    {PIPE, PIPE, true, false},        {PIPE, REGULAR, true, false},
    {SOCKET, SOCKET, false, false},   {SOCKET, REGULAR, false, false},
    {DEVICE, DEVICE, true, true}, /* the same */
    {DEVICE, REGULAR, true, false},   {REGULAR, PIPE, true, false},
    {REGULAR, REGULAR, true, true}, /* likewise */
    {REGULAR, REGULAR_ANEW, true, false},
    {REGULAR, REGULAR, false, false}, /* it may be the program's */
    {NOTHING, NOTHING, true, false},  {NOTHING, PIPE, true, false},
    {NOTHING, REGULAR, true, false},  {EVENTFD, EVENTFD, true, false},
};

/* Returns what is wrong, in a process of its own. */
static int change_stderr(int in, int out, void *arg)
{
    int row = *(const int *) arg;
    bool given;

    process_obey(in);
    open_stderr(outputs[row].given);
    if (faultloc_output_is_given(STDERR_FILENO))
        return 1; /* it was not noted yet */
    faultloc_output_note(outputs[row].before_program);
    given = outputs[row].given != NOTHING && outputs[row].given != EVENTFD &&
            (outputs[row].given != REGULAR || outputs[row].before_program);
    if (faultloc_output_is_given(STDERR_FILENO) != given)
        return 2;
    open_stderr(outputs[row].then);
    process_tell(out, '.');
    return faultloc_output_is_given(STDERR_FILENO) == outputs[row].fine ? 0 : 3;
}

/* From the first, or after it was noted. */
static int look_without_statx(int in, int out, void *arg)
{
    bool first = *(const int *) arg;

    process_obey(in);
    if (first)
        process_forbid(SYS_statx, EPERM);
    open_stderr(REGULAR);
    faultloc_output_note(true);
    if (!first)
        process_forbid(SYS_statx, EPERM);
    process_tell(out, '.');
    if (!faultloc_output_is_given(STDERR_FILENO))
        return 1;
    open_stderr(PIPE);
    return faultloc_output_is_given(STDERR_FILENO) ? 2 : 0;
}

TEST_CASES(what_was_given_is_known_without_statx, 2)
{
    struct process p;
    int first = _i;

    process_start(&p, look_without_statx, &first);
    process_say(&p, '.');
    ck_assert_int_eq(process_hear(&p), '.');
    ck_assert_int_eq(process_end(&p), 0);
}

TEST_CASES(what_was_given, COUNT(outputs))
{
    struct process p;
    int row = _i;

    process_start(&p, change_stderr, &row);
    process_say(&p, '.');
    process_hear(&p);
    ck_assert_int_eq(process_end(&p), 0);
}

TEST_CASES(a_name_is_one_word, COUNT(names))
{
    char name[32];

    snprintf(name, sizeof(name), "%s", names[_i].name);
    faultloc_clean_name(name);
    ck_assert_str_eq(name, names[_i].clean);
}
