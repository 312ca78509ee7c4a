/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#define _GNU_SOURCE
#include "faultloc_proxy.h"
#include "faultloc_pending.h"
#include "faultloc_cgroup.h"
#include "faultloc_children.h"
#include "faultloc_connect.h"
#include "faultloc_holders.h"
#include "faultloc_process.h"
#include "faultloc_cleanup.h"
#include "pmip.h"
#include "demux.h"
#include "faultloc_base.h"

#include "mpid/ch4/faultloc/base/syscalls.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>

#define CLOSED_MS 1000 /* after its PMI connection a process that ends is gone, too */
#define AGENT_MS 2000 /* for FaultLoc's own processes to end after the ranks */
#define MESSAGES_MAX 64 /* read at once */
#define PAUSE_MS 50 /* in which the socket is not read after nothing but a stranger's messages */
#define BEGIN_MS 10000 /* an agent that begins so soon after a signal has been started before it */
#define DRAIN_MS 500 /* for what somebody else prints on and on */
#define CLEANUP_MS 500 /* for the file system in which agents leave their symptom sockets */
#define LATE_MS 10000 /* for the others to come to a barrier after one has, or to end */
#define LATE_MOST_MS 600000 /* between two notes about what has not ended */
#define CONNECT_MS 5000 /* for MPI_Init to end after a barrier of PMI, before it is asked why not */
#define CONNECT_MOST_MS 80000 /* between two such questions: each time is twice the one before */
#define HOLDERS_MS 10000 /* between two looks at who keeps the output open */

/* What hydra started may be a script, and the rank a child of it; the script may end first, or
 * stay. The rank's own end is then known by its PMI connection, which it has to itself at last. */
#define AGENTS 64

struct process {
    bool finalized, ended, killed;
    bool held; /* it has ended, but its PMI connection is open: somebody goes on */
    int64_t gone; /* when its end was seen; 0: it was not */
    int64_t closed; /* when its PMI connection was, before it finalized; 0: it was not */
    bool reported; /* its end was reported to mpiexec */
    bool ending; /* its agent kills it, to end the job, or it has called MPI_Abort */
    struct HYD_faultloc_end end;
    bool crashed; /* each new agent gets the symptom: the one before may have ended too soon */
    int group; /* its control group */
    struct HYD_faultloc_calls calls;
    bool connects; /* mpiexec knows that it asks for a connection in vain */
    int64_t finalizing; /* since when it is in MPI_Finalize, by its agent; 0: that is not known */
};

/* Processes that were started together: an MPI_COMM_WORLD has agents of its own. */
struct world {
    struct HYD_faultloc_base base;
    bool started; /* they have been */
    int socket; /* for the agent's messages; -1: there is none */
    int listening, timer; /* an epoll set of it and of a timer, for hydra's loop; the timer */
    int agent[AGENTS], agents; /* descriptors of their processes */
    bool agent_seen;
    char name[FAULTLOC_LAUNCHER_PATH]; /* of the socket: "@NAME" */
    char symptom_socket[FAULTLOC_LAUNCHER_PATH]; /* "": no agent, or it has died */
    struct process *process; /* by local number */
    struct HYD_faultloc_pending pending; /* symptoms that the agent has not answered */
    int barrier; /* of PMI: the last that some process has come to */
    int missing; /* processes that have not */
    int64_t late_at; /* when mpiexec is informed of that; 0: it has been, or there is no reason */
    int64_t through; /* since when no process has to do with MPI any more; 0: not yet */
    int64_t left_at, left_ms; /* when mpiexec is informed of what is left, and again */
    int64_t connect_at, connect_after; /* when it is asked why MPI_Init does not end, 0: never; ms
                                        * to the next time */
    struct world *next; /* one that was started before */
};

static struct {
    pid_t pid; /* the proxy's own: forked children have all this, too */
    bool some_ended, killing;
    int requested_signal; /* the last one that mpiexec wanted to be sent */
    int64_t end_requested; /* when the processes were last sent one that ends them; 0: never */
    int64_t ended_since; /* all have; 0: not yet */
    int64_t look_at; /* when to look next at who keeps their output open */
    struct world *worlds;
} me;

#define AT(w, i, field) HYD_FAULTLOC_AT(&(w)->base, i, field)
#define FOR_EACH_WORLD(w) for (struct world *w = me.worlds; w; w = w->next)

/* ---- to mpiexec and to the agent ------------------------------------------------------------- */

static HYD_status send_up(const struct world *w, const struct HYD_faultloc_msg *msg)
{
    size_t size = HYD_faultloc_msg_size(msg->what);
    struct HYD_pmcd_hdr hdr = HYD_faultloc_header(&w->base, size);
    int sent, closed;
    HYD_status status = HYD_SUCCESS;

    status = HYDU_sock_write(HYD_pmcd_pmip.upstream.control, &hdr, sizeof(hdr), &sent, &closed,
                             HYDU_SOCK_COMM_MSGWAIT);
    HYDU_ERR_POP(status, "unable to send a FAULTLOC header upstream\n");
    HYDU_ASSERT(!closed, status);
    status = HYDU_sock_write(HYD_pmcd_pmip.upstream.control, msg, (int) size, &sent, &closed,
                             HYDU_SOCK_COMM_MSGWAIT);
    HYDU_ERR_POP(status, "unable to send a FAULTLOC message upstream\n");
    HYDU_ASSERT(!closed, status);

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}

static HYD_status send_end(struct world *w, const struct process *p, int what)
{
    struct HYD_faultloc_msg msg = {.what = what, .end = p->end};

    return send_up(w, &msg);
}

/* True if it was sent to an agent's symptom socket; whether the agent accepts it is in its reply,
 * which a stopped agent never gives.  A socket that refuses belongs to a dead agent: its successor
 * says hello. */
static bool send_symptom(struct world *w, const char *symptom, int who)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};

    if (w->socket < 0 || !w->symptom_socket[0] || HYD_faultloc_pending_is_full(&w->pending))
        return false;
    snprintf(to.sun_path, sizeof(to.sun_path), "%s", w->symptom_socket);
    if (sendto(w->socket, symptom, strlen(symptom), MSG_DONTWAIT | MSG_NOSIGNAL,
               (struct sockaddr *) &to, sizeof(to)) >= 0) {
        HYD_faultloc_pending_add(&w->pending, who);
        return true;
    }
    if (errno == ECONNREFUSED || errno == ENOENT)
        w->symptom_socket[0] = '\0';
    return false;
}

static void send_end_symptom(struct world *w, struct process *p)
{
    char symptom[HYD_FAULTLOC_SYMPTOM];

    HYD_faultloc_symptom(&p->end, symptom, sizeof(symptom));
    p->crashed = true;
    p->end.pending = send_symptom(w, symptom, HYD_FAULTLOC_PENDING_LOCAL((int) (p - w->process)));
}

/* What an agent said to a symptom, or that it died before it said anything. */
static HYD_status note_answer(struct world *w, int who, bool accepted)
{
    struct HYD_faultloc_msg msg = {
        .what = HYD_FAULTLOC_REPLY, .ref = who, .end.accepted = accepted};
    struct process *p;

    if (!HYD_FAULTLOC_PENDING_IS_LOCAL(who))
        return send_up(w, &msg);
    p = &w->process[HYD_FAULTLOC_PENDING_LOCAL(who)];
    p->end.pending = false;
    p->end.accepted = accepted;
    return send_end(w, p, HYD_FAULTLOC_REPLY);
}

/* What follows such a text in the arguments of a PMI command; NULL: it is not in them. */
static const char *find_arg(char *args[], const char *text)
{
    const char *at = NULL;

    for (; *args && !at; args++)
        at = strstr(*args, text);
    return at ? at + strlen(text) : NULL;
}

/* ---- who has come to a barrier --------------------------------------------------------------- */

/* mpiexec only learns that all of a proxy have come: from some releases of hydra not even that. */
static HYD_status note_call(struct world *w, struct process *p, const char *cmd, char *args[])
{
    const struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_ALL_CAME};

    if (find_arg(args, "group=") && !find_arg(args, "group=WORLD"))
        return HYD_SUCCESS; /* what some of them have among themselves */
    HYD_faultloc_calls_note(&p->calls, cmd, HYD_faultloc_now_ms());
    if (strcmp(cmd, "barrier_in"))
        return HYD_SUCCESS;
    if (p->calls.barriers > w->barrier) {
        w->barrier = p->calls.barriers;
        w->missing = w->base.count;
    }
    w->missing--;
    w->late_at = w->missing ? p->calls.came + LATE_MS : 0;
    w->connect_after = CONNECT_MS;
    w->connect_at = w->agent_seen ? 0 : p->calls.came + CONNECT_MS;
    return w->missing ? HYD_SUCCESS : send_up(w, &msg);
}

static HYD_status send_arrivals(struct world *w, int barrier)
{
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_ARRIVALS};
    int64_t now = HYD_faultloc_now_ms();

    msg.arrivals = (struct HYD_faultloc_arrivals){
        .barrier = barrier, .first_ms = -1, .last_ms = -1, .agent = w->agent_seen};
    for (int i = 0; i < w->base.count; i++) {
        struct process *p = &w->process[i];
        struct HYD_faultloc_process process = {
            .rank = AT(w, i, pmi_rank),
            .pid = AT(w, i, pid),
            .inited = AT(w, i, pmi_fd_active) != 0,
            .finalizing = p->finalizing,
            .calls = p->calls,
            .end = p->end.inner || (p->ended && !p->held) ? &p->end : NULL};
        HYD_faultloc_arrivals_add(&msg.arrivals, &process, now);
    }
    return send_up(w, &msg);
}

/* A process of FaultLoc is not waited for. */
static void name_holder(struct world *w, int i, char *out, size_t room)
{
    struct HYD_faultloc_holders who = {.pid = 0};

    if (AT(w, i, out) != HYD_FD_CLOSED)
        who = HYD_faultloc_holders(AT(w, i, out));
    if (!who.others && AT(w, i, err) != HYD_FD_CLOSED)
        who = HYD_faultloc_holders(AT(w, i, err));
    if (who.pid > 0)
        snprintf(out, room, "process %d (%s)", who.pid, who.name);
    else
        snprintf(out, room, "a process that %s", who.own ? "is FaultLoc's" : "may not be seen");
}

static bool has_open_output(const struct world *w, int i)
{
    return AT(w, i, out) != HYD_FD_CLOSED || AT(w, i, err) != HYD_FD_CLOSED;
}

/* Each name costs a look at all processes of the host: of more than a few, the last one's counts
 * for all. */
static HYD_status send_left(struct world *w, int64_t now)
{
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_LEFT};
    char holder[64] = "";
    int named = 0;

    msg.arrivals = (struct HYD_faultloc_arrivals){.barrier = w->barrier,
                                                  .come = w->base.count,
                                                  .first_ms = (int32_t) (now - w->through),
                                                  .last_ms = (int32_t) (now - w->through),
                                                  .agent = w->agent_seen};
    for (int i = 0; i < w->base.count; i++) {
        struct HYD_faultloc_process process = {
            .rank = AT(w, i, pmi_rank),
            .pid = AT(w, i, pid),
            .finalizing = w->process[i].finalized ? 0 : w->process[i].finalizing};
        if (w->process[i].ended && !has_open_output(w, i))
            continue;
        if (w->process[i].ended && named++ < HYD_FAULTLOC_GROUPS / 2)
            name_holder(w, i, holder, sizeof(holder));
        HYD_faultloc_arrivals_add_left(&msg.arrivals, &process, w->process[i].ended ? holder : "");
    }
    return msg.arrivals.groups > 0 ? send_up(w, &msg) : HYD_SUCCESS;
}

/* Or it has been in MPI_Finalize for a while, behind the barrier. */
static bool is_through(const struct world *w, const struct process *p)
{
    return p->finalized || (p->ended && !p->held) || (p->finalizing && !w->missing);
}

static bool are_through(const struct world *w)
{
    for (int i = 0; i < w->base.count; i++)
        if (!is_through(w, &w->process[i]))
            return false;
    return !me.killing;
}

/* Nobody waits in MPI any more, and no agent says who keeps the job. */
static HYD_status look_at_left(struct world *w, int64_t now)
{
    if (!are_through(w)) {
        w->through = 0;
        return HYD_SUCCESS;
    }
    if (!w->through) {
        w->through = now;
        w->left_ms = LATE_MS;
        w->left_at = now + LATE_MS;
    }
    if (now < w->left_at)
        return HYD_SUCCESS;
    w->left_ms = 2 * w->left_ms < LATE_MOST_MS ? 2 * w->left_ms : LATE_MOST_MS;
    w->left_at = now + w->left_ms;
    return send_left(w, now);
}

static HYD_status look_at_arrivals(struct world *w, int64_t now)
{
    if (!w->late_at || now < w->late_at)
        return HYD_SUCCESS;
    w->late_at = 0;
    return send_arrivals(w, w->barrier);
}

/* ---- who asks in vain for a connection ------------------------------------------------------- */

static HYD_status send_connects(struct world *w, struct process *p, int64_t now)
{
    struct HYD_faultloc_connect c[HYD_FAULTLOC_CONNECTS_MAX];
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_CONNECTS};
    int i = (int) (p - w->process), n;

    if (p->connects || p->ended || !p->calls.barriers)
        return HYD_SUCCESS;
    n = HYD_faultloc_connects("/proc", "/etc/hosts", AT(w, i, pid), c);
    if (n == 0)
        return HYD_SUCCESS;
    p->connects = true;
    msg.end = (struct HYD_faultloc_end){.rank = AT(w, i, pmi_rank),
                                        .pid = AT(w, i, pid),
                                        .age_ms = (int32_t) (now - p->calls.came)};
    msg.ref = c[0].tries;
    snprintf(msg.symptom, sizeof(msg.symptom), "%s", c[0].to);
    return send_up(w, &msg);
}

/* An agent says hello at the end of MPI_Init. */
static HYD_status look_at_connects(struct world *w, int64_t now)
{
    HYD_status status = HYD_SUCCESS;

    if (!w->connect_at || now < w->connect_at)
        return HYD_SUCCESS;
    if (w->agent_seen || w->connect_after > CONNECT_MOST_MS) {
        w->connect_at = 0;
        return HYD_SUCCESS;
    }
    for (int i = 0; i < w->base.count && !status; i++)
        status = send_connects(w, &w->process[i], now);
    w->connect_after *= 2;
    w->connect_at = now + w->connect_after;
    return status;
}

/* Ranks that close their connections have not come yet, and may be all that have called
 * MPI_Finalize. */
static HYD_status handle_finalizing(struct world *w,
                                    const struct faultloc_launcher_message *message)
{
    const struct faultloc_launcher_ranks *r = &message->ranks;
    int64_t since = HYD_faultloc_now_ms() - FAULTLOC_LAUNCHER_FINALIZING_MS;

    for (int i = 0; i < w->base.count; i++)
        for (int k = 0; k < r->ranges && !w->process[i].finalizing; k++)
            if (AT(w, i, pmi_rank) >= r->range[k].first && AT(w, i, pmi_rank) <= r->range[k].last)
                w->process[i].finalizing = since;
    return send_arrivals(w, w->missing ? w->barrier : w->barrier + 1);
}

/* ---- messages of the agent ------------------------------------------------------------------- */

/* When they have been started, and once more when they are in MPI: a script may have moved them. */
static void note_groups(struct world *w)
{
    for (int i = 0; i < w->base.count; i++)
        if (!w->process[i].ended)
            w->process[i].group = HYD_faultloc_cgroup_of(AT(w, i, pid));
}

static HYD_status handle_hello(struct world *w, const struct faultloc_launcher_message *message)
{
    HYD_status status = HYD_SUCCESS;
    int who;

    /* what the one before has not answered it never will */
    while (!status && HYD_faultloc_pending_next(&w->pending, &who))
        if (!HYD_FAULTLOC_PENDING_IS_LOCAL(who))
            status = note_answer(w, who, false);
    snprintf(w->symptom_socket, sizeof(w->symptom_socket), "%s", message->symptom_socket);
    if (!w->agent_seen)
        note_groups(w);
    w->agent_seen = true;
    for (int i = 0; i < w->base.count; i++)
        if (w->process[i].crashed)
            send_end_symptom(w, &w->process[i]);
    return status;
}

/* The agent replies with text, "ok" or the error, in the order of the symptoms. */
static HYD_status handle_answer(struct world *w, const void *text, size_t len)
{
    int who;

    if (!HYD_faultloc_pending_next(&w->pending, &who))
        return HYD_SUCCESS;
    return note_answer(w, who, len == strlen("ok") && !memcmp(text, "ok", len));
}

/* What its agent is about to do to it is no crash. */
static void handle_ending(struct world *w, const struct faultloc_launcher_message *message)
{
    for (int i = 0; i < w->base.count && message->ended_rank >= 0; i++)
        w->process[i].ending |= AT(w, i, pmi_rank) == message->ended_rank;
}

static bool agent_has_ended(int pidfd)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}

/* Agents outlive the processes: that these are ended from outside is no crash of theirs. */
static void signal_end(int agent)
{
    syscall(SYS_pidfd_send_signal, agent, SIGTERM, NULL, 0);
}

/* The sender of a hello is an agent; a descriptor of it, for its number may be another's later.  Of
 * processes with different names of their node each name has its own. */
static void note_agent(struct world *w, pid_t pid)
{
    int i = 0, fd = pid > 0 ? (int) syscall(SYS_pidfd_open, pid, 0) : -1;

    while (i < w->agents && !agent_has_ended(w->agent[i]))
        i++;
    if (fd < 0 || i == AGENTS) {
        if (fd >= 0)
            close(fd);
        return;
    }
    if (i < w->agents)
        close(w->agent[i]);
    else
        w->agents++;
    w->agent[i] = fd;
    if (me.end_requested && HYD_faultloc_now_ms() - me.end_requested < BEGIN_MS)
        signal_end(fd);
}

static HYD_status handle_message(struct world *w, const struct faultloc_launcher_message *message,
                                 size_t len, bool from_agent, pid_t sender)
{
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_LAUNCHER_MESSAGE};

    if (!faultloc_launcher_is_message(message, len, INT32_MAX))
        return from_agent ? handle_answer(w, message, len) : HYD_SUCCESS;
    if (message->kind == FAULTLOC_LAUNCHER_HELLO) {
        note_agent(w, sender);
        return handle_hello(w, message);
    }
    if (message->kind == FAULTLOC_LAUNCHER_FINALIZING)
        return handle_finalizing(w, message);
    if (message->kind == FAULTLOC_LAUNCHER_ENDING)
        handle_ending(w, message);
    msg.message = *message;
    return send_up(w, &msg);
}

/* The kernel says who sent it: only the job's user and root are accepted.  Anybody on the host can
 * send to a socket without a file. */
static bool is_ours(struct msghdr *m, pid_t *pid)
{
    struct ucred who;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&who, CMSG_DATA(c), sizeof(who));
            *pid = who.pid;
            return who.uid == 0 || who.uid == getuid();
        }
    return false;
}

/* False: there is none.  *strange: it was not the agent's, nor one of the user's. */
static bool receive_next(struct world *w, int fd, HYD_status *status, bool *strange)
{
    struct faultloc_launcher_message message;
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } who;
    struct sockaddr_un from = {.sun_family = AF_UNIX};
    struct iovec iov = {.iov_base = &message, .iov_len = sizeof(message)};
    struct msghdr m = {.msg_name = &from,
                       .msg_namelen = sizeof(from) - 1, /* its path is ended, too */
                       .msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &who,
                       .msg_controllen = sizeof(who)};
    ssize_t len = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    bool from_agent = w->symptom_socket[0] && !strcmp(from.sun_path, w->symptom_socket);
    pid_t sender;
    bool ours = len > 0 && is_ours(&m, &sender) &&
                (from_agent || faultloc_launcher_is_message(&message, (size_t) len, INT32_MAX));

    *strange |= len >= 0 && !ours;
    if (ours)
        *status = handle_message(w, &message, (size_t) len, from_agent, sender);
    return len >= 0;
}

/* All that is there: ends are looked at after this, and a message may explain one of them. */
static HYD_status receive_all(struct world *w, bool *strange)
{
    HYD_status status = HYD_SUCCESS;

    for (int i = 0; i < MESSAGES_MAX && !status && w->socket >= 0; i++)
        if (!receive_next(w, w->socket, &status, strange))
            break;
    return status;
}

/* With no event at all what comes waits in the kernel, and holds up its sender. */
static void listen_again(struct world *w, bool now)
{
    const struct itimerspec pause = {.it_value = {.tv_nsec = PAUSE_MS * 1000000}};
    struct epoll_event e = {.events = now ? EPOLLIN : 0};

    epoll_ctl(w->listening, EPOLL_CTL_MOD, w->socket, &e);
    if (!now)
        timerfd_settime(w->timer, 0, &pause, NULL);
}

static HYD_status message_cb(int fd, HYD_event_t events, void *userp)
{
    struct world *w = userp;
    HYD_status status;
    uint64_t times;
    bool strange = false;

    (void) fd;
    (void) events;
    if (read(w->timer, &times, sizeof(times)) == sizeof(times))
        listen_again(w, true);
    status = receive_all(w, &strange);
    if (strange)
        listen_again(w, false);
    return status;
}

static bool is_added(const struct world *w, int fd)
{
    struct epoll_event e = {.events = EPOLLIN};

    return fd >= 0 && !epoll_ctl(w->listening, EPOLL_CTL_ADD, fd, &e);
}

/* A stranger can send to it, and is not to keep this process busy. */
static HYD_status listen_to_agent(struct world *w)
{
    w->listening = epoll_create1(EPOLL_CLOEXEC);
    w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return HYDT_dmx_register_fd(
        1, is_added(w, w->timer) && is_added(w, w->socket) ? &w->listening : &w->socket, HYD_POLLIN,
        w, message_cb);
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* The folder of the agents' symptom sockets: faultloc_symptom_socket_folder() with the environment
 * that the processes get. */
static bool find_folder(char *out, size_t room)
{
    char name[] = "XDG_RUNTIME_DIR";
    struct HYD_env *env = HYDU_env_lookup(name, HYD_pmcd_pmip.user_global.global_env.inherited);
    const char *dir = env ? env->env_value : getenv(name);
    struct stat s;
    int len;

    if (dir && dir[0] == '/' && !stat(dir, &s) && S_ISDIR(s.st_mode) && s.st_uid == getuid())
        len = snprintf(out, room, "%s/faultloc", dir);
    else
        len = snprintf(out, room, "/tmp/faultloc-%u", (unsigned) getuid());
    return len >= 0 && (size_t) len < room;
}

static void cleanup_folder(void)
{
    char folder[FAULTLOC_LAUNCHER_PATH];

    if (find_folder(folder, sizeof(folder)))
        HYD_faultloc_cleanup(folder);
}

/* Agents of this job, or of one before, that were killed have left their symptom sockets. */
static void cleanup(void)
{
    HYD_faultloc_cleanup_in_child(cleanup_folder, CLEANUP_MS);
}

/* The kernel finds a name that nobody has, and forgets it with the proxy: nothing is left
 * behind. */
static bool bind_socket(struct world *w, int fd)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    socklen_t len = sizeof(at);
    size_t begin = offsetof(struct sockaddr_un, sun_path) + 1;

    if (bind(fd, (struct sockaddr *) &at, sizeof(at.sun_family)) ||
        getsockname(fd, (struct sockaddr *) &at, &len) || len <= begin)
        return false;
    snprintf(w->name, sizeof(w->name), "@%.*s", (int) (len - begin), at.sun_path + 1);
    return true;
}

static void open_socket(struct world *w)
{
    int one = 1, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    /* before it has a name: what comes then has its sender's credentials with it */
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) ||
        !bind_socket(w, fd)) {
        HYD_faultloc_say(stderr,
                         "[faultloc] hydra's proxy on %s cannot open a socket for its agent (%s): "
                         "verdicts on its processes may be late\n",
                         w->base.host, MPL_strerror(errno));
        if (fd >= 0)
            close(fd);
        return;
    }
    w->socket = fd;
}

/* In a process that is about to become one of the job's: none of them outlives the proxy. */
static void in_child(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != me.pid)
        _exit(255);
}

/* The kernel and hydra's loop are to report ends; a process that is forked makes its own request to
 * the kernel. */
static HYD_status watch(void)
{
    HYD_status status = HYDU_sock_cloexec(HYD_pmcd_pmip.upstream.control);

    HYDU_ERR_POP(status, "unable to set the control socket to close on exec\n");
    status = HYD_faultloc_children_watch(&me.some_ended);
    HYDU_ERR_POP(status, "unable to watch the processes\n");
    HYD_faultloc_children_outlive();
    if (pthread_atfork(NULL, NULL, in_child))
        HYDU_ERR_SETANDJUMP(status, HYD_INTERNAL_ERROR, "pthread_atfork error\n");

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}

static HYD_status begin(void)
{
    me.pid = getpid();
    cleanup();
    return watch();
}

/* NULL: there is no memory. */
static struct world *new_world(struct HYD_faultloc_base base)
{
    struct world *w = MPL_calloc(1, sizeof(*w), MPL_MEM_PM);

    if (!w || !(w->process = MPL_calloc((size_t) base.count, sizeof(*w->process), MPL_MEM_PM))) {
        MPL_free(w);
        return NULL;
    }
    w->base = base;
    w->socket = -1;
    w->next = me.worlds;
    me.worlds = w;
    return w;
}

static HYD_status begin_world(struct HYD_faultloc_base base)
{
    HYD_status status = me.worlds ? HYD_SUCCESS : begin();
    struct world *w;

    HYDU_ERR_POP(status, "unable to watch the processes\n");
    if (!(w = new_world(base)))
        HYDU_ERR_SETANDJUMP(status, HYD_NO_MEM, "failed to allocate memory\n");
    open_socket(w);
    if (w->socket >= 0)
        status = listen_to_agent(w);
    HYDU_ERR_POP(status, "unable to register fd\n");

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}

static struct world *world_of(const struct pmip_pg *pg)
{
    FOR_EACH_WORLD(w)
    if (HYD_faultloc_base_is(&w->base, pg))
        return w;
    return NULL;
}

/* HYDU_env_lookup passes over the last of a list. */
static bool is_requested(void)
{
    for (struct HYD_env *env = HYD_pmcd_pmip.user_global.global_env.system; env; env = env->next)
        if (!strcmp(env->env_name, HYD_FAULTLOC_ENV))
            return true;
    return false;
}

HYD_status HYD_faultloc_proxy_begin(const struct pmip_pg *pg, struct HYD_env **env)
{
    HYD_status status = HYD_SUCCESS;
    struct world *w;

    if (!is_requested())
        return HYD_SUCCESS;
    HYD_faultloc_on = 1;
    if (!world_of(pg))
        status = begin_world(HYD_faultloc_base_of(pg));
    w = world_of(pg);
    return status || w->socket < 0 ? status
                                   : HYDU_append_env_to_list(FAULTLOC_LAUNCHER_ENV, w->name, env);
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* Whose PMI connection this is, by its local number; -1: nobody's.  Of a descriptor that was used
 * again the last is meant. */
static int find_process(int fd, struct world **of)
{
    FOR_EACH_WORLD(w)
    for (int i = 0; i < w->base.count; i++)
        if (AT(w, i, pmi_fd) == fd) {
            *of = w;
            return i;
        }
    return -1;
}

static int count_running(struct world *w)
{
    int n = 0;

    for (int i = 0; i < w->base.count; i++)
        n += (!w->process[i].ended || w->process[i].held) && !w->process[i].finalized;
    return n;
}

/* A signal that the user gave to mpiexec, and that ends a process, is no fault of it; nor is what
 * the agent does to it, though a script may then end with a code of its own. */
static bool was_requested(const struct process *p, int status)
{
    return p->ending ||
           (WIFSIGNALED(status) && ((p->killed && WTERMSIG(status) == SIGKILL) ||
                                    WTERMSIG(status) == me.requested_signal));
}

static void fill_end(struct world *w, int i, int status, const struct rusage *used)
{
    struct process *p = &w->process[i];

    p->end = (struct HYD_faultloc_end){
        .rank = AT(w, i, pmi_rank),
        .pid = AT(w, i, pid),
        .status = status,
        .rss_kib = used->ru_maxrss,
        .cpu_ms = (used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000 +
                  (used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1000,
        .killed = was_requested(p, status),
        .oom = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !p->killed &&
               HYD_faultloc_cgroup_killed(p->group),
    };
}

/* What is known now, and may not have been when what hydra started ended. */
static void refresh_end(struct world *w, int i)
{
    struct process *p = &w->process[i];

    p->end.inited = AT(w, i, pmi_fd_active) != 0;
    p->end.finalized = p->finalized;
    p->end.agent = w->agent_seen;
    p->end.others = count_running(w) > 0;
}

/* True if somebody has the other end of its PMI connection open. */
static bool is_held(struct world *w, int i)
{
    int fd = AT(w, i, pmi_fd);
    char byte;

    return !w->process[i].finalized && !w->process[i].closed && fd >= 0 &&
           HYDT_dmx_query_fd_registration(fd) && recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
}

/* Nothing more will come from it: hydra would look again and again whether there is. */
static HYD_status close_ends(struct world *w, int i)
{
    int fd = AT(w, i, pmi_fd);
    HYD_status status = HYD_SUCCESS;

    if (AT(w, i, pmi_rank) == 0 && HYD_FAULTLOC_STDIN(&w->base, i) >= 0) {
        close(HYD_FAULTLOC_STDIN(&w->base, i));
        HYD_FAULTLOC_STDIN(&w->base, i) = HYD_FD_CLOSED;
    }
    if (!AT(w, i, pmi_fd_active) && fd >= 0 && HYDT_dmx_query_fd_registration(fd)) {
        status = HYDT_dmx_deregister_fd(fd);
        close(fd);
    }
    return status;
}

/* After MPI_Finalize nobody misses it: that is for mpiexec's exit code alone. */
static HYD_status report_end(struct world *w, int i)
{
    struct process *p = &w->process[i];

    refresh_end(w, i);
    if (!p->reported && p->end.status == 0 && !HYD_faultloc_is_crash(&p->end))
        return HYD_SUCCESS;
    p->reported = true;
    p->end.age_ms = (int32_t) (HYD_faultloc_now_ms() - p->gone);
    if (HYD_faultloc_is_crash(&p->end) && p->end.inited && !p->finalized && !p->held)
        send_end_symptom(w, p);
    return send_end(w, p, HYD_FAULTLOC_END);
}

/* Who ended by a signal is waited for no longer, as in stock hydra.  Else the process that has the
 * PMI connection is the rank, or a process that a crashed rank has left: a verdict decides. */
static HYD_status has_ended(struct world *w, int i, int status, const struct rusage *used,
                            int64_t ms)
{
    struct process *p = &w->process[i];
    HYD_status closed;

    p->ended = true;
    p->gone = p->end.inner ? p->gone : ms;
    AT(w, i, exit_status) = status;
    if (p->end.inner) { /* reported when its PMI connection was closed */
        closed = close_ends(w, i);
        if (closed || !p->end.unsure || was_requested(p, status))
            return closed;
        p->end.unsure = false;
        return report_end(w, i);
    }
    fill_end(w, i, status, used);
    p->held = WIFEXITED(status) && !p->ending && is_held(w, i);
    p->end.unsure = p->held;
    if (p->held)
        return AT(w, i, pmi_fd_active) ? report_end(w, i) : HYD_SUCCESS;
    closed = close_ends(w, i);
    return closed ? closed : report_end(w, i);
}

/* It was held, and is no more: the rank has ended. What was killed with the others may be all that
 * a rank had left, of which there is more to say than that. */
static HYD_status was_left(struct world *w, int i)
{
    struct process *p = &w->process[i];
    HYD_status status;

    p->held = false;
    p->end.unsure = false;
    p->end.inner = true;
    status = close_ends(w, i);
    return status || p->killed || p->ending ? status : report_end(w, i);
}

/* The rank has ended, but not what hydra started. An agent finds out if that is so; a rank may also
 * have closed what it does not know. */
static HYD_status has_left(struct world *w, int i)
{
    static const struct rusage none;
    struct process *p = &w->process[i];

    fill_end(w, i, 0, &none);
    p->gone = p->closed;
    p->end.inner = true;
    p->end.unsure = w->agent_seen;
    return p->killed ? HYD_SUCCESS : report_end(w, i);
}

/* Ranks that something else was started for. */
static HYD_status look_at_connections(struct world *w, int64_t now)
{
    HYD_status status = HYD_SUCCESS;

    for (int i = 0; i < w->base.count && !status; i++) {
        struct process *p = &w->process[i];
        if (p->held && !is_held(w, i))
            status = was_left(w, i);
        else if (!p->ended && p->closed && !p->end.inner && now >= p->closed + CLOSED_MS)
            status = has_left(w, i);
    }
    return status;
}

/* pid 0: whichever they are.  ms: since when they have ended. */
static HYD_status look_for(pid_t pid, int64_t ms)
{
    HYD_status status = HYD_SUCCESS;
    struct rusage used;
    int ret;

    FOR_EACH_WORLD(w)
    for (int i = 0; i < w->base.count && !status; i++) {
        pid_t own = AT(w, i, pid);
        if ((!pid || own == pid) && !w->process[i].ended && wait4(own, &ret, WNOHANG, &used) == own)
            status = has_ended(w, i, ret, &used, ms);
    }
    return status;
}

/* Those first of which is known that they were. */
static HYD_status look_for_ends(void)
{
    HYD_status status = HYD_SUCCESS;
    int64_t ms;
    pid_t pid;

    me.some_ended = false;
    while (!status && (pid = HYD_faultloc_children_next(&ms)))
        status = look_for(pid, ms);
    return status ? status : look_for(0, HYD_faultloc_now_ms());
}

/* A rank whose script has ended is one, too. */
static bool all_ended(void)
{
    FOR_EACH_WORLD(w)
    for (int i = 0; i < w->base.count; i++)
        if (!w->process[i].ended ||
            (w->process[i].held && !me.killing && AT(w, i, pmi_fd_active)))
            return false;
    return true;
}

/* A pipe whose other end somebody has open; -1: there is none. */
static int open_output(void)
{
    FOR_EACH_WORLD(w)
    for (int i = 0; i < w->base.count; i++) {
        if (AT(w, i, out) != HYD_FD_CLOSED)
            return AT(w, i, out);
        if (AT(w, i, err) != HYD_FD_CLOSED)
            return AT(w, i, err);
    }
    return -1;
}

/* All have ended. What they wrote, and what their agents have to say of it, is still to be handed
 * on. An agent has little time for it; who else has their output open is waited for as stock hydra
 * does, but not where all were killed. */
static bool is_over(int64_t now)
{
    int fd = open_output();
    struct HYD_faultloc_holders who;

    if (fd < 0)
        return true;
    if (now < me.look_at)
        return false;
    who = HYD_faultloc_holders(fd);
    me.look_at = now + (me.killing ? AGENT_MS : HOLDERS_MS);
    return me.killing ? !who.own || now >= me.ended_since + AGENT_MS : who.own && !who.others;
}

static bool has_to_end(int64_t now)
{
    if (!all_ended()) {
        me.ended_since = 0;
        return false;
    }
    if (!me.ended_since) {
        me.ended_since = now;
        me.look_at = me.killing ? now : now + AGENT_MS;
    }
    return is_over(now);
}

/* When there is something to be done about them; 0: nothing so far. */
static int64_t due_at(const struct world *w, int64_t now)
{
    int64_t at = are_through(w) ? w->left_at : w->late_at;

    for (int i = 0; i < w->base.count; i++)
        if (w->process[i].closed && !w->process[i].ended && !w->process[i].end.inner)
            return now + 1000;
    if (are_through(w) && !w->through)
        return now + 1000;
    return !at || (w->connect_at && w->connect_at < at) ? w->connect_at : at;
}

/* Seconds: hydra has no finer ones. */
static int wait_s(void)
{
    int64_t now = HYD_faultloc_now_ms(), at = me.ended_since ? now + 1000 : 0;

    FOR_EACH_WORLD(w)
    {
        int64_t due = due_at(w, now);
        at = !at || (due && due < at) ? due : at;
    }
    if (!at)
        return -1;
    return at > now ? (int) (at - now + 999) / 1000 : 0;
}

/* Those that hydra has just started. */
static void note_started(void)
{
    FOR_EACH_WORLD(w)
    if (!w->started) {
        w->started = true;
        note_groups(w);
    }
}

static HYD_status look_at(struct world *w, int64_t now)
{
    HYD_status status = look_at_connections(w, now);

    HYDU_ERR_POP(status, "unable to say how a process ended\n");
    status = look_at_arrivals(w, now);
    HYDU_ERR_POP(status, "unable to say who is late\n");
    status = look_at_left(w, now);
    HYDU_ERR_POP(status, "unable to say what is left\n");
    status = look_at_connects(w, now);
    HYDU_ERR_POP(status, "unable to say who asks in vain for a connection\n");

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}

static HYD_status turn(int seconds)
{
    HYD_status status = HYDT_dmx_wait_for_event(seconds);

    HYDU_IGNORE_TIMEOUT(status);
    HYDU_ERR_POP(status, "demux engine error waiting for event\n");
    note_started();
    if (me.some_ended)
        status = look_for_ends();
    HYDU_ERR_POP(status, "unable to say how a process ended\n");
    FOR_EACH_WORLD(w)
    {
        status = look_at(w, HYD_faultloc_now_ms());
        HYDU_ERR_POP(status, "unable to look at the processes\n");
    }

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}

HYD_status HYD_faultloc_proxy_wait(void)
{
    HYD_status status;
    int64_t end;

    if (!HYD_faultloc_on)
        return HYD_SUCCESS;
    note_started();
    status = look_for_ends();
    HYDU_ERR_POP(status, "unable to say how a process ended\n");
    while (!has_to_end(HYD_faultloc_now_ms())) {
        status = turn(wait_s());
        HYDU_ERR_POP(status, "unable to wait for the processes\n");
    }
    end = HYD_faultloc_now_ms() + DRAIN_MS;
    while (open_output() >= 0 && HYD_faultloc_now_ms() < end &&
           (status = HYDT_dmx_wait_for_event(0)) == HYD_SUCCESS)
        ; /* what is there already */
    HYDU_IGNORE_TIMEOUT(status);
    cleanup();

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}

/* ---- what else happens to them --------------------------------------------------------------- */

bool HYD_faultloc_proxy_closed(int fd)
{
    struct world *w;
    int i = HYD_faultloc_on ? find_process(fd, &w) : -1;

    if (i >= 0 && !w->process[i].finalized)
        w->process[i].closed = HYD_faultloc_now_ms();
    return HYD_faultloc_on;
}

/* A process group whose leader has been waited for is not found by the leader any more. */
static void kill_group(struct world *w, int i)
{
    if (HYD_pmcd_pmip.user_global.auto_cleanup && AT(w, i, pid) > 0)
        killpg(AT(w, i, pid), SIGKILL);
}

static bool ends_processes(int signum)
{
    return signum == SIGKILL || signum == SIGTERM || signum == SIGINT || signum == SIGQUIT ||
           signum == SIGHUP;
}

/* Before the processes are sent the signal; an agent that has just begun may not be known yet. */
static void signal_agents(struct world *w)
{
    receive_all(w, &(bool){false});
    for (int i = 0; i < w->agents; i++)
        signal_end(w->agent[i]);
}

static void kill_all(struct world *w)
{
    for (int i = 0; i < w->base.count; i++) {
        if (w->process[i].ended)
            kill_group(w, i);
        w->process[i].killed = !w->process[i].ended || w->process[i].held;
    }
}

void HYD_faultloc_proxy_signals(int signum)
{
    if (!HYD_faultloc_on)
        return;
    if (ends_processes(signum)) {
        FOR_EACH_WORLD(w)
        signal_agents(w);
        me.end_requested = HYD_faultloc_now_ms();
    }
    if (signum != SIGKILL) {
        if (signum != SIGUSR1) /* hydra itself sends that one */
            me.requested_signal = signum;
        return;
    }
    me.killing = true;
    me.look_at = 0;
    FOR_EACH_WORLD(w)
    kill_all(w);
}

static void report_abort(struct world *w, int local, char *args[])
{
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_ABORT,
                                   .end = {.rank = AT(w, local, pmi_rank),
                                           .pid = AT(w, local, pid),
                                           .inited = 1,
                                           .agent = w->agent_seen,
                                           .status = 1}};
    const char *code = find_arg(args, "exitcode=");

    w->process[local].ending = true;
    if (code)
        msg.end.status = (int32_t) strtol(code, NULL, 10);
    send_up(w, &msg);
}

/* It needs nobody any more: PMI's own word for that may come as late as at its exit. */
static bool says_it_is_outside(const char *cmd, char *args[])
{
    return !strcmp(cmd, "put") && find_arg(args, "key=" FAULTLOC_LAUNCHER_KEY_OUTSIDE);
}

bool HYD_faultloc_proxy_pmi(int fd, const char *cmd, char *args[])
{
    struct world *w;
    int i = HYD_faultloc_on ? find_process(fd, &w) : -1;

    if (i < 0)
        return false;
    w->process[i].finalized = !strcmp(cmd, "finalize") || says_it_is_outside(cmd, args);
    if (!w->process[i].finalized)
        note_call(w, &w->process[i], cmd, args);
    if (strcmp(cmd, "abort"))
        return false;
    receive_all(w, &(bool){false}); /* the agent may have said that it is because of a verdict */
    report_abort(w, i, args);
    return true;
}

HYD_status HYD_faultloc_proxy_cmd(const struct pmip_pg *pg, int fd)
{
    struct world *w = world_of(pg);
    struct HYD_faultloc_msg msg;
    int recvd, closed;
    HYD_status status = HYD_SUCCESS;

    status = HYDU_sock_read(fd, &msg, sizeof(msg), &recvd, &closed, HYDU_SOCK_COMM_MSGWAIT);
    HYDU_ERR_POP(status, "unable to read a FAULTLOC message\n");
    HYDU_ASSERT(!closed, status);
    if (!w)
        goto fn_exit;
    msg.symptom[sizeof(msg.symptom) - 1] = '\0';
    if (msg.what == HYD_FAULTLOC_WHO_IS_LATE)
        status = send_arrivals(w, msg.ref);
    if (msg.what == HYD_FAULTLOC_SYMPTOM_FOR_AGENT && msg.ref > 0 &&
        !send_symptom(w, msg.symptom, msg.ref))
        status = note_answer(w, msg.ref, false);

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}
