/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* What ipmitool prints.  A BMC may say anything, and so may what calls itself ipmitool. */

static bool has_line(const char *text, const char *line)
{
    size_t n = strlen(line);

    for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        if (!strncmp(at, line, n) && (at[n] == '\n' || at[n] == '\r' || !at[n]))
            return true;
    return false;
}

/* Both at once is no answer. */
bool site_ipmi_power(const char *text, FILE *out)
{
    bool on = has_line(text, "Chassis Power is on"), off = has_line(text, "Chassis Power is off");

    if (on == off)
        return false;
    site_say(out, on ? "power-on" : "power-off", on ? "chassis power is on" : "chassis power is off");
    return true;
}

/* Of -v; the order matters, for the last ones follow the first. */
static const struct {
    const char *says, *why;
} reasons[] = {
    {"RAKP 2", "the BMC refuses the user or password"},
    {"RAKP 4", "the BMC refuses the user or password"},
    {"insufficient privilege", "the BMC user may not ask this"},
    {"Get Auth Capabilities", "the BMC does not answer"},
    {"Address lookup", "the BMC's address is not known"},
    {"Could not open socket", "there is no route to the BMC"},
    {"Unable to establish", "the BMC makes no session"},
};

const char *site_ipmi_why(const char *text)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (strstr(text, reasons[i].says))
            return reasons[i].why;
    return "ipmitool does not say whether the power is on";
}

/* ---- sensors --------------------------------------------------------------------------------- */

#define SENSOR_LINES 2

/* Field i of a line of comma-separated values; its length, 0: there is none. */
static size_t field(const char *line, size_t len, int i, const char **out)
{
    const char *at = line, *end = line + len, *comma;

    *out = "";
    for (; i > 0 && (comma = memchr(at, ',', (size_t) (end - at))); i--)
        at = comma + 1;
    if (i > 0)
        return 0;
    *out = at;
    comma = memchr(at, ',', (size_t) (end - at));
    return (size_t) ((comma ? comma : end) - at);
}

static bool is(const char *text, size_t len, const char *what)
{
    return len == strlen(what) && !memcmp(text, what, len);
}

/* "CPU Temp,98,degrees C,ucr": name, reading, unit, state; "cr" in other listings. */
static bool is_critical(const char *state, size_t n)
{
    return is(state, n, "ucr") || is(state, n, "lcr") || is(state, n, "unr") ||
           is(state, n, "lnr") || is(state, n, "cr") || is(state, n, "nr");
}

static const char *symptom_of(const char *unit, size_t n)
{
    return is(unit, n, "degrees C") || is(unit, n, "degrees F") ? "temperature-high"
           : is(unit, n, "RPM")                                 ? "fan-failed"
                                                                : NULL;
}

static bool say_sensor(const char *line, size_t len, bool has_power, struct json_object *request,
                       FILE *out)
{
    const char *name, *reading, *unit, *state;
    size_t names = field(line, len, 0, &name), readings = field(line, len, 1, &reading);
    size_t units = field(line, len, 2, &unit), states = field(line, len, 3, &state);
    const char *symptom = units ? symptom_of(unit, units) : NULL;
    bool critical = is_critical(state, states);
    char text[128];

    if (!names || !readings || !states ||
        !(critical || site_is_beyond(request, symptom, strtod(reading, NULL))) ||
        (!has_power && (*state == 'l' || is(unit, units, "RPM"))))
        return false;
    snprintf(text, sizeof(text), "sensor %.*s is at %.*s %.*s: beyond its %s",
             (int) (names < 32 ? names : 32), name, (int) (readings < 16 ? readings : 16), reading,
             (int) (units < 16 ? units : 16), unit,
             critical ? "critical threshold" : "limit in the rules");
    site_say(out, symptom, text);
    return true;
}

void site_ipmi_sensors(const char *text, bool has_power, struct json_object *request, FILE *out)
{
    int said = 0;

    for (const char *at = text, *end; *at && said < SENSOR_LINES; at = *end ? end + 1 : end) {
        end = at + strcspn(at, "\n");
        said += say_sensor(at, (size_t) (end - at), has_power, request, out);
    }
}

bool site_ipmi_has_sensors(const char *text)
{
    const char *at = strstr(text, "Record Count");

    at = at ? strchr(at, ':') : NULL;
    return at && strtol(at + 1, NULL, 10) > 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

#define EVENT_KINDS 6 /* that are reported, the newest ones */

static const struct {
    const char *of, *says, *symptom; /* of: the kind of the sensor, "": any */
} events[] = {
    {"Memory", "Uncorrectable ECC", "memory-uncorrected"},
    {"", "Uncorrectable error", "memory-uncorrected"},
    {"Fan", "Lower Critical going low", "fan-failed"},
    {"Fan", "Lower Non-recoverable going low", "fan-failed"},
    {"Fan", "Transition to Off Line", "fan-failed"},
    {"Fan", "Device Absent", "fan-failed"},
    {"Temperature", "Upper Critical going high", "temperature-high"},
    {"Temperature", "Upper Non-recoverable going high", "temperature-high"},
    {"Processor", "Thermal Trip", "temperature-high"},
    {"Processor", "IERR", "cpu-failed"},
    {"Processor", "Configuration Error", "cpu-failed"},
    {"Power Supply", "Failure detected", "power-supply-failed"},
    {"Power Supply", "Power Supply AC lost", "power-supply-failed"},
    {"Power Supply", "AC out-of-range", "power-supply-failed"},
    {"Drive Slot", "Drive Fault", "disk-failed"},
    {"Drive Slot", "In Failed Array", "disk-failed"},
    {"", "Predictive failure", NULL},
    {"", "OS Critical Stop", "kernel-error"},
    {"", "Run-time critical stop", "kernel-error"},
    {"", "Power off", NULL},
    {"", "AC lost", NULL},
    {"", "Timer expired", NULL},
    {"", "Hard reset", NULL},
};
#define EVENTS ((int) (sizeof(events) / sizeof(events[0])))

static bool begins(const char *text, size_t n, const char *with)
{
    return n >= strlen(with) && !strncasecmp(text, with, strlen(with));
}

/* Its row, -1: it is none of a fault. */
static int event_of(const char *of, size_t ofs, const char *words, size_t n)
{
    for (int i = 0; i < EVENTS; i++)
        if (begins(of, ofs, events[i].of) && begins(words, n, events[i].says))
            return i;
    return -1;
}

/* A BMC that knows no date counts seconds since its start. */
#define PRE_INIT (-1e12)
#define NO_TIME (-1e18)

/* "01/31/26" or "01/31/2026", and "12:00:00"; " Pre-Init " and "0000001896". */
static double time_of(const char *day, const char *time)
{
    struct tm t = {.tm_isdst = 0};

    if (!strncmp(day + strspn(day, " "), "Pre-Init", 8))
        return PRE_INIT + (double) strtoul(time, NULL, 10);
    if (sscanf(day, "%2d/%2d/%4d", &t.tm_mon, &t.tm_mday, &t.tm_year) != 3 ||
        sscanf(time, "%2d:%2d:%2d", &t.tm_hour, &t.tm_min, &t.tm_sec) != 3)
        return NO_TIME;
    t.tm_mon--;
    t.tm_year += t.tm_year < 100 ? 100 : -1900;
    return (double) timegm(&t);
}

/* What `sel time get` printed, the last line: "01/31/26 12:00:40 UTC", or "S+ 00:31:36", which after a day is
 * "S+ 70/002 00:17:25": the year and its day, as if it had begun with 1970. */
static double clock_of(const char *text)
{
    struct tm t = {.tm_year = 70, .tm_mday = 1};
    const char *at = text, *space;

    for (const char *next; (next = strchr(at, '\n')) && next[1];)
        at = next + 1;
    if (sscanf(at, "S+ %2d:%2d:%2d", &t.tm_hour, &t.tm_min, &t.tm_sec) == 3 ||
        sscanf(at, "S+ %2d/%3d %2d:%2d:%2d", &t.tm_year, &t.tm_mday, &t.tm_hour, &t.tm_min, &t.tm_sec) == 5)
        return PRE_INIT + (double) timegm(&t);
    space = strchr(at, ' ');
    return space ? time_of(at, space + 1) : NO_TIME;
}

/* False: not known. */
static bool age_of(double event, double clock, double *age)
{
    *age = clock - event;
    return event > NO_TIME && clock > NO_TIME && *age >= 0 && *age < 1e9;
}

struct event {
    int row;
    double at;
    char text[128];
};

/* "1,01/31/26,12:00:00,Memory #0x04,Uncorrectable ECC,Asserted" */
static bool read_event(const char *line, size_t len, struct event *e)
{
    const char *day, *time, *of, *words, *how;
    size_t days = field(line, len, 1, &day), times = field(line, len, 2, &time);
    size_t ofs = field(line, len, 3, &of), n = field(line, len, 4, &words);
    size_t hows = field(line, len, 5, &how);

    e->row = event_of(of, ofs, words, n);
    if (e->row < 0 || !is(how, hows, "Asserted"))
        return false;
    e->at = days && times ? time_of(day, time) : NO_TIME;
    snprintf(e->text, sizeof(e->text), "event log: %.*s, %.*s (%.*s %.*s)",
             (int) (ofs < 32 ? ofs : 32), of, (int) (n < 32 ? n : 32), words,
             (int) (days < 12 ? days : 12), day, (int) (times < 12 ? times : 12), time);
    return true;
}

static bool is_same_kind(const struct event *a, const struct event *b)
{
    const char *one = events[a->row].symptom, *other = events[b->row].symptom;

    return one && other ? !strcmp(one, other) : one == other;
}

/* A later line is a newer event. */
static int note_event(struct event *all, int n, const struct event *e)
{
    int i = 0;

    while (i < n && !is_same_kind(&all[i], e))
        i++;
    if (i == EVENT_KINDS)
        return n;
    all[i] = *e;
    return i == n ? n + 1 : n;
}

static int read_events(const char *text, struct event *all)
{
    struct event e;
    int n = 0;

    for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
        end = at + strcspn(at, "\r\n");
        if (read_event(at, (size_t) (end - at), &e))
            n = note_event(all, n, &e);
    }
    return n;
}

void site_ipmi_events(const char *text, FILE *out)
{
    struct event all[EVENT_KINDS];
    int n = read_events(text, all);
    double now = clock_of(text), age;

    for (int i = 0; i < n; i++) {
        bool is_known = age_of(all[i].at, now, &age);
        site_say_ago(out, is_known ? events[all[i].row].symptom : NULL, is_known ? age : -1,
                     all[i].text);
    }
}
