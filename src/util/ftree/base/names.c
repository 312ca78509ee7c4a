/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "ftree/base/base.h"
#include "ftree/survey/query.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Names of the numbers of public headers, and the numbers of names. */

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

#define TEXT(id, text) text,
static const char *const errors[] = {FTREE_ERRORS(TEXT)};
static const char *const reaches[] = {FTREE_REACHES(TEXT)};
static const char *const kinds[] = {FTREE_KINDS(TEXT)};
static const char *const sources[] = {FTREE_SOURCES(TEXT)};
static const char *const severities[] = {FTREE_SEVERITIES(TEXT)};
static const char *const tickets[] = {FTREE_TICKETS(TEXT)};

/* Those that networks and file systems cause. */
#define ERRNO(number) {number, #number}
static const struct {
    int error;
    const char *name;
} errnos[] = {
    ERRNO(EACCES), ERRNO(EADDRNOTAVAIL), ERRNO(ECONNABORTED), ERRNO(ECONNREFUSED),
    ERRNO(ECONNRESET), ERRNO(EHOSTDOWN), ERRNO(EHOSTUNREACH), ERRNO(EIO), ERRNO(ENETDOWN),
    ERRNO(ENETRESET), ERRNO(ENETUNREACH), ERRNO(ENODEV), ERRNO(ENOMEM), ERRNO(ENOSPC),
    ERRNO(ENOTCONN), ERRNO(EPERM), ERRNO(EPIPE), ERRNO(EROFS), ERRNO(ESHUTDOWN), ERRNO(ESTALE),
    ERRNO(ETIMEDOUT),
};

static const char *const origins[] = {"hardware", "software", "unknown"};
static const char *const links[] = {"unknown", "up", "down", "no-carrier", "gone", "flapping",
                                    "slow"};
static const char *const doings[] = {FTREE_DOINGS(TEXT)};

static const struct {
    const char *name;
    enum ftree_kind kind;
    enum ftree_origin origin;
    enum ftree_ticket ticket;
    enum ftree_explains explains;
    unsigned says;
    const char *one, *several, *over;
} classes[] = {
#define CLASS_ROW(id, text, kind, origin, ticket, explains, says, one, several, over, when) \
    {text, FTREE_KIND_##kind, FTREE_ORIGIN_##origin, FTREE_TICKET_##ticket, \
     FTREE_EXPLAINS_##explains, says, one, several, over},
    FTREE_CLASSES(CLASS_ROW)
#undef CLASS_ROW
};

#define CLASS_HAS_WORDS(id, text, kind, origin, ticket, explains, says, one, several, over, when) \
    _Static_assert(sizeof(one) > 1 && sizeof(several) > 1 && sizeof(over) > 1 && sizeof(when) > 1, \
                   text " lacks words");
FTREE_CLASSES(CLASS_HAS_WORDS)
#undef CLASS_HAS_WORDS

static const struct ftree_symptom_info symptoms[] = {
#define SYMPTOM_ROW(id, name, source, kind, severity, meaning) \
    {name, FTREE_SOURCE_##source, FTREE_KIND_##kind, FTREE_SEVERITY_##severity, meaning},
    FTREE_SYMPTOMS(SYMPTOM_ROW)
#undef SYMPTOM_ROW
};

#define NAME_OF(function, table) \
    const char *function(int i) \
    { \
        return i >= 0 && i < COUNT(table) ? table[i] : "?"; \
    }

NAME_OF(ftree_strerror, errors)
NAME_OF(ftree_reach_name, reaches)
NAME_OF(ftree_kind_name, kinds)
NAME_OF(ftree_source_name, sources)
NAME_OF(ftree_severity_name, severities)
NAME_OF(ftree_origin_name, origins)
NAME_OF(ftree_ticket_name, tickets)
NAME_OF(ftree_link_name, links)
NAME_OF(ftree_doing_name, doings)

const char *ftree_path_name(int path)
{
    return path == FTREE_PATH_DATA ? "data" : path == FTREE_PATH_MGMT ? "mgmt" : "local";
}

const char *ftree_node_name(const struct ftree_job *job, int32_t node, char *buf, size_t len)
{
    if (job->node_name && node >= 0 && node < job->nodes)
        return job->node_name[node];
    snprintf(buf, len, "n%d", (int) node);
    return buf;
}

const char *ftree_errno_at(int i, int *error)
{
    if (i < 0 || i >= COUNT(errnos))
        return NULL;
    *error = errnos[i].error;
    return errnos[i].name;
}

static bool is_class(int class_)
{
    return class_ >= 0 && class_ < FTREE_CLASS_COUNT;
}

#define FIELD_OF(type, function, field, otherwise) \
    type function(int class_) \
    { \
        return is_class(class_) ? classes[class_].field : (otherwise); \
    }

FIELD_OF(const char *, ftree_class_name, name, "?")
FIELD_OF(int, ftree_class_origin, origin, FTREE_ORIGIN_UNKNOWN)
FIELD_OF(int, ftree_class_kind, kind, FTREE_KIND_NODE)
FIELD_OF(int, ftree_class_ticket, ticket, FTREE_TICKET_OF_CLASS)
FIELD_OF(enum ftree_explains, ftree_class_explains, explains, FTREE_EXPLAINS_NEVER)

bool ftree_class_says(int class_, unsigned what)
{
    return is_class(class_) && classes[class_].says & what;
}

const char *ftree_class_headline(int class_, bool several)
{
    if (!is_class(class_))
        class_ = FTREE_CLASS_UNKNOWN;
    return several ? classes[class_].several : classes[class_].one;
}

const char *ftree_class_over(int class_)
{
    return classes[is_class(class_) ? class_ : FTREE_CLASS_UNKNOWN].over;
}

bool ftree_class_ends_job(int class_)
{
    return ftree_class_says(class_, FTREE_ENDS_JOB);
}

bool ftree_is_stopped(char proc_state)
{
    return proc_state == 'T' || proc_state == 't' || proc_state == FTREE_PROC_FROZEN ||
           proc_state == FTREE_PROC_MEMORY;
}

bool ftree_verdict_is_held(const struct ftree_verdict *v)
{
    for (int32_t i = 0; i < v->evidences; i++)
        if (v->evidence[i].proc_state == 't')
            return true;
    return v->holds_back >= FTREE_HOLDS_FOR_EVER;
}

const struct ftree_symptom_info *ftree_symptom_info(int kind)
{
    static const struct ftree_symptom_info none = {.name = "?", .meaning = ""};

    return kind >= 0 && kind < FTREE_SYMPTOM_COUNT ? &symptoms[kind] : &none;
}

#define NUMBER_OF(function, table, field) \
    int function(const char *name) \
    { \
        for (int i = 0; i < COUNT(table); i++) \
            if (strcmp(table[i] field, name) == 0) \
                return i; \
        return -1; \
    }

NUMBER_OF(ftree_class_by_name, classes, .name)
NUMBER_OF(ftree_symptom_by_name, symptoms, .name)
NUMBER_OF(ftree_kind_by_name, kinds, )
NUMBER_OF(ftree_severity_by_name, severities, )
