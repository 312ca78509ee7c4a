/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/base/say.h"

#include "faultloc/base/clock.h"
#include "ftree/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 1000
#define RETRY_MS 10
#define NUMBERS 10000 /* of files of one name */

static _Atomic(faultloc_line_writer) line_writer; /* NULL: lines are written here */

/* What is left of the patience, ms; -1: there is no end to it. */
static int left_of(int patience_ms, ftree_time since)
{
    ftree_time spent = (faultloc_now() - since) / FTREE_MS;

    if (patience_ms < 0)
        return -1;
    return spent < (ftree_time) patience_ms ? patience_ms - (int) spent : 0;
}

/* poll(2) says that a pipe has room for PIPE_BUF bytes, no more. A timer of the program's may
 * interrupt it again and again: that does not prolong it. */
int faultloc_write_all(int fd, const char *text, int patience_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    size_t len = strlen(text);
    ftree_time since = faultloc_now(); /* something was taken last */

    while (len > 0) {
        int ready = poll(&p, 1, left_of(patience_ms, since));
        ssize_t n = ready > 0 ? write(fd, text, len < PIPE_BUF ? len : PIPE_BUF) : ready;
        if (n < 0 && errno == EAGAIN)
            poll(NULL, 0, RETRY_MS); /* there was room, and somebody else has taken it */
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            return n < 0 ? errno : ETIMEDOUT;
        text += n;
        len -= (size_t) n;
        since = faultloc_now();
    }
    return 0;
}

int faultloc_memory_file(const char *name, unsigned flags, const char *text)
{
    int fd = memfd_create(name, flags);

    if (fd >= 0 && (faultloc_write_all(fd, text, -1) || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Where nobody reads any more the kernel sends SIGPIPE to the thread that writes, which would be
 * the end of the program: it is taken back. */
void faultloc_write(int fd, const char *text)
{
    const struct timespec at_once = {.tv_sec = 0};
    sigset_t sigpipe, before, pending;

    sigemptyset(&sigpipe);
    sigaddset(&sigpipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
    if (faultloc_write_all(fd, text, PATIENCE_MS) == EPIPE && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&sigpipe, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void faultloc_say_by(faultloc_line_writer by)
{
    line_writer = by;
}

static void write_line(const char *line)
{
    faultloc_line_writer by = line_writer;

    if (!by || !by(line))
        faultloc_write(STDERR_FILENO, line);
}

void faultloc_say(const char *format, ...)
{
    static const char prefix[] = "[faultloc] ";
    char line[1024];
    va_list args;
    int n;

    memcpy(line, prefix, sizeof(prefix));
    va_start(args, format);
    n = vsnprintf(line + sizeof(prefix) - 1, sizeof(line) - sizeof(prefix) - 1, format, args);
    va_end(args);
    if (n < 0)
        return;
    ftree_text_clean(line, strlen(line), '?');
    strcat(line, "\n");
    write_line(line);
}

/* ---- what the program was given -------------------------------------------------------------- */

#define OUTPUTS 2

static struct statx given[OUTPUTS]; /* stx_mode 0: nothing that may be written to */

/* Of a file on a network what is known here suffices: its server may be silent.  An older kernel
 * does not know statx(2), and a container's filter may forbid it. */
static bool describe(int fd, struct statx *s)
{
    struct stat st;

    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS | STATX_BTIME, s) == 0)
        return true;
    if (fstat(fd, &st))
        return false;
    *s = (struct statx){.stx_mask = STATX_BASIC_STATS,
                        .stx_mode = (uint16_t) st.st_mode,
                        .stx_ino = st.st_ino,
                        .stx_dev_major = major(st.st_dev),
                        .stx_dev_minor = minor(st.st_dev),
                        .stx_rdev_major = major(st.st_rdev),
                        .stx_rdev_minor = minor(st.st_rdev)};
    return true;
}

static bool is_output(mode_t mode, bool before_program)
{
    return S_ISFIFO(mode) || S_ISSOCK(mode) || S_ISCHR(mode) || (before_program && S_ISREG(mode));
}

void faultloc_output_note(bool before_program)
{
    for (int i = 0; i < OUTPUTS; i++)
        if (!describe(STDOUT_FILENO + i, &given[i]) ||
            !is_output(given[i].stx_mode, before_program))
            given[i].stx_mode = 0;
}

/* By its birth a file is distinguished from one that has its number since it was removed, where the
 * file system knows it. */
static bool is_born_then(const struct statx *is, const struct statx *was)
{
    return !(is->stx_mask & was->stx_mask & STATX_BTIME) ||
           (was->stx_btime.tv_sec == is->stx_btime.tv_sec &&
            was->stx_btime.tv_nsec == is->stx_btime.tv_nsec);
}

bool faultloc_output_is_given(int fd)
{
    const struct statx *was = &given[fd - STDOUT_FILENO];
    struct statx is;

    return was->stx_mode && describe(fd, &is) && was->stx_ino == is.stx_ino &&
           was->stx_dev_major == is.stx_dev_major && was->stx_dev_minor == is.stx_dev_minor &&
           was->stx_rdev_major == is.stx_rdev_major && was->stx_rdev_minor == is.stx_rdev_minor &&
           (was->stx_mode & S_IFMT) == (is.stx_mode & S_IFMT) && is_born_then(&is, was);
}

/* ---- names ----------------------------------------------------------------------------------- */

void faultloc_clean_name(char *name)
{
    ftree_text_clean(name, strlen(name), '_');
    for (; *name; name++)
        if (*name == ' ')
            *name = '_';
}

/* Both return false where it does not fit. */
static bool add_char(char **out, const char *end, char c)
{
    if (*out == end)
        return false;
    *(*out)++ = c;
    return true;
}

static bool add_name(char **out, const char *end, const char *name)
{
    bool fits = true;

    for (; fits && *name; name++)
        fits = add_char(out, end,
                        isalnum((unsigned char) *name) || strchr("._-", *name) ? *name : '_');
    return fits;
}

bool faultloc_expand(const char *pattern, const char *job_id, const char *node, char *out,
                     size_t room)
{
    char *p = out, *end = out + room - 1;
    bool fine = true;

    for (; fine && *pattern; pattern++) {
        if (*pattern != '%')
            fine = add_char(&p, end, *pattern);
        else if (*++pattern == '%')
            fine = add_char(&p, end, '%');
        else if (*pattern == 'j' || *pattern == 'h')
            fine = add_name(&p, end, *pattern == 'j' ? job_id : node);
        else
            fine = false;
    }
    *(fine ? p : out) = '\0';
    return fine;
}

/* ---- files ----------------------------------------------------------------------------------- */

int faultloc_read_whole(int fd, size_t most, char **text, size_t *len)
{
    size_t room = 0;
    ssize_t n = 1;
    char *more;

    for (*len = 0; n != 0 && *len <= most; *len += n > 0 ? (size_t) n : 0) {
        if (*len + 1 >= room) {
            more = realloc(*text, room = 2 * room + 65536);
            if (!more)
                return ENOMEM;
            *text = more;
        }
        n = read(fd, *text + *len, room - *len - 1);
        if (n < 0 && errno != EINTR)
            return errno;
    }
    (*text)[*len] = '\0';
    return *len > most ? EFBIG : 0;
}

int faultloc_read_file(const char *file, size_t most, char **text, size_t *len)
{
    bool standard = !strcmp(file, "-");
    int fd = standard ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);
    int rc = fd < 0 ? errno : faultloc_read_whole(fd, most, text, len);

    if (fd >= 0 && !standard)
        close(fd);
    return rc;
}

int faultloc_own_descriptor(const char *path)
{
    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    return strcmp(path, "/dev/stderr") == 0 ? STDERR_FILENO : -1;
}

static int write_file(int folder, const char *name, const char *text)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    int rc;

    if (fd < 0)
        return errno;
    rc = faultloc_write_all(fd, text, PATIENCE_MS);
    if (!rc && fsync(fd))
        rc = errno;
    if (close(fd) && !rc)
        rc = errno;
    return rc;
}

static bool is_trusted(const struct stat *st)
{
    return st->st_uid == geteuid() || st->st_uid == 0;
}

/* /dev/null, a named pipe, or a link to them: to be written into, and not to be replaced.  Who may
 * make links in that folder must not choose where a report goes, so another user's link is not
 * looked through. */
static bool is_special(int folder, const char *name)
{
    struct stat st;

    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
        return false;
    if (S_ISLNK(st.st_mode) && (!is_trusted(&st) || fstatat(folder, name, &st, 0)))
        return false;
    return !S_ISREG(st.st_mode);
}

static int write_special(int folder, const char *name, const char *text)
{
    int fd = openat(folder, name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;
    int rc = 0;

    if (fd < 0)
        return errno;
    if (fstat(fd, &st))
        rc = errno;
    else if (S_ISREG(st.st_mode) || (S_ISFIFO(st.st_mode) && !is_trusted(&st)))
        rc = EPERM; /* it was another a moment ago; what another user reads from */
    else
        rc = faultloc_write_all(fd, text, PATIENCE_MS);
    close(fd);
    return rc;
}

/* A new name is given without taking the place of one that has come meanwhile, where the file
 * system can do that. */
static int give_name(int folder, const char *temporary, const char *name, bool is_new)
{
    if (is_new && linkat(folder, temporary, folder, name, 0) == 0)
        return unlinkat(folder, temporary, 0) ? errno : 0;
    if (is_new && errno == EEXIST)
        return EEXIST;
    return renameat(folder, temporary, folder, name) ? errno : 0;
}

static int replace(int folder, const char *name, const char *text, bool is_new)
{
    char temporary[NAME_MAX + 1];
    int rc;

    if (is_special(folder, name))
        return write_special(folder, name, text);
    if (snprintf(temporary, sizeof(temporary), "%s.%d.tmp", name, (int) getpid()) >=
        (int) sizeof(temporary))
        return ENAMETOOLONG;
    unlinkat(folder, temporary, 0); /* of a process of this number that was killed while it wrote */
    rc = write_file(folder, temporary, text);
    if (rc == EEXIST)
        return EPERM; /* another user's */
    if (!rc)
        rc = give_name(folder, temporary, name, is_new);
    if (rc)
        unlinkat(folder, temporary, 0);
    return rc;
}

enum owner {
    NOBODY, /* there is no such file */
    OURS,
    OTHERS
};

static bool begins_with(int fd, const char *text, size_t head)
{
    char *there = NULL;
    size_t len = 0;
    bool begins;

    faultloc_read_whole(fd, head, &there, &len);
    begins = there && len >= head && memcmp(there, text, head) == 0;
    free(there);
    return begins;
}

/* What is no regular file is handled as it always is, and not opened: that would let in who writes
 * to a pipe, and rewind a tape.  Errors: whose it is cannot be found out. */
static int find_owner(int folder, const char *name, const char *text, size_t head,
                      enum owner *owner)
{
    struct stat st;
    int fd;

    *owner = NOBODY;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? 0 : errno;
    *owner = OURS;
    if (!S_ISREG(st.st_mode) || st.st_size == 0)
        return 0;
    *owner = OTHERS;
    fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES || errno == EPERM ? 0 : errno;
    if (begins_with(fd, text, head))
        *owner = OURS;
    close(fd);
    return 0;
}

bool faultloc_number_path(const char *path, int number, char *out, size_t room)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t len = strlen(path);
    int n;

    if (dot && dot > (slash ? slash + 1 : path)) /* not where a hidden file's name begins */
        len = (size_t) (dot - path);
    if (number == 1)
        n = snprintf(out, room, "%s", path);
    else
        n = snprintf(out, room, "%.*s.%d%s", (int) len, path, number, path + len);
    return n >= 0 && (size_t) n < room;
}

/* Who comes between the look and the name has it: then it is looked at again. */
static int replace_own(int folder, const char *name, const char *text, size_t head, int *number)
{
    char numbered[NAME_MAX + 1];
    enum owner owner = OURS;
    int rc;

    while (*number <= NUMBERS) {
        if (!faultloc_number_path(name, *number, numbered, sizeof(numbered)))
            return ENAMETOOLONG;
        rc = head ? find_owner(folder, numbered, text, head, &owner) : 0;
        if (!rc && owner == OTHERS) {
            ++*number;
            continue;
        }
        if (!rc)
            rc = replace(folder, numbered, text, owner == NOBODY);
        if (rc != EEXIST)
            return rc;
    }
    return EEXIST;
}

int faultloc_replace_file(const char *path, const char *text, size_t head, int *number)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char folder[PATH_MAX];
    int fd, rc;

    if (faultloc_own_descriptor(path) >= 0)
        return faultloc_write_all(faultloc_own_descriptor(path), text, PATIENCE_MS);
    if (name - path >= (ptrdiff_t) sizeof(folder))
        return ENAMETOOLONG;
    snprintf(folder, sizeof(folder), "%.*s", (int) (name - path), path);
    fd = open(slash ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    rc = replace_own(fd, name, text, head, number);
    close(fd);
    return rc;
}
