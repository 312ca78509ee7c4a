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

#include "../../../../mpid/ch4/faultloc/base/syscalls.h"

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
#define LATE_MS 10000 /* for the others to come to a barrier after one has */
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
    bool ending; /* its agent kills it, to end the job */
    struct HYD_faultloc_end end;
    bool crashed; /* each new agent gets the symptom: the one before may have ended too soon */
    int group; /* its control group */
    struct HYD_faultloc_calls calls;
    bool connects; /* mpiexec knows that it asks for a connection in vain */
    int64_t finalizing; /* since when it is in MPI_Finalize, by its agent; 0: that is not known */
};

static struct {
    pid_t pid; /* the proxy's own: forked children have all this, too */
    int socket; /* for the agent's messages; -1: there is none */
    int listening, timer; /* an epoll set of it and of a timer, for hydra's loop; the timer */
    int agent[AGENTS], agents; /* descriptors of their processes */
    bool some_ended, agent_seen, killing;
    int requested_signal; /* the last one that mpiexec wanted to be sent */
    int64_t end_requested; /* when the processes were last sent one that ends them; 0: never */
    int64_t ended_since; /* all have; 0: not yet */
    int64_t look_at; /* when to look next at who keeps their output open */
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
} me = {.socket = -1};

static int count_processes(void)
{
    return HYD_pmcd_pmip.local.proxy_process_count;
}

/* ---- to mpiexec and to the agent ------------------------------------------------------------- */

static HYD_status send_up(const struct HYD_faultloc_msg *msg)
{
    struct HYD_pmcd_hdr hdr;
    int sent, closed;
    HYD_status status = HYD_SUCCESS;

    HYD_pmcd_init_header(&hdr);
    hdr.cmd = FAULTLOC;
    hdr.buflen = (int) sizeof(*msg);
    status = HYDU_sock_write(HYD_pmcd_pmip.upstream.control, &hdr, sizeof(hdr), &sent, &closed,
                             HYDU_SOCK_COMM_MSGWAIT);
    HYDU_ERR_POP(status, "unable to send a FAULTLOC header upstream\n");
    HYDU_ASSERT(!closed, status);
    status = HYDU_sock_write(HYD_pmcd_pmip.upstream.control, msg, sizeof(*msg), &sent, &closed,
                             HYDU_SOCK_COMM_MSGWAIT);
    HYDU_ERR_POP(status, "unable to send a FAULTLOC message upstream\n");
    HYDU_ASSERT(!closed, status);

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}

static HYD_status send_end(const struct process *p, int what)
{
    struct HYD_faultloc_msg msg = {.what = what, .end = p->end};

    return send_up(&msg);
}

/* True if it was sent to an agent's symptom socket; whether the agent accepts it is in its reply,
 * which a stopped agent never gives.  A socket that refuses belongs to a dead agent: its successor
 * says hello. */
static bool send_symptom(const char *symptom, int who)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};

    if (me.socket < 0 || !me.symptom_socket[0] || HYD_faultloc_pending_is_full(&me.pending))
        return false;
    snprintf(to.sun_path, sizeof(to.sun_path), "%s", me.symptom_socket);
    if (sendto(me.socket, symptom, strlen(symptom), MSG_DONTWAIT | MSG_NOSIGNAL,
               (struct sockaddr *) &to, sizeof(to)) >= 0) {
        HYD_faultloc_pending_add(&me.pending, who);
        return true;
    }
    if (errno == ECONNREFUSED || errno == ENOENT)
        me.symptom_socket[0] = '\0';
    return false;
}

static void send_end_symptom(struct process *p)
{
    char symptom[HYD_FAULTLOC_SYMPTOM];

    HYD_faultloc_symptom(&p->end, symptom, sizeof(symptom));
    p->crashed = true;
    p->end.pending = send_symptom(symptom, HYD_FAULTLOC_PENDING_LOCAL((int) (p - me.process)));
}

/* What an agent said to a symptom, or that it died before it said anything. */
static HYD_status note_answer(int who, bool accepted)
{
    struct HYD_faultloc_msg msg = {
        .what = HYD_FAULTLOC_REPLY, .ref = who, .end.accepted = accepted};
    struct process *p;

    if (!HYD_FAULTLOC_PENDING_IS_LOCAL(who))
        return send_up(&msg);
    p = &me.process[HYD_FAULTLOC_PENDING_LOCAL(who)];
    p->end.pending = false;
    p->end.accepted = accepted;
    return send_end(p, HYD_FAULTLOC_REPLY);
}

/* ---- who has come to a barrier --------------------------------------------------------------- */

/* mpiexec only learns that all of a proxy have come. */
static void note_call(struct process *p, const char *cmd)
{
    HYD_faultloc_calls_note(&p->calls, cmd, HYD_faultloc_now_ms());
    if (strcmp(cmd, "barrier_in"))
        return;
    if (p->calls.barriers > me.barrier) {
        me.barrier = p->calls.barriers;
        me.missing = count_processes();
    }
    me.missing--;
    me.late_at = me.missing ? p->calls.came + LATE_MS : 0;
    me.connect_after = CONNECT_MS;
    me.connect_at = me.agent_seen ? 0 : p->calls.came + CONNECT_MS;
}

static HYD_status send_arrivals(int barrier)
{
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_ARRIVALS};
    int64_t now = HYD_faultloc_now_ms();

    msg.arrivals = (struct HYD_faultloc_arrivals){
        .barrier = barrier, .first_ms = -1, .last_ms = -1, .agent = me.agent_seen};
    for (int i = 0; i < count_processes(); i++) {
        struct process *p = &me.process[i];
        struct HYD_faultloc_process process = {
            .rank = HYD_pmcd_pmip.downstream.pmi_rank[i],
            .pid = HYD_pmcd_pmip.downstream.pid[i],
            .inited = HYD_pmcd_pmip.downstream.pmi_fd_active[i] != 0,
            .finalizing = p->finalizing,
            .calls = p->calls,
            .end = p->end.inner || (p->ended && !p->held) ? &p->end : NULL};
        HYD_faultloc_arrivals_add(&msg.arrivals, &process, now);
    }
    return send_up(&msg);
}

/* A process of FaultLoc is not waited for. */
static void name_holder(int i, char *out, size_t room)
{
    struct HYD_faultloc_holders who = {.pid = 0};

    if (HYD_pmcd_pmip.downstream.out[i] != HYD_FD_CLOSED)
        who = HYD_faultloc_holders(HYD_pmcd_pmip.downstream.out[i]);
    if (!who.others && HYD_pmcd_pmip.downstream.err[i] != HYD_FD_CLOSED)
        who = HYD_faultloc_holders(HYD_pmcd_pmip.downstream.err[i]);
    if (who.pid > 0)
        snprintf(out, room, "process %d (%s)", who.pid, who.name);
    else
        snprintf(out, room, "a process that %s", who.own ? "is FaultLoc's" : "may not be seen");
}

static bool has_open_output(int i)
{
    return HYD_pmcd_pmip.downstream.out[i] != HYD_FD_CLOSED ||
           HYD_pmcd_pmip.downstream.err[i] != HYD_FD_CLOSED;
}

/* Each name costs a look at all processes of the host: of more than a few, the last one's counts
 * for all. */
static HYD_status send_left(int64_t now)
{
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_LEFT};
    char holder[64] = "";
    int named = 0;

    msg.arrivals = (struct HYD_faultloc_arrivals){.barrier = me.barrier,
                                                  .come = count_processes(),
                                                  .first_ms = (int32_t) (now - me.through),
                                                  .last_ms = (int32_t) (now - me.through),
                                                  .agent = me.agent_seen};
    for (int i = 0; i < count_processes(); i++) {
        struct HYD_faultloc_process process = {
            .rank = HYD_pmcd_pmip.downstream.pmi_rank[i],
            .pid = HYD_pmcd_pmip.downstream.pid[i],
            .finalizing = me.process[i].finalized ? 0 : me.process[i].finalizing};
        if (me.process[i].ended && !has_open_output(i))
            continue;
        if (me.process[i].ended && named++ < HYD_FAULTLOC_GROUPS / 2)
            name_holder(i, holder, sizeof(holder));
        HYD_faultloc_arrivals_add_left(&msg.arrivals, &process, me.process[i].ended ? holder : "");
    }
    return msg.arrivals.groups > 0 ? send_up(&msg) : HYD_SUCCESS;
}

/* Or it has been in MPI_Finalize for a while, behind the barrier. */
static bool is_through(const struct process *p)
{
    return p->finalized || (p->ended && !p->held) || (p->finalizing && !me.missing);
}

static bool are_through(void)
{
    for (int i = 0; i < count_processes(); i++)
        if (!is_through(&me.process[i]))
            return false;
    return !me.killing;
}

/* Nobody waits in MPI any more, and no agent says who keeps the job. */
static HYD_status look_at_left(int64_t now)
{
    if (!are_through()) {
        me.through = 0;
        return HYD_SUCCESS;
    }
    if (!me.through) {
        me.through = now;
        me.left_ms = LATE_MS;
        me.left_at = now + LATE_MS;
    }
    if (now < me.left_at)
        return HYD_SUCCESS;
    me.left_ms = 2 * me.left_ms < LATE_MOST_MS ? 2 * me.left_ms : LATE_MOST_MS;
    me.left_at = now + me.left_ms;
    return send_left(now);
}

static HYD_status look_at_arrivals(int64_t now)
{
    if (!me.late_at || now < me.late_at)
        return HYD_SUCCESS;
    me.late_at = 0;
    return send_arrivals(me.barrier);
}

/* ---- who asks in vain for a connection ------------------------------------------------------- */

static HYD_status send_connects(struct process *p, int64_t now)
{
    struct HYD_faultloc_connect c[HYD_FAULTLOC_CONNECTS_MAX];
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_CONNECTS};
    int i = (int) (p - me.process), n;

    if (p->connects || p->ended || !p->calls.barriers)
        return HYD_SUCCESS;
    n = HYD_faultloc_connects("/proc", "/etc/hosts", HYD_pmcd_pmip.downstream.pid[i], c);
    if (n == 0)
        return HYD_SUCCESS;
    p->connects = true;
    msg.end = (struct HYD_faultloc_end){.rank = HYD_pmcd_pmip.downstream.pmi_rank[i],
                                        .pid = HYD_pmcd_pmip.downstream.pid[i],
                                        .age_ms = (int32_t) (now - p->calls.came)};
    msg.ref = c[0].tries;
    snprintf(msg.symptom, sizeof(msg.symptom), "%s", c[0].to);
    return send_up(&msg);
}

/* An agent says hello at the end of MPI_Init. */
static HYD_status look_at_connects(int64_t now)
{
    HYD_status status = HYD_SUCCESS;

    if (!me.connect_at || now < me.connect_at)
        return HYD_SUCCESS;
    if (me.agent_seen || me.connect_after > CONNECT_MOST_MS) {
        me.connect_at = 0;
        return HYD_SUCCESS;
    }
    for (int i = 0; i < count_processes() && !status; i++)
        status = send_connects(&me.process[i], now);
    me.connect_after *= 2;
    me.connect_at = now + me.connect_after;
    return status;
}

/* Ranks that close their connections have not come yet, and may be all that have called
 * MPI_Finalize. */
static HYD_status handle_finalizing(const struct faultloc_launcher_message *message)
{
    const struct faultloc_launcher_ranks *r = &message->ranks;
    int64_t since = HYD_faultloc_now_ms() - FAULTLOC_LAUNCHER_FINALIZING_MS;

    for (int i = 0; i < count_processes(); i++)
        for (int k = 0; k < r->ranges && !me.process[i].finalizing; k++)
            if (HYD_pmcd_pmip.downstream.pmi_rank[i] >= r->range[k].first &&
                HYD_pmcd_pmip.downstream.pmi_rank[i] <= r->range[k].last)
                me.process[i].finalizing = since;
    return send_arrivals(me.missing ? me.barrier : me.barrier + 1);
}

/* ---- messages of the agent ------------------------------------------------------------------- */

/* When they have been started, and once more when they are in MPI: a script may have moved them. */
static void note_groups(void)
{
    for (int i = 0; i < count_processes(); i++)
        if (!me.process[i].ended)
            me.process[i].group = HYD_faultloc_cgroup_of(HYD_pmcd_pmip.downstream.pid[i]);
}

static HYD_status handle_hello(const struct faultloc_launcher_message *message)
{
    HYD_status status = HYD_SUCCESS;
    int who;

    /* what the one before has not answered it never will */
    while (!status && HYD_faultloc_pending_next(&me.pending, &who))
        if (!HYD_FAULTLOC_PENDING_IS_LOCAL(who))
            status = note_answer(who, false);
    snprintf(me.symptom_socket, sizeof(me.symptom_socket), "%s", message->symptom_socket);
    if (!me.agent_seen)
        note_groups();
    me.agent_seen = true;
    for (int i = 0; i < count_processes(); i++)
        if (me.process[i].crashed)
            send_end_symptom(&me.process[i]);
    return status;
}

/* The agent replies with text, "ok" or the error, in the order of the symptoms. */
static HYD_status handle_answer(const void *text, size_t len)
{
    int who;

    if (!HYD_faultloc_pending_next(&me.pending, &who))
        return HYD_SUCCESS;
    return note_answer(who, len == strlen("ok") && !memcmp(text, "ok", len));
}

/* What its agent is about to do to it is no crash. */
static void handle_ending(const struct faultloc_launcher_message *message)
{
    for (int i = 0; i < count_processes() && message->ended_rank >= 0; i++)
        me.process[i].ending |= HYD_pmcd_pmip.downstream.pmi_rank[i] == message->ended_rank;
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
static void note_agent(pid_t pid)
{
    int i = 0, fd = pid > 0 ? (int) syscall(SYS_pidfd_open, pid, 0) : -1;

    while (i < me.agents && !agent_has_ended(me.agent[i]))
        i++;
    if (fd < 0 || i == AGENTS) {
        if (fd >= 0)
            close(fd);
        return;
    }
    if (i < me.agents)
        close(me.agent[i]);
    else
        me.agents++;
    me.agent[i] = fd;
    if (me.end_requested && HYD_faultloc_now_ms() - me.end_requested < BEGIN_MS)
        signal_end(fd);
}

static HYD_status handle_message(const struct faultloc_launcher_message *message, size_t len,
                                 bool from_agent, pid_t sender)
{
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_LAUNCHER_MESSAGE};

    if (!faultloc_launcher_is_message(message, len, INT32_MAX))
        return from_agent ? handle_answer(message, len) : HYD_SUCCESS;
    if (message->kind == FAULTLOC_LAUNCHER_HELLO) {
        note_agent(sender);
        return handle_hello(message);
    }
    if (message->kind == FAULTLOC_LAUNCHER_FINALIZING)
        return handle_finalizing(message);
    if (message->kind == FAULTLOC_LAUNCHER_ENDING)
        handle_ending(message);
    msg.message = *message;
    return send_up(&msg);
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
static bool receive_next(int fd, HYD_status *status, bool *strange)
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
    bool from_agent = me.symptom_socket[0] && !strcmp(from.sun_path, me.symptom_socket);
    pid_t sender;
    bool ours = len > 0 && is_ours(&m, &sender) &&
                (from_agent || faultloc_launcher_is_message(&message, (size_t) len, INT32_MAX));

    *strange |= len >= 0 && !ours;
    if (ours)
        *status = handle_message(&message, (size_t) len, from_agent, sender);
    return len >= 0;
}

/* All that is there: ends are looked at after this, and a message may explain one of them. */
static HYD_status receive_all(bool *strange)
{
    HYD_status status = HYD_SUCCESS;

    for (int i = 0; i < MESSAGES_MAX && !status && me.socket >= 0; i++)
        if (!receive_next(me.socket, &status, strange))
            break;
    return status;
}

/* With no event at all what comes waits in the kernel, and holds up its sender. */
static void listen_again(bool now)
{
    const struct itimerspec pause = {.it_value = {.tv_nsec = PAUSE_MS * 1000000}};
    struct epoll_event e = {.events = now ? EPOLLIN : 0};

    epoll_ctl(me.listening, EPOLL_CTL_MOD, me.socket, &e);
    if (!now)
        timerfd_settime(me.timer, 0, &pause, NULL);
}

static HYD_status message_cb(int fd, HYD_event_t events, void *userp)
{
    HYD_status status;
    uint64_t times;
    bool strange = false;

    (void) fd;
    (void) events;
    (void) userp;
    if (read(me.timer, &times, sizeof(times)) == sizeof(times))
        listen_again(true);
    status = receive_all(&strange);
    if (strange)
        listen_again(false);
    return status;
}

static bool is_added(int fd)
{
    struct epoll_event e = {.events = EPOLLIN};

    return fd >= 0 && !epoll_ctl(me.listening, EPOLL_CTL_ADD, fd, &e);
}

/* A stranger can send to it, and is not to keep this process busy. */
static HYD_status listen_to_agent(void)
{
    me.listening = epoll_create1(EPOLL_CLOEXEC);
    me.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return HYDT_dmx_register_fd(1, is_added(me.timer) && is_added(me.socket) ? &me.listening
                                                                              : &me.socket,
                                HYD_POLLIN, NULL, message_cb);
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
static bool bind_socket(int fd)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    socklen_t len = sizeof(at);
    size_t begin = offsetof(struct sockaddr_un, sun_path) + 1;

    if (bind(fd, (struct sockaddr *) &at, sizeof(at.sun_family)) ||
        getsockname(fd, (struct sockaddr *) &at, &len) || len <= begin)
        return false;
    snprintf(me.name, sizeof(me.name), "@%.*s", (int) (len - begin), at.sun_path + 1);
    return true;
}

static void open_socket(void)
{
    int one = 1, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    /* before it has a name: what comes then has its sender's credentials with it */
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) || !bind_socket(fd)) {
        HYD_faultloc_say(stderr,
                         "[faultloc] hydra's proxy on %s cannot open a socket for its agent (%s): "
                         "verdicts on its processes may be late\n",
                         HYD_pmcd_pmip.local.hostname, MPL_strerror(errno));
        if (fd >= 0)
            close(fd);
        return;
    }
    me.socket = fd;
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
    if (me.socket >= 0)
        status = listen_to_agent();
    HYDU_ERR_POP(status, "unable to register fd\n");

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}

static HYD_status begin(void)
{
    HYD_status status = HYD_SUCCESS;

    me.pid = getpid();
    HYDU_MALLOC_OR_JUMP(me.process, struct process *, count_processes() * sizeof(struct process),
                        status);
    memset(me.process, 0, (size_t) count_processes() * sizeof(struct process));
    cleanup();
    open_socket();
    status = watch();

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}

/* HYDU_env_lookup passes over the last of a list. */
static bool is_requested(void)
{
    for (struct HYD_env *env = HYD_pmcd_pmip.user_global.global_env.system; env; env = env->next)
        if (!strcmp(env->env_name, HYD_FAULTLOC_ENV))
            return true;
    return false;
}

HYD_status HYD_faultloc_proxy_begin(struct HYD_env **env)
{
    HYD_status status = HYD_SUCCESS;

    if (!is_requested())
        return HYD_SUCCESS;
    HYD_faultloc_on = 1;
    if (!me.process)
        status = begin();
    return status || me.socket < 0 ? status
                                  : HYDU_append_env_to_list(FAULTLOC_LAUNCHER_ENV, me.name, env);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static int local_of(int fd)
{
    for (int i = 0; i < count_processes(); i++)
        if (HYD_pmcd_pmip.downstream.pmi_fd[i] == fd)
            return i;
    return -1;
}

static int count_running(void)
{
    int n = 0;

    for (int i = 0; i < count_processes(); i++)
        n += (!me.process[i].ended || me.process[i].held) && !me.process[i].finalized;
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

static void fill_end(int i, int status, const struct rusage *used)
{
    struct process *p = &me.process[i];

    p->end = (struct HYD_faultloc_end){
        .rank = HYD_pmcd_pmip.downstream.pmi_rank[i],
        .pid = HYD_pmcd_pmip.downstream.pid[i],
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
static void refresh_end(int i)
{
    struct process *p = &me.process[i];

    p->end.inited = HYD_pmcd_pmip.downstream.pmi_fd_active[i] != 0;
    p->end.finalized = p->finalized;
    p->end.agent = me.agent_seen;
    p->end.others = count_running() > 0;
}

/* True if somebody has the other end of its PMI connection open. */
static bool is_held(int i)
{
    int fd = HYD_pmcd_pmip.downstream.pmi_fd[i];
    char byte;

    return !me.process[i].finalized && !me.process[i].closed && fd >= 0 &&
           HYDT_dmx_query_fd_registration(fd) && recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
}

/* Nothing more will come from it: hydra would look again and again whether there is. */
static HYD_status close_ends(int i)
{
    int fd = HYD_pmcd_pmip.downstream.pmi_fd[i];
    HYD_status status = HYD_SUCCESS;

    if (HYD_pmcd_pmip.downstream.pmi_rank[i] == 0 && HYD_pmcd_pmip.downstream.in >= 0) {
        close(HYD_pmcd_pmip.downstream.in);
        HYD_pmcd_pmip.downstream.in = HYD_FD_CLOSED;
    }
    if (!HYD_pmcd_pmip.downstream.pmi_fd_active[i] && fd >= 0 &&
        HYDT_dmx_query_fd_registration(fd)) {
        status = HYDT_dmx_deregister_fd(fd);
        close(fd);
    }
    return status;
}

/* After MPI_Finalize nobody misses it: that is for mpiexec's exit code alone. */
static HYD_status report_end(int i)
{
    struct process *p = &me.process[i];

    refresh_end(i);
    if (!p->reported && p->end.status == 0 && !HYD_faultloc_is_crash(&p->end))
        return HYD_SUCCESS;
    p->reported = true;
    p->end.age_ms = (int32_t) (HYD_faultloc_now_ms() - p->gone);
    if (HYD_faultloc_is_crash(&p->end) && p->end.inited && !p->finalized && !p->held)
        send_end_symptom(p);
    return send_end(p, HYD_FAULTLOC_END);
}

/* Who ended by a signal is waited for no longer, as in stock hydra.  Else whoever has the PMI
 * connection is the rank, or a process that a crashed rank has left: a verdict decides. */
static HYD_status has_ended(int i, int status, const struct rusage *used, int64_t ms)
{
    struct process *p = &me.process[i];
    HYD_status closed;

    p->ended = true;
    p->gone = p->end.inner ? p->gone : ms;
    HYD_pmcd_pmip.downstream.exit_status[i] = status;
    if (p->end.inner) { /* reported when its PMI connection was closed */
        closed = close_ends(i);
        if (closed || !p->end.unsure || was_requested(p, status))
            return closed;
        p->end.unsure = false;
        return report_end(i);
    }
    fill_end(i, status, used);
    p->held = WIFEXITED(status) && !p->ending && is_held(i);
    p->end.unsure = p->held;
    if (p->held)
        return HYD_pmcd_pmip.downstream.pmi_fd_active[i] ? report_end(i) : HYD_SUCCESS;
    closed = close_ends(i);
    return closed ? closed : report_end(i);
}

/* It was held, and is no more: the rank has ended. What was killed with the others may be all that
 * a rank had left, of which there is more to say than that. */
static HYD_status was_left(int i)
{
    struct process *p = &me.process[i];
    HYD_status status;

    p->held = false;
    p->end.unsure = false;
    p->end.inner = true;
    status = close_ends(i);
    return status || p->killed || p->ending ? status : report_end(i);
}

/* The rank has ended, but not what hydra started. An agent finds out if that is so; a rank may also
 * have closed what it does not know. */
static HYD_status has_left(int i)
{
    static const struct rusage none;
    struct process *p = &me.process[i];

    fill_end(i, 0, &none);
    p->gone = p->closed;
    p->end.inner = true;
    p->end.unsure = me.agent_seen;
    return p->killed ? HYD_SUCCESS : report_end(i);
}

/* Ranks that something else was started for. */
static HYD_status look_at_connections(int64_t now)
{
    HYD_status status = HYD_SUCCESS;

    for (int i = 0; i < count_processes() && !status; i++) {
        struct process *p = &me.process[i];
        if (p->held && !is_held(i))
            status = was_left(i);
        else if (!p->ended && p->closed && !p->end.inner && now >= p->closed + CLOSED_MS)
            status = has_left(i);
    }
    return status;
}

/* pid 0: whichever they are.  ms: since when they have ended. */
static HYD_status look_for(pid_t pid, int64_t ms)
{
    HYD_status status = HYD_SUCCESS;
    struct rusage used;
    int ret;

    for (int i = 0; i < count_processes() && !status; i++) {
        pid_t own = HYD_pmcd_pmip.downstream.pid[i];
        if ((!pid || own == pid) && !me.process[i].ended && wait4(own, &ret, WNOHANG, &used) == own)
            status = has_ended(i, ret, &used, ms);
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
    for (int i = 0; i < count_processes(); i++)
        if (!me.process[i].ended || (me.process[i].held && !me.killing &&
                                     HYD_pmcd_pmip.downstream.pmi_fd_active[i]))
            return false;
    return true;
}

/* A pipe whose other end somebody has open; -1: there is none. */
static int open_output(void)
{
    for (int i = 0; i < count_processes(); i++) {
        if (HYD_pmcd_pmip.downstream.out[i] != HYD_FD_CLOSED)
            return HYD_pmcd_pmip.downstream.out[i];
        if (HYD_pmcd_pmip.downstream.err[i] != HYD_FD_CLOSED)
            return HYD_pmcd_pmip.downstream.err[i];
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

/* Seconds: hydra has no finer ones. */
static int wait_s(void)
{
    int64_t at = are_through() ? me.left_at : me.late_at, late_ms;

    if (me.ended_since)
        return 1;
    for (int i = 0; i < count_processes(); i++)
        if (me.process[i].closed && !me.process[i].ended && !me.process[i].end.inner)
            return 1;
    if (are_through() && !me.through)
        return 1;
    if (!at || (me.connect_at && me.connect_at < at))
        at = me.connect_at;
    if (!at)
        return -1;
    late_ms = at - HYD_faultloc_now_ms();
    return late_ms > 0 ? (int) (late_ms + 999) / 1000 : 0;
}

static HYD_status turn(int seconds)
{
    HYD_status status = HYDT_dmx_wait_for_event(seconds);

    HYDU_IGNORE_TIMEOUT(status);
    HYDU_ERR_POP(status, "demux engine error waiting for event\n");
    if (me.some_ended)
        status = look_for_ends();
    if (!status)
        status = look_at_connections(HYD_faultloc_now_ms());
    HYDU_ERR_POP(status, "unable to say how a process ended\n");
    status = look_at_arrivals(HYD_faultloc_now_ms());
    HYDU_ERR_POP(status, "unable to say who is late\n");
    status = look_at_left(HYD_faultloc_now_ms());
    HYDU_ERR_POP(status, "unable to say what is left\n");
    status = look_at_connects(HYD_faultloc_now_ms());
    HYDU_ERR_POP(status, "unable to say who asks in vain for a connection\n");

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
    note_groups();
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

bool HYD_faultloc_proxy_closed(int local)
{
    if (HYD_faultloc_on)
        me.process[local].closed = HYD_faultloc_now_ms();
    return HYD_faultloc_on;
}

/* A process group whose leader has been waited for is not found by the leader any more. */
static void kill_group(int i)
{
    if (HYD_pmcd_pmip.user_global.auto_cleanup && HYD_pmcd_pmip.downstream.pid[i] > 0)
        killpg(HYD_pmcd_pmip.downstream.pid[i], SIGKILL);
}

static bool ends_processes(int signum)
{
    return signum == SIGKILL || signum == SIGTERM || signum == SIGINT || signum == SIGQUIT ||
           signum == SIGHUP;
}

/* Before the processes are sent the signal; an agent that has just begun may not be known yet. */
static void signal_agents(void)
{
    receive_all(&(bool){false});
    me.end_requested = HYD_faultloc_now_ms();
    for (int i = 0; i < me.agents; i++)
        signal_end(me.agent[i]);
}

void HYD_faultloc_proxy_signals(int signum)
{
    if (!HYD_faultloc_on || !me.process)
        return;
    if (ends_processes(signum))
        signal_agents();
    if (signum != SIGKILL) {
        if (signum != SIGUSR1) /* hydra itself sends that one */
            me.requested_signal = signum;
        return;
    }
    me.killing = true;
    me.look_at = 0;
    for (int i = 0; i < count_processes(); i++) {
        if (me.process[i].ended)
            kill_group(i);
        me.process[i].killed = !me.process[i].ended || me.process[i].held;
    }
}

static void report_abort(int local, char *args[])
{
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_ABORT,
                                   .end = {.rank = HYD_pmcd_pmip.downstream.pmi_rank[local],
                                           .pid = HYD_pmcd_pmip.downstream.pid[local],
                                           .inited = 1,
                                           .agent = me.agent_seen,
                                           .status = 1}};

    for (; *args; args++)
        if (!strncmp(*args, "exitcode=", strlen("exitcode=")))
            msg.end.status = (int32_t) strtol(*args + strlen("exitcode="), NULL, 10);
    send_up(&msg);
}

bool HYD_faultloc_proxy_pmi(int fd, const char *cmd, char *args[])
{
    int i = HYD_faultloc_on ? local_of(fd) : -1;

    if (i >= 0)
        note_call(&me.process[i], cmd);
    if (i >= 0 && !strcmp(cmd, "finalize"))
        me.process[i].finalized = true;
    if (i < 0 || strcmp(cmd, "abort"))
        return false;
    receive_all(&(bool){false}); /* the agent may have said that it is because of a verdict */
    report_abort(i, args);
    return true;
}

HYD_status HYD_faultloc_proxy_cmd(int fd)
{
    struct HYD_faultloc_msg msg;
    int recvd, closed;
    HYD_status status = HYD_SUCCESS;

    status = HYDU_sock_read(fd, &msg, sizeof(msg), &recvd, &closed, HYDU_SOCK_COMM_MSGWAIT);
    HYDU_ERR_POP(status, "unable to read a FAULTLOC message\n");
    HYDU_ASSERT(!closed, status);
    msg.symptom[sizeof(msg.symptom) - 1] = '\0';
    if (msg.what == HYD_FAULTLOC_WHO_IS_LATE && me.process)
        status = send_arrivals(msg.ref);
    if (msg.what == HYD_FAULTLOC_SYMPTOM_FOR_AGENT && msg.ref > 0 &&
        !send_symptom(msg.symptom, msg.ref))
        status = note_answer(msg.ref, false);

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}
