/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/rule_file.h"

#include "faultloc/base/say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

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

/* ---- what is to be said ---------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void put(struct faultloc_rules_news *news,
                                                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(news->text, sizeof(news->text), format, args);
    va_end(args);
}

static const char *in_use(const struct faultloc_rules *r)
{
    return r->has_base ? "keeping the previous rules" : "using the built-in rules";
}

static void put_unreadable(const struct faultloc_rules *r, const char *why,
                           struct faultloc_rules_news *news)
{
    put(news, "node %s: rules: %s: %s; %s", r->node, r->path, why, in_use(r));
}

static void put_wrong(const struct faultloc_rules *r, const struct ftree_rules_error *e,
                      struct faultloc_rules_news *news)
{
    char where[32] = "";

    if (e->line > 0)
        snprintf(where, sizeof(where), ":%d:%d", e->line, e->column);
    put(news, "node %s: rules: %s%s: %s; %s", r->node, r->path, where, e->text, in_use(r));
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Whether inotify reports every change: not those made on another host, by another of the
 * file's names, nor of a link on the way that is changed. */
static bool is_notified(const struct faultloc_rules *r, int fd, const struct stat *st)
{
    char real[PATH_MAX];
    struct statfs fs;

    if (r->inotify < 0 || st->st_nlink != 1 || fstatfs(fd, &fs) || !realpath(r->path, real) ||
        strcmp(real, r->path) != 0)
        return false;
    return fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC ||
           fs.f_type == BTRFS_SUPER_MAGIC || fs.f_type == TMPFS_MAGIC ||
           fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

static const char *why_not_read(int error)
{
    switch (error) {
        case 0:
            return NULL;
        case EFBIG:
            return "is larger than 1 MiB, the limit for a rule base";
        case ENOMEM:
            return "out of memory";
        default:
            return strerror(error);
    }
}

/* All of a regular file, which must be freed.  NULL: *why says what is wrong. */
static char *read_text(struct faultloc_rules *r, size_t *len, const char **why)
{
    /* not blocking, for what is no file */
    int fd = open(r->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    char *text = NULL;
    struct stat st;

    r->notified = false;
    if (fd < 0 || fstat(fd, &st)) {
        *why = strerror(errno);
    } else {
        r->read = r->seen = mark_of(&st);
        r->notified = is_notified(r, fd, &st);
        *why = S_ISREG(st.st_mode)
                   ? why_not_read(faultloc_read_whole(fd, RULES_FILE_MAX, &text, len))
                   : "is not a regular file";
    }
    if (fd >= 0)
        close(fd);
    if (!*why)
        return text;
    free(text);
    return NULL;
}

/* Always has news: of the base, or why there is none. */
static void read_file(struct faultloc_rules *r, struct faultloc_rules_news *news)
{
    struct ftree_rules_error e;
    const char *why;
    size_t len;
    char *text = read_text(r, &len, &why);
    int rc = text ? ftree_rules_read(text, len, &news->base, &e) : FTREE_OK;

    if (!text)
        put_unreadable(r, why, news);
    else if (rc == FTREE_ERR_INVALID)
        put_wrong(r, &e, news);
    else if (rc)
        put_unreadable(r, ftree_strerror(rc), news);
    else if (r->confirms)
        put(news, "rules: %s is in use now (%d rules, %d models)", r->path, (int) news->base->rules,
            (int) news->base->models);
    if (text)
        r->missing = 0;
    free(text);
    if (rc)
        news->base = NULL;
    r->has_base = r->has_base || news->base;
}

int faultloc_rules_builtin(struct ftree_rules **base)
{
    struct ftree_rules_error e;
    size_t len;
    const char *text = ftree_rules_builtin(&len);
    int rc = ftree_rules_read(text, len, base, &e);

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
                          IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_MOVED_FROM | IN_DELETE |
                              IN_MOVE_SELF | IN_ONLYDIR) < 0)
        faultloc_rules_close(r);
}

/* True: the file is there anew and whole.  One that was just made is looked at soon: it may be a
 * link, or still empty; likewise one that is gone. */
static bool reports_change(struct faultloc_rules *r, ftree_time now, const struct inotify_event *e)
{
    bool ours = e->len > 0 && strcmp(e->name, r->file) == 0;

    if (e->mask & (IN_MOVE_SELF | IN_IGNORED))
        faultloc_rules_close(r); /* that folder is another one now, or none */
    if (ours && e->mask & (IN_CLOSE_WRITE | IN_MOVED_TO))
        return true;
    if (ours || e->mask & (IN_Q_OVERFLOW | IN_MOVE_SELF | IN_IGNORED))
        r->look_at = now + SETTLE_PAUSE < r->look_at ? now + SETTLE_PAUSE : r->look_at;
    return false;
}

/* Takes in all events. */
static bool drain(struct faultloc_rules *r, ftree_time now)
{
    char bytes[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)]
        __attribute__((aligned(__alignof__(struct inotify_event))));
    const struct inotify_event *e;
    bool changed = false;
    ssize_t n;

    while (r->inotify >= 0 && (n = read(r->inotify, bytes, sizeof(bytes))) > 0)
        for (char *p = bytes; p < bytes + n; p += sizeof(*e) + e->len) {
            e = (const struct inotify_event *) p;
            changed = reports_change(r, now, e) || changed;
        }
    return changed;
}

static ftree_time next_look(const struct faultloc_rules *r, ftree_time now)
{
    return r->notified && r->inotify >= 0 ? FTREE_NEVER : now + LOOK_PAUSE;
}

/* True if the file is another than was read, and has been as it is for two looks; or there is news
 * without. */
static bool look(struct faultloc_rules *r, ftree_time now, struct faultloc_rules_news *news)
{
    struct faultloc_rules_mark mark;
    struct stat st;
    bool settled;

    if (stat(r->path, &st)) {
        r->notified = false;
        r->look_at = next_look(r, now);
        if (++r->missing == MISSING_SAID)
            put_unreadable(r, strerror(errno), news);
        return false;
    }
    r->missing = 0;
    mark = mark_of(&st);
    settled = is_same(&mark, &r->seen);
    r->seen = mark;
    r->look_at = next_look(r, now);
    if (is_same(&mark, &r->read))
        return false;
    if (!settled)
        r->look_at = now + SETTLE_PAUSE;
    return settled;
}

bool faultloc_rules_refresh(struct faultloc_rules *r, ftree_time now,
                            struct faultloc_rules_news *news)
{
    bool changed = !r->begun;

    news->base = NULL;
    news->text[0] = '\0';
    if (!r->begun)
        watch(r); /* before it is read: no change is missed */
    r->begun = true;
    changed = drain(r, now) || changed;
    if (!changed && now >= r->look_at)
        changed = look(r, now, news);
    if (changed) {
        read_file(r, news);
        r->look_at = next_look(r, now);
    }
    return news->base || news->text[0];
}

/* ---- life ------------------------------------------------------------------------------------ */

void faultloc_rules_init(struct faultloc_rules *r, const char *path, const char *node,
                         bool confirms)
{
    char *slash;

    *r = (struct faultloc_rules){.confirms = confirms, .inotify = -1};
    snprintf(r->path, sizeof(r->path), "%s", path);
    snprintf(r->node, sizeof(r->node), "%s", node);
    slash = strrchr(r->path, '/');
    r->file = slash ? slash + 1 : r->path;
    r->missing = MISSING_SAID; /* if it is, the first reading says so */
}

void faultloc_rules_close(struct faultloc_rules *r)
{
    if (r->inotify >= 0)
        close(r->inotify);
    r->inotify = -1;
}
