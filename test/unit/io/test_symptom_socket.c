/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * The symptom socket: what a datagram says, who is heard, and whose socket it is. Symptom sockets
 * are in a folder of the test's own.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/base/say.h"
#include "faultloc/io/symptom_socket.h"
#include "process.h"
#include "suite.h"
#include "ftree/topology/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NOW (100000 * FTREE_MS)

/* Four nodes; h0 has two ranks, fd00::3 is a name with colons. */
static const char *const names[] = {"h0", "h1", "h2", "fd00::3"};
static const int32_t rank_node[] = {0, 0, 1, 2, 3};
static const int32_t node_first[] = {0, 2, 3, 4, 5};
static const int32_t node_ranks[] = {0, 1, 2, 3, 4};
static const char *const switches[] = {"leaf0", "leaf1", "empty"};
static const int32_t heads[] = {0, 2, FTREE_NONE}, node_switch[] = {0, 0, 1, FTREE_NONE};
static const struct ftree_tree tree = {.nodes = 4,
                                       .switches = 3,
                                       .switch_name = switches,
                                       .switch_head = heads,
                                       .node_switch = node_switch};
static const struct ftree_job job = {.nodes = 4,
                                     .size = 5,
                                     .tree = &tree,
                                     .node_name = names,
                                     .rank_node = rank_node,
                                     .node_first = node_first,
                                     .node_ranks = node_ranks};

/* ---- what a datagram says -------------------------------------------------------------------- */

static const struct {
    const char *text;
    int32_t self;
    const char
        *said; /* kind severity component node rank switch count errno age detail; or error */
} rows[] = {
    {"{\"kind\":\"power-off\"}", 2, "power-off fatal node 2 -1 -1 1 0 0 "},
    {"{\"kind\":\"power-off\",\"component\":\"node h1\",\"severity\":\"info\",\"detail\":\"off\","
     "\"errno\":\"EHOSTUNREACH\",\"age_ms\":120,\"count\":3}",
     0, "power-off info node 1 -1 -1 3 113 120 off"},
    {"{\"severity\":\"info\",\"kind\":\"power-off\"}", 0, "power-off info node 0 -1 -1 1 0 0 "},
    {"  {\"kind\":\"io-error\",\"errno\":5}\n", 0, "io-error error node 0 -1 -1 1 5 0 "},
    {"{\"kind\":\"process-gone\",\"component\":\"rank 3\"}", 0,
     "process-gone fatal rank 2 3 -1 1 0 0 "},
    {"{\"kind\":\"process-gone\"}", 1, "process-gone fatal rank 1 2 -1 1 0 0 "},
    {"{\"kind\":\"process-gone\"}", 0,
     "process-gone is about a rank, and this node has 2: give a \"component\""},
    {"{\"kind\":\"interface-down\"}", 0, "interface-down error nic 0 -1 -1 1 0 0 "},
    {"{\"kind\":\"interface-down\",\"component\":\"nic h1:eth0\",\"detail\":\"down\"}", 0,
     "interface-down error nic 1 -1 -1 1 0 0 eth0: down"},
    {"{\"kind\":\"carrier-lost\",\"component\":\"link fd00::3:ib0\"}", 0,
     "carrier-lost error link 3 -1 -1 1 0 0 ib0"},
    {"{\"kind\":\"carrier-lost\",\"component\":\"link fd00::3\"}", 0,
     "carrier-lost error link 3 -1 -1 1 0 0 "},
    {"{\"kind\":\"switch-down\",\"component\":\"switch leaf1\"}", 0,
     "switch-down error switch 2 -1 1 1 0 0 "},
    {"{\"kind\":\"switch-down\"}", 1, "switch-down error switch 0 -1 0 1 0 0 "},
    {"{\"kind\":\"switch-down\"}", 3,
     "switch-down is about a switch, and the switch of this node is not known"},
    {"{\"kind\":\"switch-down\",\"component\":\"switch empty\"}", 0,
     "no node of the job is behind switch \"empty\""},
    {"{\"kind\":\"switch-down\",\"component\":\"switch top\"}", 0,
     "the topology file has no switch \"top\""},
    {"{\"kind\":\"user-suspects\",\"component\":\"rank 4\",\"detail\":\"a\\nb\\u00e4\"}", 0,
     "user-suspects info rank 3 4 -1 1 0 0 a?b??"},
    {"{}", 0, "\"kind\" is missing"},
    {"{\"kind\":\"power-of\"}", 0,
     "no such kind of symptom: \"power-of\"; `faultloc symptom --list` lists them"},
    {"{\"kind\":7}", 0, "\"kind\" must be a string"},
    {"{\"kind\":\"power-off\",\"severity\":\"bad\"}", 0,
     "no such severity: \"bad\"; the severities are info, warning, error, fatal"},
    {"{\"kind\":\"power-off\",\"component\":\"node h9\"}", 0, "the job has no node \"h9\""},
    {"{\"kind\":\"power-off\",\"component\":\"node h1:eth0\"}", 0,
     "the job has no node \"h1:eth0\""},
    {"{\"kind\":\"power-off\",\"component\":\"nic h9:eth0\"}", 0,
     "the job has no node \"h9:eth0\""},
    {"{\"kind\":\"power-off\",\"component\":\"rank 5\"}", 0,
     "the job has no rank \"5\": it has ranks 0 to 4"},
    {"{\"kind\":\"power-off\",\"component\":\"rank -1\"}", 0,
     "the job has no rank \"-1\": it has ranks 0 to 4"},
    {"{\"kind\":\"power-off\",\"component\":\"rank 99999999999999999999\"}", 0,
     "the job has no rank \"99999999999999999999\": it has ranks 0 to 4"},
    {"{\"kind\":\"power-off\",\"component\":\"h1\"}", 0, "\"h1\" is not a component"},
    {"{\"kind\":\"power-off\",\"component\":\"node \"}", 0, "\"node \" is not a component"},
    {"{\"kind\":\"power-off\",\"component\":\"\"}", 0, "\"\" is not a component"},
    {"{\"kind\":\"power-off\",\"component\":\"averyveryverylongkind x\"}", 0,
     "\"averyveryverylongkind x\" is not a component"},
    {"{\"kind\":\"power-off\",\"component\":[]}", 0, "\"component\" must be a string"},
    {"{\"kind\":\"power-off\",\"errno\":\"EBAD\"}", 0, "unknown errno \"EBAD\""},
    {"{\"kind\":\"power-off\",\"errno\":5000}", 0, "\"errno\" must be a whole number from 0 to"},
    {"{\"kind\":\"power-off\",\"errno\":null}", 0, "\"errno\" must be a string"},
    {"{\"kind\":\"power-off\",\"count\":0}", 0, "\"count\" must be a whole number from 1 to"},
    {"{\"kind\":\"power-off\",\"count\":1.5}", 0, "\"count\" must be a whole number from 1 to"},
    {"{\"kind\":\"power-off\",\"count\":99999999999999999999999}", 0, "\"count\" must be a whole"},
    {"{\"kind\":\"power-off\",\"age_ms\":-1}", 0, "\"age_ms\" must be a whole number from 0 to"},
    {"{\"kind\":\"power-off\",\"detail\":\"a\\u0000b\"}", 0, "\"detail\" has a zero byte"},
    {"{\"kind\":\"power-off\",\"node\":\"h1\"}", 0,
     "unknown member; the members are kind, component"},
    {"{\"kind\":\"power-off\"", 0, "not JSON: unexpected end of file"},
    {"{\"kind\":\"power-off\"} x", 0, "not JSON: "},
    {"power-off", 0, "not JSON: "},
    {"[[[[[[1]]]]]]", 0, "not JSON: "},
    {"[]", 0, "not a JSON object"},
    {"5", 0, "not JSON: unexpected end of file"},
    {"", 0, "not JSON: unexpected end of file"},
};

static void say_symptom(const struct ftree_symptom *s, char *out, size_t room)
{
    snprintf(out, room, "%s %s %s %d %d %d %u %d %d %s", ftree_symptom_info(s->kind)->name,
             ftree_severity_name(s->severity), ftree_kind_name(s->about.kind), (int) s->about.node,
             (int) s->about.rank, (int) s->about.switch_, (unsigned) s->count, (int) s->error,
             (int) ((NOW - s->first) / FTREE_MS), s->detail);
}

TEST_CASES(a_datagram_is_read, COUNT(rows))
{
    /* of its own size, so that the sanitizers see a step too far */
    size_t len = strlen(rows[_i].text);
    char *text = memcpy(malloc(len + 1), rows[_i].text, len);
    char said[512], error[FAULTLOC_SYMPTOM_ERROR];
    struct ftree_symptom s;

    text = realloc(text, len ? len : 1);
    if (faultloc_symptom_parse(&job, rows[_i].self, NOW, text, len, &s, error)) {
        say_symptom(&s, said, sizeof(said));
        ck_assert_str_eq(said, rows[_i].said);
        ck_assert_uint_eq(s.first, s.last);
    } else {
        ck_assert_msg(!strncmp(error, rows[_i].said, strlen(rows[_i].said)), "%s", error);
    }
    free(text);
}

TEST_CASE(a_zero_byte_is_an_error)
{
    static const char text[] = "{\"kind\":\"power-off\"}\0{";
    char error[FAULTLOC_SYMPTOM_ERROR];
    struct ftree_symptom s;

    ck_assert(!faultloc_symptom_parse(&job, 0, NOW, text, sizeof(text) - 1, &s, error));
    ck_assert_str_eq(error, "not JSON: it has zero bytes");
}

TEST_CASE(without_a_topology_no_switch_is_known)
{
    static const char text[] = "{\"kind\":\"switch-down\",\"component\":\"switch leaf1\"}";
    static const char own[] = "{\"kind\":\"switch-down\"}";
    const struct ftree_job plain = {.nodes = 4, .size = 4};
    char error[FAULTLOC_SYMPTOM_ERROR];
    struct ftree_symptom s;

    ck_assert(!faultloc_symptom_parse(&plain, 0, NOW, text, strlen(text), &s, error));
    ck_assert_ptr_nonnull(strstr(error, "MPIR_CVAR_FAULTLOC_TOPOLOGY"));
    ck_assert(!faultloc_symptom_parse(&plain, 0, NOW, own, strlen(own), &s, error));
    ck_assert(faultloc_symptom_parse(&plain, 3, NOW, "{\"kind\":\"process-gone\"}", 23, &s, error));
    ck_assert_int_eq(s.about.rank, 3);
}

/* What is observed before the clock's beginning is at its beginning. */
TEST_CASE(an_age_before_the_clock_is_its_beginning)
{
    static const char text[] = "{\"kind\":\"power-off\",\"age_ms\":3600000}";
    char error[FAULTLOC_SYMPTOM_ERROR];
    struct ftree_symptom s;

    ck_assert(faultloc_symptom_parse(&job, 0, 5 * FTREE_MS, text, strlen(text), &s, error));
    ck_assert_uint_eq(s.first, 0);
}

/* Good datagrams with bytes changed, cut off or doubled: never more than an error. */
TEST_CASE(a_broken_datagram_does_no_harm)
{
    char error[FAULTLOC_SYMPTOM_ERROR];
    struct ftree_symptom s;
    uint64_t random = 88172645463325252u;

    for (int i = 0; i < 20000; i++) {
        const char *from = rows[i % COUNT(rows)].text;
        size_t len = strlen(from);
        char *text = malloc(len + 1);
        memcpy(text, from, len);
        for (int change = 0; change < 1 + i % 3 && len; change++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            text[random % len] = (char) (random >> 32);
        }
        len = i % 5 ? len : len / 2;
        if (faultloc_symptom_parse(&job, 0, NOW, text, len, &s, error)) {
            REQUIRE(s.kind < FTREE_SYMPTOM_COUNT && s.severity < FTREE_SEVERITY_COUNT);
            REQUIRE(s.about.node >= 0 && s.about.node < job.nodes && s.last <= NOW && s.count > 0);
            REQUIRE(memchr(s.detail, 0, sizeof(s.detail)));
        } else {
            REQUIRE(memchr(error, 0, sizeof(error)));
        }
        free(text);
    }
}

/* ---- a symptom socket ------------------------------------------------------------------------ */

static char folder[64], err_path[128];
static struct faultloc_symptom_socket sock;

BEFORE_EACH
{
    snprintf(folder, sizeof(folder), "/tmp/test_symptom_socket.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("XDG_RUNTIME_DIR", folder, 1);
    snprintf(err_path, sizeof(err_path), "%s/err", folder);
    dup2(open(err_path, O_WRONLY | O_CREAT | O_APPEND, 0600), STDERR_FILENO);
    faultloc_symptom_socket_init(&sock, &job, 1);
}

static void path_of(char *out, size_t room)
{
    snprintf(out, room, "%s/faultloc/4711@h1.sock", folder);
}

AFTER_EACH
{
    char path[256];

    faultloc_symptom_socket_close(&sock);
    path_of(path, sizeof(path));
    ck_assert_int_ne(access(path, F_OK), 0);
    snprintf(path, sizeof(path), "%s/faultloc", folder);
    rmdir(path);
    unlink(err_path);
    ck_assert_int_eq(rmdir(folder), 0);
}

static const char *said(void)
{
    return suite_text_of(err_path);
}

static int lines_said(void)
{
    int n = 0;

    for (const char *c = said(); *c; c++)
        n += *c == '\n';
    return n;
}

/* A socket that is connected to the symptom socket, and has a name if `named`. */
static int knock(bool named)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (named)
        ck_assert_int_eq(bind(fd, (struct sockaddr *) &a, sizeof(sa_family_t)), 0);
    path_of(a.sun_path, sizeof(a.sun_path));
    ck_assert_int_eq(connect(fd, (struct sockaddr *) &a, sizeof(a)), 0);
    return fd;
}

static void tell(const char *text)
{
    int fd = knock(false);

    ck_assert_int_eq(send(fd, text, strlen(text), MSG_DONTWAIT), (int) strlen(text));
    close(fd);
}

static bool hear(struct ftree_symptom *s)
{
    int budget = 0;

    return faultloc_symptom_socket_next(&sock, NOW, &budget, s);
}

TEST_CASE(a_symptom_comes_in)
{
    struct ftree_symptom s;
    struct stat st;
    char path[256];

    ck_assert(faultloc_symptom_socket_open(&sock, NOW, "4711"));
    ck_assert(!faultloc_symptom_socket_open(&sock, NOW, "4711")); /* it is open */
    path_of(path, sizeof(path));
    ck_assert_str_eq(sock.path, path);
    *strrchr(path, '/') = '\0';
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_mode & 0777, 0700);
    ck_assert(!hear(&s));
    tell("{\"kind\":\"power-off\"}");
    tell("{\"kind\":\"node-down\",\"component\":\"node h2\"}");
    ck_assert(hear(&s));
    ck_assert_int_eq(s.kind, FTREE_SYMPTOM_POWER_OFF);
    ck_assert_int_eq(s.about.node, 1);
    ck_assert(hear(&s));
    ck_assert_int_eq(s.about.node, 2);
    ck_assert(!hear(&s));
    ck_assert_str_eq(said(), "");
}

static void expect_answer(int fd, const char *text, const char *answer)
{
    char got[FAULTLOC_SYMPTOM_ERROR + 1];
    struct ftree_symptom s;
    ssize_t n;

    ck_assert_int_ge(send(fd, text, strlen(text), 0), 0);
    hear(&s);
    n = recv(fd, got, sizeof(got) - 1, MSG_DONTWAIT);
    ck_assert_int_ge(n, 0);
    got[n] = '\0';
    ck_assert_msg(!strncmp(got, answer, strlen(answer)), "%s", got);
}

static const char *request(void *ctx, ftree_time now, const char *text, size_t len, uid_t uid,
                           int *reply, char *error)
{
    (void) now, (void) len, (void) uid, (void) reply;
    snprintf(error, FAULTLOC_SYMPTOM_ERROR, "%s: %.17s", (const char *) ctx, text);
    return error;
}

TEST_CASE(a_question_is_no_symptom)
{
    static char agent[] = "h1";
    int fd;

    ck_assert(faultloc_symptom_socket_open(&sock, NOW, "4711"));
    fd = knock(true);
    expect_answer(fd, "{\"status\": \"text\"}", "this agent takes no requests");
    sock.request = request;
    sock.request_ctx = agent;
    expect_answer(fd, "{\"status\": \"text\"}", "h1: {\"status\": \"text");
    ck_assert_str_eq(said(), "");
    close(fd);
}

TEST_CASE(who_has_a_name_is_answered)
{
    int fd;

    faultloc_symptom_socket_open(&sock, NOW, "4711");
    fd = knock(true);
    expect_answer(fd, "{\"kind\":\"power-off\"}", "ok");
    expect_answer(fd, "{\"kind\":\"power-of\"}", "no such kind of symptom: \"power-of\"");
    close(fd);
}

/* Sends the text, and `n` descriptors with it. */
static void tell_with(const char *text, const int *fds, int n)
{
    union {
        char bytes[CMSG_SPACE(4 * sizeof(int))];
        struct cmsghdr align;
    } control = {.bytes = {0}};
    struct iovec part = {.iov_base = (char *) text, .iov_len = strlen(text)};
    struct msghdr m = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = CMSG_SPACE((size_t) n * sizeof(int))};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    int fd = knock(false);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN((size_t) n * sizeof(int));
    memcpy(CMSG_DATA(c), fds, (size_t) n * sizeof(int));
    ck_assert_int_ge(sendmsg(fd, &m, 0), 0);
    close(fd);
}

/* What the symptom socket answers on one end of a pair; "": nothing, and it has closed that end. */
static const char *answer_to(const char *text)
{
    static char got[FAULTLOC_SYMPTOM_ERROR + 1];
    struct ftree_symptom s;
    int pair[2];
    ssize_t n;

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    tell_with(text, &pair[1], 1);
    close(pair[1]);
    hear(&s);
    n = recv(pair[0], got, sizeof(got) - 1, MSG_DONTWAIT);
    ck_assert_int_ge(n, 0);
    got[n] = '\0';
    if (n > 0)
        ck_assert_int_eq(recv(pair[0], &n, 1, MSG_DONTWAIT), 0);
    close(pair[0]);
    return got;
}

TEST_CASE(who_sends_a_socket_is_answered_there)
{
    int descriptors;

    faultloc_symptom_socket_open(&sock, NOW, "4711");
    descriptors = process_descriptors();
    ck_assert_str_eq(answer_to("{\"kind\":\"power-off\"}"), "ok");
    ck_assert_ptr_nonnull(strstr(answer_to("{\"kind\":\"power-of\"}"), "no such kind of symptom"));
    sock.uid = geteuid() + 1;
    if (geteuid())
        ck_assert_str_eq(answer_to("{\"kind\":\"power-off\"}"), "");
    ck_assert_int_eq(process_descriptors(), descriptors);
}

/* What is no socket, or has no room: nothing is written, nothing is waited for, nothing is left. */
TEST_CASE(what_is_sent_along_does_no_harm)
{
    static const char text[] = "{\"kind\":\"power-off\"}";
    struct ftree_symptom s;
    int descriptors, pipes[2], pair[2], tcp = socket(AF_INET, SOCK_STREAM, 0);
    char path[256];
    struct stat st;

    faultloc_symptom_socket_open(&sock, NOW, "4711");
    ck_assert_int_eq(pipe(pipes), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    while (send(pair[1], text, 1, MSG_DONTWAIT) == 1)
        ;
    snprintf(path, sizeof(path), "%s/file", folder);
    int file = open(path, O_RDWR | O_CREAT, 0600);
    descriptors = process_descriptors();
    tell_with(text, &pipes[1], 1);
    tell_with(text, &file, 1);
    tell_with(text, &tcp, 1);
    tell_with(text, &pair[1], 1);
    tell_with(text, (int[4]){pipes[0], pipes[1], file, tcp}, 4);
    for (int i = 0; i < 5; i++)
        ck_assert(hear(&s));
    ck_assert_int_eq(process_descriptors(), descriptors);
    ck_assert_int_eq(poll(&(struct pollfd){.fd = pipes[0], .events = POLLIN}, 1, 0), 0);
    ck_assert_int_eq(fstat(file, &st), 0);
    ck_assert_int_eq(st.st_size, 0);
    close(pipes[0]), close(pipes[1]), close(pair[0]), close(pair[1]), close(tcp), close(file);
    unlink(path);
}

/* One that is longer is not read in part. */
TEST_CASE(a_datagram_of_more_than_a_kilobyte_is_refused)
{
    static char text[FAULTLOC_SYMPTOM_BYTES + 100];
    struct ftree_symptom s;

    faultloc_symptom_socket_open(&sock, NOW, "4711");
    memset(text, ' ', sizeof(text) - 1);
    memcpy(text, "{\"kind\":\"power-off\"}", 20);
    tell(text);
    ck_assert(!hear(&s));
    ck_assert_ptr_nonnull(
        strstr(said(), "node h1: invalid symptom: longer than 1024"));
    text[FAULTLOC_SYMPTOM_BYTES] = '\0';
    tell(text);
    ck_assert(hear(&s));
}

TEST_CASE(complaints_come_to_an_end)
{
    struct ftree_symptom s;

    faultloc_symptom_socket_open(&sock, NOW, "4711");
    for (int i = 0; i < 100; i++) {
        tell("nonsense");
        ck_assert(!hear(&s));
    }
    ck_assert_int_eq(lines_said(), 5);
    ck_assert_ptr_nonnull(strstr(said(), "(further ones are not reported)\n"));
    tell("{\"kind\":\"power-off\"}");
    ck_assert(hear(&s));
}

static int flood(int in, int out, void *arg)
{
    int fd = knock(false);

    (void) arg;
    for (int i = 0; i < 1000; i++)
        if (send(fd, "{\"kind\":\"power-off\"}", 20, 0) < 0)
            return 1;
    process_tell(out, 'd');
    process_obey(in);
    return 0;
}

/* A turn has its end however many come, and none is lost. */
TEST_CASE(a_flood_is_taken_in_turns)
{
    struct process sender;
    struct ftree_symptom s;
    int got = 0;

    faultloc_symptom_socket_open(&sock, NOW, "4711");
    process_start(&sender, flood, NULL);
    while (got < 1000) {
        struct pollfd p = {.fd = sock.fd, .events = POLLIN};
        int budget = 0;
        ck_assert_int_eq(poll(&p, 1, PROCESS_DEADLINE_MS), 1);
        while (faultloc_symptom_socket_next(&sock, NOW, &budget, &s))
            got++;
        ck_assert_int_le(budget, FAULTLOC_SYMPTOM_TURN);
    }
    ck_assert_int_eq(process_hear(&sender), 'd');
    process_kill(&sender);
}

/* ---- who is heard ---------------------------------------------------------------------------- */

static int tell_as_stranger(int in, int out, void *arg)
{
    int fd = knock(false);

    (void) arg;
    if (setuid(65534))
        return 1;
    for (int i = 0; i < 3; i++)
        send(fd, "{\"kind\":\"power-off\"}", 20, MSG_DONTWAIT);
    process_tell(out, 'd');
    process_obey(in);
    return 0;
}

/* A folder is no protection against who is let in by mistake, or inherits a socket. */
TEST_CASE(a_stranger_is_refused)
{
    struct process stranger;
    struct ftree_symptom s;

    if (geteuid())
        return; /* nobody can be a stranger */
    faultloc_symptom_socket_open(&sock, NOW, "4711");
    sock.uid = 1; /* of the job; the stranger is 65534, root is heard, too */
    process_start(&stranger, tell_as_stranger, NULL);
    ck_assert_int_eq(process_hear(&stranger), 'd');
    ck_assert(!hear(&s));
    ck_assert_int_eq(lines_said(), 1);
    ck_assert_ptr_nonnull(strstr(said(), "from user 65534 was refused: only user 1 and root"));
    tell("{\"kind\":\"power-off\"}");
    ck_assert(hear(&s));
    process_kill(&stranger);
}

/* ---- whose socket it is ---------------------------------------------------------------------- */

static int hold_a_socket(int in, int out, void *arg)
{
    (void) arg;
    faultloc_symptom_socket_init(&sock, &job, 1);
    process_tell(out, faultloc_symptom_socket_open(&sock, NOW, "4711") ? 'y' : 'n');
    process_obey(in);
    return 0;
}

TEST_CASE(the_socket_of_a_dead_agent_is_replaced)
{
    struct process agent;
    struct ftree_symptom s;

    process_start(&agent, hold_a_socket, NULL);
    ck_assert_int_eq(process_hear(&agent), 'y');
    ck_assert(!faultloc_symptom_socket_open(&sock, NOW, "4711")); /* it lives */
    ck_assert_str_eq(said(), "");
    process_kill(&agent);
    ck_assert(faultloc_symptom_socket_open(&sock, NOW + 1, "4711"));
    tell("{\"kind\":\"power-off\"}");
    ck_assert(hear(&s));
}

TEST_CASE(one_that_lives_on_is_left_alone)
{
    struct process agent;
    char path[256];

    process_start(&agent, hold_a_socket, NULL);
    ck_assert_int_eq(process_hear(&agent), 'y');
    sock.number = 1; /* the agent before this one had it */
    ck_assert(!faultloc_symptom_socket_open(&sock, NOW, "4711"));
    ck_assert(!faultloc_symptom_socket_open(&sock, NOW + 11000 * FTREE_MS, "4711"));
    ck_assert_ptr_nonnull(
        strstr(said(), "another process is bound to it; the job continues without"));
    ck_assert(!faultloc_symptom_socket_open(&sock, NOW + 12000 * FTREE_MS, "4711"));
    ck_assert_int_eq(lines_said(), 1);
    process_kill(&agent);
    path_of(path, sizeof(path));
    unlink(path);
}

/* One that a job leaves as it ends is waited for; two that run have a name each. */
TEST_CASE(another_start_of_the_job_has_a_name_of_its_own)
{
    struct process agent;
    struct ftree_symptom s;
    char path[256];

    process_start(&agent, hold_a_socket, NULL);
    ck_assert_int_eq(process_hear(&agent), 'y');
    ck_assert(!faultloc_symptom_socket_open(&sock, NOW, "4711"));
    ck_assert(!faultloc_symptom_socket_open(&sock, NOW + 299 * FTREE_MS, "4711"));
    ck_assert(faultloc_symptom_socket_open(&sock, NOW + 300 * FTREE_MS, "4711"));
    ck_assert_int_eq(sock.number, 2);
    ck_assert_ptr_nonnull(strstr(sock.path, "/4711.2@"));
    ck_assert_str_eq(said(), "");
    process_kill(&agent);
    path_of(path, sizeof(path));
    unlink(path);
    ck_assert(!hear(&s));
}

/* What cannot be is said once, and that is all. */
static void expect_no_socket(const char *why)
{
    ck_assert(!faultloc_symptom_socket_open(&sock, NOW, "4711"));
    ck_assert(!faultloc_symptom_socket_open(&sock, NOW, "4711"));
    ck_assert_int_eq(lines_said(), 1);
    ck_assert_msg(strstr(said(), why), "%s", said());
}

TEST_CASE(a_folder_open_to_others_is_not_used)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/faultloc", folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(chmod(path, 0755), 0);
    expect_no_socket("closed to everybody else (mode 0700)");
}

TEST_CASE(a_link_to_a_folder_is_not_used)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/faultloc", folder);
    ck_assert_int_eq(symlink(folder, path), 0);
    expect_no_socket("Not a directory");
    unlink(path);
}

/* Only the socket of a dead agent is replaced. */
TEST_CASE(a_file_in_its_place_stays)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/faultloc", folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    path_of(path, sizeof(path));
    close(open(path, O_WRONLY | O_CREAT, 0600));
    ck_assert(!faultloc_symptom_socket_open(&sock, NOW, "4711"));
    ck_assert(faultloc_symptom_socket_open(&sock, NOW + 11000 * FTREE_MS, "4711"));
    ck_assert_ptr_nonnull(strstr(sock.path, "/4711.2@"));
    ck_assert_int_eq(unlink(path), 0);
}

/* ---- what others left ------------------------------------------------------------------------ */

static void path_in_folder(char *out, size_t room, const char *name)
{
    ck_assert_int_lt(snprintf(out, room, "%s/faultloc/%s", folder, name), (int) room);
}

static int bind_at(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    ck_assert_int_lt(snprintf(a.sun_path, sizeof(a.sun_path), "%s", path),
                     (int) sizeof(a.sun_path));
    ck_assert_int_eq(bind(fd, (struct sockaddr *) &a, sizeof(a)), 0);
    return fd;
}

static void make_old(const char *path)
{
    const struct timespec then[2] = {{.tv_sec = time(NULL) - 60}, {.tv_sec = time(NULL) - 60}};

    ck_assert_int_eq(utimensat(AT_FDCWD, path, then, AT_SYMLINK_NOFOLLOW), 0);
}

/* A socket of that name, of a minute ago; returns what is bound to it. */
static int old_socket(const char *name)
{
    char path[256];
    int fd;

    path_in_folder(path, sizeof(path), name);
    fd = bind_at(path);
    make_old(path);
    return fd;
}

static bool is_there(const char *name)
{
    char path[256];

    path_in_folder(path, sizeof(path), name);
    return access(path, F_OK) == 0;
}

static void expect_there_and_remove(const char *name)
{
    char path[256];

    ck_assert_msg(is_there(name), "%s is gone", name);
    path_in_folder(path, sizeof(path), name);
    unlink(path);
}

TEST_CASE(the_sockets_of_dead_agents_are_swept)
{
    char path[256], name[64];
    int live;

    path_in_folder(path, sizeof(path), "");
    ck_assert_int_eq(mkdir(path, 0700), 0);
    for (int i = 0; i < 186; i++) {
        snprintf(name, sizeof(name), "%d@h1.sock", i);
        close(old_socket(name));
    }
    live = old_socket("live@h1.sock");
    close(old_socket("9@h2.sock")); /* another node's: it may live there, on a shared file system */
    close(old_socket("launcher-9.sock"));
    path_in_folder(path, sizeof(path), "young@h1.sock");
    close(bind_at(path)); /* it may be about to be bound */
    path_in_folder(path, sizeof(path), "file@h1.sock");
    close(open(path, O_WRONLY | O_CREAT, 0600));
    make_old(path);

    ck_assert(faultloc_symptom_socket_open(&sock, NOW, "4711"));
    for (int i = 0; i < 186; i++) {
        snprintf(name, sizeof(name), "%d@h1.sock", i);
        ck_assert_msg(!is_there(name), "%s is still there", name);
    }
    expect_there_and_remove("live@h1.sock");
    expect_there_and_remove("9@h2.sock");
    expect_there_and_remove("launcher-9.sock");
    expect_there_and_remove("young@h1.sock");
    expect_there_and_remove("file@h1.sock");
    ck_assert(is_there("4711@h1.sock"));
    close(live);
}

/* ---- how others look at it ------------------------------------------------------------------- */

static void expect_no_folder(uid_t owner, int error)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/faultloc", folder);
    errno = 0;
    ck_assert_int_eq(faultloc_symptom_socket_open_folder(path, owner), -1);
    ck_assert_int_eq(errno, error);
}

TEST_CASE(a_folder_is_its_owners)
{
    char path[256], other[256];
    int fd;

    expect_no_folder(geteuid(), ENOENT);
    snprintf(path, sizeof(path), "%s/faultloc", folder);
    snprintf(other, sizeof(other), "%s/other", folder);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    fd = faultloc_symptom_socket_open_folder(path, geteuid());
    ck_assert_int_ge(fd, 0);
    close(fd);
    expect_no_folder(geteuid() + 1, EPERM);
    ck_assert_int_eq(chmod(path, 0710), 0);
    expect_no_folder(geteuid(), EPERM);
    ck_assert_int_eq(chmod(path, 0700), 0);
    ck_assert_int_eq(rename(path, other), 0);
    ck_assert_int_eq(symlink(other, path), 0);
    expect_no_folder(geteuid(), ENOTDIR);
    unlink(path);
    rmdir(other);
}

static void expect_no_knock(int at, const char *name, uid_t owner, int error)
{
    errno = 0;
    ck_assert_int_eq(faultloc_symptom_socket_connect(at, name, owner), -1);
    ck_assert_int_eq(errno, error);
}

TEST_CASE(only_a_socket_of_the_owner_is_knocked_at)
{
    char path[256], name[256];
    int at, fd, descriptors;

    faultloc_symptom_socket_open(&sock, NOW, "4711");
    snprintf(path, sizeof(path), "%s/faultloc", folder);
    at = faultloc_symptom_socket_open_folder(path, geteuid());
    descriptors = process_descriptors();
    fd = faultloc_symptom_socket_connect(at, "4711@h1.sock", geteuid());
    ck_assert_int_ge(fd, 0);
    close(fd);
    expect_no_knock(at, "4711@h2.sock", geteuid(), ENOENT);
    expect_no_knock(at, "4711@h1.sock", geteuid() + 1, EPERM);
    path_in_folder(path, sizeof(path), "link");
    path_of(name, sizeof(name));
    ck_assert_int_eq(symlink(name, path), 0);
    expect_no_knock(at, "link", geteuid(), ENOTSOCK);
    unlink(path);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    expect_no_knock(at, "link", geteuid(), ENOTSOCK);
    unlink(path);
    close(bind_at(path));
    expect_no_knock(at, "link", geteuid(), ECONNREFUSED);
    unlink(path);
    ck_assert_int_eq(process_descriptors(), descriptors);
    close(at);
}

TEST_CASE(a_name_too_long_is_said)
{
    char id[64];

    memset(id, 'x', sizeof(id) - 1);
    id[sizeof(id) - 1] = '\0';
    ck_assert(!faultloc_symptom_socket_open(&sock, NOW, id));
    ck_assert_ptr_nonnull(strstr(said(), "its name is too long"));
}

TEST_CASE(names_and_folders)
{
    char out[FAULTLOC_SYMPTOM_PATH], small[8];

    ck_assert(faultloc_expand("%j@%h.sock", "4711.0", "fd00::1", out, sizeof(out)));
    ck_assert_str_eq(out, "4711.0@fd00__1.sock");
    ck_assert(faultloc_expand("%j@%h.sock", "../x", "a@b", out, sizeof(out)));
    ck_assert_str_eq(out, ".._x@a_b.sock");
    setenv("XDG_RUNTIME_DIR", "/", 1);
    ck_assert(faultloc_symptom_socket_folder(0, out, sizeof(out)));
    ck_assert_str_eq(out, "//faultloc");
    ck_assert(faultloc_symptom_socket_folder(5, out, sizeof(out))); /* another user's */
    ck_assert_str_eq(out, "/tmp/faultloc-5");
    setenv("XDG_RUNTIME_DIR", "/nonexistent", 1); /* from another host */
    ck_assert(faultloc_symptom_socket_folder(5, out, sizeof(out)));
    ck_assert_str_eq(out, "/tmp/faultloc-5");
    unsetenv("XDG_RUNTIME_DIR");
    ck_assert(faultloc_symptom_socket_folder(5, out, sizeof(out)));
    ck_assert_str_eq(out, "/tmp/faultloc-5");
    ck_assert(!faultloc_symptom_socket_folder(5, small, sizeof(small)));
}
