/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include "faultloc/base/text_file.h"
#include "ftree/base/symptom.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The kernel's log, since the job began: of each kind of message the last one.  It is read record by
 * record, without waiting: "6,339,5140900,-;text", where the third number is in microseconds since the
 * node's start.
 *
 * Source: Documentation/ABI/testing/dev-kmsg of Linux.
 */

#define RECORD_MAX 8192 /* what the kernel may give at once: less is an error */
#define RECORDS_MOST 200000

/* The first one that is in a text counts.  A message that user space has written does not. */
static const struct {
    const char *says, *symptom;
} messages[] = {
    {"NVRM: Xid", "gpu-failed"},
    {"[Hardware Error]: Corrected", "memory-corrected"},
    {"[Hardware Error]", "kernel-error"},
    {"Machine check", "kernel-error"},
    {"blocked for more than", "kernel-error"},
    {"soft lockup", "kernel-error"},
    {"hard LOCKUP", "kernel-error"},
    {"self-detected stall", "kernel-error"},
    {"Oops", "kernel-error"},
    {"BUG:", "kernel-error"},
    {"Out of memory: Killed", "memory-pressure"},
    {"Memory cgroup out of memory: Killed", "memory-pressure"},
    {"not responding", "mount-silent"}, /* "nfs: server fs1 not responding, still trying" */
    {"I/O error, dev", "io-error"},
    {"EXT4-fs error", "io-error"},
    {"cpu clock throttled", "cpu-throttled"},
    {"Marking clocksource", "clock-changed"},
};
#define MESSAGES (sizeof(messages) / sizeof(messages[0]))

struct last {
    long long at; /* microseconds since the node's start; 0: none */
    char text[160];
};

static size_t kind_of(const char *text)
{
    size_t i = 0;

    while (i < MESSAGES && !strstr(text, messages[i].says))
        i++;
    return i;
}

/* "OK" ends what "not responding" began. */
static void read_record(char *record, long long since, struct last *last)
{
    char *text = strchr(record, ';'), *end;
    long priority = strtol(record, &end, 10), at = 0;
    size_t kind;

    if (!text || *end != ',' || priority >> 3 != 0)
        return;
    end = strchr(end + 1, ',');
    at = end ? strtol(end + 1, NULL, 10) : 0;
    text++;
    text[strcspn(text, "\n")] = '\0';
    for (size_t i = 0; i < MESSAGES && !strncmp(text, "nfs: server", 11) && strstr(text, " OK"); i++)
        if (!strcmp(messages[i].symptom, "mount-silent"))
            last[i].at = 0;
    kind = kind_of(text);
    if (kind == MESSAGES || at < since)
        return;
    last[kind].at = at > 0 ? at : 1;
    snprintf(last[kind].text, sizeof(last[kind].text), "%s", text);
}

/* A file that is no device, as of a test, gives many records at once. */
static void read_records(int fd, long long since, struct last *last)
{
    char text[RECORD_MAX + 1];
    ssize_t n;

    for (int i = 0; i < RECORDS_MOST; i++) {
        n = read(fd, text, RECORD_MAX);
        if (n < 0 && (errno == EPIPE || errno == EINTR)) /* the kernel has written over it */
            continue;
        if (n <= 0)
            return;
        text[n] = '\0';
        for (char *at = text, *end; *at; at = end) {
            end = strchr(at, '\n') ? strchr(at, '\n') + 1 : at + strlen(at);
            if (*at != ' ' && end > at && end[-1] == '\n')
                end[-1] = '\0', read_record(at, since, last);
        }
    }
}

/* When the job began, in microseconds since the node's start. */
static long long since_start(const struct site_os *o)
{
    char text[65536];
    const char *at;

    faultloc_text_read(o->proc, text, sizeof(text), "stat");
    at = strstr(text, "btime ");
    return at && o->since_ms > 0 ? (o->since_ms - 1000 * strtoll(at + 6, NULL, 10)) * 1000 : 0;
}

static void say(struct site_os *o, const struct last *last)
{
    for (size_t i = 0; i < MESSAGES; i++) {
        bool newer = false;
        for (size_t j = 0; j < MESSAGES; j++)
            newer |= !strcmp(messages[i].symptom, messages[j].symptom) && last[j].at > last[i].at;
        if (last[i].at && !newer)
            site_os_say(o, messages[i].symptom, "kernel: %s", last[i].text);
    }
}

void site_os_log(struct site_os *o)
{
    struct last last[MESSAGES] = {{.at = 0}};
    int fd = open(o->log, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0 && (errno == EPERM || errno == EACCES))
        site_os_lacks(o, "the kernel's log (set kernel.dmesg_restrict=0)");
    else if (fd < 0)
        site_os_lacks(o, "the kernel's log (there is none here)");
    if (fd < 0)
        return;
    read_records(fd, since_start(o), last);
    close(fd);
    say(o, last);
}
