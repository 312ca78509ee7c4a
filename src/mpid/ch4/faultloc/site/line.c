/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include "ftree/base/symptom.h"
#include "ftree/base/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A line that a handler prints: {"symptom": "power-off", "text": "chassis power is off"}, or
 * {"why_not": "the login was refused"}.  "value" may have any number or text beside it. */

bool site_is_beyond(struct json_object *request, const char *symptom, double value)
{
    const char *at = faultloc_text(request, "limits");
    size_t n = symptom ? strlen(symptom) : 0;

    for (; at && n; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, symptom, n) || (at[n] != '>' && at[n] != '<'))
            continue;
        if (at[n] == '>' ? value > strtod(at + n + 1, NULL) : value < strtod(at + n + 1, NULL))
            return true;
    }
    return false;
}

static bool add_text(struct json_object *to, const char *key, const char *text)
{
    char clean[FTREE_DETAIL_MAX];

    if (!text)
        return true;
    snprintf(clean, sizeof(clean), "%s", text);
    ftree_text_ascii(clean);
    return faultloc_json_set(to, key, json_object_new_string(clean));
}

/* In whole seconds. */
static bool add_age(struct json_object *to, double age_s)
{
    return !(age_s >= 0 && age_s < 1e9) ||
           faultloc_json_set(to, "age_s", json_object_new_int64((int64_t) age_s));
}

static void print(FILE *out, const char *symptom, double age_s, const char *key, const char *text)
{
    struct json_object *o = json_object_new_object();

    if (o && add_text(o, "symptom", symptom) && add_age(o, age_s) && add_text(o, key, text))
        fprintf(out, "%s\n",
                json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
                                                      JSON_C_TO_STRING_NOSLASHESCAPE));
    fflush(out);
    json_object_put(o);
}

void site_say(FILE *out, const char *symptom, const char *text)
{
    print(out, symptom, -1, "text", text);
}

void site_say_ago(FILE *out, const char *symptom, double age_s, const char *text)
{
    print(out, symptom, age_s, "text", text);
}

void site_say_not(FILE *out, const char *why)
{
    print(out, NULL, -1, "why_not", why);
}

void site_os_say(struct site_os *o, const char *symptom, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    site_say_ago(o->out, symptom, o->age_s, text);
    o->said++;
}

void site_os_lacks(struct site_os *o, const char *what)
{
    site_os_say(o, NULL, "not known: %s", what);
}

static bool is_finding(struct json_object *o)
{
    const char *symptom = faultloc_text(o, "symptom");
    struct json_object *v;

    if (!symptom && json_object_object_get_ex(o, "symptom", &v))
        return false;
    return (faultloc_text(o, "text") || faultloc_text(o, "why_not")) &&
           (!symptom || ftree_symptom_by_name(symptom) >= 0);
}

static double age_of(struct json_object *o)
{
    struct json_object *age;
    bool has_one = json_object_object_get_ex(o, "age_s", &age) &&
                   (json_object_is_type(age, json_type_int) || json_object_is_type(age, json_type_double));

    return has_one ? json_object_get_double(age) : -1;
}

struct json_object *site_failure(const char *handler, const char *why)
{
    struct json_object *o = json_object_new_object();

    if (o && add_text(o, "handler", handler) && add_text(o, "why_not", why))
        return o;
    json_object_put(o);
    return NULL;
}

/* Only what is known goes on, as text for people that a terminal can have. */
struct json_object *site_line(const char *handler, const char *line, size_t len)
{
    struct json_object *o = len <= SITE_LINE_MAX ? faultloc_json_object(line, len, 4) : NULL;
    struct json_object *to = NULL;

    if (o && is_finding(o))
        to = json_object_new_object();
    if (to && (!add_text(to, "handler", handler) || !add_text(to, "symptom", faultloc_text(o, "symptom")) ||
               !add_age(to, age_of(o)) || !add_text(to, "text", faultloc_text(o, "text")) ||
               !add_text(to, "why_not", faultloc_text(o, "why_not")))) {
        json_object_put(to);
        to = NULL;
    }
    json_object_put(o);
    return to;
}
