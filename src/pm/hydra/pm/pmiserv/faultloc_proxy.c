/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#define _GNU_SOURCE
#include "faultloc_proxy.h"
#include "faultloc_asked.h"
#include "faultloc_cgroup.h"
#include "faultloc_children.h"
#include "pmip.h"
#include "demux.h"

#include <dirent.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

struct process {
    bool finalized, ended, killed;
    struct HYD_faultloc_end end;
    bool crashed; /* each agent that comes is told: the one before may have ended too soon */
    int group; /* its control group */
};

static struct {
    pid_t pid; /* the proxy's own: forked children have all this, too */
    int words; /* the socket; -1: there is none */
    bool some_ended, agent_seen, killing;
    int asked_signal; /* the last one that mpiexec wanted to be sent */
    char path[FAULTLOC_LAUNCHER_PATH];
    char door[FAULTLOC_LAUNCHER_PATH]; /* "": no agent, or it has died */
    struct process *process; /* by local number */
    struct HYD_faultloc_asked asked; /* the door */
} me = {.words = -1};

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

/* True if it lies at an agent's door; if the agent takes it is said by its answer, which one that is
 * stopped never gives.  A door that is closed has died: its successor says hello. */
static bool tell_agent(const char *symptom, int who)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};

    if (me.words < 0 || !me.door[0] || HYD_faultloc_asked_is_full(&me.asked))
        return false;
    snprintf(to.sun_path, sizeof(to.sun_path), "%s", me.door);
    if (sendto(me.words, symptom, strlen(symptom), MSG_DONTWAIT | MSG_NOSIGNAL,
               (struct sockaddr *) &to, sizeof(to)) >= 0) {
        HYD_faultloc_asked_add(&me.asked, who);
        return true;
    }
    if (errno == ECONNREFUSED || errno == ENOENT)
        me.door[0] = '\0';
    return false;
}

static void tell_end(struct process *p)
{
    char symptom[HYD_FAULTLOC_SYMPTOM];

    HYD_faultloc_symptom(&p->end, symptom, sizeof(symptom));
    p->crashed = true;
    p->end.asked = tell_agent(symptom, HYD_FAULTLOC_ASKED_LOCAL((int) (p - me.process)));
}

/* What an agent said to a symptom, or that it died before it said anything. */
static HYD_status note_answer(int who, bool taken)
{
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_TOLD, .ref = who, .end.told = taken};
    struct process *p;

    if (!HYD_FAULTLOC_ASKED_IS_LOCAL(who))
        return send_up(&msg);
    p = &me.process[HYD_FAULTLOC_ASKED_LOCAL(who)];
    p->end.asked = false;
    p->end.told = taken;
    return send_end(p, HYD_FAULTLOC_TOLD);
}

/* ---- words of the agent ---------------------------------------------------------------------- */

/* When they have been started, and once more when they are in MPI: a script may have moved them. */
static void note_groups(void)
{
    for (int i = 0; i < count_processes(); i++)
        if (!me.process[i].ended)
            me.process[i].group = HYD_faultloc_cgroup_of(HYD_pmcd_pmip.downstream.pid[i]);
}

static HYD_status hear_hello(const struct faultloc_launcher_word *word)
{
    HYD_status status = HYD_SUCCESS;
    int who;

    /* what the one before has not answered it never will */
    while (!status && HYD_faultloc_asked_next(&me.asked, &who))
        if (!HYD_FAULTLOC_ASKED_IS_LOCAL(who))
            status = note_answer(who, false);
    snprintf(me.door, sizeof(me.door), "%s", word->door);
    if (!me.agent_seen)
        note_groups();
    me.agent_seen = true;
    for (int i = 0; i < count_processes(); i++)
        if (me.process[i].crashed)
            tell_end(&me.process[i]);
    return status;
}

/* The door answers with text, "ok" or what was wrong, in the order in which it was sent to. */
static HYD_status hear_answer(const void *text, size_t len)
{
    int who;

    if (!HYD_faultloc_asked_next(&me.asked, &who))
        return HYD_SUCCESS;
    return note_answer(who, len == strlen("ok") && !memcmp(text, "ok", len));
}

static HYD_status hear(const struct faultloc_launcher_word *word, size_t len, bool from_door)
{
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_WORD};

    if (!faultloc_launcher_is_word(word, len, INT32_MAX))
        return from_door ? hear_answer(word, len) : HYD_SUCCESS;
    if (word->kind == FAULTLOC_LAUNCHER_HELLO)
        return hear_hello(word);
    msg.word = *word;
    return send_up(&msg);
}

/* The kernel says who sent it: the job's user and root are heard, nobody else. */
static bool is_ours(struct msghdr *m)
{
    struct ucred who;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&who, CMSG_DATA(c), sizeof(who));
            return who.uid == 0 || who.uid == getuid();
        }
    return false;
}

static HYD_status words_cb(int fd, HYD_event_t events, void *userp)
{
    struct faultloc_launcher_word word;
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } who;
    struct sockaddr_un from = {.sun_family = AF_UNIX};
    struct iovec iov = {.iov_base = &word, .iov_len = sizeof(word)};
    struct msghdr m = {.msg_name = &from,
                       .msg_namelen = sizeof(from) - 1, /* its path is ended, too */
                       .msg_iov = &iov,
                       .msg_iovlen = 1,
                       .msg_control = &who,
                       .msg_controllen = sizeof(who)};
    ssize_t len = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    bool from_door = me.door[0] && !strcmp(from.sun_path, me.door);

    (void) events;
    (void) userp;
    return len > 0 && is_ours(&m) ? hear(&word, (size_t) len, from_door) : HYD_SUCCESS;
}

/* ---- beginning ------------------------------------------------------------------------------- */

static void remove_socket(void)
{
    if (me.words >= 0 && me.pid == getpid())
        unlink(me.path);
}

/* The folder in which agents have their doors: faultloc_door_folder() with the environment that the
 * processes get.  It must be ours alone. */
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
    if (len < 0 || (size_t) len >= room || (mkdir(out, 0700) && errno != EEXIST))
        return false;
    return !lstat(out, &s) && S_ISDIR(s.st_mode) && s.st_uid == getuid() && !(s.st_mode & 022);
}

/* True if nobody listens there any more: a proxy that was killed left it. */
static bool is_left(const struct sockaddr_un *at)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool left =
        fd >= 0 && connect(fd, (const struct sockaddr *) at, sizeof(*at)) && errno == ECONNREFUSED;

    if (fd >= 0)
        close(fd);
    return left;
}

static void sweep_folder(const char *folder)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    DIR *dir = opendir(folder);
    struct dirent *e;

    while (dir && (e = readdir(dir)))
        if (!strncmp(e->d_name, "launcher-", strlen("launcher-")) &&
            snprintf(at.sun_path, sizeof(at.sun_path), "%s/%s", folder, e->d_name) <
                (int) sizeof(at.sun_path) &&
            is_left(&at))
            unlink(at.sun_path);
    if (dir)
        closedir(dir);
}

static bool bind_socket(int fd)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char folder[sizeof(at.sun_path)];
    mode_t mask;
    int ret;

    if (!find_folder(folder, sizeof(folder)) ||
        snprintf(me.path, sizeof(me.path), "%s/launcher-%d.sock", folder, (int) getpid()) >=
            (int) sizeof(me.path))
        return false;
    sweep_folder(folder);
    memcpy(at.sun_path, me.path, sizeof(at.sun_path));
    mask = umask(0177);
    ret = bind(fd, (struct sockaddr *) &at, sizeof(at));
    umask(mask);
    return ret == 0;
}

static void open_socket(void)
{
    int one = 1, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 || !bind_socket(fd) || setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one))) {
        fprintf(stderr,
                "[faultloc] hydra's proxy on %s has no socket for its agent (%s): it can "
                "only tell mpiexec how processes end\n",
                HYD_pmcd_pmip.local.hostname, MPL_strerror(errno));
        if (fd >= 0)
            close(fd);
        return;
    }
    me.words = fd;
    atexit(remove_socket);
}

/* In a process that is about to become one of the job's: none of them outlives the proxy. */
static void in_child(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != me.pid)
        _exit(255);
}

HYD_status HYD_faultloc_proxy_begin(void)
{
    HYD_status status = HYD_SUCCESS;

    if (!HYD_faultloc_on)
        return HYD_SUCCESS;
    me.pid = getpid();
    HYDU_MALLOC_OR_JUMP(me.process, struct process *, count_processes() * sizeof(struct process),
                        status);
    memset(me.process, 0, (size_t) count_processes() * sizeof(struct process));
    status = HYDU_sock_cloexec(HYD_pmcd_pmip.upstream.control);
    HYDU_ERR_POP(status, "unable to set the control socket to close on exec\n");
    status = HYD_faultloc_children_watch(&me.some_ended);
    HYDU_ERR_POP(status, "unable to watch the processes\n");
    HYDU_in_child = in_child;
    open_socket();
    if (me.words >= 0)
        status = HYDT_dmx_register_fd(1, &me.words, HYD_POLLIN, NULL, words_cb);
    HYDU_ERR_POP(status, "unable to register fd\n");

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}

HYD_status HYD_faultloc_proxy_env(struct HYD_env **env)
{
    return HYD_faultloc_on && me.words >= 0
               ? HYDU_append_env_to_list(FAULTLOC_LAUNCHER_ENV, me.path, env)
               : HYD_SUCCESS;
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
        n += !me.process[i].ended && !me.process[i].finalized;
    return n;
}

/* A signal that the user gave to mpiexec, and that ends a process, is no fault of it. */
static bool was_asked_for(const struct process *p, int status)
{
    return WIFSIGNALED(status) &&
           ((p->killed && WTERMSIG(status) == SIGKILL) || WTERMSIG(status) == me.asked_signal);
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
        .inited = HYD_pmcd_pmip.downstream.pmi_fd_active[i] != 0,
        .finalized = p->finalized,
        .killed = was_asked_for(p, status),
        .oom = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !p->killed &&
               HYD_faultloc_cgroup_killed(p->group),
        .agent = me.agent_seen,
        .others = count_running() > 0,
    };
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

static HYD_status has_ended(int i, int status, const struct rusage *used)
{
    struct process *p = &me.process[i];
    HYD_status closed;

    p->ended = true;
    HYD_pmcd_pmip.downstream.exit_status[i] = status;
    fill_end(i, status, used);
    closed = close_ends(i);
    if (closed || (status == 0 && !HYD_faultloc_is_crash(&p->end)))
        return closed;
    /* after MPI_Finalize nobody misses it: that is for mpiexec's exit code alone */
    if (HYD_faultloc_is_crash(&p->end) && p->end.inited && !p->finalized)
        tell_end(p);
    return send_end(p, HYD_FAULTLOC_END);
}

/* pid 0: whichever they are. */
static HYD_status look_for(pid_t pid)
{
    HYD_status status = HYD_SUCCESS;
    struct rusage used;
    int ret;

    for (int i = 0; i < count_processes() && !status; i++) {
        pid_t own = HYD_pmcd_pmip.downstream.pid[i];
        if ((!pid || own == pid) && !me.process[i].ended && wait4(own, &ret, WNOHANG, &used) == own)
            status = has_ended(i, ret, &used);
    }
    return status;
}

/* Those first of which is known that they were. */
static HYD_status look_for_ends(void)
{
    HYD_status status = HYD_SUCCESS;
    pid_t pid;

    me.some_ended = false;
    while (!status && (pid = HYD_faultloc_children_next()))
        status = look_for(pid);
    return status ? status : look_for(0);
}

static bool all_ended(void)
{
    for (int i = 0; i < count_processes(); i++)
        if (!me.process[i].ended)
            return false;
    return true;
}

/* What they wrote is still to be handed on.  Where all were killed, and somebody else has their
 * output open, that one is not waited for. */
static bool output_is_open(void)
{
    for (int i = 0; i < count_processes(); i++)
        if (HYD_pmcd_pmip.downstream.out[i] != HYD_FD_CLOSED ||
            HYD_pmcd_pmip.downstream.err[i] != HYD_FD_CLOSED)
            return true;
    return false;
}

HYD_status HYD_faultloc_proxy_wait(void)
{
    HYD_status status;

    note_groups();
    status = look_for_ends();
    HYDU_ERR_POP(status, "unable to say how a process ended\n");
    while (!all_ended() || output_is_open()) {
        status = HYDT_dmx_wait_for_event(all_ended() && me.killing ? 0 : -1);
        if (status == HYD_TIMED_OUT) {
            status = HYD_SUCCESS;
            break;
        }
        HYDU_ERR_POP(status, "demux engine error waiting for event\n");
        if (me.some_ended)
            status = look_for_ends();
        HYDU_ERR_POP(status, "unable to say how a process ended\n");
    }

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}

/* ---- what else happens to them --------------------------------------------------------------- */

void HYD_faultloc_proxy_finalized(int fd)
{
    int i = HYD_faultloc_on ? local_of(fd) : -1;

    if (i >= 0)
        me.process[i].finalized = true;
}

/* A process group whose leader has been waited for is not found by the leader any more. */
static void kill_group(int i)
{
    if (HYD_pmcd_pmip.user_global.auto_cleanup && HYD_pmcd_pmip.downstream.pid[i] > 0)
        killpg(HYD_pmcd_pmip.downstream.pid[i], SIGKILL);
}

void HYD_faultloc_proxy_signals(int signum)
{
    if (!HYD_faultloc_on || !me.process)
        return;
    if (signum != SIGKILL) {
        if (signum != SIGUSR1) /* hydra itself sends that one */
            me.asked_signal = signum;
        return;
    }
    me.killing = true;
    for (int i = 0; i < count_processes(); i++) {
        if (me.process[i].ended)
            kill_group(i);
        else
            me.process[i].killed = true;
    }
}

bool HYD_faultloc_proxy_is_gone(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    if (!HYD_faultloc_on)
        return false;
    return fd < 0 || (poll(&p, 1, 0) > 0 && (p.revents & (POLLERR | POLLHUP | POLLNVAL)));
}

bool HYD_faultloc_proxy_aborts(int fd, const char *cmd, char *args[])
{
    struct HYD_faultloc_msg msg = {.what = HYD_FAULTLOC_ABORT};
    int i = HYD_faultloc_on && !strcmp(cmd, "abort") ? local_of(fd) : -1;

    if (i < 0)
        return false;
    msg.end.rank = HYD_pmcd_pmip.downstream.pmi_rank[i];
    msg.end.pid = HYD_pmcd_pmip.downstream.pid[i];
    msg.end.inited = 1;
    msg.end.agent = me.agent_seen;
    msg.end.status = 1;
    for (; *args; args++)
        if (!strncmp(*args, "exitcode=", strlen("exitcode=")))
            msg.end.status = (int32_t) strtol(*args + strlen("exitcode="), NULL, 10);
    send_up(&msg);
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
    if (msg.what == HYD_FAULTLOC_TELL && msg.ref > 0 && !tell_agent(msg.symptom, msg.ref))
        status = note_answer(msg.ref, false);

fn_exit:
    return status;
fn_fail:
    goto fn_exit;
}
