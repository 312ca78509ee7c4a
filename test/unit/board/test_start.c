/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/*
 * How a rank and the program that it starts come together.  The program is this one, and does as
 * the name says by which it is started.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#include "faultloc/board/board.h"
#include "faultloc/base/say.h"
#include "faultloc/board/start.h"

#include "process.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOCK 3 /* as faultloc_spawn() gives it */
#define PACKET_MAX 1024
#define DEADLINE_MS PROCESS_DEADLINE_MS

/* ---- the program ----------------------------------------------------------------------------- */

/* What it was started with. */
struct found {
    uint8_t key[FAULTLOC_KEY_SIZE];
    uint16_t port[FTREE_ROLES];
    ino_t inode[FTREE_ROLES][FTREE_PATHS]; /* 0: it has none */
    bool is_closed_on_exec;
};

static ino_t inode_of(int fd)
{
    struct stat st;

    return fd >= 0 && fstat(fd, &st) == 0 ? st.st_ino : 0;
}

static void describe(const struct faultloc_start *start, struct found *found)
{
    memset(found, 0, sizeof(*found));
    memcpy(found->key, start->key, sizeof(found->key));
    found->is_closed_on_exec = fcntl(start->board_fd, F_GETFD) & FD_CLOEXEC;
    for (int role = 0; role < FTREE_ROLES; role++) {
        found->port[role] = start->ports[role].port;
        for (int path = 0; path < FTREE_PATHS; path++)
            found->inode[role][path] = inode_of(start->ports[role].fd[path]);
    }
}

static enum faultloc_start_word hear_all(void)
{
    enum faultloc_start_word word;

    while ((word = faultloc_start_hear(SOCK)) == FAULTLOC_START_WAIT)
        ;
    return word;
}

/* Says what it found behind its answer, and what it was told in the end on the board. */
static int run_well(void)
{
    struct faultloc_start start;
    struct faultloc_board *b;
    struct found found;

    if (faultloc_start_take(SOCK, &start) || faultloc_board_map(start.board_fd, &b))
        return 1;
    faultloc_start_answer(SOCK, 0);
    describe(&start, &found);
    send(SOCK, &found, sizeof(found), MSG_NOSIGNAL);
    b->abort_code = "wgql"[hear_all()];
    return 0;
}

/* Writes to standard error before it has the rank's, and after. */
static int run_speak(void)
{
    struct faultloc_start start;

    faultloc_start_keep_output();
    if (faultloc_start_take(SOCK, &start) || write(STDERR_FILENO, "early ", 6) != 6)
        return 1;
    faultloc_start_answer(SOCK, 0);
    hear_all();
    return write(STDERR_FILENO, "late", 4) != 4;
}

static int run_fail(void)
{
    struct faultloc_start start;

    faultloc_start_answer(SOCK, faultloc_start_take(SOCK, &start) ? EIO : EADDRNOTAVAIL);
    return 1;
}

/* Sends the packet back. */
static int run_mirror(void)
{
    char bytes[PACKET_MAX];
    ssize_t n = recv(SOCK, bytes, sizeof(bytes), 0);

    return send(SOCK, bytes, (size_t) n, MSG_NOSIGNAL) != n;
}

static int run_babble(void)
{
    char bytes[PACKET_MAX];

    return recv(SOCK, bytes, sizeof(bytes), 0) < 0 || send(SOCK, "12345678", 8, MSG_NOSIGNAL) != 8;
}

static int run_silent(void)
{
    char bytes[PACKET_MAX];

    while (recv(SOCK, bytes, sizeof(bytes), 0) > 0)
        ;
    return 0;
}

static int run_end(void)
{
    return 1;
}

static const struct {
    const char *name;
    int (*run)(void);
} programs[] = {{"well", run_well},     {"fail", run_fail},     {"mirror", run_mirror},
                {"babble", run_babble}, {"silent", run_silent}, {"end", run_end},
                {"speak", run_speak}};

/* ---- a rank ---------------------------------------------------------------------------------- */

static struct faultloc_board *board;
static struct faultloc_start start;
static char path[128], why[128];

static void make_start(bool with_ports)
{
    const struct faultloc_inet own[FTREE_PATHS] = {{AF_INET, {127, 0, 0, 1}},
                                                      {AF_INET, {127, 0, 0, 2}}};

    ck_assert_int_ge(sodium_init(), 0);
    memset(&start, 0, sizeof(start));
    randombytes_buf(start.key, sizeof(start.key));
    ck_assert_int_eq(faultloc_board_make(2, 2, 1, 0, &board, &start.board_fd), 0);
    for (int role = 0; role < FTREE_ROLES && with_ports; role++)
        ck_assert_int_eq(faultloc_channel_pick_ports(own, &start.ports[role]), 0);
}

AFTER_EACH
{
    for (int role = 0; role < FTREE_ROLES; role++)
        if (start.ports[role].port)
            faultloc_ports_close(&start.ports[role]);
    faultloc_board_unmap(board);
    close(start.board_fd);
}

/* Returns the rank's socket to the program of that name. */
static int start_program(const char *name)
{
    char own[512] = "", folder[64] = "/tmp/test_start.XXXXXX";
    int sock = -1;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    ck_assert_int_gt(readlink("/proc/self/exe", own, sizeof(own) - 1), 0);
    ck_assert_int_eq(symlink(own, path), 0);
    ck_assert_int_eq(faultloc_start_send(path, &start, &sock), 0);
    unlink(path);
    rmdir(folder);
    return sock;
}

static bool is_ready(int sock)
{
    why[0] = '\0';
    return faultloc_start_is_ready(sock, DEADLINE_MS, why, sizeof(why));
}

static void hear_found(int sock, struct found *found)
{
    struct pollfd p = {.fd = sock, .events = POLLIN};

    ck_assert_int_eq(poll(&p, 1, DEADLINE_MS), 1);
    ck_assert_int_eq(recv(sock, found, sizeof(*found), 0), sizeof(*found));
}

/* ---- together -------------------------------------------------------------------------------- */

TEST_CASES(the_program_gets_what_it_is_given, 2)
{
    struct found found;
    int before, sock;

    make_start(_i);
    before = process_descriptors();
    sock = start_program("well");
    ck_assert(is_ready(sock));
    ck_assert_str_eq(why, "");
    hear_found(sock, &found);
    ck_assert_mem_eq(found.key, start.key, sizeof(found.key));
    ck_assert(found.is_closed_on_exec);
    for (int role = 0; role < FTREE_ROLES; role++) {
        ck_assert_uint_eq(found.port[role], start.ports[role].port);
        for (int p = 0; p < FTREE_PATHS; p++)
            ck_assert_uint_eq(found.inode[role][p], _i ? inode_of(start.ports[role].fd[p]) : 0);
    }
    faultloc_start_end(sock, true);
    UNTIL(board->abort_code == 'g');
    ck_assert_int_eq(process_descriptors(), before); /* what was sent stayed the rank's */
}

TEST_CASE(a_port_of_one_path_is_passed_as_such)
{
    struct found found;
    int sock;

    make_start(true);
    close(start.ports[0].fd[0]);
    start.ports[0].fd[0] = -1;
    sock = start_program("well");
    ck_assert(is_ready(sock));
    hear_found(sock, &found);
    ck_assert_uint_eq(found.inode[0][0], 0);
    ck_assert_uint_eq(found.inode[0][1], inode_of(start.ports[0].fd[1]));
    ck_assert_uint_eq(found.inode[1][0], inode_of(start.ports[1].fd[0]));
    faultloc_start_end(sock, true);
}

/* Also by who has not read all that it was told, as where the answer came too late. */
TEST_CASE(it_quits_when_it_is_told_to)
{
    int sock;

    make_start(false);
    sock = start_program("well");
    ck_assert(is_ready(sock));
    faultloc_start_end(sock, false);
    UNTIL(board->abort_code == 'q');
}

static int start_and_wait(int in, int out, void *arg)
{
    int sock = start_program("well");

    (void) arg;
    process_tell(out, is_ready(sock) ? 'y' : 'n');
    process_obey(in);
    return 0;
}

/* The job may go on without that rank, or be ended: the agent has to find out. */
TEST_CASE(it_learns_that_its_starter_has_died)
{
    struct process rank;

    make_start(false);
    process_start(&rank, start_and_wait, NULL);
    ck_assert_int_eq(process_hear(&rank), 'y');
    ck_assert_int_eq(board->abort_code, 0);
    process_kill(&rank);
    UNTIL(board->abort_code == 'l');
}

/* In a process of its own, of which standard error is a pipe. */
static int start_with_pipe(int in, int out, void *arg)
{
    const char *name = arg;
    int sock, pipes[2];
    char text[16];
    ssize_t n, len = 0;

    process_obey(in);
    if (pipe(pipes) || dup2(pipes[1], STDERR_FILENO) < 0 || close(pipes[1]))
        return 1;
    if (!strcmp(name, "speak"))
        faultloc_output_note(true);
    sock = start_program(name);
    if (!strcmp(name, "speak"))
        faultloc_start_end(sock, is_ready(sock));
    close(STDERR_FILENO);
    while (len < (ssize_t) sizeof(text) &&
           (n = read(pipes[0], text + len, sizeof(text) - (size_t) len)) > 0)
        len += n;
    process_tell(out, len == 0 ? 'n' : len == 10 && !memcmp(text, "early late", 10) ? 'y' : '?');
    if (strcmp(name, "speak"))
        faultloc_start_end(sock, false);
    return 0;
}

/* What it is to have for its reports it gets when it is ready; till then nobody waits for it. */
TEST_CASES(only_who_is_ready_has_standard_error, 2)
{
    static char *names[] = {"silent", "speak"};
    struct process rank;

    make_start(false);
    process_start(&rank, start_with_pipe, names[_i]);
    process_say(&rank, '.');
    ck_assert_int_eq(process_hear(&rank), _i ? 'y' : 'n');
    ck_assert_int_eq(process_end(&rank), 0);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

static const struct {
    const char *program, *why;
} failures[] = {{"fail", "Cannot assign requested address"},
                {"end", "it ended at once"},
                {"babble", "it is of another build"}};

TEST_CASES(a_rank_learns_why_there_is_no_agent, COUNT(failures))
{
    int sock;

    make_start(false);
    sock = start_program(failures[_i].program);
    ck_assert(!is_ready(sock));
    ck_assert_str_eq(why, failures[_i].why);
    faultloc_start_end(sock, false); /* and is not killed by writing to who has ended */
}

TEST_CASE(a_program_that_says_nothing_is_not_waited_for_for_ever)
{
    int sock;

    make_start(false);
    sock = start_program("silent");
    ck_assert(!faultloc_start_is_ready(sock, 1, why, sizeof(why)));
    ck_assert_str_eq(why, "no answer within 0 s");
    faultloc_start_end(sock, false);
}

/* Each signal comes before the wait would be over, if that began anew. */
TEST_CASE(signals_do_not_prolong_the_wait_for_it)
{
    int sock;

    make_start(false);
    sock = start_program("silent");
    process_tick(5000);
    ck_assert(!faultloc_start_is_ready(sock, 100, why, sizeof(why)));
    process_tick(0);
    ck_assert_str_eq(why, "no answer within 0 s");
    faultloc_start_end(sock, false);
}

TEST_CASE(a_program_that_is_not_there_is_an_error)
{
    int before, sock = -1;

    make_start(true);
    before = process_descriptors();
    ck_assert_int_eq(faultloc_start_send("/nowhere/faultloc-agent", &start, &sock), ENOENT);
    ck_assert_int_eq(sock, -1);
    ck_assert_int_eq(process_descriptors(), before);
}

TEST_CASE(a_board_that_is_none_is_an_error)
{
    int before, sock = -1;

    make_start(false);
    close(start.board_fd);
    start.board_fd = 999;
    before = process_descriptors();
    ck_assert_int_eq(faultloc_start_send("/bin/true", &start, &sock), EBADF);
    ck_assert_int_eq(process_descriptors(), before);
}

/* ---- packets of another build ---------------------------------------------------------------- */

static uint8_t packet[PACKET_MAX];
static size_t packet_len;

/* As a rank of this build makes it. */
static void catch_packet(void)
{
    int sock = start_program("mirror");
    struct pollfd p = {.fd = sock, .events = POLLIN};
    ssize_t n;

    ck_assert_int_eq(poll(&p, 1, DEADLINE_MS), 1);
    n = recv(sock, packet, sizeof(packet), 0);
    ck_assert_int_gt(n, 12);
    packet_len = (size_t) n;
    close(sock);
}

/* What a program makes of the packet, with `fds` descriptors beside it. */
static int take(size_t len, size_t fds, struct faultloc_start *taken, bool *is_notified)
{
    union {
        char bytes[CMSG_SPACE(8 * sizeof(int))];
        struct cmsghdr align;
    } control = {.bytes = {0}};
    struct iovec part = {.iov_base = packet, .iov_len = len};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    int pair[2], rc;

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    if (fds) {
        m.msg_control = &control;
        m.msg_controllen = CMSG_SPACE(fds * sizeof(int));
        *CMSG_FIRSTHDR(&m) = (struct cmsghdr){.cmsg_len = CMSG_LEN(fds * sizeof(int)),
                                              .cmsg_level = SOL_SOCKET,
                                              .cmsg_type = SCM_RIGHTS};
        for (size_t i = 0; i < fds; i++)
            memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)) + i * sizeof(int), &start.board_fd, sizeof(int));
    }
    ck_assert_int_eq(sendmsg(pair[0], &m, 0), (ssize_t) len);
    rc = faultloc_start_take(pair[1], taken);
    close(pair[1]);
    *is_notified = !faultloc_start_is_ready(pair[0], 0, why, sizeof(why)) &&
               !strcmp(why, "it is of another build");
    close(pair[0]);
    return rc;
}

#define EXPECT_REFUSED(len, fds) \
    do { \
        ck_assert_int_eq(take(len, fds, &taken, &is_notified), EPROTO); \
        ck_assert(is_notified); \
    } while (0)

TEST_CASE(a_packet_of_another_build_is_refused_and_reported)
{
    struct faultloc_start taken;
    bool is_notified;

    make_start(true);
    catch_packet();
    ck_assert_int_eq(take(packet_len, 5, &taken, &is_notified), 0);
    ck_assert_mem_eq(taken.key, start.key, sizeof(taken.key));
    ck_assert_uint_eq(taken.ports[1].port, start.ports[1].port);
    EXPECT_REFUSED(packet_len - 1, 5);
    EXPECT_REFUSED(1, 5);
    for (size_t i = 0; i < 12; i++) { /* what says which build it is */
        packet[i] ^= 1;
        EXPECT_REFUSED(packet_len, 5);
        packet[i] ^= 1;
    }
}

/* As where the program may not have so many. */
TEST_CASE(a_packet_without_its_descriptors_is_refused)
{
    struct faultloc_start taken;
    bool is_notified;

    make_start(true);
    catch_packet();
    for (size_t fds = 0; fds < 5; fds++)
        EXPECT_REFUSED(packet_len, fds);
}

int main(int argc, char **argv)
{
    (void) argc;
    for (int i = 0; i < COUNT(programs); i++)
        if (!strcmp(argv[0], programs[i].name))
            _exit(programs[i].run()); /* without looking for leaks, which takes long */
    return suite_run();
}
