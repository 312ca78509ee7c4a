/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* A switch that answers SNMP v2c as RFC 3416 has it, and one that lies. */

#include "faultloc/site/site.h"
#include "suite.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef HAVE_NETSNMP

TEST_CASE(a_build_without_it_says_so)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    site_snmp(NULL, out);
    fclose(out);
    EXPECT_LINES(text, "{\"why_not\":\"this build has no SNMP: libsnmp-dev was not there\"}\n");
    free(text);
}

#else

enum {
    INTEGER = 2,
    TEXT = 4,
    OID = 6,
    SEQUENCE = 0x30,
    COUNTER = 0x41,
    TICKS = 0x43
};
enum {
    NO_INSTANCE = 0x81,
    END_OF_VIEW = 0x82,
    GET = 0xa0,
    RESPONSE = 0xa2,
    BULK = 0xa5,
    REPORT = 0xa8
};

enum lie {
    HONEST,
    SILENT,
    GARBAGE, /* no ASN.1 at all */
    CUT, /* the message says that it is longer than it is */
    LENGTH_OF_4_GB,
    OTHER_REQUEST, /* its number is another's */
    NOTHING_IN_IT,
    REFUSES, /* genErr */
    REPORTS,
    WALKS_BACK, /* each row again and again */
    HAS_NO_LAST_ROW,
    GETS_NOTHING, /* silent once the row is known */
    TEXT_FOR_NUMBERS,
    EMPTY_NUMBERS,
    NO_NUMBERS
};

/* ---- the switch ------------------------------------------------------------------------------ */

struct port {
    uint32_t index;
    const char *name;
    uint32_t admin, oper, changed, discards, errors;
};

static struct {
    int fd;
    char address[40];
    pthread_t thread;
    enum lie lie;
    bool by_descr; /* it has no ifName */
    struct port port[30];
    int ports, asked, down_at; /* its ports are, once it was asked so often; 0: never */
} me;

/* Written from its end on. */
struct message {
    uint8_t bytes[8192];
    size_t at;
};

static void put(struct message *m, const void *bytes, size_t len)
{
    m->at -= len;
    memcpy(m->bytes + m->at, bytes, len);
}

static void put_head(struct message *m, uint8_t tag, size_t len)
{
    uint8_t head[] = {tag, 0x82, (uint8_t) (len >> 8), (uint8_t) len};

    put(m, head, sizeof(head));
}

static void put_value(struct message *m, uint8_t tag, uint32_t value)
{
    uint8_t bytes[] = {0, (uint8_t) (value >> 24), (uint8_t) (value >> 16), (uint8_t) (value >> 8),
                       (uint8_t) value};

    put(m, bytes, sizeof(bytes));
    put_head(m, tag, sizeof(bytes));
}

/* All from `end` on becomes one. */
static void put_around(struct message *m, uint8_t tag, size_t end)
{
    put_head(m, tag, end - m->at);
}

struct part {
    uint8_t tag;
    const uint8_t *at;
    size_t len;
};

/* libnetsnmp's own messages are taken for well formed. */
static struct part next(const uint8_t **at)
{
    struct part p = {.tag = *(*at)++, .len = *(*at)++};

    if (p.len & 0x80)
        for (size_t n = p.len & 0x7f, i = p.len = 0; i < n; i++)
            p.len = p.len << 8 | *(*at)++;
    p.at = *at;
    *at += p.len;
    return p;
}

static const uint8_t if_name[] = {0x2b, 6, 1, 2, 1, 31, 1, 1, 1, 1},
                     if_descr[] = {0x2b, 6, 1, 2, 1, 2, 2, 1, 2};

/* The last part of a name that begins with a column's, which is above 127 in no test but one. */
static bool is_in(const struct part *name, const uint8_t *column, size_t len, uint32_t *row)
{
    *row = 0;
    if (name->len < len || memcmp(name->at, column, len))
        return false;
    for (size_t i = len; i < name->len; i++)
        *row = *row << 7 | (name->at[i] & 0x7f);
    return true;
}

static void put_row(struct message *m, const uint8_t *column, size_t len, uint32_t row,
                    const char *name)
{
    uint8_t index[] = {(uint8_t) (0x80 | row >> 14), (uint8_t) (0x80 | row >> 7), row & 0x7f};
    size_t end = m->at;

    put(m, name, strlen(name));
    put_head(m, TEXT, strlen(name));
    put(m, index + (row < 128 ? 2 : 0), row < 128 ? 1 : 3);
    put(m, column, len);
    put_head(m, OID, len + (row < 128 ? 1 : 3));
    put_around(m, SEQUENCE, end);
}

static void put_rows(struct message *m, const uint8_t *column, size_t len, uint32_t after)
{
    size_t end = m->at;

    if (me.lie == HAS_NO_LAST_ROW || me.lie == WALKS_BACK) {
        for (uint32_t i = 20; i > 0; i--)
            put_row(m, column, len, me.lie == WALKS_BACK ? i : after + i, "other");
        return;
    }
    if (after + 19 >= me.port[me.ports - 1].index || me.by_descr != (column == if_descr)) {
        put_head(m, END_OF_VIEW, 0);
        put(m, column, len);
        put_head(m, OID, len);
        put_around(m, SEQUENCE, end);
    }
    for (int i = me.ports - 1; i >= 0; i--)
        if (me.port[i].index > after && me.port[i].index <= after + 19 &&
            me.by_descr == (column == if_descr))
            put_row(m, column, len, me.port[i].index, me.port[i].name);
}

/* IF-MIB's columns, and sysUpTime: 1000 s. */
static void put_number(struct message *m, const struct part *name)
{
    size_t end = m->at;
    uint8_t column = name->len > 9 ? name->at[8] : 0;
    const struct port *p = me.port;
    uint32_t value = column == 0    ? 100000
                     : column == 7  ? p->admin
                     : column == 8  ? p->oper
                     : column == 9  ? p->changed
                     : column == 13 ? p->discards
                                    : p->errors;

    for (int i = 0; i < me.ports; i++)
        p = name->at[name->len - 1] == me.port[i].index ? &me.port[i] : p;
    if (me.lie == NO_NUMBERS) {
        put_head(m, NO_INSTANCE, 0);
    } else if (me.lie == EMPTY_NUMBERS) {
        put_head(m, INTEGER, 0);
    } else if (me.lie == TEXT_FOR_NUMBERS) {
        put(m, "1", 1);
        put_head(m, TEXT, 1);
    } else {
        value = column == 7   ? p->admin
                : column == 8 ? (me.down_at && me.asked >= me.down_at ? 2 : p->oper)
                              : value;
        put_value(m, column == 0 || column == 9 ? TICKS : column < 9 ? INTEGER : COUNTER, value);
    }
    put(m, name->at, name->len);
    put_head(m, OID, name->len);
    put_around(m, SEQUENCE, end);
}

static void put_answers(struct message *m, const struct part *list, bool walks)
{
    struct part names[16];
    const uint8_t *at = list->at;
    uint32_t row;
    int n = 0;

    for (; n < 16 && at < list->at + list->len; n++) {
        struct part pair = next(&at);
        const uint8_t *in = pair.at;
        names[n] = next(&in);
    }
    for (; n-- > 0 && me.lie != NOTHING_IN_IT;) {
        if (!walks)
            put_number(m, &names[n]);
        else if (is_in(&names[n], if_name, sizeof(if_name), &row))
            put_rows(m, if_name, sizeof(if_name), row);
        else if (is_in(&names[n], if_descr, sizeof(if_descr), &row))
            put_rows(m, if_descr, sizeof(if_descr), row);
    }
}

/* False: nothing is said. */
static bool answer(const uint8_t *request, struct message *m)
{
    struct part whole = next(&request), version, community, pdu, number, one, two, list;
    const uint8_t *at = whole.at;
    uint32_t id = 0;

    m->at = sizeof(m->bytes);
    version = next(&at);
    community = next(&at);
    pdu = next(&at);
    at = pdu.at;
    number = next(&at);
    one = next(&at);
    two = next(&at);
    list = next(&at);
    for (size_t i = 0; i < number.len; i++)
        id = id << 8 | number.at[i];
    if (one.len > 4 || two.len > 4 || me.lie == SILENT ||
        (me.lie == GETS_NOTHING && pdu.tag == GET))
        return false;
    put_answers(m, &list, pdu.tag == BULK);
    put_around(m, SEQUENCE, sizeof(m->bytes));
    put_value(m, INTEGER, 0);
    put_value(m, INTEGER, me.lie == REFUSES ? 5 : 0);
    put_value(m, INTEGER, me.lie == OTHER_REQUEST ? id + 1 : id);
    put_around(m, me.lie == REPORTS ? REPORT : RESPONSE, sizeof(m->bytes));
    put(m, community.at, community.len);
    put_head(m, TEXT, community.len);
    put(m, version.at, version.len);
    put_head(m, INTEGER, version.len);
    put_around(m, SEQUENCE, sizeof(m->bytes));
    if (me.lie == GARBAGE)
        memset(m->bytes + m->at, 0xff, sizeof(m->bytes) - m->at);
    if (me.lie == LENGTH_OF_4_GB)
        memcpy(m->bytes + m->at, "\x30\x84\xff\xff\xff\xff", 6);
    return true;
}

static void *serve(void *unused)
{
    static struct message m;
    uint8_t request[2048];
    struct sockaddr_in from;
    socklen_t room = sizeof(from);

    while (recvfrom(me.fd, request, sizeof(request), 0, (struct sockaddr *) &from, &room) > 1) {
        me.asked++;
        if (answer(request, &m))
            sendto(me.fd, m.bytes + m.at, (sizeof(m.bytes) - m.at) / (me.lie == CUT ? 2 : 1), 0,
                   (struct sockaddr *) &from, room);
        room = sizeof(from);
    }
    return unused;
}

BEFORE_EACH
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t room = sizeof(a);

    me.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(me.fd, (struct sockaddr *) &a, sizeof(a)), 0);
    ck_assert_int_eq(getsockname(me.fd, (struct sockaddr *) &a, &room), 0);
    snprintf(me.address, sizeof(me.address), "udp:127.0.0.1:%d", ntohs(a.sin_port));
}

/* What the handler prints. */
static void expect(struct json_object *request, const char *said)
{
    struct sockaddr_in a;
    socklen_t room = sizeof(a);
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    getsockname(me.fd, (struct sockaddr *) &a, &room);
    ck_assert_int_eq(pthread_create(&me.thread, NULL, serve, NULL), 0);
    site_snmp(request, out);
    sendto(me.fd, "", 1, 0, (struct sockaddr *) &a, room); /* its end */
    pthread_join(me.thread, NULL);
    fclose(out);
    EXPECT_LINES(text, said);
    free(text);
    json_object_put(request);
}

static struct json_object *request_of(const char *port)
{
    struct json_object *o = json_object_new_object();

    json_object_object_add(o, "address", json_object_new_string(me.address));
    json_object_object_add(o, "community", json_object_new_string("public"));
    json_object_object_add(o, "port", json_object_new_string(port));
    json_object_object_add(o, "cache_ms", json_object_new_int(0));
    return o;
}

/* ---- what ports are -------------------------------------------------------------------------- */

#define SAID(symptom, words) "{\"symptom\":\"" symptom "\",\"text\":\"port swp7 is " words "\"}\n"
#define WHY(words) "{\"why_not\":\"" words "\"}\n"
#define NEITHER WHY("the switch says neither that the port is up nor that it is down")
#define NO_PORT WHY("the switch has no port of that name")
#define NO_ANSWER WHY("the switch does not answer (or not to this community)")
#define NO_MORE WHY("the switch answers no more")

static const struct {
    struct port port[3];
    bool by_descr;
    const char *said;
} ports[] = {
    {{{7, "swp7", 1, 1, 40000, 0, 0}}, false, SAID("port-up", "up since 600 s")},
    {{{7, "swp7", 1, 1, 40000, 0, 0}}, true, SAID("port-up", "up since 600 s")},
    {{{7, "swp7", 1, 2, 99900, 3, 2}},
     false,
     SAID("port-down", "down since 1 s, 4 errors, 3 discards")},
    {{{7, "swp7", 2, 2, 0, 0, 0}}, false, SAID("port-disabled", "switched off since 1000 s")},
    {{{7, "swp7", 1, 7, 0, 0, 0}}, false, SAID("port-down", "down since 1000 s")},
    {{{7, "swp7", 3, 1, 0, 0, 0}}, false, NEITHER}, /* testing */
    {{{7, "swp7", 1, 4, 0, 0, 0}}, false, NEITHER}, /* unknown */
    {{{7, "swp7", 1, 1, 100001, 0, 0}}, false, SAID("port-up", "up")}, /* after now */
    {{{7, "swp7", 1, 1, 40000, UINT32_MAX, 0}},
     false,
     SAID("port-up", "up since 600 s, 0 errors, 4294967295 discards")},
    /* one that was made anew: the last of its rows, also where it is in another answer */
    {{{7, "swp7", 1, 1, 40000, 0, 0}, {9, "swp7", 1, 2, 40000, 0, 0}},
     false,
     SAID("port-down", "down since 600 s")},
    {{{2, "swp7", 1, 1, 40000, 0, 0}, {18, "swp1", 1, 1, 0, 0, 0}, {30, "swp7", 1, 2, 40000, 0, 0}},
     false,
     SAID("port-down", "down since 600 s")},
    {{{7, "swp77", 1, 1, 0, 0, 0}, {8, "swp", 1, 1, 0, 0, 0}, {9, "", 1, 1, 0, 0, 0}},
     false,
     NO_PORT},
    {{{7, "", 0, 0, 0, 0, 0}}, false, NO_PORT}};

TEST_CASES(of_a_port, COUNT(ports))
{
    for (; me.ports < 3 && ports[_i].port[me.ports].index; me.ports++)
        me.port[me.ports] = ports[_i].port[me.ports];
    me.by_descr = ports[_i].by_descr;
    expect(request_of("swp7"), ports[_i].said);
}

/* ---- a switch that lies ---------------------------------------------------------------------- */

static const struct {
    enum lie lie;
    const char *said;
    int most; /* questions */
} lies[] = {
    {SILENT, NO_ANSWER, 2},          {GARBAGE, NO_ANSWER, 2},        {CUT, NO_ANSWER, 2},
    {LENGTH_OF_4_GB, NO_ANSWER, 2},  {OTHER_REQUEST, NO_ANSWER, 2},  {REFUSES, NO_ANSWER, 2},
    {REPORTS, NO_ANSWER, 2},         {NOTHING_IN_IT, NO_PORT, 2},    {WALKS_BACK, NO_PORT, 4},
    {HAS_NO_LAST_ROW, NO_PORT, 420}, /* ROWS_MOST of each of two columns */
    {GETS_NOTHING, NO_MORE, 4},      {TEXT_FOR_NUMBERS, NEITHER, 2}, {EMPTY_NUMBERS, NO_MORE, 4},
    {NO_NUMBERS, NEITHER, 2}};

TEST_CASES(of_a_switch_that_lies, COUNT(lies))
{
    me.lie = lies[_i].lie;
    me.port[0] = (struct port){7, "swp7", 1, 1, 40000, 0, 0};
    me.ports = 1;
    expect(request_of("swp7"), lies[_i].said);
    ck_assert_int_gt(me.asked, 0);
    ck_assert_int_le(me.asked, lies[_i].most + 1); /* and that it is to end */
}

/* ---- what it is asked with ------------------------------------------------------------------- */

#define USER_LACKS \
    WHY("it needs community, or user, auth_password and privacy_password of 8 characters or more, " \
        "with protocols that libnetsnmp has")

static const struct {
    const char *request, *said;
} requests[] = {
    {"{}", WHY("it needs a port, the name of the interface at the switch")},
    {"{\"port\": 7}", WHY("it needs a port, the name of the interface at the switch")},
    {"{\"port\": \"a\"}", WHY("it needs an address")},
    {"{\"port\": \"a\", \"address\": \"x\"}", USER_LACKS},
    {"{\"port\": \"a\", \"address\": \"x\", \"user\": \"u\"}", USER_LACKS},
    {"{\"port\": \"a\", \"address\": \"x\", \"user\": \"u\", \"auth_password\": \"short\", "
     "\"privacy_password\": \"long enough\"}",
     USER_LACKS},
    {"{\"port\": \"a\", \"address\": \"x\", \"user\": \"u\", \"auth_password\": \"long enough\", "
     "\"privacy_password\": \"short\"}",
     USER_LACKS},
    {"{\"port\": \"a\", \"address\": \"x\", \"user\": \"u\", \"auth_protocol\": \"ROT13\", "
     "\"auth_password\": \"long enough\", \"privacy_password\": \"long enough\"}",
     USER_LACKS},
    {"{\"port\": \"a\", \"address\": \"x\", \"user\": \"u\", \"privacy_protocol\": \"ROT13\", "
     "\"auth_password\": \"long enough\", \"privacy_password\": \"long enough\"}",
     USER_LACKS},
    {"{\"port\": \"a\", \"address\": \"udp:127.0.0.1:9999999\", \"community\": \"c\"}", NULL}};

TEST_CASES(of_a_request, COUNT(requests))
{
    const char *said = requests[_i].said;

    expect(json_tokener_parse(requests[_i].request),
           said ? said : WHY("the switch does not answer"));
}

/* The passwords are right or wrong: a switch that knows no v3 says nothing. */
TEST_CASE(a_switch_without_v3_does_not_answer)
{
    struct json_object *o = request_of("swp7");

    json_object_object_del(o, "community");
    json_object_object_add(o, "user", json_object_new_string("u"));
    json_object_object_add(o, "auth_password", json_object_new_string("long enough"));
    json_object_object_add(o, "privacy_password", json_object_new_string("long enough"));
    me.lie = SILENT;
    expect(o, WHY("the switch does not answer"));
}

/* One that is up in the switch's cache may be down. */
TEST_CASE(a_port_that_is_up_is_asked_again)
{
    struct json_object *o = request_of("swp7");

    me.port[0] = (struct port){7, "swp7", 1, 1, 40000, 0, 0};
    me.ports = 1;
    me.down_at = 4; /* for its row, and three times for what that says */
    json_object_object_add(o, "cache_ms", json_object_new_int(60000));
    expect(o, SAID("port-down", "down since 600 s"));
}

#endif
