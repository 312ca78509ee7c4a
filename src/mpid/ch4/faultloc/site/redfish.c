/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#ifndef HAVE_LIBCURL

void site_redfish(struct json_object *request, FILE *out)
{
    (void) request;
    site_say_not(out, "this build has no Redfish: libcurl's headers were not there");
}

#else

#include "faultloc/base/clock.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Handler: the BMC of a node, by Redfish: power, sensors, the newest critical entry of its log.  Nothing
 * but its own service is asked: an answer names no other host, and redirects are not followed.  A
 * certificate is verified unless the file says otherwise.
 *
 * Source: DMTF DSP0266 (Redfish specification), DSP8010 (schemas).
 */

#define ANSWER_MAX (1 << 20)
#define DEPTH_MAX 24
#define MEMBERS_MAX 64
#define CONNECT_MS 2000
#define LEAVE_MS 500 /* of the deadline, to end the session: */
#define LOG_OUT_MS 400

struct bmc {
    CURL *curl;
    char base[300];
    struct curl_slist *token; /* of a session */
    char session[200];
    CURLcode error;
    long status;
    FILE *out;
    struct json_object *request;
    long long since;
    ftree_time until;
};

struct answer {
    char *text;
    size_t len;
};

/* ---- one question ---------------------------------------------------------------------------- */

static size_t take_body(char *data, size_t one, size_t n, void *ctx)
{
    struct answer *a = ctx;

    if (one * n > ANSWER_MAX - a->len)
        return 0;
    memcpy(a->text + a->len, data, one * n);
    a->len += one * n;
    return one * n;
}

/* A path of the service, as its answers name them: it must not make another address of the base. */
static bool is_path(const char *path)
{
    return path && !strncmp(path, "/redfish/", 9) && strlen(path) < 200 &&
           strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~/:()") ==
               strlen(path) &&
           !strstr(path, "..");
}

/* What is set is asked for below the base; the answer's text is to be freed. */
static void perform(struct bmc *b, const char *path, struct answer *a)
{
    ftree_time now = faultloc_now();
    char url[512];

    snprintf(url, sizeof(url), "%s%s", b->base, path);
    a->text = malloc(ANSWER_MAX);
    curl_easy_setopt(b->curl, CURLOPT_URL, url);
    curl_easy_setopt(b->curl, CURLOPT_WRITEDATA, a);
    curl_easy_setopt(b->curl, CURLOPT_TIMEOUT_MS,
                     now < b->until ? (long) ((b->until - now) / FTREE_MS) + 1 : 1L);
    b->error = a->text ? curl_easy_perform(b->curl) : CURLE_OUT_OF_MEMORY;
    curl_easy_getinfo(b->curl, CURLINFO_RESPONSE_CODE, &b->status);
}

/* Its object, to be freed; NULL: b->error and b->status say why. */
static struct json_object *get(struct bmc *b, const char *path)
{
    struct answer a = {.len = 0};
    struct json_object *o = NULL;

    b->status = 200; /* an answer that leads elsewhere is none */
    b->error = CURLE_OK;
    if (!is_path(path))
        return NULL;
    perform(b, path, &a);
    if (b->error == CURLE_OK && b->status == 200)
        o = faultloc_json_object(a.text, a.len, DEPTH_MAX);
    free(a.text);
    return o;
}

static const char *why(const struct bmc *b)
{
    switch (b->error) {
        case CURLE_OK:
            return b->status == 401   ? "the BMC refuses the user or password"
                   : b->status == 403 ? "the BMC user may not ask this"
                   : b->status == 404 ? "the BMC has no such part of Redfish"
                   : b->status == 200 ? "the BMC's answer is not Redfish"
                                      : "the BMC answers with an error";
        case CURLE_COULDNT_RESOLVE_HOST:
            return "the BMC's address is not known";
        case CURLE_COULDNT_CONNECT:
        case CURLE_OPERATION_TIMEDOUT:
            return "the BMC does not answer";
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE:
            return "the BMC's certificate cannot be verified; name its issuer: ca_file";
        case CURLE_WRITE_ERROR:
            return "the BMC's answer is too large";
        default:
            return "the BMC ends the connection, or speaks no HTTPS";
    }
}

/* ---- the login ------------------------------------------------------------------------------- */

static size_t take_header(char *data, size_t one, size_t n, void *ctx)
{
    struct bmc *b = ctx;
    char line[300];

    snprintf(line, sizeof(line), "%.*s", (int) (one * n), data);
    line[strcspn(line, "\r\n")] = '\0';
    if (!strncasecmp(line, "X-Auth-Token:", 13) && !b->token)
        b->token = curl_slist_append(NULL, line);
    else if (!strncasecmp(line, "Location:", 9) && strstr(line, "/redfish/"))
        snprintf(b->session, sizeof(b->session), "%.199s", strstr(line, "/redfish/"));
    return one * n;
}

/* By a session, which is ended again: a BMC has few. */
static bool log_in(struct bmc *b, const char *user, const char *password)
{
    struct json_object *o = json_object_new_object();
    struct curl_slist *type = curl_slist_append(NULL, "Content-Type: application/json");
    struct answer a = {.len = 0};
    bool whole = faultloc_json_set(o, "UserName", json_object_new_string(user)) &&
                 faultloc_json_set(o, "Password", json_object_new_string(password));

    curl_easy_setopt(b->curl, CURLOPT_HTTPHEADER, type);
    curl_easy_setopt(b->curl, CURLOPT_POSTFIELDS, json_object_to_json_string(o));
    curl_easy_setopt(b->curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(b->curl, CURLOPT_HEADERDATA, b);
    if (whole)
        perform(b, "/redfish/v1/SessionService/Sessions", &a);
    curl_easy_setopt(b->curl, CURLOPT_HEADERFUNCTION, NULL);
    curl_easy_setopt(b->curl, CURLOPT_HEADERDATA, NULL);
    curl_easy_setopt(b->curl, CURLOPT_HTTPGET, 1L);
    curl_easy_setopt(b->curl, CURLOPT_HTTPHEADER, b->token);
    curl_slist_free_all(type);
    json_object_put(o);
    free(a.text);
    return b->token != NULL;
}

static void log_out(struct bmc *b)
{
    char url[512];

    if (!b->token || !is_path(b->session))
        return;
    snprintf(url, sizeof(url), "%s%s", b->base, b->session);
    curl_easy_setopt(b->curl, CURLOPT_URL, url);
    curl_easy_setopt(b->curl, CURLOPT_CUSTOMREQUEST, "DELETE");
    curl_easy_setopt(b->curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(b->curl, CURLOPT_TIMEOUT_MS, (long) LOG_OUT_MS);
    curl_easy_perform(b->curl);
}

/* ---- what it says ---------------------------------------------------------------------------- */

static struct json_object *member(struct json_object *o, const char *key)
{
    struct json_object *v = NULL;

    return json_object_object_get_ex(o, key, &v) ? v : NULL;
}

/* "/redfish/v1/Chassis/1" of {"@odata.id": ...}, or of the first of a list of such. */
static const char *link_of(struct json_object *o)
{
    if (json_object_is_type(o, json_type_array))
        o = json_object_array_length(o) ? json_object_array_get_idx(o, 0) : NULL;
    return o ? faultloc_text(o, "@odata.id") : NULL;
}

static bool is_critical(struct json_object *o)
{
    const char *health = faultloc_text(member(o, "Status"), "Health");

    return health && !strcmp(health, "Critical");
}

/* False: it does not say. */
static bool say_power(struct bmc *b, struct json_object *system)
{
    const char *state = faultloc_text(system, "PowerState");
    bool on = state && !strcmp(state, "On"), off = state && !strcmp(state, "Off");

    if (on || off)
        site_say(b->out, on ? "power-on" : "power-off",
                 on ? "system power is on" : "system power is off");
    else if (state && (!strcmp(state, "PoweringOn") || !strcmp(state, "PoweringOff")))
        site_say(b->out, NULL, "system power is being switched");
    return state;
}

/* One line of the first that is bad. */
static void say_sensor(struct bmc *b, struct json_object *list, const char *reading,
                       const char *symptom)
{
    size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
    char text[128];

    for (size_t i = 0; i < n && i < MEMBERS_MAX; i++) {
        struct json_object *o = json_object_array_get_idx(list, i);
        const char *name = faultloc_text(o, "Name"), *unit = faultloc_text(o, "ReadingUnits");
        struct json_object *at = member(o, reading), *most = member(o, "UpperThresholdCritical");
        bool beyond = most && at && json_object_get_double(most) > 0 &&
                      json_object_get_double(at) >= json_object_get_double(most);

        beyond = beyond || (at && site_is_beyond(b->request, symptom, json_object_get_double(at)));
        if (!is_critical(o) && !beyond)
            continue;
        snprintf(text, sizeof(text), "sensor %.40s is at %.0f %.10s: critical", name ? name : "?",
                 at ? json_object_get_double(at) : 0.0, unit ? unit : "");
        site_say(b->out, symptom, text);
        return;
    }
}

static bool is_off(struct json_object *system)
{
    const char *state = faultloc_text(system, "PowerState");

    return state && !strcmp(state, "Off");
}

static void ask_sensors(struct bmc *b, struct json_object *system)
{
    const char *path = link_of(member(member(system, "Links"), "Chassis"));
    struct json_object *chassis = path ? get(b, path) : NULL, *thermal;
    const char *at = link_of(member(chassis, "Thermal"));

    thermal = at ? get(b, at) : NULL;
    say_sensor(b, member(thermal, "Temperatures"), "ReadingCelsius", "temperature-high");
    if (!is_off(system)) /* without power they stand still */
        say_sensor(b, member(thermal, "Fans"), "Reading", "fan-failed");
    json_object_put(thermal);
    json_object_put(chassis);
}

/* "2026-01-31T12:00:00Z", or with a zone: seconds since 1970, -1: it is none. */
static long long time_of(const char *text)
{
    struct tm t = {.tm_isdst = 0};
    const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &t) : NULL;
    int h = 0, m = 0;

    if (!rest)
        return -1;
    rest += *rest == '.' ? 1 + strspn(rest + 1, "0123456789") : 0;
    if ((*rest == '+' || *rest == '-') && sscanf(rest + 1, "%2d:%2d", &h, &m) != 2)
        return -1;
    return (long long) timegm(&t) - (*rest == '-' ? -1 : 1) * (h * 3600LL + m * 60);
}

/* What the registry of DMTF and the vendors' have in their messages. */
static const char *symptom_of(const char *words)
{
    static const struct {
        const char *of, *symptom;
    } rows[] = {{"ncorrectable", "memory-uncorrected"}, {"ower suppl", "power-supply-failed"},
                {"PSU", "power-supply-failed"},         {"Fan", "fan-failed"},
                {"fan ", "fan-failed"},                 {"emperature", "temperature-high"},
                {"hermal", "temperature-high"},         {"CPU", "cpu-failed"},
                {"rocessor", "cpu-failed"},             {"rive", "disk-failed"},
                {"isk", "disk-failed"}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strstr(words, rows[i].of))
            return rows[i].symptom;
    return NULL;
}

#define KINDS 6 /* of entries, that are reported */

struct entry {
    const char *symptom, *words, *when; /* symptom NULL: none */
    long long at;
};

/* Of each kind the newest one. */
static int note_entry(struct entry *all, int n, const struct entry *e)
{
    int i = 0;

    while (i < n && (all[i].symptom && e->symptom ? strcmp(all[i].symptom, e->symptom) != 0
                                                  : all[i].symptom != e->symptom))
        i++;
    if (i == KINDS || (i < n && e->at <= all[i].at))
        return n;
    all[i] = *e;
    return i == n ? n + 1 : n;
}

static void say_entry(struct bmc *b, const struct entry *e)
{
    long long age = (long long) time(NULL) - e->at;
    char text[160];

    snprintf(text, sizeof(text), "event log: %.80s (%.25s)", e->words, e->when);
    site_say_ago(b->out, e->symptom, age > 0 ? (double) age : 0, text);
}

static void say_entries(struct bmc *b, struct json_object *list)
{
    size_t most = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
    struct entry all[KINDS];
    int n = 0;

    for (size_t i = 0; i < most; i++) {
        struct json_object *o = json_object_array_get_idx(list, i);
        const char *severity = faultloc_text(o, "Severity");
        struct entry e = {.words = faultloc_text(o, "Message"), .when = faultloc_text(o, "Created")};
        e.at = time_of(e.when);
        if (!severity || strcmp(severity, "Critical") || !e.words || e.at < 0 || e.at < b->since)
            continue;
        e.symptom = symptom_of(e.words);
        n = note_entry(all, n, &e);
    }
    for (int i = 0; i < n; i++)
        say_entry(b, &all[i]);
}

static void ask_log(struct bmc *b, struct json_object *system)
{
    const char *path = link_of(member(system, "LogServices"));
    struct json_object *services = path ? get(b, path) : NULL, *service, *entries;
    const char *at = link_of(member(services, "Members"));

    service = at ? get(b, at) : NULL;
    at = link_of(member(service, "Entries"));
    entries = at ? get(b, at) : NULL;
    say_entries(b, member(entries, "Members"));
    json_object_put(entries);
    json_object_put(service);
    json_object_put(services);
}

static void ask_system(struct bmc *b, const char *path)
{
    struct json_object *all = path ? NULL : get(b, "/redfish/v1/Systems"), *system;
    struct json_object *members = member(all, "Members");

    if (json_object_is_type(members, json_type_array) && json_object_array_length(members) > 1) {
        site_say_not(b->out, "the BMC has several systems; name one: system");
        json_object_put(all);
        return;
    }
    if (!path)
        path = link_of(members);
    system = path ? get(b, path) : NULL;
    if (system && say_power(b, system)) {
        ask_sensors(b, system);
        ask_log(b, system);
    } else {
        site_say_not(b->out, why(b));
    }
    json_object_put(system);
    json_object_put(all);
}

/* ---- the connection -------------------------------------------------------------------------- */

static void set_options(struct bmc *b, struct json_object *r)
{
    struct json_object *verify = member(r, "verify_certificate");
    const char *ca = faultloc_text(r, "ca_file");
    long check = !json_object_is_type(verify, json_type_boolean) || json_object_get_boolean(verify);

    curl_easy_setopt(b->curl, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(b->curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(b->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(b->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(b->curl, CURLOPT_CONNECTTIMEOUT_MS, (long) CONNECT_MS);
    curl_easy_setopt(b->curl, CURLOPT_SSL_VERIFYPEER, check);
    curl_easy_setopt(b->curl, CURLOPT_SSL_VERIFYHOST, check ? 2L : 0L);
    curl_easy_setopt(b->curl, CURLOPT_WRITEFUNCTION, take_body);
    if (ca)
        curl_easy_setopt(b->curl, CURLOPT_CAINFO, ca);
}

static void ask_bmc(struct bmc *b, struct json_object *r)
{
    const char *user = faultloc_text(r, "user"), *password = faultloc_text(r, "password");
    const char *login = faultloc_text(r, "login"), *system = faultloc_text(r, "system");

    set_options(b, r);
    if (login && !strcmp(login, "session")) {
        if (!log_in(b, user, password)) {
            site_say_not(b->out, why(b));
            return;
        }
    } else {
        curl_easy_setopt(b->curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        curl_easy_setopt(b->curl, CURLOPT_USERNAME, user);
        curl_easy_setopt(b->curl, CURLOPT_PASSWORD, password);
    }
    ask_system(b, system);
    log_out(b);
}

void site_redfish(struct json_object *request, FILE *out)
{
    const char *address = faultloc_text(request, "address");
    struct bmc b = {.curl = NULL, .request = request, .out = out};
    struct json_object *since = member(request, "since_unix_ms");
    int64_t ms = json_object_get_int64(member(request, "deadline_ms"));

    if (!address || !faultloc_text(request, "user") || !faultloc_text(request, "password") ||
        strspn(address, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:[]") !=
            strlen(address) ||
        strlen(address) > 255) {
        site_say_not(out, "it needs address (HOST or HOST:PORT), user and password, as strings");
        return;
    }
    b.until = faultloc_now() + (ms > 2 * LEAVE_MS ? ms - LEAVE_MS : ms / 2) * FTREE_MS;
    b.since = since ? json_object_get_int64(since) / 1000 : 0;
    snprintf(b.base, sizeof(b.base), "https://%s", address);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) || !(b.curl = curl_easy_init())) {
        site_say_not(out, "libcurl does not begin");
        return;
    }
    ask_bmc(&b, request);
    curl_easy_cleanup(b.curl);
    curl_slist_free_all(b.token);
    curl_global_cleanup();
}

#endif
