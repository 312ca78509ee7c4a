/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "tool.h"

#include "faultloc_door.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/*
 * faultloc symptom: finds the doors of the jobs on this host, picks one, and tells its agent a
 * symptom.  The first datagram is sent from a socket with a name, so that the agent says whether it
 * has understood; what is repeated then goes without.
 */

#define DOORS_MAX 1024
#define ANSWER_MS 2000
#define SEND_MS 10000
#define REPEAT_MAX 100000000

static const char usage[] =
    "Usage: faultloc symptom --kind KIND [OPTION]...\n"
    "       faultloc symptom --list\n"
    "\n"
    "Tells the agents of a running job what was observed elsewhere, by the scheduler, a hardware\n"
    "monitor, the network's manager, a person. It is a hint: the agents ask the component it is\n"
    "about, and only what they find becomes a verdict.\n"
    "\n"
    "  --kind KIND           what was observed; --list has the kinds\n"
    "  --component WHAT      what it is about: \"node NAME\", \"rank N\", \"nic NAME[:INTERFACE]\",\n"
    "                        \"link NAME[:INTERFACE]\" or \"switch NAME\"; if left out, the node of\n"
    "                        the agent that is told\n"
    "  --severity SEVERITY   info, warning, error or fatal; if left out, what is usual for KIND\n"
    "  --detail TEXT         in words, at most 95 characters\n"
    "  --errno NAME          an error number, by name (EHOSTUNREACH) or as a number\n"
    "  --age MILLISECONDS    how long ago it was observed; up to an hour\n"
    "  --count N             how often it was observed\n"
    "  --job ID              the job; if left out, the only one of this user on this host\n"
    "  --node NAME           the node of the agent to tell; if left out, one on this host\n"
    "  --repeat N            tell it N times ...\n"
    "  --per-second R        ... this often; if left out, as fast as they are taken\n"
    "  --list                print the table of kinds: name, source, component, severity, meaning\n"
    "  --help                this text\n"
    "\n"
    "Exit code: 0 it was told, 1 the agent has refused it, 2 wrong usage, or there is no such job.\n";

struct options {
    const char *kind, *component, *severity, *detail, *error, *age, *count, *job, *node, *repeat,
        *per_second;
};

struct door {
    char path[FAULTLOC_DOOR_PATH];
    char job[FAULTLOC_DOOR_PATH], node[FAULTLOC_DOOR_PATH];
};

struct doors {
    int n;
    struct door door[DOORS_MAX];
};

static enum tool_exit wrong(const char *what, const char *which)
{
    char text[201];

    snprintf(text, sizeof(text), "%.*s", (int) sizeof(text) - 1, which);
    fprintf(stderr, "faultloc symptom: %s%s; see faultloc symptom --help\n", what,
            tool_clean(text));
    return TOOL_TROUBLE;
}

/* ---- the table ------------------------------------------------------------------------------- */

static enum tool_exit list_kinds(void)
{
    printf("%-18s %-16s %-9s %-8s %s\n", "KIND", "SOURCE", "COMPONENT", "SEVERITY", "MEANING");
    for (int i = 0; i < FTREE_SYMPTOM_COUNT; i++) {
        const struct ftree_symptom_info *info = ftree_symptom_info(i);
        printf("%-18s %-16s %-9s %-8s %s\n", info->name, ftree_source_name(info->source),
               ftree_kind_name(info->kind), ftree_severity_name(info->severity), info->meaning);
    }
    return TOOL_OK;
}

/* ---- options --------------------------------------------------------------------------------- */

/* Returns 0, or -1: not a number in this range. */
static int read_number(const char *text, long long least, long long most, long long *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno || end == text || *end || *out < least || *out > most ? -1 : 0;
}

static enum tool_exit check_number(const char *option, const char *text, long long least,
                                   long long most)
{
    char what[128];
    long long n;

    if (!text || read_number(text, least, most, &n) == 0)
        return TOOL_OK;
    snprintf(what, sizeof(what), "%s must be a whole number from %lld to %lld, not ", option, least,
             most);
    return wrong(what, text);
}

static bool is_component(const char *text)
{
    char kind[16];
    size_t len = strcspn(text, " ");

    if (len >= sizeof(kind) || text[len] == '\0' || text[len + 1] == '\0')
        return false;
    memcpy(kind, text, len);
    kind[len] = '\0';
    return ftree_kind_by_name(kind) >= 0;
}

/* What can be seen to be wrong without an agent. */
static enum tool_exit check_options(const struct options *o)
{
    if (!o->kind)
        return wrong("--kind is needed", "");
    if (ftree_symptom_by_name(o->kind) < 0)
        return wrong("no such kind (--list has them): ", o->kind);
    if (o->component && !is_component(o->component))
        return wrong("no component, as \"node h2\" or \"rank 5\" would be: ", o->component);
    if (o->severity && ftree_severity_by_name(o->severity) < 0)
        return wrong("no such severity: ", o->severity);
    if (o->error && !ftree_report_errno_number(o->error))
        return wrong("no such error: ", o->error);
    if (o->detail && strlen(o->detail) >= FTREE_DETAIL_MAX)
        return wrong("--detail is longer than 95 characters", "");
    if (check_number("--age", o->age, 0, 3600000) ||
        check_number("--count", o->count, 1, 1000000000) ||
        check_number("--repeat", o->repeat, 1, REPEAT_MAX) ||
        check_number("--per-second", o->per_second, 1, 1000000))
        return TOOL_TROUBLE;
    return TOOL_OK;
}

static enum tool_exit read_options(int n, char **arguments, struct options *o)
{
    const struct {
        const char *name, **to;
    } known[] = {
        {"--kind", &o->kind},
        {"--component", &o->component},
        {"--severity", &o->severity},
        {"--detail", &o->detail},
        {"--errno", &o->error},
        {"--age", &o->age},
        {"--count", &o->count},
        {"--job", &o->job},
        {"--node", &o->node},
        {"--repeat", &o->repeat},
        {"--per-second", &o->per_second},
    };

    for (int i = 0; i < n; i += 2) {
        size_t k = 0;
        while (k < sizeof(known) / sizeof(known[0]) && strcmp(arguments[i], known[k].name))
            k++;
        if (k == sizeof(known) / sizeof(known[0]))
            return wrong("no such option: ", arguments[i]);
        if (i + 1 == n)
            return wrong("a value is needed after ", arguments[i]);
        *known[k].to = arguments[i + 1];
    }
    return check_options(o);
}

/* ---- doors ----------------------------------------------------------------------------------- */

/* A socket connected to the door, -1: nobody is behind it. */
static int knock(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const struct timeval patience = {.tv_sec = SEND_MS / 1000};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    if (fd >= 0 && connect(fd, (struct sockaddr *) &a, sizeof(a)) == 0) {
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* .../JOB@NODE.sock */
static void add_door(struct doors *doors, const char *path)
{
    const char *name = strrchr(path, '/') + 1, *at = strchr(name, '@');
    struct door *d = &doors->door[doors->n];
    int fd;

    for (int i = 0; i < doors->n; i++)
        if (!strcmp(doors->door[i].path, path))
            return;
    if (!at || strlen(path) >= sizeof(d->path) || doors->n == DOORS_MAX || (fd = knock(path)) < 0)
        return;
    close(fd);
    snprintf(d->path, sizeof(d->path), "%s", path);
    snprintf(d->job, sizeof(d->job), "%.*s", (int) (at - name), name);
    snprintf(d->node, sizeof(d->node), "%.*s", (int) (strlen(at + 1) - strlen(".sock")), at + 1);
    doors->n++;
}

static void search(struct doors *doors, const char *folder)
{
    char pattern[FAULTLOC_DOOR_PATH + 32];
    glob_t found;

    snprintf(pattern, sizeof(pattern), "%s/*@*.sock", folder);
    if (glob(pattern, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        add_door(doors, found.gl_pathv[i]);
    globfree(&found);
}

/* The user's own jobs, wherever their agents found XDG_RUNTIME_DIR; for root those of all users. */
static void find_doors(struct doors *doors)
{
    unsigned long uid = (unsigned long) geteuid();
    char folder[FAULTLOC_DOOR_PATH];

    if (faultloc_door_folder(geteuid(), folder, sizeof(folder)))
        search(doors, folder);
    snprintf(folder, sizeof(folder), "/run/user/%lu/faultloc", uid);
    search(doors, uid == 0 ? "/run/user/*/faultloc" : folder);
    snprintf(folder, sizeof(folder), "/tmp/faultloc-%lu", uid);
    search(doors, uid == 0 ? "/tmp/faultloc-*" : folder);
}

static bool fits(const struct door *d, const char *job, const char *node)
{
    return (!job || !strcmp(d->job, job)) && (!node || !strcmp(d->node, node));
}

/* What there is, for a message: jobs, or the nodes of one. */
static void list_doors(const struct doors *doors, const char *job)
{
    fprintf(stderr, "faultloc symptom: on this host there %s", doors->n ? "are:" : "is no job\n");
    for (int i = 0; i < doors->n; i++)
        if (!job || !strcmp(doors->door[i].job, job))
            fprintf(stderr, " job %s node %s%s", doors->door[i].job, doors->door[i].node,
                    i + 1 < doors->n ? "," : "");
    if (doors->n)
        fputc('\n', stderr);
}

static const struct door *pick(const struct doors *doors, const struct options *o)
{
    const struct door *first = NULL;
    bool jobs = false, nodes = false;

    for (int i = 0; i < doors->n; i++) {
        const struct door *d = &doors->door[i];
        if (!fits(d, o->job, o->node))
            continue;
        jobs = jobs || (first && strcmp(first->job, d->job));
        nodes = nodes || (first && strcmp(first->node, d->node));
        first = first ? first : d;
    }
    /* what has its own component may be told to any agent of the job */
    if (first && !jobs && (!nodes || o->component))
        return first;
    wrong(!first ? "no such job is here whose agents can be told (MPIR_CVAR_FAULTLOC=1?)"
          : jobs ? "there is more than one job, --job says which"
                 : "several agents are here, --node or --component says which",
          "");
    list_doors(doors, jobs || !first ? NULL : first->job);
    return NULL;
}

/* ---- telling --------------------------------------------------------------------------------- */

static void put(struct json_object *o, const char *key, const char *value)
{
    if (value)
        json_object_object_add(o, key, json_object_new_string(value));
}

static void put_number(struct json_object *o, const char *key, const char *value)
{
    if (value)
        json_object_object_add(o, key, json_object_new_int64(strtoll(value, NULL, 10)));
}

static struct json_object *compose(const struct options *o)
{
    struct json_object *j = json_object_new_object();

    put(j, "kind", o->kind);
    put(j, "component", o->component);
    put(j, "severity", o->severity);
    put(j, "detail", o->detail);
    if (o->error && *o->error >= '0' && *o->error <= '9')
        put_number(j, "errno", o->error);
    else
        put(j, "errno", o->error);
    put_number(j, "age_ms", o->age);
    put_number(j, "count", o->count);
    return j;
}

/* Gives the socket a name beside the door, for the answer.  Without one there is none. */
static void name_self(int fd, const struct door *d, struct sockaddr_un *own)
{
    *own = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (snprintf(own->sun_path, sizeof(own->sun_path), "%.*s/.%d",
                 (int) (strrchr(d->path, '/') - d->path), d->path,
                 (int) getpid()) >= (int) sizeof(own->sun_path))
        own->sun_path[0] = '\0';
    if (own->sun_path[0])
        unlink(own->sun_path);
    if (own->sun_path[0] && bind(fd, (struct sockaddr *) own, sizeof(*own)))
        own->sun_path[0] = '\0';
    if (own->sun_path[0])
        chmod(own->sun_path, 0666); /* root asks, a user's agent answers; the folder is theirs */
}

/* Waits for the agent's word, which is left in `text`; false: none came. */
static bool hear(int fd, char *text, size_t room)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ssize_t n = poll(&p, 1, ANSWER_MS) == 1 ? recv(fd, text, room - 1, MSG_DONTWAIT) : -1;

    if (n < 0)
        return false;
    text[n] = '\0';
    tool_clean(text);
    return true;
}

static enum tool_exit tell_first(const struct door *d, const char *text)
{
    char word[FAULTLOC_DOOR_ERROR];
    struct sockaddr_un own;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    bool heard;

    snprintf(a.sun_path, sizeof(a.sun_path), "%s", d->path);
    name_self(fd, d, &own);
    rc = fd < 0 || connect(fd, (struct sockaddr *) &a, sizeof(a)) ||
                 send(fd, text, strlen(text), 0) < 0
             ? errno
             : 0;
    heard = !rc && own.sun_path[0] && hear(fd, word, sizeof(word));
    if (own.sun_path[0])
        unlink(own.sun_path);
    if (fd >= 0)
        close(fd);
    if (rc) {
        fprintf(stderr, "faultloc symptom: %s: %s\n", d->path, strerror(rc));
        return TOOL_TROUBLE;
    }
    if (!heard) {
        fprintf(stderr,
                "faultloc symptom: the agent of node %s has not answered yet: it may be "
                "stopped, or busy, and takes it in once it runs\n",
                d->node);
        return TOOL_OK;
    }
    if (!strcmp(word, "ok"))
        return TOOL_OK;
    fprintf(stderr, "faultloc symptom: the agent of node %s of job %s says: %s\n", d->node, d->job,
            word);
    return TOOL_INVALID;
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

/* When the i-th of a series is due. */
static void wait_for(int64_t begin, long long i, long long per_second)
{
    int64_t at = begin + (int64_t) (i / per_second) * 1000000000 +
                 (int64_t) (i % per_second) * 1000000000 / per_second;
    struct timespec t = {.tv_sec = (time_t) (at / 1000000000), .tv_nsec = (long) (at % 1000000000)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        ;
}

/* The second to the n-th time. */
static enum tool_exit tell_again(const struct door *d, const char *text, long long n,
                                 long long per_second)
{
    int64_t begin = now_ns();
    int fd = knock(d->path), rc = fd < 0 ? ECONNREFUSED : 0;

    for (long long i = 1; i < n && !rc; i++) {
        if (per_second)
            wait_for(begin, i, per_second);
        if (send(fd, text, strlen(text), 0) < 0)
            rc = errno == EAGAIN ? ETIMEDOUT : errno;
        if (rc)
            fprintf(stderr, "faultloc symptom: after %lld times: %s\n", i, strerror(rc));
    }
    if (fd >= 0)
        close(fd);
    return rc ? TOOL_TROUBLE : TOOL_OK;
}

static enum tool_exit tell(const struct door *d, const struct options *o)
{
    struct json_object *j = compose(o);
    const char *text =
        json_object_to_json_string_ext(j, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    long long n = o->repeat ? strtoll(o->repeat, NULL, 10) : 1;
    int64_t begin = now_ns();
    enum tool_exit code = tell_first(d, text);
    char line[512];

    if (code == TOOL_OK && n > 1)
        code = tell_again(d, text, n, o->per_second ? strtoll(o->per_second, NULL, 10) : 0);
    snprintf(line, sizeof(line), "told the agent of node %s of job %s: %s of %s", d->node, d->job,
             o->kind, o->component ? o->component : "its own node");
    if (code == TOOL_OK && n > 1)
        printf("%s, %lld times in %.1f s\n", tool_clean(line), n,
               (double) (now_ns() - begin) / 1e9);
    else if (code == TOOL_OK)
        printf("%s\n", tool_clean(line));
    json_object_put(j);
    return code;
}

enum tool_exit tool_symptom(int n, char **arguments)
{
    static struct doors doors;
    struct options o = {0};
    const struct door *d;
    enum tool_exit code;

    if (n == 1 && (!strcmp(arguments[0], "--help") || !strcmp(arguments[0], "-h")))
        return fputs(usage, stdout) < 0 ? TOOL_TROUBLE : TOOL_OK;
    if (n == 1 && !strcmp(arguments[0], "--list"))
        return list_kinds();
    code = read_options(n, arguments, &o);
    if (code)
        return code;
    find_doors(&doors);
    d = pick(&doors, &o);
    return d ? tell(d, &o) : TOOL_TROUBLE;
}
