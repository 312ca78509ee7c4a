/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The control channel on loopback: several channels in one process, each stepped by hand.  Every
 * node writes what it is told into one trace, and a test compares the trace.  Time is an argument:
 * tests jump it, and never sleep; what the kernel does is waited for with a generous deadline.
 *
 * Path data is 127.0.0.1, path mgmt is 127.0.0.2.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/net/channel_impl.h"
#include "faultloc/base/sock.h"
#include "process.h"
#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODES 4
#define DATA FTREE_PATH_DATA
#define MGMT FTREE_PATH_MGMT
#define AGENT FTREE_ROLE_AGENT
#define DEPUTY FTREE_ROLE_DEPUTY
#define SECOND UINT64_C(1000000000)
#define TRACE_MAX 65536

struct node {
    struct faultloc_channel *ch;
    int index;
    uint64_t conn; /* of the last message */
    int messages;
    int reached[6]; /* reach(), by what it said */
    int last_error;
    int intruders;
    bool answers; /* "ping ..." with "pong ..." */
    void (*on_message)(struct node *n, const void *bytes, size_t len);
};

static struct faultloc_address table[NODES];
static struct node nodes[NODES];
static uint8_t key[FAULTLOC_KEY_SIZE];
static struct faultloc_channel_limits limits;
static uint64_t now;
static char trace[TRACE_MAX];
static size_t trace_len;

/* The allocator that fails the Nth request. */
static long allocs_left;
static long live_allocs;

/* ---- trace --------------------------------------------------------------------------------- */

static void __attribute__((format(printf, 1, 2))) tell(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(trace + trace_len, sizeof(trace) - trace_len, format, args);
    va_end(args);
    if (n > 0 && (size_t) n < sizeof(trace) - trace_len)
        trace_len += (size_t) n;
}

static void check_trace(const char *expected)
{
    ck_assert_str_eq(trace, expected);
    trace_len = 0;
    trace[0] = '\0';
}

static const char *path_name(int path)
{
    return path == DATA ? "data" : "mgmt";
}

static const char *role_name(int role)
{
    return role == AGENT ? "agent" : "deputy";
}

static void on_message(void *ctx, int32_t from, enum ftree_path path, enum ftree_role role,
                       uint64_t conn, const void *bytes, size_t len)
{
    struct node *n = ctx;
    char answer[64];

    n->messages++;
    n->conn = conn;
    tell("%d: from %d %s %s '%.*s'\n", n->index, (int) from, path_name(path), role_name(role),
         len > 40 ? 40 : (int) len, (const char *) bytes);
    if (n->answers && len < 32 && memcmp(bytes, "ping", 4) == 0) {
        snprintf(answer, sizeof(answer), "pong%.*s", (int) len - 4, (const char *) bytes + 4);
        ck_assert_int_eq(faultloc_channel_reply(n->ch, now, conn, answer, strlen(answer)), 0);
    }
    if (n->on_message)
        n->on_message(n, bytes, len);
}

static void on_reach(void *ctx, int32_t node, enum ftree_path path, enum ftree_role role,
                     enum faultloc_channel_reach reach, int error)
{
    static const char *const names[] = {"connected",  "refused", "unreachable",
                                        "local down", "lost",    "closed"};
    struct node *n = ctx;

    n->reached[reach]++;
    n->last_error = error;
    tell("%d: %d %s %s %s\n", n->index, (int) node, path_name(path), role_name(role), names[reach]);
}

static void on_intruder(void *ctx, enum faultloc_intruder kind, const struct faultloc_inet *peer)
{
    struct node *n = ctx;
    char text[FAULTLOC_ADDRESS_TEXT];

    n->intruders++;
    tell("%d: stranger %s %s\n", n->index, faultloc_inet_text(peer, text, sizeof(text)),
         faultloc_intruder_text(kind));
}

static void on_packet(void *ctx, int32_t from, enum ftree_path path, uint64_t age,
                      const void *bytes, size_t len)
{
    struct node *n = ctx;

    n->messages++;
    ck_assert_uint_lt(age, UINT64_C(60000000000));
    tell("%d: packet from %d %s '%.*s'\n", n->index, (int) from, path_name(path), (int) len,
         (const char *) bytes);
}

/* ---- nodes --------------------------------------------------------------------------------- */

static void *counting_alloc(void *ctx, void *ptr, size_t size)
{
    (void) ctx;
    if (size == 0) {
        live_allocs -= ptr != NULL;
        free(ptr);
        return NULL;
    }
    if (allocs_left == 0)
        return NULL;
    allocs_left -= allocs_left > 0;
    live_allocs += ptr == NULL;
    return realloc(ptr, size);
}

static int create(int i)
{
    struct faultloc_channel_config cfg = {.self = i,
                                          .nodes = NODES,
                                          .table = table,
                                          .callbacks = {on_message, on_reach, on_intruder,
                                                        on_packet},
                                          .ctx = &nodes[i],
                                          .limits = limits,
                                          .alloc = counting_alloc};
    memcpy(cfg.key, key, sizeof(key));
    nodes[i].index = i;
    return faultloc_channel_create(&cfg, &nodes[i].ch);
}

static void end(int i)
{
    faultloc_channel_destroy(nodes[i].ch);
    nodes[i].ch = NULL;
}

BEFORE_EACH
{
    ck_assert_int_ge(sodium_init(), 0);
    memset(table, 0, sizeof(table));
    memset(nodes, 0, sizeof(nodes));
    memset(&limits, 0, sizeof(limits));
    memset(key, 'k', sizeof(key));
    now = 1;
    allocs_left = -1;
    live_allocs = 0;
    trace_len = 0;
    trace[0] = '\0';
    for (int i = 0; i < NODES; i++) {
        table[i].path[DATA] = (struct faultloc_inet){AF_INET, {127, 0, 0, 1}};
        table[i].path[MGMT] = (struct faultloc_inet){AF_INET, {127, 0, 0, 2}};
    }
}

AFTER_EACH
{
    for (int i = 0; i < NODES; i++)
        end(i);
    ck_assert_int_eq(live_allocs, 0);
}

/* A node with a port for `role`, known to all. */
static void start(int i, enum ftree_role role)
{
    struct faultloc_ports ports;

    ck_assert_int_eq(faultloc_channel_pick_ports(table[i].path, &ports), 0);
    table[i].port[role] = ports.port;
    if (!nodes[i].ch)
        ck_assert_int_eq(create(i), 0);
    ck_assert_int_eq(faultloc_channel_adopt(nodes[i].ch, role, &ports), 0);
}

static void start_pair(void)
{
    start(0, AGENT);
    start(1, AGENT);
}

/* Ports of a stopped agent: the kernel connects, and nobody takes it. */
static struct faultloc_ports start_stopped(int i)
{
    struct faultloc_ports ports;

    ck_assert_int_eq(faultloc_channel_pick_ports(table[i].path, &ports), 0);
    table[i].port[AGENT] = ports.port;
    return ports;
}

/* A port that is in the table and that nobody listens on. */
static void start_nobody(int i)
{
    struct faultloc_ports ports = start_stopped(i);

    faultloc_ports_close(&ports);
}

static int send_to(int from, int to, const char *text)
{
    return faultloc_channel_send(nodes[from].ch, now, to, DATA, AGENT, 0, text, strlen(text));
}

static int send_fresh(int from, int to, const char *text)
{
    return faultloc_channel_send(nodes[from].ch, now, to, DATA, AGENT, FAULTLOC_SEND_FRESH, text,
                                 strlen(text));
}

/* One step of every node there is; waits for the kernel up to `ms`.  Returns how many had work. */
static int step(int ms)
{
    struct pollfd fds[NODES];
    int count = 0;

    for (int i = 0; i < NODES; i++)
        if (nodes[i].ch)
            fds[count++] =
                (struct pollfd){.fd = faultloc_channel_fd(nodes[i].ch), .events = POLLIN};
    int ready = poll(fds, (nfds_t) count, ms);
    for (int i = 0; i < NODES; i++)
        if (nodes[i].ch)
            ck_assert_int_eq(faultloc_channel_process(nodes[i].ch, now), 0);
    return ready;
}

/* Steps until `condition`. */
#define until(condition) \
    do { \
        int64_t limit_ = process_now_ms() + PROCESS_DEADLINE_MS; \
        while (!(condition)) { \
            ck_assert_msg(process_now_ms() < limit_, "waited for: %s\n%s", #condition, trace); \
            step(100); \
        } \
    } while (0)

/* The same while time passes, 1 ms a step. */
#define until_in_time(condition) \
    do { \
        int64_t limit_ = process_now_ms() + PROCESS_DEADLINE_MS; \
        while (!(condition)) { \
            ck_assert_msg(process_now_ms() < limit_, "waited for: %s\n%s", #condition, trace); \
            step(0); \
            now += SECOND / 1000; \
        } \
    } while (0)

/* Steps until nothing more happens.  On loopback a packet is there when send(2) is back, so there
 * is nothing to wait for. */
static void settle(void)
{
    while (step(0) > 0)
        ;
}

static struct faultloc_channel_stats stats_of(int i)
{
    return nodes[i].ch->stats;
}

/* ---- strangers ----------------------------------------------------------------------------- */

static int connect_to(int i, int path)
{
    struct sockaddr_storage sa;
    socklen_t len = faultloc_sockaddr_make(&table[i].path[path], table[i].port[AGENT], &sa);
    int fd = socket(sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    ck_assert_int_ge(fd, 0);
    if (connect(fd, (struct sockaddr *) &sa, len) < 0)
        ck_assert_int_eq(errno, EINPROGRESS);
    return fd;
}

static void connect_many(int *fds, int n)
{
    for (int i = 0; i < n; i++)
        fds[i] = connect_to(1, DATA);
}

static void close_many(const int *fds, int n)
{
    for (int i = 0; i < n; i++)
        close(fds[i]);
}

static void must_send(int fd, const void *bytes, size_t len)
{
    ck_assert_int_eq(send(fd, bytes, len, MSG_NOSIGNAL), (ssize_t) len);
}

/* Steps until `len` bytes are here. */
static void must_recv(int fd, void *bytes, size_t len)
{
    size_t have = 0;
    int64_t limit = process_now_ms() + PROCESS_DEADLINE_MS;

    while (have < len) {
        ssize_t n = recv(fd, (char *) bytes + have, len - have, MSG_DONTWAIT);
        ck_assert_msg(n > 0 || (n < 0 && errno == EAGAIN), "closed after %zu bytes", have);
        ck_assert_int_lt(process_now_ms(), limit);
        have += n > 0 ? (size_t) n : 0;
        step(0);
    }
}

static bool is_closed(int fd)
{
    char bytes[256];
    ssize_t n;

    do
        n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    while (n > 0);
    return n == 0 || errno != EAGAIN;
}

static void must_be_closed(int fd)
{
    until(is_closed(fd));
    close(fd);
}

/* A client made by hand so that it can misbehave. */
struct client {
    int fd;
    struct faultloc_session session;
    uint8_t hello[FAULTLOC_HELLO_SIZE];
};

/* Answers the challenge, for the client that is connected; what it says is not sent yet. */
static void make_hello(struct client *c, const uint8_t *with_key, const struct faultloc_hello *who)
{
    uint8_t challenge[FAULTLOC_CHALLENGE_SIZE];

    must_recv(c->fd, challenge, sizeof(challenge));
    ck_assert_int_eq(faultloc_frame_hello(with_key, challenge, who, c->hello, &c->session), 0);
}

static struct client enter(int to, uint32_t from, const uint8_t *with_key)
{
    struct faultloc_hello who = {.from = from, .to = (uint32_t) to, .path = DATA, .role = AGENT};
    struct client c = {.fd = connect_to(to, DATA)};

    make_hello(&c, with_key, &who);
    must_send(c.fd, c.hello, sizeof(c.hello));
    return c;
}

static void take_welcome(struct client *c)
{
    uint8_t welcome[FAULTLOC_FRAME_OVERHEAD];
    const uint8_t *body;
    size_t len;

    must_recv(c->fd, welcome, sizeof(welcome));
    ck_assert_int_eq(faultloc_frame_open(&c->session, welcome, sizeof(welcome), &body, &len),
                     (int) sizeof(welcome));
    ck_assert_uint_eq(len, 0);
}

/* One who has the key, and was let in by node 1. */
static struct client join(uint32_t from)
{
    struct client c = enter(1, from, key);

    take_welcome(&c);
    return c;
}

/* A frame as the client would send it. */
static size_t make_frame(struct client *c, const char *text, uint8_t *frame)
{
    faultloc_frame_begin(frame, strlen(text));
    memcpy(frame + FAULTLOC_FRAME_HEAD, text, strlen(text));
    faultloc_frame_seal(&c->session, frame);
    return faultloc_frame_size(frame);
}

/* ---- messages ------------------------------------------------------------------------------ */

TEST_CASE(message_and_answer)
{
    start_pair();
    nodes[1].answers = true;
    ck_assert_int_eq(send_to(0, 1, "ping 7"), 0);
    until(nodes[0].messages == 1);
    check_trace("0: 1 data agent connected\n"
                "1: from 0 data agent 'ping 7'\n"
                "0: from 1 data agent 'pong 7'\n");
}

TEST_CASE(both_ways_over_both_paths_to_both_roles)
{
    start_pair();
    start(1, DEPUTY);
    nodes[1].answers = true;
    for (int path = 0; path < FTREE_PATHS; path++)
        for (int role = 0; role < FTREE_ROLES; role++) {
            int before = nodes[0].messages;
            ck_assert_int_eq(faultloc_channel_send(nodes[0].ch, now, 1, path, role, 0, "ping", 4),
                             0);
            until(nodes[0].messages > before);
        }
    check_trace("0: 1 data agent connected\n"
                "1: from 0 data agent 'ping'\n"
                "0: from 1 data agent 'pong'\n"
                "0: 1 data deputy connected\n"
                "1: from 0 data deputy 'ping'\n"
                "0: from 1 data deputy 'pong'\n"
                "0: 1 mgmt agent connected\n"
                "1: from 0 mgmt agent 'ping'\n"
                "0: from 1 mgmt agent 'pong'\n"
                "0: 1 mgmt deputy connected\n"
                "1: from 0 mgmt deputy 'ping'\n"
                "0: from 1 mgmt deputy 'pong'\n");
    ck_assert_int_eq(send_to(1, 0, "hello"), 0);
    until(nodes[0].messages == 5);
    check_trace("1: 0 data agent connected\n"
                "0: from 1 data agent 'hello'\n");
}

TEST_CASE(one_connection_carries_many_in_order)
{
    char text[16];

    start_pair();
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof(text), "%d", i);
        ck_assert_int_eq(send_to(0, 1, text), 0);
    }
    until(nodes[1].messages == 100);
    ck_assert_int_eq(nodes[0].reached[FAULTLOC_CHANNEL_CONNECTED], 1);
    ck_assert_uint_eq(stats_of(1).inbound, 1);
    ck_assert_ptr_nonnull(strstr(trace, "'98'\n1: from 0 data agent '99'\n"));
}

TEST_CASE(longest_message)
{
    static char body[FAULTLOC_BODY_MAX + 1];

    start_pair();
    memset(body, 'x', sizeof(body));
    ck_assert_int_eq(faultloc_channel_send(nodes[0].ch, now, 1, DATA, AGENT, 0, body, sizeof(body)),
                     EMSGSIZE);
    ck_assert_int_eq(faultloc_channel_send(nodes[0].ch, now, 1, DATA, AGENT, 0, body, 0), EMSGSIZE);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(
            faultloc_channel_send(nodes[0].ch, now, 1, DATA, AGENT, 0, body, FAULTLOC_BODY_MAX), 0);
    until(nodes[1].messages == 5);
}

TEST_CASE(to_oneself)
{
    start(0, AGENT);
    start(0, DEPUTY);
    nodes[0].answers = true;
    ck_assert_int_eq(faultloc_channel_send(nodes[0].ch, now, 0, MGMT, DEPUTY, 0, "ping", 4), 0);
    until(nodes[0].messages == 2);
    check_trace("0: 0 mgmt deputy connected\n"
                "0: from 0 mgmt deputy 'ping'\n"
                "0: from 0 mgmt deputy 'pong'\n");
}

TEST_CASE(over_ipv6)
{
    int fd;

    for (int i = 0; i < 2; i++) {
        table[i].path[DATA] = (struct faultloc_inet){.family = AF_INET6, .bytes = {[15] = 1}};
        table[i].path[MGMT].family = 0;
    }
    if (faultloc_sock_bound(&table[0].path[DATA], &fd))
        return; /* this host has no IPv6 */
    close(fd);
    start_pair();
    nodes[1].answers = true;
    ck_assert_int_eq(send_to(0, 1, "ping"), 0);
    until(nodes[0].messages == 1);
    fd = connect_to(1, DATA);
    now += SECOND;
    settle();
    now += 2 * SECOND;
    must_be_closed(fd);
    check_trace("0: 1 data agent connected\n"
                "1: from 0 data agent 'ping'\n"
                "0: from 1 data agent 'pong'\n"
                "1: stranger ::1 connected and did not prove the job's key\n");
}

TEST_CASE(answer_to_a_connection_that_is_gone)
{
    start_pair();
    ck_assert_int_eq(send_to(0, 1, "hello"), 0);
    until(nodes[1].messages == 1);
    end(0);
    settle();
    ck_assert_uint_eq(stats_of(1).inbound, 0);
    ck_assert_int_eq(faultloc_channel_reply(nodes[1].ch, now, nodes[1].conn, "x", 1), ENOTCONN);
    ck_assert_int_eq(faultloc_channel_reply(nodes[1].ch, now, 0, "x", 1), ENOTCONN);
    ck_assert_int_eq(faultloc_channel_reply(nodes[1].ch, now, UINT64_MAX, "x", 1), ENOTCONN);
}

static void send_fresh_to_sender(struct node *n, const void *bytes, size_t len)
{
    const char first = *(const char *) bytes;

    /* Ends the very connection that this message came by, and then reads it again. */
    ck_assert_int_eq(
        faultloc_channel_send(n->ch, now, 1, DATA, AGENT, FAULTLOC_SEND_FRESH, "bye", 3), 0);
    ck_assert_int_eq(*(const char *) bytes, first);
    ck_assert_uint_eq(len, 4);
}

TEST_CASE(callback_may_end_its_connection)
{
    start_pair();
    nodes[1].answers = true;
    nodes[0].on_message = send_fresh_to_sender;
    ck_assert_int_eq(send_to(0, 1, "ping"), 0);
    until(nodes[1].messages == 2);
    check_trace("0: 1 data agent connected\n"
                "1: from 0 data agent 'ping'\n"
                "0: from 1 data agent 'pong'\n"
                "0: 1 data agent connected\n"
                "1: from 0 data agent 'bye'\n");
}

static int send_packet(int from, int to, bool large, const char *text)
{
    return faultloc_channel_send_packet(nodes[from].ch, to, DATA, large, text, strlen(text));
}

TEST_CASE(packets_need_no_connection)
{
    start_pair();
    ck_assert_int_eq(send_packet(0, 1, false, "early"), ENOTCONN);
    faultloc_channel_packets(nodes[0].ch, true);
    faultloc_channel_packets(nodes[1].ch, true);
    ck_assert_int_eq(send_packet(0, 1, false, "small"), 0);
    ck_assert_int_eq(send_packet(0, 1, true, "large"), 0);
    until(nodes[1].messages == 2);
    check_trace("1: packet from 0 data 'small'\n"
                "1: packet from 0 data 'large'\n");
    ck_assert_uint_eq(stats_of(1).accepted, 0);
    faultloc_channel_packets(nodes[0].ch, false);
    ck_assert_int_eq(send_packet(0, 1, false, "late"), ENOTCONN);
    ck_assert_int_eq(send_packet(1, NODES, false, "nobody"), EINVAL);
    ck_assert_int_eq(send_packet(1, 0, false, ""), EINVAL);
}

/* What others send is dropped: the last one is taken, and none before. */
TEST_CASE(packets_of_strangers)
{
    const struct faultloc_packet honest = {0, 1, DATA}, wrong[] = {
        {0, 2, DATA}, {1, 1, DATA}, {NODES, 1, DATA}, {0, 1, MGMT}};
    uint8_t packet[64], other[FAULTLOC_KEY_SIZE] = {0};
    struct sockaddr_storage to;
    socklen_t len;
    int fd;

    start_pair();
    faultloc_channel_packets(nodes[1].ch, true);
    len = faultloc_sockaddr_make(&table[1].path[DATA], table[1].port[AGENT], &to);
    ck_assert_int_eq(faultloc_sock_packets(&table[0].path[DATA], 0, &fd), 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        faultloc_packet_seal(key, &wrong[i], "wrong", 5, packet, sizeof(packet));
        sendto(fd, packet, sizeof(packet), 0, (struct sockaddr *) &to, len);
    }
    faultloc_packet_seal(other, &honest, "other", 5, packet, sizeof(packet));
    sendto(fd, packet, sizeof(packet), 0, (struct sockaddr *) &to, len);
    faultloc_packet_seal(key, &honest, "right", 5, packet, sizeof(packet));
    for (size_t size = 0; size < sizeof(packet); size++)
        sendto(fd, packet, size, 0, (struct sockaddr *) &to, len);
    sendto(fd, packet, sizeof(packet), 0, (struct sockaddr *) &to, len);
    close(fd);
    until(nodes[1].messages == 1);
    check_trace("1: packet from 0 data 'right'\n");
}

TEST_CASE(wrong_arguments)
{
    struct faultloc_channel_config cfg = {
        .self = 0, .nodes = NODES, .table = table, .callbacks = {on_message, on_reach, NULL}};
    struct faultloc_channel *ch;

    start(0, AGENT);
    ck_assert_int_eq(send_to(0, -1, "x"), EINVAL);
    ck_assert_int_eq(send_to(0, NODES, "x"), EINVAL);
    ck_assert_int_eq(faultloc_channel_send(nodes[0].ch, now, 1, 2, AGENT, 0, "x", 1), EINVAL);
    ck_assert_int_eq(faultloc_channel_send(nodes[0].ch, now, 1, DATA, 2, 0, "x", 1), EINVAL);
    ck_assert_int_eq(send_to(0, 1, "x"), EDESTADDRREQ); /* has no port */
    ck_assert_int_eq(faultloc_channel_listen(nodes[0].ch, 2), EINVAL);
    ck_assert_int_eq(faultloc_channel_listen(nodes[0].ch, DEPUTY), EDESTADDRREQ);
    cfg.self = NODES;
    ck_assert_int_eq(faultloc_channel_create(&cfg, &ch), EINVAL);
    cfg.self = 0;
    cfg.table = NULL;
    ck_assert_int_eq(faultloc_channel_create(&cfg, &ch), EINVAL);
    ck_assert_ptr_null(ch);
    faultloc_channel_destroy(NULL);
    check_trace("");
}

/* ---- what a connection tells about the far side -------------------------------------------- */

TEST_CASE(nobody_listens)
{
    start(0, AGENT);
    start_nobody(1);
    ck_assert_int_eq(send_to(0, 1, "x"), 0);
    check_trace(""); /* never in line */
    until(nodes[0].reached[FAULTLOC_CHANNEL_REFUSED]);
    check_trace("0: 1 data agent refused\n");
    ck_assert_int_eq(nodes[0].last_error, ECONNREFUSED);
    ck_assert_uint_eq(stats_of(0).outbound, 0);
}

TEST_CASE(stopped_process_connects_and_never_answers)
{
    start(0, AGENT);
    struct faultloc_ports stopped = start_stopped(1);
    ck_assert_int_eq(send_to(0, 1, "hello"), 0);
    until(nodes[0].reached[FAULTLOC_CHANNEL_CONNECTED]);
    settle();
    now += SECOND;
    settle();
    check_trace("0: 1 data agent connected\n");

    /* It goes on: the message, that waited in the sender's queue, arrives. */
    ck_assert_int_eq(create(1), 0);
    ck_assert_int_eq(faultloc_channel_adopt(nodes[1].ch, AGENT, &stopped), 0);
    until(nodes[1].messages == 1);
    check_trace("1: from 0 data agent 'hello'\n");
}

TEST_CASE(fresh_is_a_fact_of_now)
{
    start_pair();
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(send_fresh(0, 1, "x"), 0);
        until(nodes[1].messages == i + 1);
    }
    ck_assert_int_eq(nodes[0].reached[FAULTLOC_CHANNEL_CONNECTED], 3);
    ck_assert_int_eq(nodes[0].reached[FAULTLOC_CHANNEL_LOST], 0);
    settle();
    ck_assert_uint_eq(stats_of(0).outbound, 1);
    ck_assert_uint_eq(stats_of(1).inbound, 1);
}

/* Node 1 in a process of its own, that answers pings until it is killed. */
static pid_t start_process(void)
{
    struct faultloc_ports ports = start_stopped(1);
    pid_t pid = check_fork();
    if (pid > 0) {
        faultloc_ports_close(&ports);
        return pid;
    }
    ck_assert_int_eq(pid, 0);
    /* What was the parent's is not stepped here. */
    memset(nodes, 0, sizeof(nodes));
    if (create(1) || faultloc_channel_adopt(nodes[1].ch, AGENT, &ports))
        _exit(1);
    nodes[1].answers = true;
    for (int64_t limit = process_now_ms() + PROCESS_DEADLINE_MS; process_now_ms() < limit;)
        step(100);
    _exit(0);
}

TEST_CASE(process_is_killed)
{
    pid_t pid;

    start(0, AGENT);
    pid = start_process();
    ck_assert_int_eq(send_to(0, 1, "ping"), 0);
    until(nodes[0].messages == 1);
    kill(pid, SIGKILL);
    until(nodes[0].reached[FAULTLOC_CHANNEL_LOST]);
    ck_assert_int_eq(nodes[0].last_error, ECONNRESET);
    waitpid(pid, NULL, 0);
    ck_assert_int_eq(send_to(0, 1, "ping"), 0);
    until(nodes[0].reached[FAULTLOC_CHANNEL_REFUSED]);
    check_trace("0: 1 data agent connected\n"
                "0: from 1 data agent 'pong'\n"
                "0: 1 data agent lost\n"
                "0: 1 data agent refused\n");
}

/* The kernel tells of the end to who writes, before anybody asks. */
TEST_CASE(process_is_killed_unnoticed)
{
    pid_t pid;

    start(0, AGENT);
    pid = start_process();
    ck_assert_int_eq(send_to(0, 1, "ping"), 0);
    until(nodes[0].messages == 1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(send_to(0, 1, "ping"), 0);
    until(nodes[0].reached[FAULTLOC_CHANNEL_LOST]);
    ck_assert_int_eq(nodes[0].last_error, ECONNRESET);
}

TEST_CASE(process_is_stopped_and_goes_on)
{
    int status;
    pid_t pid;

    start(0, AGENT);
    pid = start_process();
    ck_assert_int_eq(send_to(0, 1, "ping"), 0);
    until(nodes[0].messages == 1);
    kill(pid, SIGSTOP);
    ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(send_fresh(0, 1, "ping"), 0);
        until(nodes[0].reached[FAULTLOC_CHANNEL_CONNECTED] == 2 + i);
    }
    ck_assert_int_eq(nodes[0].messages, 1);
    kill(pid, SIGCONT);
    until(nodes[0].messages == 2);
    ck_assert_int_eq(nodes[0].reached[FAULTLOC_CHANNEL_LOST], 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* A listening socket that does what a test wants with who comes. */
static int fake_server(int i)
{
    struct faultloc_ports ports;

    ck_assert_int_eq(faultloc_channel_pick_ports(table[i].path, &ports), 0);
    table[i].port[AGENT] = ports.port;
    close(ports.fd[MGMT]);
    return ports.fd[DATA];
}

static int take_one(int listener)
{
    int fd = -1;

    until((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0);
    return fd;
}

TEST_CASE(connection_is_reset)
{
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    int listener, fd;

    start(0, AGENT);
    listener = fake_server(1);
    ck_assert_int_eq(send_to(0, 1, "x"), 0);
    fd = take_one(listener);
    until(nodes[0].reached[FAULTLOC_CHANNEL_CONNECTED]);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
    until(nodes[0].reached[FAULTLOC_CHANNEL_LOST]);
    check_trace("0: 1 data agent connected\n"
                "0: 1 data agent lost\n");
    ck_assert_int_eq(nodes[0].last_error, ECONNRESET);
    close(listener);
}

TEST_CASE(orderly_leave_is_no_fault)
{
    start_pair();
    ck_assert_int_eq(send_to(0, 1, "x"), 0);
    until(nodes[1].messages == 1);
    end(1);
    until(nodes[0].reached[FAULTLOC_CHANNEL_CLOSED]);
    check_trace("0: 1 data agent connected\n"
                "1: from 0 data agent 'x'\n"
                "0: 1 data agent closed\n");
    ck_assert_int_eq(send_to(0, 1, "y"), 0);
    until(nodes[0].reached[FAULTLOC_CHANNEL_REFUSED]);
}

TEST_CASE(own_address_is_gone)
{
    start_pair();
    table[0].path[DATA] = (struct faultloc_inet){AF_INET, {192, 0, 2, 1}};
    ck_assert_int_eq(send_to(0, 1, "x"), EADDRNOTAVAIL);
    ck_assert_int_eq(faultloc_channel_reach_of(EADDRNOTAVAIL), FAULTLOC_CHANNEL_LOCAL_DOWN);
    ck_assert_int_eq(faultloc_channel_send(nodes[0].ch, now, 1, MGMT, AGENT, 0, "x", 1), 0);
    until(nodes[1].messages == 1);
    check_trace("0: 1 mgmt agent connected\n"
                "1: from 0 mgmt agent 'x'\n");
}

TEST_CASE(path_that_one_side_lacks)
{
    start_pair();
    table[1].path[MGMT].family = 0;
    ck_assert_int_eq(faultloc_channel_send(nodes[0].ch, now, 1, MGMT, AGENT, 0, "x", 1),
                     EDESTADDRREQ);
    ck_assert_int_eq(faultloc_channel_send(nodes[1].ch, now, 0, MGMT, AGENT, 0, "x", 1),
                     EDESTADDRREQ);
    table[1].path[DATA].family = AF_INET6;
    ck_assert_int_eq(send_to(0, 1, "x"), EAFNOSUPPORT);
    ck_assert_uint_eq(stats_of(0).outbound, 0);
}

TEST_CASE(network_that_swallows_everything)
{
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_storage sa;
    socklen_t len = faultloc_sockaddr_make(&table[1].path[DATA], 0, &sa);
    int full[8];

    start(0, AGENT);
    /* With its backlog full a listening socket drops what comes, as a dead link does. */
    ck_assert_int_eq(bind(listener, (struct sockaddr *) &sa, len), 0);
    ck_assert_int_eq(listen(listener, 0), 0);
    table[1].port[AGENT] = faultloc_sock_port(listener);
    connect_many(full, 8);
    ck_assert_int_eq(send_to(0, 1, "x"), 0);
    settle();
    check_trace("");
    ck_assert_uint_eq(faultloc_channel_deadline(nodes[0].ch), now + 10 * SECOND);
    now += 10 * SECOND;
    settle();
    check_trace("0: 1 data agent unreachable\n");
    ck_assert_int_eq(nodes[0].last_error, ETIMEDOUT);
    close_many(full, 8);
    close(listener);
}

static const struct {
    int error;
    enum faultloc_channel_reach reach;
} errno_table[] = {
    {0, FAULTLOC_CHANNEL_CONNECTED},
    {ECONNREFUSED, FAULTLOC_CHANNEL_REFUSED},
    {EHOSTUNREACH, FAULTLOC_CHANNEL_UNREACHABLE},
    {EHOSTDOWN, FAULTLOC_CHANNEL_UNREACHABLE},
    {ETIMEDOUT, FAULTLOC_CHANNEL_UNREACHABLE},
    {ENETUNREACH, FAULTLOC_CHANNEL_LOCAL_DOWN},
    {ENETDOWN, FAULTLOC_CHANNEL_LOCAL_DOWN},
    {EADDRNOTAVAIL, FAULTLOC_CHANNEL_LOCAL_DOWN},
    {EMFILE, FAULTLOC_CHANNEL_LOCAL_DOWN},
    {ENOBUFS, FAULTLOC_CHANNEL_LOCAL_DOWN},
    {ECONNRESET, FAULTLOC_CHANNEL_LOST},
    {EPIPE, FAULTLOC_CHANNEL_LOST},
    {EPROTO, FAULTLOC_CHANNEL_LOST},
};

TEST_CASES(errno_to_reach, COUNT(errno_table))
{
    ck_assert_int_eq(faultloc_channel_reach_of(errno_table[_i].error), errno_table[_i].reach);
}

/* ---- limits and time ----------------------------------------------------------------------- */

TEST_CASE(queue_is_bounded)
{
    char text[1000];
    int sent = 0, rc;

    limits.queue_bytes = 10 * (sizeof(text) + FAULTLOC_FRAME_OVERHEAD);
    start(0, AGENT);
    struct faultloc_ports stopped = start_stopped(1);
    memset(text, 'q', sizeof(text));
    while ((rc = faultloc_channel_send(nodes[0].ch, now, 1, DATA, AGENT, 0, text, sizeof(text))) ==
           0)
        sent++;
    ck_assert_int_eq(rc, ENOBUFS);
    ck_assert_int_eq(sent, 10);
    until(nodes[0].reached[FAULTLOC_CHANNEL_CONNECTED]);
    ck_assert_uint_eq(faultloc_channel_unsent(nodes[0].ch), 0); /* not on a proven connection */
    faultloc_ports_close(&stopped);
}

/* A proven peer that does not read: the kernel's buffers fill, then the queue. */
TEST_CASE(slow_reader)
{
    static char body[FAULTLOC_BODY_MAX];
    int sent = 0, rc = 0;

    start_pair();
    ck_assert_int_eq(send_to(0, 1, "first"), 0);
    until(nodes[1].messages == 1);
    memset(body, 's', sizeof(body));
    while (rc == 0 && sent < 100000) {
        rc = faultloc_channel_send(nodes[0].ch, now, 1, DATA, AGENT, 0, body, sizeof(body));
        sent += rc == 0;
        ck_assert_int_eq(faultloc_channel_process(nodes[0].ch, now), 0);
    }
    ck_assert_int_eq(rc, ENOBUFS);
    ck_assert_uint_gt(faultloc_channel_unsent(nodes[0].ch), 0);
    ck_assert_uint_le(faultloc_channel_unsent(nodes[0].ch), 65536);
    until(nodes[1].messages == 1 + sent);
    ck_assert_uint_eq(faultloc_channel_unsent(nodes[0].ch), 0);
    ck_assert_int_eq(send_to(0, 1, "last"), 0);
    until(nodes[1].messages == 2 + sent);
}

TEST_CASE(idle_connections_are_closed_by_who_made_them)
{
    start_pair();
    ck_assert_uint_eq(faultloc_channel_deadline(nodes[0].ch), UINT64_MAX);
    ck_assert_int_eq(send_to(0, 1, "x"), 0);
    until(nodes[1].messages == 1);
    settle();
    ck_assert_uint_eq(faultloc_channel_deadline(nodes[0].ch), now + 10 * SECOND);
    now += 10 * SECOND - 1;
    settle();
    ck_assert_uint_eq(stats_of(0).outbound, 1);
    now += 1;
    settle();
    ck_assert_uint_eq(stats_of(0).outbound, 0);
    ck_assert_uint_eq(stats_of(1).inbound, 0);
    ck_assert_uint_eq(faultloc_channel_deadline(nodes[0].ch), UINT64_MAX);
    ck_assert_uint_eq(faultloc_channel_deadline(nodes[1].ch), UINT64_MAX);
    check_trace("0: 1 data agent connected\n"
                "1: from 0 data agent 'x'\n");
    ck_assert_int_eq(send_to(0, 1, "y"), 0);
    until(nodes[1].messages == 2);
}

TEST_CASE(stopped_peer_is_not_held_for_ever)
{
    start(0, AGENT);
    struct faultloc_ports stopped = start_stopped(1);
    ck_assert_int_eq(send_to(0, 1, "x"), 0);
    until(nodes[0].reached[FAULTLOC_CHANNEL_CONNECTED]);
    now += 10 * SECOND;
    settle();
    ck_assert_uint_eq(stats_of(0).outbound, 0);
    check_trace("0: 1 data agent connected\n");
    faultloc_ports_close(&stopped);
}

TEST_CASE(lost_peer_is_not_held_for_ever)
{
    start(1, AGENT);
    struct client c = join(0);
    ck_assert_uint_eq(stats_of(1).inbound, 1);
    now += 29 * SECOND;
    settle();
    ck_assert_uint_eq(stats_of(1).inbound, 1);
    now += SECOND;
    settle();
    ck_assert_uint_eq(stats_of(1).inbound, 0);
    close(c.fd);
}

TEST_CASE(one_peer_has_only_so_many_connections)
{
    struct client c[4];

    limits.per_peer = 3;
    start(1, AGENT);
    for (int i = 0; i < 4; i++) {
        c[i] = join(2);
        now++;
    }
    ck_assert_uint_eq(stats_of(1).inbound, 3);
    take_welcome(&c[0]); /* GOODBYE has its form */
    must_be_closed(c[0].fd);
    for (int i = 1; i < 4; i++)
        close(c[i].fd);
}

TEST_CASE(more_peers_than_connections)
{
    limits.inbound = 2;
    for (int i = 0; i < NODES; i++)
        start(i, AGENT);
    for (int i = 1; i < NODES; i++) {
        ck_assert_int_eq(send_to(i, 0, "x"), 0);
        until(nodes[0].messages == i);
        now++;
    }
    until(nodes[1].reached[FAULTLOC_CHANNEL_CLOSED]);
    ck_assert_uint_eq(stats_of(0).inbound, 2);
    ck_assert_int_eq(nodes[1].reached[FAULTLOC_CHANNEL_LOST], 0);
    ck_assert_int_eq(send_to(1, 0, "again"), 0);
    until(nodes[0].messages == NODES);
}

TEST_CASE(more_destinations_than_connections)
{
    limits.outbound = 2;
    for (int i = 0; i < NODES; i++)
        start(i, AGENT);
    for (int i = 1; i < NODES; i++) {
        ck_assert_int_eq(send_to(0, i, "x"), 0);
        until(nodes[i].messages == 1);
        now++;
    }
    settle();
    ck_assert_uint_eq(stats_of(0).outbound, 2);
    ck_assert_uint_eq(stats_of(1).inbound, 0);
    ck_assert_int_eq(nodes[0].reached[FAULTLOC_CHANNEL_LOST], 0);
}

TEST_CASE(all_connections_in_the_midst_of_something)
{
    limits.outbound = 1;
    start(0, AGENT);
    start(2, AGENT);
    struct faultloc_ports stopped = start_stopped(1);
    ck_assert_int_eq(send_to(0, 1, "x"), 0);
    ck_assert_int_eq(send_to(0, 2, "x"), ENOBUFS);
    faultloc_ports_close(&stopped);
}

/* ---- ports --------------------------------------------------------------------------------- */

TEST_CASE(port_is_taken_over)
{
    start_pair();
    ck_assert_int_eq(send_to(0, 1, "one"), 0);
    until(nodes[1].messages == 1);
    /* The next in line, another process, tries while the last owner is still there. */
    table[2] = table[1];
    ck_assert_int_eq(create(2), 0);
    ck_assert_int_eq(faultloc_channel_listen(nodes[2].ch, AGENT), EADDRINUSE);
    ck_assert_uint_eq(faultloc_channel_listening(nodes[2].ch, AGENT), 0);
    end(1);
    /* Connections that the dead one had do not stand in the way. */
    ck_assert_int_eq(faultloc_channel_listen(nodes[2].ch, AGENT), 0);
    ck_assert_uint_eq(faultloc_channel_listening(nodes[2].ch, AGENT), 2);
    ck_assert_int_eq(send_to(0, 2, "two"), 0);
    until(nodes[2].messages == 1);
    ck_assert_int_eq(nodes[0].reached[FAULTLOC_CHANNEL_REFUSED], 0);
}

TEST_CASE(listening_can_be_completed_later)
{
    struct faultloc_inet both[FTREE_PATHS] = {table[1].path[MGMT]};
    struct faultloc_ports other;

    start(1, AGENT);
    ck_assert_int_eq(faultloc_channel_pick_ports(both, &other), 0);
    table[1].port[DEPUTY] = other.port;
    ck_assert_int_eq(faultloc_channel_listen(nodes[1].ch, DEPUTY), EADDRINUSE);
    ck_assert_uint_eq(faultloc_channel_listening(nodes[1].ch, DEPUTY), 1);
    faultloc_ports_close(&other);
    ck_assert_int_eq(faultloc_channel_listen(nodes[1].ch, DEPUTY), 0);
    ck_assert_uint_eq(faultloc_channel_listening(nodes[1].ch, DEPUTY), 2);
    ck_assert_int_eq(faultloc_channel_listen(nodes[1].ch, DEPUTY), 0);
}

TEST_CASE(unlisten_refuses_and_keeps_what_is_there)
{
    start_pair();
    nodes[1].answers = true;
    ck_assert_int_eq(send_to(0, 1, "ping 1"), 0);
    until(nodes[0].messages == 1);
    faultloc_channel_unlisten(nodes[1].ch, AGENT);
    ck_assert_uint_eq(faultloc_channel_listening(nodes[1].ch, AGENT), 0);
    ck_assert_int_eq(send_to(0, 1, "ping 2"), 0);
    until(nodes[0].messages == 2);
    ck_assert_int_eq(send_fresh(0, 1, "ping 3"), 0);
    until(nodes[0].reached[FAULTLOC_CHANNEL_REFUSED]);
    ck_assert_int_eq(faultloc_channel_listen(nodes[1].ch, AGENT), 0);
    ck_assert_int_eq(send_to(0, 1, "ping 4"), 0);
    until(nodes[0].messages == 3);
}

TEST_CASE(picking_ports)
{
    struct faultloc_inet none[FTREE_PATHS] = {{0}};
    struct faultloc_inet twice[FTREE_PATHS] = {table[0].path[DATA], table[0].path[DATA]};
    struct faultloc_inet one[FTREE_PATHS] = {{0}, table[0].path[MGMT]};
    struct faultloc_ports ports, second;

    ck_assert_int_eq(faultloc_channel_pick_ports(none, &ports), EINVAL);
    ck_assert_int_eq(faultloc_channel_pick_ports(twice, &ports), EINVAL);
    ck_assert_int_eq(faultloc_channel_pick_ports(one, &ports), 0);
    ck_assert_int_eq(ports.fd[DATA], -1);
    ck_assert_int_gt(ports.port, 0);
    ck_assert_int_eq(faultloc_sock_port(ports.fd[MGMT]), ports.port);
    start(0, AGENT);
    ck_assert_int_eq(faultloc_channel_pick_ports(table[0].path, &second), 0);
    ck_assert_int_eq(faultloc_channel_adopt(nodes[0].ch, AGENT, &second), EBUSY);
    ck_assert_int_eq(second.fd[DATA], -1);
    faultloc_ports_close(&ports);
}

/* ---- strangers ----------------------------------------------------------------------------- */

TEST_CASE(stranger_says_nothing)
{
    int fd;

    start(1, AGENT);
    fd = connect_to(1, DATA);
    until(stats_of(1).unproven == 1);
    ck_assert_uint_eq(faultloc_channel_deadline(nodes[1].ch), now + 2 * SECOND);
    now += 2 * SECOND;
    must_be_closed(fd);
    check_trace("1: stranger 127.0.0.1 connected and did not prove the job's key\n");
    ck_assert_uint_eq(faultloc_channel_deadline(nodes[1].ch), UINT64_MAX);
}

TEST_CASE(stranger_leaves)
{
    start(1, AGENT);
    close(connect_to(1, DATA));
    until(stats_of(1).accepted == 1);
    settle();
    ck_assert_uint_eq(stats_of(1).unproven, 0);
    check_trace(""); /* a peer that gave up asking looks the same */
}

TEST_CASE(stranger_without_the_key_is_logged_once)
{
    uint8_t wrong[FAULTLOC_KEY_SIZE] = {0};

    start(1, AGENT);
    for (int i = 0; i < 5; i++)
        must_be_closed(enter(1, 0, wrong).fd);
    check_trace("1: stranger 127.0.0.1 sent no valid proof of the job's key\n");
    ck_assert_uint_eq(stats_of(1).intruders[FAULTLOC_INTRUDER_BAD_HELLO], 5);
    ck_assert_uint_eq(stats_of(1).unproven, 0);
}

TEST_CASE(stranger_at_both_paths)
{
    start(1, AGENT);
    for (int path = 0; path < FTREE_PATHS; path++) {
        int fd = connect_to(1, path);
        must_send(fd, key, sizeof(key)); /* part of a HELLO, then the end */
        shutdown(fd, SHUT_WR);
        must_be_closed(fd);
    }
    check_trace("1: stranger 127.0.0.1 connected and did not prove the job's key\n");
    ck_assert_uint_eq(stats_of(1).intruders[FAULTLOC_INTRUDER_NO_HELLO], 2);
}

TEST_CASE(hello_of_no_node)
{
    start(1, AGENT);
    must_be_closed(enter(1, NODES, key).fd);
    must_be_closed(enter(1, UINT32_MAX, key).fd);
    ck_assert_uint_eq(stats_of(1).intruders[FAULTLOC_INTRUDER_BAD_HELLO], 2);
}

TEST_CASES(hello_made_for_another_socket, 3)
{
    struct faultloc_hello who[] = {{.from = 0, .to = 2, .path = DATA, .role = AGENT},
                                   {.from = 0, .to = 1, .path = MGMT, .role = AGENT},
                                   {.from = 0, .to = 1, .path = DATA, .role = DEPUTY}};
    struct client c;

    start(1, AGENT);
    c.fd = connect_to(1, DATA);
    make_hello(&c, key, &who[_i]);
    must_send(c.fd, c.hello, sizeof(c.hello));
    must_be_closed(c.fd);
    ck_assert_uint_eq(stats_of(1).intruders[FAULTLOC_INTRUDER_BAD_HELLO], 1);
}

TEST_CASE(replayed_hello)
{
    uint8_t challenge[FAULTLOC_CHALLENGE_SIZE];
    struct client c;
    int fd;

    start(1, AGENT);
    c = join(0);
    fd = connect_to(1, DATA);
    must_recv(fd, challenge, sizeof(challenge));
    must_send(fd, c.hello, sizeof(c.hello));
    must_be_closed(fd);
    ck_assert_uint_eq(stats_of(1).inbound, 1);
    ck_assert_uint_eq(stats_of(1).intruders[FAULTLOC_INTRUDER_BAD_HELLO], 1);
    close(c.fd);
}

/* Every bit of the HELLO counts. */
TEST_CASE(flipped_bit_in_hello)
{
    struct faultloc_hello who = {.from = 0, .to = 1, .path = DATA, .role = AGENT};

    start(1, AGENT);
    for (size_t i = 0; i < FAULTLOC_HELLO_SIZE; i++) {
        struct client c = {.fd = connect_to(1, DATA)};
        make_hello(&c, key, &who);
        c.hello[i] ^= (uint8_t) (1u << i % 8);
        must_send(c.fd, c.hello, sizeof(c.hello));
        must_be_closed(c.fd);
    }
    ck_assert_uint_eq(stats_of(1).inbound, 0);
    ck_assert_uint_eq(stats_of(1).intruders[FAULTLOC_INTRUDER_BAD_HELLO], FAULTLOC_HELLO_SIZE);
}

/* Every bit of a frame counts, its header's included. */
TEST_CASE(flipped_bit_in_frame)
{
    static const char text[] = "twelve bytes";
    const size_t size = FAULTLOC_FRAME_OVERHEAD + sizeof(text) - 1;
    uint8_t frame[FAULTLOC_FRAME_MAX] = {0};

    start(1, AGENT);
    for (size_t i = 0; i < size; i++) {
        struct client c = join(0);
        ck_assert_uint_eq(make_frame(&c, text, frame), size);
        frame[i] ^= (uint8_t) (1u << i % 8);
        /* A length that grew makes the channel wait for more: it gets more, also not right. */
        must_send(c.fd, frame, i < 4 ? sizeof(frame) : size);
        must_be_closed(c.fd);
    }
    ck_assert_int_eq(nodes[1].messages, 0);
    ck_assert_uint_eq(stats_of(1).intruders[FAULTLOC_INTRUDER_BAD_FRAME], size);
    check_trace("1: stranger 127.0.0.1 sent a frame that is not valid\n");
}

TEST_CASE(replayed_frame)
{
    uint8_t frame[FAULTLOC_FRAME_MAX];
    start(1, AGENT);
    struct client c = join(0);
    size_t size = make_frame(&c, "once", frame);
    must_send(c.fd, frame, size);
    must_send(c.fd, frame, size);
    must_be_closed(c.fd);
    check_trace("1: from 0 data agent 'once'\n"
                "1: stranger 127.0.0.1 sent a frame that is not valid\n");
}

TEST_CASE(frame_of_another_connection)
{
    uint8_t frame[FAULTLOC_FRAME_MAX];
    struct client a, b;

    start(1, AGENT);
    a = join(0);
    b = join(0);
    must_send(b.fd, frame, make_frame(&a, "stolen", frame));
    must_be_closed(b.fd);
    ck_assert_int_eq(nodes[1].messages, 0);
    close(a.fd);
}

TEST_CASE(servers_own_frame_sent_back)
{
    uint8_t welcome[FAULTLOC_FRAME_OVERHEAD];
    struct client c;

    start(1, AGENT);
    c = enter(1, 0, key);
    must_recv(c.fd, welcome, sizeof(welcome));
    must_send(c.fd, welcome, sizeof(welcome));
    must_be_closed(c.fd);
    ck_assert_uint_eq(stats_of(1).intruders[FAULTLOC_INTRUDER_BAD_FRAME], 1);
}

TEST_CASES(huge_length_from_who_has_the_key, 4)
{
    uint8_t head[FAULTLOC_FRAME_HEAD] = {0};
    static const uint32_t lengths[] = {FAULTLOC_BODY_MAX + 1, 0x7fffffff, 0x80000000, 0xffffffff};

    start(1, AGENT);
    struct client c = join(0);
    faultloc_frame_begin(head, lengths[_i]);
    must_send(c.fd, head, 4); /* the length alone is enough to refuse */
    must_be_closed(c.fd);
    ck_assert_uint_eq(stats_of(1).intruders[FAULTLOC_INTRUDER_BAD_FRAME], 1);
}

TEST_CASE(empty_frame_from_who_has_the_key)
{
    uint8_t frame[FAULTLOC_FRAME_MAX];
    start(1, AGENT);
    struct client c = join(0);
    must_send(c.fd, frame, make_frame(&c, "", frame));
    must_be_closed(c.fd);
    ck_assert_uint_eq(stats_of(1).intruders[FAULTLOC_INTRUDER_BAD_FRAME], 1);
}

TEST_CASE(frame_byte_by_byte)
{
    uint8_t frame[FAULTLOC_FRAME_MAX];
    start(1, AGENT);
    struct client c = join(3);
    size_t size = make_frame(&c, "slowly", frame);
    for (size_t i = 0; i < size; i++) {
        ck_assert_int_eq(nodes[1].messages, 0);
        must_send(c.fd, frame + i, 1);
        settle();
    }
    until(nodes[1].messages == 1);
    check_trace("1: from 3 data agent 'slowly'\n");
    close(c.fd);
}

TEST_CASE(random_bytes)
{
    uint8_t bytes[512];

    start(1, AGENT);
    for (int i = 0; i < 50; i++) {
        int fd = connect_to(1, DATA);
        randombytes_buf(bytes, sizeof(bytes));
        must_send(fd, bytes, sizeof(bytes));
        must_be_closed(fd);
    }
    ck_assert_int_eq(nodes[1].messages, 0);
    ck_assert_int_eq(nodes[1].intruders, 1);
}

TEST_CASE(random_bytes_from_who_has_the_key)
{
    uint8_t bytes[512];

    start(1, AGENT);
    for (int i = 0; i < 50; i++) {
        struct client c = join(0);
        randombytes_buf(bytes, sizeof(bytes));
        must_send(c.fd, bytes, sizeof(bytes));
        must_be_closed(c.fd);
    }
    ck_assert_int_eq(nodes[1].messages, 0);
}

TEST_CASES(stranger_listens_on_an_agents_port, 2)
{
    uint8_t bytes[512] = {'F', 'L', 'T', 'C', 0, 1};
    int listener, fd;

    start(0, AGENT);
    listener = fake_server(1);
    ck_assert_int_eq(send_to(0, 1, "secret"), 0);
    fd = take_one(listener);
    /* 0: no challenge at all; 1: a good challenge, and then no proof */
    must_send(fd, _i == 0 ? key : bytes, _i == 0 ? 32 : FAULTLOC_CHALLENGE_SIZE);
    if (_i == 1) {
        must_recv(fd, bytes, FAULTLOC_HELLO_SIZE);
        must_send(fd, bytes, sizeof(bytes));
    } else {
        must_send(fd, key, 32);
    }
    until(nodes[0].reached[FAULTLOC_CHANNEL_LOST]);
    ck_assert_int_eq(nodes[0].last_error, EPROTO);
    check_trace("0: 1 data agent connected\n"
                "0: 1 data agent lost\n"
                "0: stranger 127.0.0.1 listens on an agent's port without the job's key\n");
    close(fd);
    close(listener);
}

TEST_CASE(unproven_connections_are_limited)
{
    int fds[80];
    int closed = 0;

    start_pair();
    for (int i = 0; i < 80; i++) {
        fds[i] = connect_to(1, DATA);
        settle();
        ck_assert_uint_le(stats_of(1).unproven, 64);
        now += SECOND / 100;
    }
    for (int i = 0; i < 80; i++) {
        ck_assert_int_eq(is_closed(fds[i]), i < 16); /* the oldest go */
        closed += is_closed(fds[i]);
    }
    ck_assert_int_eq(closed, 16);
    check_trace("1: stranger 127.0.0.1 opened more connections than are held at a time\n");
    ck_assert_uint_eq(stats_of(1).intruders[FAULTLOC_INTRUDER_FLOOD], 16);
    ck_assert_int_eq(send_to(0, 1, "still here?"), 0);
    until(nodes[1].messages == 1);
    close_many(fds, 80);
}

/* Who floods pushes out itself, not one that comes from elsewhere. */
TEST_CASE(flood_pushes_out_itself)
{
    int fds[100], other;

    start(1, AGENT);
    other = connect_to(1, MGMT); /* comes from 127.0.0.2 as the kernel picks it */
    settle();
    for (int i = 0; i < 100; i++) {
        fds[i] = connect_to(1, DATA);
        settle();
        now += SECOND / 100;
    }
    struct sockaddr_in from;
    socklen_t len = sizeof(from);
    ck_assert_int_eq(getsockname(other, (struct sockaddr *) &from, &len), 0);
    if (from.sin_addr.s_addr != htonl(INADDR_LOOPBACK))
        ck_assert(!is_closed(other));
    close_many(fds, 100);
    close(other);
}

/* Raises the limit of descriptors as far as it goes. */
static rlim_t raise_descriptors(void)
{
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

/* A flood leaves each who came the time to prove the key. */
TEST_CASE(flood_leaves_time_for_a_proof)
{
    struct faultloc_hello who = {.from = 0, .to = 1, .path = DATA, .role = AGENT};
    struct client c;
    int fds[200];

    start(1, AGENT);
    c.fd = connect_to(1, DATA);
    connect_many(fds, 200);
    settle();
    ck_assert_uint_eq(stats_of(1).accepted, 64);
    ck_assert_uint_eq(faultloc_channel_deadline(nodes[1].ch), now + SECOND / 100);
    now += SECOND / 100 - 1;
    settle();
    ck_assert_uint_eq(stats_of(1).accepted, 64);
    make_hello(&c, key, &who);
    must_send(c.fd, c.hello, sizeof(c.hello));
    now += 1;
    settle();
    take_welcome(&c);
    until_in_time(stats_of(1).accepted == 201);
    close(c.fd);
    close_many(fds, 200);
}

TEST_CASE(ten_thousand_connections)
{
    enum {
        FLOOD = 10000,
        BATCH = 250
    };
    static int fds[FLOOD];
    size_t keep = raise_descriptors();
    int served = 0;

    keep = keep > FLOOD + 2000 ? FLOOD : keep > 1000 ? keep - 900 : 100;
    limits.inbound = limits.outbound = 64;
    start_pair();
    nodes[1].answers = true;
    for (int i = 0; i < FLOOD; i++) {
        if ((size_t) i >= keep)
            close(fds[i - (int) keep]);
        fds[i] = connect_to(1, DATA);
        if (i % BATCH == BATCH - 1) {
            ck_assert_int_eq(send_fresh(0, 1, "ping"), 0);
            served++;
            until_in_time(nodes[0].messages == served);
            ck_assert_uint_le(stats_of(1).unproven, 64);
        }
    }
    ck_assert_int_eq(served, FLOOD / BATCH);
    until_in_time(stats_of(1).accepted >= FLOOD + FLOOD / BATCH);
    ck_assert_int_eq(nodes[1].intruders, 1);
    for (int i = FLOOD - (int) keep; i < FLOOD; i++)
        close(fds[i]);
}

TEST_CASE(work_of_one_call_is_bounded)
{
    int fds[100];

    limits.accepts = 4;
    limits.unproven = 100;
    start(1, AGENT);
    connect_many(fds, 100);
    for (int i = 1; i <= 25; i++) {
        ck_assert_int_eq(faultloc_channel_process(nodes[1].ch, now), 0);
        ck_assert_uint_eq(stats_of(1).accepted, 4u * (unsigned) i);
    }
    close_many(fds, 100);
}

static struct rlimit before;
static int used[1024], uses;

/* All that are left of 256, by copies of fd. */
static void use_up_descriptors(int fd)
{
    struct rlimit few;

    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = 256;
    setrlimit(RLIMIT_NOFILE, &few);
    while (uses < 1024 && (used[uses] = dup(fd)) >= 0)
        uses++;
    ck_assert_int_eq(errno, EMFILE);
}

static void give_back_descriptors(void)
{
    setrlimit(RLIMIT_NOFILE, &before);
    close_many(used, uses);
}

TEST_CASE(no_descriptors_left)
{
    int stranger, late;

    start_pair();
    stranger = connect_to(1, DATA);
    settle();
    late = connect_to(1, DATA);
    use_up_descriptors(late);
    /* The unproven one gives way to the next, and no call spins. */
    settle();
    ck_assert(is_closed(stranger));
    ck_assert_uint_eq(stats_of(1).unproven, 1);
    ck_assert_int_eq(send_to(0, 1, "x"), EMFILE);
    give_back_descriptors();
    ck_assert_int_eq(send_to(0, 1, "x"), 0);
    until(nodes[1].messages == 1);
    close(stranger);
    close(late);
}

TEST_CASE(no_descriptors_left_and_nobody_to_refuse)
{
    int late[3];

    start_pair();
    connect_many(late, 3);
    use_up_descriptors(late[0]);
    settle(); /* ends: those who wait are taken and closed with the spare descriptor */
    for (int i = 1; i < 3; i++)
        ck_assert(is_closed(late[i]));
    give_back_descriptors();
    ck_assert_int_eq(send_to(0, 1, "x"), 0);
    until(nodes[1].messages == 1);
    close_many(late, 3);
}

/* ---- memory -------------------------------------------------------------------------------- */

/* One conversation; whatever fails, nothing crashes, leaks, or stays stuck. */
static bool converse(void)
{
    struct faultloc_ports ports;
    bool done = false;

    for (int i = 0; i < 2; i++) {
        if (create(i))
            return false;
        ck_assert_int_eq(faultloc_channel_pick_ports(table[i].path, &ports), 0);
        table[i].port[AGENT] = ports.port;
        ck_assert_int_eq(faultloc_channel_adopt(nodes[i].ch, AGENT, &ports), 0);
    }
    if (send_to(0, 1, "hello") == 0) {
        settle();
        if (nodes[1].messages &&
            faultloc_channel_reply(nodes[1].ch, now, nodes[1].conn, "hi", 2) == 0) {
            settle();
            done = nodes[0].messages == 1;
        }
    }
    return done;
}

TEST_CASE(each_allocation_fails)
{
    bool done = false;
    int n;

    for (n = 0; n < 50 && !done; n++) {
        memset(nodes, 0, sizeof(nodes));
        allocs_left = n;
        done = converse();
        end(0);
        end(1);
        ck_assert_int_eq(live_allocs, 0);
    }
    ck_assert(done);
    ck_assert_int_gt(n, 6);
}
