/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The thread that reads the rules: what is found comes to its owner, nothing is lost, and a file
 * system that hangs holds up nobody else.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "base.h"
#include "faultloc/io/reader.h"
#include "hang.h"
#include "process.h"
#include "suite.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

static char folder[64], path[128], other[128];
static struct faultloc_reader *reader;
static struct faultloc_rules_news news;

static void replace_base(const char *name)
{
    base_write(other, name);
    ck_assert_int_eq(rename(other, path), 0);
}

static void write_text(const char *text)
{
    FILE *f = fopen(other, "w");

    ck_assert_int_ge(fputs(text, f), 0);
    ck_assert_int_eq(fclose(f), 0);
    ck_assert_int_eq(rename(other, path), 0);
}

BEFORE_EACH
{
    snprintf(folder, sizeof(folder), "/tmp/test_reader.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/rules.json", folder);
    snprintf(other, sizeof(other), "%s/other.json", folder);
    base_write(path, "first");
}

static void start(void)
{
    ck_assert_int_eq(faultloc_reader_start(path, "h1", true, &reader), 0);
    ck_assert_ptr_nonnull(reader);
}

AFTER_EACH
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void wait_for_news(void)
{
    struct pollfd p = {.fd = faultloc_reader_fd(reader), .events = POLLIN};

    ck_assert_int_eq(poll(&p, 1, PROCESS_DEADLINE_MS), 1);
}

/* The next news: of a base of that name (NULL: of none). */
static void expect(const char *name)
{
    wait_for_news();
    ck_assert(faultloc_reader_take(reader, &news));
    ck_assert_int_eq(news.base != NULL, name != NULL);
    if (name)
        ck_assert_str_eq(news.base->name, name);
    ftree_rules_free(news.base);
}

/* Changes are read until that one is: what was changed twice meanwhile is read once. */
static bool has_come(const char *name)
{
    bool yes = false;

    if (faultloc_reader_take(reader, &news)) {
        yes = news.base && strcmp(news.base->name, name) == 0;
        ftree_rules_free(news.base);
    }
    return yes;
}

TEST_CASE(what_is_read_comes_to_the_owner)
{
    start();
    expect("first");
    ck_assert_ptr_nonnull(strstr(news.text, "/rules.json is in use now ("));
    ck_assert(!faultloc_reader_take(reader, &news));
    replace_base("second");
    expect("second");
    write_text("{\n");
    expect(NULL);
    ck_assert_ptr_nonnull(strstr(news.text, "node h1: rules: /tmp/"));
    ck_assert_ptr_nonnull(strstr(news.text, "; keeping the previous rules"));
    ck_assert(!faultloc_reader_take(reader, &news));
}

TEST_CASE(a_file_that_is_missing_is_read_when_it_comes)
{
    ck_assert_int_eq(unlink(path), 0);
    start();
    expect(NULL);
    ck_assert_ptr_nonnull(strstr(news.text, "No such file or directory; using the built-in rules"));
    replace_base("late");
    expect("late");
}

/* The owner is busy elsewhere: what comes meanwhile waits for it, a base and then a refusal. */
TEST_CASE(nothing_is_lost)
{
    start();
    wait_for_news();
    write_text("{\n");
    expect("first");
    expect(NULL);
    replace_base("second");
    wait_for_news();
    for (int i = 0; i < 100; i++)
        replace_base(i % 2 ? "even" : "odd");
    replace_base("last");
    UNTIL(has_come("last"));
}

TEST_CASE(what_hung_comes_late)
{
    hang_begin(path);
    start();
    UNTIL(*hang_held == 1);
    ck_assert(!faultloc_reader_take(reader, &news));
    hang_end();
    expect("first");
    replace_base("second");
    expect("second");
}

/* A file system of which nobody answers for its server; for this process only.  -1: not allowed. */
static int mount_dead_server(void)
{
    char options[64];
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

    snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
    if (fd >= 0 && unshare(CLONE_NEWNS) == 0 &&
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("dead", folder, "fuse", 0, options) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* State of the only other thread, 'D': held in the kernel, no signal ends that. */
static char thread_state(void)
{
    DIR *d = opendir("/proc/self/task");
    struct dirent *e;
    char name[320], line[512], state = 0;
    FILE *f;

    while ((e = readdir(d))) {
        snprintf(name, sizeof(name), "/proc/self/task/%s/stat", e->d_name);
        f = fopen(name, "r");
        if (f && fgets(line, sizeof(line), f) && strstr(line, "(faultloc-rules) "))
            state = strchr(line, ')')[2];
        if (f)
            fclose(f);
    }
    closedir(d);
    return state;
}

/* The same with the kernel's own: it hangs, its server is given up, and what is there is read. */
TEST_CASE(a_real_one_that_hangs)
{
    int server = mount_dead_server();

    if (server < 0) {
        printf("skipped: no file system can be mounted here\n");
    } else {
        start();
        UNTIL(thread_state() == 'D');
        ck_assert(!faultloc_reader_take(reader, &news));
        ck_assert_int_eq(thread_state(), 'D');
        close(server);
        ck_assert_int_eq(umount2(folder, MNT_DETACH), 0);
        UNTIL(has_come("first"));
    }
}

/* One that this thread blocks stays pending if the other does not take it. */
TEST_CASE(signals_are_the_programs)
{
    sigset_t one, pending;

    start();
    expect("first");
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &one, NULL);
    kill(getpid(), SIGUSR1);
    sigpending(&pending);
    ck_assert(sigismember(&pending, SIGUSR1));
}
