/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/fabric/net.h"

#include "ftree/base/io.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/*
 * One question over what the ranks' data use: does their library (net.h) bring a message to that node, and
 * one back?  The agents know no such library.  They start this for some seconds, while a wait lasts that
 * nothing explains; what hangs or crashes in the library hangs or crashes here.
 *
 * To connect may block, and for minutes (UCX), so the time is limited by a timer whose handler says
 * what there is to say.  It also notes whether this process gets to run, wherever the library is: after
 * each long pause, which is nobody's fault but this host's, a silence begins anew.  Who listens does not
 * block, notes each turn, and says when it had such a pause.
 */

#define DEADLINE_MS 2000 /* TCP sends what was lost again after 1 s */
#define HELD_MS 100 /* without a turn; who has 20 of these in that time has enough */
#define TICK_US 10000
#define SPIN_US 20000 /* after a message the next is awaited without a pause, */
#define TURN_US 100 /* else with these */
#define LISTEN_US 1000
#define LATER_MS 50
#define CLOSE_MS 100 /* for the library to tell the other end that this one ends */
#define LIVES_MS 100 /* it says so, so often */
#define STARTS_MS 3000 /* more than the library takes to start */
#define BEGUN "FAULTLOC_FABRIC_BEGUN" /* a variable */

static const char usage[] =
    "Usage: faultloc-fabric listen [OPTION]...\n"
    "       faultloc-fabric ping [OPTION]... ADDRESS|-\n"
    "\n"
    "Whether MPICH's network library, UCX or libfabric, brings messages from one host to another, as the\n"
    "environment (UCX_TLS, FI_PROVIDER and the like) says: JSON, one object a line.\n"
    "\n"
    "  listen         prints {\"address\": ADDRESS}, answers, and at the end prints how many it has\n"
    "                 answered\n"
    "  ping ADDRESS   prints what comes of one message of 8 kB: {\"fabric\": \"passes\", \"us\": 35},\n"
    "                 \"silent\", or \"none\" and \"why\"\n"
    "  -              the address is on standard input: others see arguments\n"
    "  --deadline MS  for so long (default: 2000; twice that for a ping that gets too little CPU time)\n"
    "  --like PIDS    with the variables of the library of the first of these processes that has any\n"
    "                 (commas between)\n"
    "  --over WHAT    libfabric: by this format of addresses, provider and domain, as 2/tcp;ofi_rxm/eth0\n"
    "  --fd N         prints to this descriptor (default: 1)\n"
    "  --help         this text\n"
    "\n"
    "Exit code: 0 it has printed a result, 2 wrong usage\n"
    "\n"
    "Example, with UCX_NET_DEVICES=mlx5_0:1 on both:\n"
    "  c1$ faultloc-fabric listen --deadline 60000\n"
    "  c2$ faultloc-fabric ping ADDRESS\n";

static struct {
    int fd;
    bool listens;
    volatile sig_atomic_t said;
    uint64_t started, begun; /* us: what is limited, and the silence in it */
    uint64_t turned, heard; /* us: the last turn, a message */
    uint64_t longest; /* us between two turns, since it last said that it listens */
    bool open;
    const char *like, *over; /* processes, NULL: as this one; what net_open() is to take */
    long asked_ms, deadline_ms; /* --deadline, and what is limited now */
    unsigned answered;
    uint8_t key[PING_KEY];
    uint64_t nonce, took; /* of the last message, and us there and back */
    uint8_t message[PING_BYTES];
    bool came, stranger;
    bool mute; /* it heard, and could not answer */
} f = {.fd = STDOUT_FILENO, .asked_ms = DEADLINE_MS};

static uint64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * 1000000 + (uint64_t) t.tv_nsec / 1000;
}

/* ---- what it says, once ---------------------------------------------------------------------- */

static void say(const char *line)
{
    size_t len = strlen(line);

    if (f.said++)
        return;
    for (ssize_t n; len > 0 && (n = write(f.fd, line, len)) > 0; len -= (size_t) n)
        line += n;
}

/* In a signal handler, too. */
static void say_none(const char *why)
{
    char line[256] = "{\"fabric\": \"none\", \"why\": \"";

    strncat(line, why, sizeof(line) - strlen(line) - 8);
    strcat(line, "\"}\n");
    say(line);
}

static void say_passes(void)
{
    char line[64];

    snprintf(line, sizeof(line), "{\"fabric\": \"passes\", \"us\": %llu}\n",
             (unsigned long long) f.took);
    say(line);
}

static void say_silent(const char *why)
{
    char line[256];

    snprintf(line, sizeof(line), "{\"fabric\": \"silent\"%s%.100s%s}\n", *why ? ", \"why\": \"" : "", why,
             *why ? "\"" : "");
    say(line);
}

static void say_over(void)
{
    char line[64];

    snprintf(line, sizeof(line), "{\"fabric\": \"over\", \"answered\": %u}\n", f.answered);
    say(line);
}

/* The timer may interrupt it, and have noted a later one. */
static void note_turn(void)
{
    uint64_t now = now_us(), pause = now > f.turned ? now - f.turned : 0;

    if (pause > f.longest)
        f.longest = pause;
    f.turned += pause;
    if (pause > HELD_MS * 1000)
        f.begun = f.turned;
}

static bool has_passed(uint64_t since, long ms)
{
    return f.turned - since >= (uint64_t) ms * 1000;
}

/* For good after twice the time. */
static bool is_over(long later_ms)
{
    return (!f.listens && has_passed(f.begun, f.deadline_ms + later_ms)) ||
           has_passed(f.started, (f.listens ? 1 : 2) * (f.deadline_ms + later_ms));
}

static bool was_held(void)
{
    return f.listens ? f.longest > HELD_MS * 1000 : !has_passed(f.begun, f.deadline_ms);
}

/* The time is over, wherever the library is, and whatever had the CPU instead. */
static void tick(int signal)
{
    (void) signal;
    note_turn();
    if (!is_over(LATER_MS))
        return;
    if (was_held())
        say_none("was held up itself");
    else if (f.open && !f.listens)
        say_silent("the connection blocks");
    else
        say_none("the library took too long to start");
    _exit(0);
}

static void limit(long ms)
{
    f.started = f.begun = f.turned = now_us(); /* first: a tick may come */
    f.deadline_ms = ms;
    f.longest = 0;
}

static void set_ticks(long us)
{
    const struct timeval each = {.tv_usec = us};

    setitimer(ITIMER_REAL, &(struct itimerval){.it_interval = each, .it_value = each}, NULL);
}

/* No core file, which would have the key, and nobody else sees the environment that the ranks have. */
static void protect(void)
{
    const struct rlimit none = {1, 1};

    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* The default action of signals, whatever the agent has; calls go on after the timer's. */
static void begin(void)
{
    const struct sigaction ticks = {.sa_handler = tick, .sa_flags = SA_RESTART};
    sigset_t none;

    sigaction(SIGALRM, &ticks, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    limit(STARTS_MS);
    set_ticks(TICK_US);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void answer(void *back, enum ping_kind kind, uint64_t nonce)
{
    uint8_t message[PING_BYTES];

    ping_write(kind, f.key, nonce, message);
    f.mute |= !net_reply(back, message) && kind == PING_ECHO;
    f.answered += kind == PING_ECHO;
}

void net_heard(const void *bytes, size_t len, void *back)
{
    uint64_t nonce;

    f.heard = now_us();
    if (f.listens) {
        bool known = ping_read(PING_ASK, f.key, bytes, len, &nonce);
        if (nonce && back && (known || net_has_way_back))
            answer(back, known ? PING_ECHO : PING_STRANGER, nonce);
    } else if (ping_read(PING_ECHO, f.key, bytes, len, &nonce)) {
        f.came |= nonce == f.nonce;
    } else if (ping_read(PING_STRANGER, f.key, bytes, len, &nonce)) {
        f.stranger |= nonce == f.nonce;
    }
}

/* False: the time is over. */
static bool turn(void)
{
    net_turn(f.turned);
    if (f.turned > f.heard + SPIN_US)
        usleep(f.listens ? LISTEN_US : TURN_US);
    note_turn();
    return !is_over(0);
}

/* ---- the two ends ---------------------------------------------------------------------------- */

static bool say_address(void)
{
    uint8_t bytes[FTREE_FABRIC_BYTES];
    char text[2 * FTREE_FABRIC_BYTES + 1], line[sizeof(text) + 32];
    size_t len = net_address(bytes + PING_KEY, sizeof(bytes) - PING_KEY);

    if (len == 0) {
        say_none("the own address is too long");
        return false;
    }
    memcpy(bytes, f.key, PING_KEY);
    ping_hex(bytes, PING_KEY + len, text);
    snprintf(line, sizeof(line), "{\"address\": \"%s\"}\n", text);
    say(line);
    return true;
}

/* Or was not, for some time. */
static void say_alive(void)
{
    f.said = 0;
    if (was_held())
        say("{\"fabric\": \"held\"}\n");
    else if (f.mute || net_failed())
        say_none("could not answer");
    else
        say("{\"fabric\": \"listens\"}\n");
    f.longest = 0;
}

static void listen_for(void)
{
    uint64_t lived = now_us();

    if (getrandom(f.key, sizeof(f.key), 0) != sizeof(f.key)) {
        say_none("no random numbers");
        return;
    }
    if (!say_address())
        return;
    limit(f.asked_ms);
    set_ticks(0); /* it does not block; if it did it would not hear anybody */
    while (turn())
        if (f.turned - lived >= LIVES_MS * 1000) {
            lived = f.turned;
            say_alive();
        }
    f.said = 0;
    say_over();
}

/* And awaits the answer. */
static void ask(void)
{
    uint64_t sent = now_us();

    f.nonce++;
    f.came = false;
    ping_write(PING_ASK, f.key, f.nonce, f.message);
    net_ask(f.message);
    while (!f.came && !f.stranger && !net_failed() && turn())
        ;
    f.took = now_us() - sent;
}

/* The first message makes the connection, so the second one's time is said.  One that came is enough. */
static bool passes(void)
{
    uint64_t took;

    ask();
    if (!f.came)
        return false;
    took = f.took;
    ask();
    f.took = f.came && f.took < took ? f.took : took;
    return true;
}

static void say_result(bool passed)
{
    bool unsent;
    const char *why = net_why(&unsent);

    if (passed)
        say_passes();
    else if (f.stranger)
        say_none("another process is at that address");
    else if (!net_failed() && was_held())
        say_none("was held up itself");
    else if (unsent)
        say_none(why);
    else
        say_silent(why);
}

static void ping(const uint8_t *address, size_t len)
{
    const char *why;

    if (getrandom(&f.nonce, sizeof(f.nonce), 0) != sizeof(f.nonce))
        f.nonce = now_us();
    f.nonce &= UINT64_MAX >> 1; /* and never 0 */
    limit(f.asked_ms);
    why = net_connect(address, len);
    if (why) { /* nothing was sent */
        say_none(why);
        return;
    }
    say_result(passes());
    limit(CLOSE_MS); /* what there is to say was said */
    while (!net_close() && turn())
        ;
}

/* ---- options --------------------------------------------------------------------------------- */

static bool read_number(const char *text, long least, long most, long *out)
{
    char *end;

    errno = 0;
    *out = text ? strtol(text, &end, 10) : 0;
    return text && *text && !*end && !errno && *out >= least && *out <= most;
}

/* NULL: wrong usage; of `listen` "". */
static const char *read_options(int n, char **arguments)
{
    const char *address = NULL;
    long fd = f.fd;

    f.listens = n > 1 && !strcmp(arguments[1], "listen");
    if (n < 2 || (!f.listens && strcmp(arguments[1], "ping")))
        return NULL;
    for (int i = 2; i < n; i++) {
        if (!strcmp(arguments[i], "--deadline")) {
            if (!read_number(arguments[++i], 100, 600000, &f.asked_ms))
                return NULL;
        } else if (!strcmp(arguments[i], "--like")) {
            if (!(f.like = arguments[++i]))
                return NULL;
        } else if (!strcmp(arguments[i], "--over")) {
            if (!(f.over = arguments[++i]))
                return NULL;
        } else if (!strcmp(arguments[i], "--fd")) {
            if (!read_number(arguments[++i], 1, 1023, &fd))
                return NULL;
        } else if (address || (*arguments[i] == '-' && arguments[i][1])) {
            return NULL;
        } else {
            address = arguments[i];
        }
    }
    f.fd = (int) fd;
    return f.listens == !address ? address ? address : "" : NULL;
}

/* All of a file, ended by a 0; its length, 0: it cannot be read, or not whole. */
static size_t read_whole(int fd, char *text, size_t room)
{
    size_t len = 0;
    ssize_t n = 0;

    while (fd >= 0 && len < room && (n = read(fd, text + len, room - len)) > 0)
        len += (size_t) n;
    if (n < 0 || len == room)
        len = 0;
    text[len] = '\0';
    return len;
}

/* Those of the process that it is to be like.  False: they are not known, as of one that has ended. */
static bool take_variables(long pid)
{
    static char text[256 * 1024]; /* what is set points into it */
    char path[64];
    size_t len;
    int fd;

    snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    len = read_whole(fd, text, sizeof(text));
    if (fd >= 0)
        close(fd);
    for (char *v = text; (v = ping_variable(text, len, v)); v += strlen(v) + 1)
        putenv(v);
    return len > 0;
}

/* Of the first process that has any. */
static bool take_variables_of(const char *pids)
{
    char *end = NULL;

    for (const char *at = pids; *at; at = *end ? end + 1 : end) {
        long pid = strtol(at, &end, 10);
        if (end == at)
            return false;
        if (take_variables(pid))
            return true;
    }
    return false;
}

/* UCX reads some of these when it is loaded, before main(): so the program begins again. */
static void set_environment(char **arguments)
{
    if (getenv(BEGUN))
        return;
    if (f.like && !take_variables_of(f.like)) {
        say_none("the variables of the ranks are not known");
        _exit(0);
    }
    net_environment();
    setenv(BEGUN, "1", 1);
    execv("/proc/self/exe", arguments);
}

/* "-": it is on standard input.  The number of bytes. */
static size_t read_address(const char *address, uint8_t bytes[FTREE_FABRIC_BYTES])
{
    char text[2 * FTREE_FABRIC_BYTES + 2];

    if (strcmp(address, "-"))
        return ping_unhex(address, bytes, FTREE_FABRIC_BYTES);
    read_whole(STDIN_FILENO, text, sizeof(text) - 1);
    text[strcspn(text, "\n")] = '\0';
    return ping_unhex(text, bytes, FTREE_FABRIC_BYTES);
}

int main(int n, char **arguments)
{
    uint8_t bytes[FTREE_FABRIC_BYTES];
    const char *address, *why;
    size_t len = 0;

    if (n == 2 && (!strcmp(arguments[1], "--help") || !strcmp(arguments[1], "-h")))
        return fputs(usage, stdout) < 0;
    protect();
    if ((address = read_options(n, arguments)))
        set_environment(arguments);
    if (!address || (*address && (len = read_address(address, bytes)) <= PING_KEY)) {
        warnx("wrong usage; see faultloc-fabric --help");
        return 2;
    }
    memcpy(f.key, bytes, *address ? PING_KEY : 0);
    begin();
    why = net_open(f.over);
    f.open = !why;
    note_turn();
    if (why)
        say_none(why);
    else if (f.listens)
        listen_for();
    else
        ping(bytes + PING_KEY, len - PING_KEY);
    _exit(0); /* what the library would wait for at its end is nobody's business */
}
