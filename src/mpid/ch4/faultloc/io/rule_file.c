/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/io/rule_file.h"

#include "faultloc/base/say.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

    if (fd < 0 || fstat(fd, &st)) {
        *why = strerror(errno);
    } else {
        r->read = r->seen = mark_of(&st);
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

/* ---- looking --------------------------------------------------------------------------------- */

/* True if the file is another than was read, and has been as it is for two looks; or there is news
 * without. */
static bool look(struct faultloc_rules *r, ftree_time now, struct faultloc_rules_news *news)
{
    struct faultloc_rules_mark mark;
    struct stat st;
    bool settled;

    r->look_at = now + LOOK_PAUSE;
    if (stat(r->path, &st)) {
        if (++r->missing == MISSING_SAID)
            put_unreadable(r, strerror(errno), news);
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

bool faultloc_rules_refresh(struct faultloc_rules *r, ftree_time now,
                            struct faultloc_rules_news *news)
{
    bool changed = !r->begun;

    news->base = NULL;
    news->text[0] = '\0';
    r->begun = true;
    if (!changed && now >= r->look_at)
        changed = look(r, now, news);
    if (changed) {
        read_file(r, news);
        r->look_at = now + LOOK_PAUSE;
    }
    return news->base || news->text[0];
}

/* ---- life ------------------------------------------------------------------------------------ */

void faultloc_rules_init(struct faultloc_rules *r, const char *path, const char *node,
                         bool confirms)
{
    *r = (struct faultloc_rules){.confirms = confirms};
    snprintf(r->path, sizeof(r->path), "%s", path);
    snprintf(r->node, sizeof(r->node), "%s", node);
    r->missing = MISSING_SAID; /* if it is, the first reading says so */
}
