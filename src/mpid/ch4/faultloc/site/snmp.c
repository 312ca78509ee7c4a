/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#ifndef HAVE_NETSNMP

void site_snmp(struct json_object *request, FILE *out)
{
    (void) request;
    site_say_not(out, "this build has no SNMP: libsnmp-dev was not there");
}

#else

#include "faultloc/base/clock.h"

#include <net-snmp/net-snmp-config.h>
#include <net-snmp/net-snmp-includes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/*
 * Handler: the port of a node at its switch, in IF-MIB (RFC 2863).  A port that was made anew has two
 * rows for minutes: the one with the highest index counts.  Switches answer from a cache: a port that
 * is up is asked for again, until cache_ms are over.
 */

#define TIMEOUT_US 600000
#define AGAIN_MS 250
#define ROWS_MOST 4096

static const oid if_name[] = {1, 3, 6, 1, 2, 1, 31, 1, 1, 1, 1}, if_descr[] = {1, 3, 6, 1, 2, 1, 2, 2, 1, 2},
                 if_entry[] = {1, 3, 6, 1, 2, 1, 2, 2, 1}, up_time[] = {1, 3, 6, 1, 2, 1, 1, 3, 0};
enum { ADMIN = 7, OPER = 8, CHANGED = 9, IN_DISCARDS = 13, IN_ERRORS = 14, OUT_ERRORS = 20 };

struct asker {
    void *session;
    bool is_v3, answered; /* the switch has said anything but its engine's name */
    int error; /* SNMPERR_... */
};

/* ---- the session ----------------------------------------------------------------------------- */

static bool make_key(const oid *proto, size_t proto_len, const char *password, u_char *key, size_t *len)
{
    *len = USM_AUTH_KU_LEN;
    return password &&
           generate_Ku(proto, (u_int) proto_len, (const u_char *) password, strlen(password), key,
                       len) == SNMPERR_SUCCESS;
}

/* The privacy key, too, is made with the protocol of authentication. */
static bool set_user(struct snmp_session *s, struct json_object *r)
{
    const char *auth = faultloc_text(r, "auth_protocol"),
               *priv = faultloc_text(r, "privacy_protocol");
    int auth_type = usm_lookup_auth_type(auth ? auth : "SHA-256");
    int priv_type = usm_lookup_priv_type(priv ? priv : "AES");

    s->version = SNMP_VERSION_3;
    s->securityName = (char *) (uintptr_t) faultloc_text(r, "user");
    s->securityNameLen = s->securityName ? strlen(s->securityName) : 0;
    s->securityLevel = SNMP_SEC_LEVEL_AUTHPRIV;
    if (!s->securityName || auth_type < 0 || priv_type < 0)
        return false;
    s->securityAuthProto = sc_get_auth_oid(auth_type, &s->securityAuthProtoLen);
    s->securityPrivProto = sc_get_priv_oid(priv_type, &s->securityPrivProtoLen);
    return s->securityAuthProto && s->securityPrivProto &&
           make_key(s->securityAuthProto, s->securityAuthProtoLen,
                    faultloc_text(r, "auth_password"), s->securityAuthKey,
                    &s->securityAuthKeyLen) &&
           make_key(s->securityAuthProto, s->securityAuthProtoLen,
                    faultloc_text(r, "privacy_password"), s->securityPrivKey,
                    &s->securityPrivKeyLen);
}

/* NULL: it is open; else why not. */
static const char *open_session(struct asker *a, struct json_object *r)
{
    struct snmp_session s;

    snmp_sess_init(&s);
    s.peername = (char *) (uintptr_t) faultloc_text(r, "address");
    s.timeout = TIMEOUT_US;
    s.retries = 1;
    a->is_v3 = !faultloc_text(r, "community");
    if (!s.peername)
        return "it needs an address";
    if (a->is_v3 && !set_user(&s, r))
        return "it needs community, or user, auth_password and privacy_password of 8 characters or "
               "more, with protocols that libnetsnmp has";
    if (!a->is_v3) {
        s.version = SNMP_VERSION_2c;
        s.community = (u_char *) (uintptr_t) faultloc_text(r, "community");
        s.community_len = strlen((char *) s.community);
    }
    a->session = snmp_sess_open(&s);
    if (!a->session)
        a->error = s.s_snmp_errno ? s.s_snmp_errno : snmp_errno;
    return a->session ? NULL : "the switch does not answer";
}

/* A wrong key is silence: only that the engine was heard before tells it from a dead switch. */
static const char *why_silent(const struct asker *a)
{
    bool is_heard = a->is_v3 && snmp_sess_session(a->session)->securityEngineIDLen > 0;

    switch (a->error) {
        case SNMPERR_UNKNOWN_USER_NAME:
        case SNMPERR_AUTHENTICATION_FAILURE:
        case SNMPERR_UNSUPPORTED_SEC_LEVEL:
            return "the switch refuses the user or a password";
        default:
            return a->answered ? "the switch answers no more"
                   : is_heard  ? "the switch answers, but not to these passwords and protocols"
                   : a->is_v3  ? "the switch does not answer"
                               : "the switch does not answer (or not to this community)";
    }
}

/* To be freed by snmp_free_pdu(); NULL: no answer. */
static struct snmp_pdu *ask_switch(struct asker *a, struct snmp_pdu *pdu)
{
    struct snmp_pdu *answer = NULL;
    int rc = snmp_sess_synch_response(a->session, pdu, &answer), error = 0, unused;
    char *text = NULL;

    if (rc == STAT_SUCCESS && answer && answer->errstat == SNMP_ERR_NOERROR &&
        answer->command != SNMP_MSG_REPORT) {
        a->answered = true;
        return answer;
    }
    snmp_sess_error(a->session, &unused, &error, &text);
    free(text);
    a->error = error;
    if (answer)
        snmp_free_pdu(answer);
    return NULL;
}

/* ---- which row ------------------------------------------------------------------------------- */

static bool is_in(const struct variable_list *v, const oid *column, size_t n)
{
    return v->name_length == n + 1 && !snmp_oid_ncompare(v->name, v->name_length, column, n, n) &&
           v->type != SNMP_ENDOFMIBVIEW;
}

/* One request's rows; the last index, 0: there is no more. */
static oid take_rows(const struct snmp_pdu *answer, const oid *column, size_t n, oid after,
                     const char *port, oid *found)
{
    oid last = 0;

    for (const struct variable_list *v = answer->variables; v; v = v->next_variable) {
        if (!is_in(v, column, n) || v->name[n] <= after)
            return 0;
        last = after = v->name[n];
        if (v->type == ASN_OCTET_STR && v->val_len == strlen(port) &&
            !memcmp(v->val.string, port, v->val_len))
            *found = v->name[n];
    }
    return last;
}

/* False: no answer.  *found: its index, 0: there is no such port. */
static bool find_row(struct asker *a, const oid *column, size_t n, const char *port, oid *found)
{
    oid at[MAX_OID_LEN], after = 0;

    memcpy(at, column, n * sizeof(oid));
    for (int rows = 0; rows < ROWS_MOST; rows += 20) {
        struct snmp_pdu *pdu = snmp_pdu_create(SNMP_MSG_GETBULK), *answer;
        pdu->non_repeaters = 0;
        pdu->max_repetitions = 20;
        at[n] = after;
        snmp_add_null_var(pdu, at, after ? n + 1 : n);
        answer = ask_switch(a, pdu);
        if (!answer)
            return false;
        after = take_rows(answer, column, n, after, port, found);
        snmp_free_pdu(answer);
        if (!after)
            return true;
    }
    return true;
}

/* ---- what it says ---------------------------------------------------------------------------- */

static long long number_of(const struct snmp_pdu *answer, const oid *name, size_t n)
{
    for (const struct variable_list *v = answer->variables; v; v = v->next_variable)
        if (v->name_length == n && !snmp_oid_compare(v->name, n, name, n) && v->val.integer &&
            (v->type == ASN_INTEGER || v->type == ASN_COUNTER || v->type == ASN_TIMETICKS ||
             v->type == ASN_GAUGE))
            return v->type == ASN_INTEGER ? *v->val.integer : (u_int) *v->val.integer;
    return -1;
}

static long long column_of(const struct snmp_pdu *answer, oid column, oid row)
{
    oid name[11];

    memcpy(name, if_entry, sizeof(if_entry));
    name[9] = column;
    name[10] = row;
    return number_of(answer, name, 11);
}

static bool read_port(struct asker *a, oid row, struct site_port *p)
{
    static const oid columns[] = {ADMIN, OPER, CHANGED, IN_DISCARDS, IN_ERRORS, OUT_ERRORS};
    struct snmp_pdu *pdu = snmp_pdu_create(SNMP_MSG_GET), *answer;
    long long now, changed;
    oid name[11];

    memcpy(name, if_entry, sizeof(if_entry));
    name[10] = row;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        name[9] = columns[i];
        snmp_add_null_var(pdu, name, 11);
    }
    snmp_add_null_var(pdu, up_time, OID_LENGTH(up_time));
    answer = ask_switch(a, pdu);
    if (!answer)
        return false;
    now = number_of(answer, up_time, OID_LENGTH(up_time));
    changed = column_of(answer, CHANGED, row);
    *p = (struct site_port){.admin = (long) column_of(answer, ADMIN, row),
                            .oper = (long) column_of(answer, OPER, row),
                            .errors = column_of(answer, IN_ERRORS, row),
                            .discards = column_of(answer, IN_DISCARDS, row),
                            .changed_s = now >= 0 && changed >= 0 && now >= changed
                                             ? (double) (now - changed) / 100
                                             : -1};
    if (column_of(answer, OUT_ERRORS, row) > 0)
        p->errors = (p->errors > 0 ? p->errors : 0) + column_of(answer, OUT_ERRORS, row);
    snmp_free_pdu(answer);
    return true;
}

static void ask_port(struct asker *a, const char *port, int cache_ms, FILE *out)
{
    ftree_time until = faultloc_now() + cache_ms * FTREE_MS;
    struct site_port p;
    bool is_read = false;
    oid row = 0;

    if (!find_row(a, if_name, OID_LENGTH(if_name), port, &row) ||
        (!row && !find_row(a, if_descr, OID_LENGTH(if_descr), port, &row))) {
        site_say_not(out, why_silent(a));
        return;
    }
    if (!row) {
        site_say_not(out, "the switch has no port of that name");
        return;
    }
    while (read_port(a, row, &p)) {
        is_read = true;
        if (p.admin != 1 || p.oper != 1 || faultloc_now() >= until)
            break;
        poll(NULL, 0, AGAIN_MS);
    }
    if (is_read)
        site_snmp_port(port, &p, out);
    else
        site_say_not(out, why_silent(a));
}

/* No file of the user's or the machine's is to say how the site's switches are asked.  And none is to
 * be written: libnetsnmp makes the folder, where it may. */
static void begin(void)
{
    setenv("MIBS", "", 1);
    setenv("SNMP_PERSISTENT_DIR", "/dev/null/none", 1);
    netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_READ_CONFIGS, 1);
    netsnmp_ds_set_boolean(NETSNMP_DS_LIBRARY_ID, NETSNMP_DS_LIB_DONT_PERSIST_STATE, 1);
    snmp_disable_log();
    init_snmp("faultloc");
}

void site_snmp(struct json_object *request, FILE *out)
{
    const char *port = faultloc_text(request, "port"), *why;
    struct asker a = {.session = NULL};
    struct json_object *cache;
    int cache_ms = 1000;

    if (!port) {
        site_say_not(out, "it needs a port, the name of the interface at the switch");
        return;
    }
    if (json_object_object_get_ex(request, "cache_ms", &cache))
        cache_ms = json_object_get_int(cache);
    begin();
    why = open_session(&a, request);
    if (why)
        site_say_not(out, why);
    else
        ask_port(&a, port, cache_ms, out);
    if (a.session)
        snmp_sess_close(a.session);
}

#endif
