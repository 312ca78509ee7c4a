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
#define OLD_US 600000000LL /* what is older says nothing of now */

/* The first one whose words are all in a text counts.  A message that user space has written does not. */
static const struct {
    const char *says, *and, *symptom;
} messages[] = {
    {"NVRM: Xid", NULL, "gpu-failed"},
    {"NVRM: Xid", NULL, NULL}, /* those that a program causes */
    {"EDAC MC", " UE ", "memory-uncorrected"},
    {"EDAC MC", " CE ", "memory-corrected"},
    {"[Hardware Error]", "Uncorrected", "kernel-error"},
    {"[Hardware Error]", "fatal", "kernel-error"},
    {"[Hardware Error]", "Machine Check Exception", "kernel-error"},
    {"blocked for more than", NULL, "kernel-error"},
    {"soft lockup", NULL, "kernel-error"},
    {"hard LOCKUP", NULL, "kernel-error"},
    {"self-detected stall", NULL, "kernel-error"},
    {"Oops", NULL, "kernel-error"},
    {"BUG:", NULL, "kernel-error"},
    {"Out of memory: Killed", NULL, "memory-pressure"},
    {"Memory cgroup out of memory: Killed", NULL, "memory-pressure"},
    {"nfs: server", "not responding", "mount-silent"},
    {"lockd: server", "not responding", "mount-silent"},
    {"I/O error, dev", NULL, "io-error"},
    {"EXT4-fs error", NULL, "io-error"},
    {"cpu clock throttled", NULL, "cpu-throttled"},
    {"Marking clocksource", NULL, "clock-changed"},
};
#define MESSAGES (sizeof(messages) / sizeof(messages[0]))

struct last {
    long long at; /* microseconds since the node's start; 0: none */
    char text[160];
};

/* "NVRM: Xid (PCI:0000:3b:00): 79, ..." */
static bool is_failed_gpu(const char *text)
{
    const char *at = strstr(text, "): ");

    return at && site_xid_fails(strtoull(at + 3, NULL, 10));
}

/* A drive without a disk is no fault. */
static bool is_removable(const char *text)
{
    return strstr(text, ", dev sr") || strstr(text, ", dev fd") || strstr(text, ", dev loop");
}

static bool is_message(size_t i, const char *text)
{
    const char *symptom = messages[i].symptom;

    if (!strstr(text, messages[i].says) || (messages[i].and &&!strstr(text, messages[i].and)))
        return false;
    if (symptom && !strcmp(symptom, "gpu-failed"))
        return is_failed_gpu(text);
    return !symptom || strcmp(symptom, "io-error") || !is_removable(text);
}

static size_t kind_of(const char *text)
{
    size_t i = 0;

    while (i < MESSAGES && !is_message(i, text))
        i++;
    return i;
}

/* "nfs: server fs1 OK" ends what "nfs: server fs1 not responding" began. */
static void end_silence(const char *text, struct last *last)
{
    const char *ok = strstr(text, " OK");
    size_t len = ok ? (size_t) (ok - text) + 1 : 0;

    for (size_t i = 0; ok && i < MESSAGES; i++)
        if (messages[i].and &&!strcmp(messages[i].and, "not responding") &&
            !strncmp(last[i].text, text, len))
            last[i].at = 0;
}

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
    end_silence(text, last);
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

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* What the kernel says of a mount is old where the mounts answer. */
static void say(struct site_os *o, const struct last *last)
{
    char uptime[64];
    long long now;

    faultloc_text_read(o->proc, uptime, sizeof(uptime), "uptime");
    now = (long long) (strtod(uptime, NULL) * 1e6);
    for (size_t i = 0; i < MESSAGES; i++) {
        const char *symptom = messages[i].symptom;
        bool newer = false,
             mute = last[i].at < now - OLD_US || (o->mounts_answer && is_same(symptom, "mount-silent"));
        for (size_t j = 0; j < MESSAGES; j++)
            newer |= is_same(symptom, messages[j].symptom) && last[j].at > last[i].at;
        o->age_s = symptom && !mute ? (double) (now - last[i].at) / 1e6 : -1;
        if (last[i].at && !newer)
            site_os_say(o, mute ? NULL : symptom, "kernel: %s", last[i].text);
    }
    o->age_s = -1;
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
