/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include <stdlib.h>
#include <string.h>

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

static bool say_sensor(const char *line, size_t len, FILE *out)
{
    const char *name, *reading, *unit, *state;
    size_t names = field(line, len, 0, &name), readings = field(line, len, 1, &reading);
    size_t units = field(line, len, 2, &unit), states = field(line, len, 3, &state);
    char text[128];

    if (!names || !readings || !states || !is_critical(state, states))
        return false;
    snprintf(text, sizeof(text), "sensor %.*s is at %.*s %.*s: beyond its critical threshold",
             (int) (names < 32 ? names : 32), name, (int) (readings < 16 ? readings : 16), reading,
             (int) (units < 16 ? units : 16), unit);
    site_say(out, units ? symptom_of(unit, units) : NULL, text);
    return true;
}

void site_ipmi_sensors(const char *text, FILE *out)
{
    int said = 0;

    for (const char *at = text, *end; *at && said < SENSOR_LINES; at = *end ? end + 1 : end) {
        end = at + strcspn(at, "\n");
        said += say_sensor(at, (size_t) (end - at), out);
    }
}

bool site_ipmi_has_sensors(const char *text)
{
    const char *at = strstr(text, "Record Count");

    at = at ? strchr(at, ':') : NULL;
    return at && strtol(at + 1, NULL, 10) > 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

static const struct {
    const char *says, *symptom;
} events[] = {
    {"Uncorrectable ECC", "memory-uncorrected"},
    {"Uncorrectable error", "memory-uncorrected"},
    {"Power off", NULL},
    {"AC lost", NULL},
    {"Failure detected", NULL},
    {"Thermal Trip", NULL},
    {"IERR", NULL},
    {"OS Critical Stop", "kernel-error"},
    {"Run-time critical stop", "kernel-error"},
    {"Timer expired", NULL},
    {"Hard reset", NULL},
};

/* Its row, -1: it is none of a fault. */
static int event_of(const char *words, size_t n)
{
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
        if (n >= strlen(events[i].says) && !memcmp(words, events[i].says, strlen(events[i].says)))
            return (int) i;
    return -1;
}

/* "1,01/31/26,12:00:00,Memory #0x04,Uncorrectable ECC,Asserted": the last line is the newest. */
static bool read_event(const char *line, size_t len, char *text, size_t room, int *event)
{
    const char *day, *time, *of, *words, *how;
    size_t days = field(line, len, 1, &day), times = field(line, len, 2, &time);
    size_t ofs = field(line, len, 3, &of), n = field(line, len, 4, &words);
    size_t hows = field(line, len, 5, &how);
    int row = event_of(words, n);

    if (row < 0 || !is(how, hows, "Asserted"))
        return false;
    *event = row;
    snprintf(text, room, "event log: %.*s, %.*s (%.*s %.*s)", (int) (ofs < 32 ? ofs : 32), of,
             (int) (n < 32 ? n : 32), words, (int) (days < 12 ? days : 12), day,
             (int) (times < 12 ? times : 12), time);
    return true;
}

void site_ipmi_events(const char *text, FILE *out)
{
    char words[128] = "";
    int event = 0;

    for (const char *at = text, *end; *at; at = *end ? end + 1 : end) {
        end = at + strcspn(at, "\r\n");
        read_event(at, (size_t) (end - at), words, sizeof(words), &event);
    }
    if (*words)
        site_say(out, events[event].symptom, words);
}
