/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include "faultloc/base/text_file.h"

#include <dirent.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Handler: the node that it runs on, as its kernel knows it: errors of memory, heat, fans, throttling,
 * shortage, disks, the clock; os_log.c has the kernel's log and os_mounts.c the file systems.  A counter
 * since the node's start says so, for that is older than the job.  What cannot be read is said in a
 * line each, with the remedy.
 *
 * Source: Documentation/admin-guide/RAS, ABI/testing/sysfs-class-thermal, hwmon/sysfs-interface.rst,
 * accounting/psi.rst, admin-guide/cgroup-v2.rst, ABI/testing/sysfs-fs-ext4 of Linux.
 */

#define CONTROLLERS 64
#define DIMMS 64
#define ZONES 64
#define TRIPS 12
#define SENSORS 32
#define CPUS 8192
#define DISKS 64
#define THROTTLE_MS 250 /* for so long counters are watched that count since the node's start, */
#define THROTTLE_LOOK_MS 50 /* so often */
#define MEMORY_STALL 40.0 /* percent of the time: as the rule base has it of a straggler */
#define IO_STALL 60.0
#define CPU_STALL 80.0

/* A word of a file, "": there is none. */
static bool word(const char *root, char *text, size_t room, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static bool word(const char *root, char *text, size_t room, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    faultloc_text_vread(root, text, room, format, args);
    va_end(args);
    text[strcspn(text, "\n")] = '\0';
    return *text;
}

/* A file that is one number; below 0: it is not there, or is none. */
#define number(...) ((long long) faultloc_text_number(__VA_ARGS__))

/* ---- memory ---------------------------------------------------------------------------------- */

/* The module with most errors of that kind, as its label says: what is to be changed. */
static void name_module(const struct site_os *o, int mc, const char *count, char *name, size_t room)
{
    long long most = 0, n;

    snprintf(name, room, "mc%d", mc);
    for (int i = 0; i < DIMMS; i++) {
        n = number(o->sys, "devices/system/edac/mc/mc%d/dimm%d/%s", mc, i, count);
        if (n > most &&
            word(o->sys, name, room, "devices/system/edac/mc/mc%d/dimm%d/dimm_label", mc, i))
            most = n;
    }
}

/* A counter that is older than the job says nothing of its time: the kernel's log does. */
static void say_memory(struct site_os *o, int mc, const char *symptom, const char *kind,
                       long long n)
{
    long long s = number(o->sys, "devices/system/edac/mc/mc%d/seconds_since_reset", mc);
    bool older = o->since_ms > 0 && (s < 0 || time(NULL) - s < o->since_ms / 1000);
    char name[48], count[32], since[48] = "";

    if (n <= 0)
        return;
    snprintf(count, sizeof(count), "dimm_%s_count", *kind == 'u' ? "ue" : "ce");
    name_module(o, mc, count, name, sizeof(name));
    if (s >= 0)
        snprintf(since, sizeof(since), " in %lld s", s);
    site_os_say(o, older ? NULL : symptom, "memory %s: %lld %s errors%s", name, n, kind, since);
}

static void look_at_memory(struct site_os *o)
{
    bool any = false;

    for (int i = 0; i < CONTROLLERS; i++) {
        long long ue = number(o->sys, "devices/system/edac/mc/mc%d/ue_count", i);
        long long ce = number(o->sys, "devices/system/edac/mc/mc%d/ce_count", i);
        any |= ue >= 0 || ce >= 0;
        say_memory(o, i, "memory-uncorrected", "uncorrected", ue);
        say_memory(o, i, "memory-corrected", "corrected", ce);
    }
    if (!any)
        site_os_lacks(o, "memory errors (no EDAC driver: load that of the memory controller)");
}

/* ---- heat and fans --------------------------------------------------------------------------- */

/* One line of the hottest zone beyond its trip point. */
static void look_at_zones(struct site_os *o)
{
    long long most = -1, at = 0, of = 0;
    char type[32], name[32] = "";

    for (int i = 0; i < ZONES; i++) {
        long long t = number(o->sys, "class/thermal/thermal_zone%d/temp", i);
        for (int j = 0; t >= 0 && j < TRIPS; j++) {
            long long trip =
                number(o->sys, "class/thermal/thermal_zone%d/trip_point_%d_temp", i, j);
            word(o->sys, type, sizeof(type), "class/thermal/thermal_zone%d/trip_point_%d_type", i,
                 j);
            if (trip <= 0 || t < trip || t - trip <= most ||
                (strcmp(type, "hot") && strcmp(type, "critical")))
                continue;
            most = t - trip, at = t, of = trip;
            word(o->sys, name, sizeof(name), "class/thermal/thermal_zone%d/type", i);
        }
    }
    if (most >= 0)
        site_os_say(o, "temperature-high", "zone %s is at %lld degrees C, critical are %lld", name,
                    at / 1000, of / 1000);
}

/* A driver has an alarm, a critical value beside the reading, both, or neither.  An alarm may be an old
 * one: the value counts. */
static bool is_hot(const struct site_os *o, int chip, int i, long long *at)
{
    long long crit = number(o->sys, "class/hwmon/hwmon%d/temp%d_crit", chip, i);

    *at = number(o->sys, "class/hwmon/hwmon%d/temp%d_input", chip, i);
    if (*at >= 0 && site_is_beyond(o->request, "temperature-high", (double) *at / 1000))
        return true;
    return *at >= 0 &&
           (crit >= 0 ? crit > 0 && *at >= crit
                      : number(o->sys, "class/hwmon/hwmon%d/temp%d_crit_alarm", chip, i) == 1);
}

static bool is_slow(const struct site_os *o, int chip, int i)
{
    long long at = number(o->sys, "class/hwmon/hwmon%d/fan%d_input", chip, i);

    return at >= 0 && site_is_beyond(o->request, "fan-failed", (double) at);
}

static void look_at_sensors(struct site_os *o)
{
    char chip[32];
    long long at;
    bool hot = false, fan = false;

    for (int c = 0; c < ZONES && !(hot && fan); c++) {
        if (!word(o->sys, chip, sizeof(chip), "class/hwmon/hwmon%d/name", c))
            continue;
        for (int i = 1; i <= SENSORS; i++) {
            if (!fan && (is_slow(o, c, i) ||
                         number(o->sys, "class/hwmon/hwmon%d/fan%d_alarm", c, i) == 1 ||
                         number(o->sys, "class/hwmon/hwmon%d/fan%d_fault", c, i) == 1)) {
                fan = true;
                site_os_say(o, "fan-failed",
                            "fan %d of %s has an alarm, at %lld revolutions a minute", i, chip,
                            number(o->sys, "class/hwmon/hwmon%d/fan%d_input", c, i));
            }
            if (!hot && is_hot(o, c, i, &at)) {
                hot = true;
                site_os_say(o, "temperature-high", "sensor %d of %s is at %lld degrees C: critical",
                            i, chip, at / 1000);
            }
        }
    }
}

/* ---- throttling ------------------------------------------------------------------------------ */

/* How many events all CPUs have had since the node's start; -1: that is not counted. */
static long long throttles(const struct site_os *o)
{
    long long all = -1, n;

    for (int i = 0; i < CPUS; i++) {
        n = number(o->sys, "devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count", i);
        if (n < 0)
            return all;
        all = (all < 0 ? 0 : all) + n;
        n = number(o->sys, "devices/system/cpu/cpu%d/thermal_throttle/package_throttle_count", i);
        all += n > 0 ? n : 0;
    }
    return all;
}

static void look_at_throttling(struct site_os *o, long long before)
{
    long long now = throttles(o);
    int waited = 0;

    for (; before >= 0 && now == before && waited < THROTTLE_MS; waited += THROTTLE_LOOK_MS) {
        poll(NULL, 0, THROTTLE_LOOK_MS);
        now = throttles(o);
    }
    if (before >= 0 && now > before)
        site_os_say(o, "cpu-throttled", "CPUs were throttled for heat %lld times within %d ms",
                    now - before, waited);
}

/* ---- shortage -------------------------------------------------------------------------------- */

static void look_at_pressure(struct site_os *o, const char *of, double most, const char *symptom,
                             const char *words)
{
    char text[256];
    const char *at;
    double share;

    faultloc_text_read(o->proc, text, sizeof(text), "pressure/%s", of);
    at = strstr(text, "some avg10=");
    if (!at && !strcmp(of, "cpu"))
        site_os_lacks(o, "shortage (no PSI: boot with psi=1)");
    share = at ? strtod(at + 11, NULL) : 0;
    if (share >= most)
        site_os_say(o, symptom, "tasks have waited for %s %.0f %% of the last 10 s", words, share);
}

/* "0::/system.slice/job_7/step_0": of a job of Slurm all its steps count.  Version 1 has a line of its
 * own for memory, and its files below a folder of that name. */
static bool find_group(const struct site_os *o, char *path, size_t room)
{
    char text[4096], *at, *job;
    bool first;

    faultloc_text_read(o->proc, text, sizeof(text), "self/cgroup");
    at = strstr(text, ":memory:");
    first = at != NULL;
    if (!first)
        at = strstr(text, "0::");
    if (!at)
        return false;
    at = strchr(at, '/');
    if (!at)
        return false;
    at[strcspn(at, "\n")] = '\0';
    job = strstr(at, "/job_");
    if (job)
        job[1 + strcspn(job + 1, "/")] = '\0';
    return snprintf(path, room, "fs/cgroup%s%s", first ? "/memory" : "", at) < (int) room;
}

/* The counter is as old as the group; the kernel's log has the time. */
static void look_at_killing(struct site_os *o)
{
    char path[400], text[512];
    const char *at;
    long n;

    if (!find_group(o, path, sizeof(path)))
        return;
    if (!faultloc_text_read(o->sys, text, sizeof(text), "%s/memory.events", path))
        faultloc_text_read(o->sys, text, sizeof(text), "%s/memory.oom_control", path);
    at = strstr(text, "oom_kill ");
    n = at ? strtol(at + 9, NULL, 10) : 0;
    if (n > 0)
        site_os_say(o, NULL, "the kernel has killed %ld processes of the job's control group", n);
}

/* ---- disks, the clock ------------------------------------------------------------------------ */

static void each_name(struct site_os *o, const char *folder,
                      void (*one)(struct site_os *o, const char *name))
{
    char path[512];
    struct dirent *e;
    DIR *d;

    snprintf(path, sizeof(path), "%s/%s", o->sys, folder);
    d = opendir(path);
    while (d && (e = readdir(d)))
        if (*e->d_name != '.')
            one(o, e->d_name);
    if (d)
        closedir(d);
}

static void look_at_file_system(struct site_os *o, const char *disk)
{
    long long n = number(o->sys, "fs/ext4/%s/errors_count", disk);
    long long at = number(o->sys, "fs/ext4/%s/last_error_time", disk);

    if (n > 0 && at * 1000 >= o->since_ms)
        site_os_say(o, "io-error", "the file system on %s has had %lld errors", disk, n);
}

static void look_at_array(struct site_os *o, const char *disk)
{
    long long n = number(o->sys, "block/%s/md/degraded", disk);

    if (n > 0)
        site_os_say(o, NULL, "array %s lacks %lld disks", disk, n);
}

/* Where the processor's own clock was found unreliable reading the time takes a microsecond or more. */
static void look_at_clock(struct site_os *o)
{
    static const char folder[] = "devices/system/clocksource/clocksource0";
    char now[32], all[128];

    word(o->sys, now, sizeof(now), "%s/current_clocksource", folder);
    word(o->sys, all, sizeof(all), "%s/available_clocksource", folder);
    if ((!strcmp(now, "hpet") || !strcmp(now, "acpi_pm") || !strcmp(now, "jiffies")) &&
        !strstr(all, "tsc"))
        site_os_say(o, "clock-changed",
                    "the clock source is %s: that of the processor was given up", now);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static const char *setting(struct json_object *request, const char *key, const char *otherwise)
{
    const char *text = faultloc_text(request, key);

    return text ? text : otherwise;
}

void site_os(struct json_object *request, FILE *out)
{
    struct site_os o = {.proc = setting(request, "proc_root", "/proc"),
                        .sys = setting(request, "sys_root", "/sys"),
                        .log = setting(request, "kernel_log", "/dev/kmsg"),
                        .ranks = faultloc_text(request, "ranks"),
                        .request = request,
                        .age_s = -1,
                        .out = out};
    long long before = throttles(&o);
    struct json_object *since;

    if (json_object_object_get_ex(request, "since_unix_ms", &since))
        o.since_ms = json_object_get_int64(since);
    site_os_mounts(&o);
    look_at_memory(&o);
    site_os_log(&o);
    look_at_zones(&o);
    look_at_sensors(&o);
    look_at_pressure(&o, "memory", MEMORY_STALL, "memory-pressure", "memory");
    look_at_pressure(&o, "io", IO_STALL, "io-slow", "disks");
    look_at_pressure(&o, "cpu", CPU_STALL, "cpu-pressure", "a CPU");
    look_at_killing(&o);
    each_name(&o, "fs/ext4", look_at_file_system);
    each_name(&o, "block", look_at_array);
    look_at_clock(&o);
    look_at_throttling(&o, before);
    if (!o.said)
        site_os_say(&o, NULL, "nothing is wrong");
}
