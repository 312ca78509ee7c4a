/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc_rules.h"

#include "faultloc_report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define LOOK_PAUSE (1000 * FTREE_MS)
#define SETTLE_PAUSE (250 * FTREE_MS) /* a file that is being written is left alone for so long */
#define MISSING_SAID 2 /* looks: between two steps of an editor there may be no file */

static struct faultloc_rules_mark mark_of(const struct stat *st)
{
    return (struct faultloc_rules_mark){
        .dev = st->st_dev, .ino = st->st_ino, .size = st->st_size, .time = st->st_mtim};
}

static bool is_same(const struct faultloc_rules_mark *a, const struct faultloc_rules_mark *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
           a->time.tv_sec == b->time.tv_sec && a->time.tv_nsec == b->time.tv_nsec;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void say_unreadable(const struct faultloc_rules *r, const char *why)
{
    faultloc_say("node %s: rules: %s: %s; %s", r->node, r->path, why,
                 r->base ? "the rules read before stay in use" : "the built-in rules are used");
}

static void say_wrong(const struct faultloc_rules *r, const struct ftree_rules_error *e)
{
    char where[32] = "";

    if (e->line > 0)
        snprintf(where, sizeof(where), ":%d:%d", e->line, e->column);
    faultloc_say("node %s: rules: %s%s: %s; %s", r->node, r->path, where, e->text,
                 r->base ? "the rules read before stay in use" : "the built-in rules are used");
}

static void say_in_use(const struct faultloc_rules *r)
{
    if (r->tells)
        faultloc_say("rules: %s is in use now (%d rules, %d models)", r->path, (int) r->base->rules,
                     (int) r->base->models);
}

/* All of a regular file, which must be freed.  NULL: *why says what is wrong. */
static char *read_text(struct faultloc_rules *r, size_t *len, const char **why)
{
    /* not blocking, for what is no file */
    int fd = open(r->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    char *text = NULL;
    struct stat st;
    ssize_t n = 1;

    *len = 0;
    *why = NULL;
    if (fd < 0 || fstat(fd, &st)) {
        *why = strerror(errno);
    } else {
        r->read = r->seen = mark_of(&st);
        if (!S_ISREG(st.st_mode))
            *why = "is no regular file";
        else if (st.st_size > RULES_FILE_MAX)
            *why = "is larger than a rule base can be (1 MiB)";
        else if (!(text = malloc(RULES_FILE_MAX + 1)))
            *why = "out of memory";
    }
    while (!*why && n > 0 && *len <= RULES_FILE_MAX) {
        n = read(fd, text + *len, RULES_FILE_MAX + 1 - *len);
        *len += n > 0 ? (size_t) n : 0;
        if (n < 0 && errno == EINTR)
            n = 1;
        else if (n < 0)
            *why = strerror(errno);
    }
    if (!*why && *len > RULES_FILE_MAX)
        *why = "is larger than a rule base can be (1 MiB)";
    if (fd >= 0)
        close(fd);
    if (*why) {
        free(text);
        text = NULL;
    }
    return text;
}

/* NULL: there is none, and that was said. */
static struct ftree_rules *read_file(struct faultloc_rules *r)
{
    struct ftree_rules *base = NULL;
    struct ftree_rules_error e;
    const char *why;
    size_t len;
    char *text = read_text(r, &len, &why);
    int rc;

    if (!text) {
        say_unreadable(r, why);
        return NULL;
    }
    rc = ftree_rules_read(text, len, &base, &e);
    if (rc == FTREE_ERR_INVALID)
        say_wrong(r, &e);
    else if (rc)
        say_unreadable(r, ftree_strerror(rc));
    free(text);
    return rc ? NULL : base;
}

static int read_builtin(struct faultloc_rules *r)
{
    struct ftree_rules_error e;
    size_t len;
    const char *text = ftree_rules_builtin(&len);
    int rc = ftree_rules_read(text, len, &r->base, &e);

    return !rc ? 0 : rc == FTREE_ERR_NOMEM ? ENOMEM : EINVAL;
}

/* ---- watching -------------------------------------------------------------------------------- */

static void watch(struct faultloc_rules *r)
{
    char folder[FAULTLOC_RULES_ROOM];

    snprintf(folder, sizeof(folder), "%.*s", (int) (r->file - r->path), r->path);
    r->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (r->inotify >= 0 &&
        inotify_add_watch(r->inotify, folder[0] ? folder : ".",
                          IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR) < 0) {
        close(r->inotify);
        r->inotify = -1;
    }
}

/* Takes in all events; true: one says that the file is there anew and whole.  One that was just
 * made is looked at soon: it may be a link, or still empty. */
static bool drain(struct faultloc_rules *r, ftree_time now)
{
    char bytes[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)]
        __attribute__((aligned(__alignof__(struct inotify_event))));
    bool changed = false;
    ssize_t n;

    while (r->inotify >= 0 && (n = read(r->inotify, bytes, sizeof(bytes))) > 0)
        for (char *p = bytes; p < bytes + n;) {
            const struct inotify_event *e = (const struct inotify_event *) p;
            bool ours = e->len > 0 && strcmp(e->name, r->file) == 0;
            if (ours && e->mask & (IN_CLOSE_WRITE | IN_MOVED_TO))
                changed = true;
            else if (ours || e->mask & IN_Q_OVERFLOW)
                r->look_at = now + SETTLE_PAUSE < r->look_at ? now + SETTLE_PAUSE : r->look_at;
            p += sizeof(*e) + e->len;
        }
    return changed;
}

/* True if the file is another than was read, and has been as it is for two looks. */
static bool look(struct faultloc_rules *r, ftree_time now)
{
    struct faultloc_rules_mark mark;
    struct stat st;
    bool settled;

    r->look_at = now + LOOK_PAUSE;
    if (stat(r->path, &st)) {
        if (++r->missing == MISSING_SAID)
            say_unreadable(r, strerror(errno));
        return false;
    }
    r->missing = 0;
    mark = mark_of(&st);
    settled = is_same(&mark, &r->seen);
    r->seen = mark;
    if (is_same(&mark, &r->read))
        return false;
    if (!settled)
        r->look_at = now + SETTLE_PAUSE;
    return settled;
}

bool faultloc_rules_refresh(struct faultloc_rules *r, ftree_time now, struct ftree_rules **old)
{
    struct ftree_rules *base;
    bool changed;

    if (!r->path[0])
        return false;
    changed = drain(r, now);
    if (!changed && now >= r->look_at)
        changed = look(r, now);
    base = changed ? read_file(r) : NULL;
    if (!base)
        return false;
    *old = r->base;
    r->base = base;
    say_in_use(r);
    return true;
}

/* ---- life ------------------------------------------------------------------------------------ */

int faultloc_rules_open(struct faultloc_rules *r, const char *path, const char *node, bool tells)
{
    char *slash;

    *r = (struct faultloc_rules){
        .node = node, .tells = tells, .inotify = -1, .look_at = FTREE_NEVER};
    snprintf(r->path, sizeof(r->path), "%s", path);
    if (!r->path[0])
        return read_builtin(r);
    slash = strrchr(r->path, '/');
    r->file = slash ? slash + 1 : r->path;
    r->look_at = 0;
    watch(r); /* before it is read: no change is missed */
    r->base = read_file(r);
    if (r->base) {
        say_in_use(r);
        return 0;
    }
    r->missing = MISSING_SAID; /* if it is, that was said */
    return read_builtin(r);
}

void faultloc_rules_close(struct faultloc_rules *r)
{
    if (r->inotify >= 0)
        close(r->inotify);
    ftree_rules_free(r->base);
    r->inotify = -1;
    r->base = NULL;
}
