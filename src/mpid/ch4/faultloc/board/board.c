/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/board/board.h"

#include "ftree/topology/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BOARD_MAGIC 0x464c4234u /* "FLB4" */
#define BOARD_NAME "faultloc"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* Linux 6.3 */
#endif

_Static_assert(sizeof(struct faultloc_page) <= 4096, "no page is smaller");

static uint64_t take_bytes(uint64_t *end, uint64_t bytes, uint64_t align)
{
    uint64_t at = (*end + align - 1) / align * align;

    *end = at + bytes;
    return at;
}

static void lay_out(struct faultloc_board *b, uint64_t page)
{
    uint64_t nodes = (uint64_t) b->nodes, size = (uint64_t) b->size;

    b->bytes = sizeof(*b);
    b->address_at = take_bytes(&b->bytes, nodes * sizeof(struct faultloc_address), 64);
    b->name_at = take_bytes(&b->bytes, nodes * FAULTLOC_NAME_SIZE, 64);
    b->rank_node_at = take_bytes(&b->bytes, size * sizeof(int32_t), 64);
    b->node_first_at = take_bytes(&b->bytes, (nodes + 1) * sizeof(int32_t), 64);
    b->node_ranks_at = take_bytes(&b->bytes, size * sizeof(int32_t), 64);
    b->rank_pid_at = take_bytes(&b->bytes, size * sizeof(int32_t), 64);
    b->failed_at = take_bytes(&b->bytes, size * sizeof(int32_t), 64);
    b->has_failed_at = take_bytes(&b->bytes, size, 64);
    b->tree_at = take_bytes(&b->bytes, b->tree_bytes, 64);
    b->slots_at = take_bytes(&b->bytes, (uint64_t) b->slots * page, page);
    b->wait_bytes =
        (uint32_t) ((sizeof(struct faultloc_wait_area) + page - 1) / page * page);
    b->waits_at = take_bytes(&b->bytes, (uint64_t) b->slots * b->wait_bytes, page);
    b->page = (uint32_t) page;
}

/* A site may forbid memory files that could be executed (vm.memfd_noexec); older kernels do not
 * know how to ask for one that cannot. */
static int make_file(void)
{
    int fd = memfd_create(BOARD_NAME, MFD_CLOEXEC | MFD_NOEXEC_SEAL);

    return fd < 0 && errno == EINVAL ? memfd_create(BOARD_NAME, MFD_CLOEXEC) : fd;
}

int faultloc_board_make(int32_t nodes, int32_t size, int32_t slots, uint64_t tree_bytes,
                        struct faultloc_board **out, int *fd)
{
    struct faultloc_board shape = {
        .nodes = nodes, .size = size, .slots = slots, .tree_bytes = tree_bytes};
    struct faultloc_board *b;
    int rc;

    lay_out(&shape, (uint64_t) sysconf(_SC_PAGESIZE));
    *fd = make_file();
    if (*fd < 0)
        return errno;
    b = ftruncate(*fd, (off_t) shape.bytes)
            ? MAP_FAILED
            : mmap(NULL, shape.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (b == MAP_FAILED) {
        rc = errno;
        close(*fd);
        return rc;
    }
    *b = shape;
    b->layout = sizeof(*b);
    b->magic = BOARD_MAGIC;
    *out = b;
    return 0;
}

int faultloc_board_map(int fd, struct faultloc_board **out)
{
    struct faultloc_board *b;
    struct stat st;

    if (fstat(fd, &st))
        return errno;
    if (st.st_size < (off_t) sizeof(*b))
        return EPROTO;
    b = mmap(NULL, (size_t) st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (b == MAP_FAILED)
        return errno;
    if (b->magic != BOARD_MAGIC || b->layout != sizeof(*b) || b->bytes != (uint64_t) st.st_size) {
        munmap(b, (size_t) st.st_size);
        return EPROTO;
    }
    *out = b;
    return 0;
}

int faultloc_board_open(int32_t pid, int their_fd, struct faultloc_board **out, int *fd)
{
    char path[64];
    int rc;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int) pid, their_fd);
    *fd = open(path, O_RDWR | O_CLOEXEC);
    if (*fd < 0)
        return errno;
    rc = faultloc_board_map(*fd, out);
    if (rc)
        close(*fd);
    return rc;
}

int faultloc_board_map_slot(const struct faultloc_board *b, int fd, int32_t i, void *page)
{
    struct faultloc_page now;
    void *at;

    if ((uintptr_t) page % b->page || FAULTLOC_SLOT_ALIGN < b->page)
        return EINVAL;
    memcpy(&now, page, sizeof(now));
    memcpy(faultloc_board_slot(b, i), &now, sizeof(now));
    at = mmap(page, b->page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
              (off_t) (b->slots_at + (uint64_t) i * b->page));
    return at == MAP_FAILED ? errno : 0;
}

/* UCX puts functions of its own in the place of mmap(2), munmap(2) and mremap(2): they take a lock,
 * which a child of fork() may find taken, and the last one loses the new address. */
static void *remap(void *at, size_t old_bytes, size_t bytes, void *to)
{
    long rc = syscall(SYS_mremap, at, old_bytes, bytes,
                      MREMAP_MAYMOVE | (to ? MREMAP_FIXED : 0), to);

    return rc == -1 ? MAP_FAILED : (void *) rc;
}

int faultloc_board_leave_slot(const struct faultloc_board *b, void *page)
{
    long at = syscall(SYS_mmap, NULL, (size_t) b->page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, (off_t) 0);
    void *own = (void *) at;
    int rc;

    if (at == -1)
        return errno;
    memcpy(own, page, sizeof(struct faultloc_page));
    if (remap(own, b->page, b->page, page) != MAP_FAILED)
        return 0;
    rc = errno;
    syscall(SYS_munmap, own, (size_t) b->page);
    return rc;
}

/* What is the agent's in it stays. */
static void carry_over(struct faultloc_page *to, const struct faultloc_page *from)
{
    struct faultloc_page page = *from;

    page.slot.failures = to->slot.failures;
    page.slot.tracer = to->slot.tracer;
    page.slot.longest_ns = to->slot.longest_ns;
    page.slot.news = 1; /* whatever it is, it is there to be looked at */
    page.ring.looks = to->ring.looks;
    memcpy(page.ring.look, to->ring.look, sizeof(page.ring.look));
    *to = page;
}

int faultloc_board_take_slot(const struct faultloc_board *b, int32_t i, void *page)
{
    /* of shared memory an old size of 0 makes a second mapping */
    void *shared = remap(faultloc_board_slot(b, i), 0, b->page, NULL);
    int rc;

    if (shared == MAP_FAILED)
        return errno;
    if (mprotect(shared, b->page, PROT_READ | PROT_WRITE) == 0) {
        carry_over(shared, page);
        if (remap(shared, b->page, b->page, page) != MAP_FAILED)
            return 0;
    }
    rc = errno;
    munmap(shared, b->page);
    return rc;
}

bool faultloc_board_is_mapped_by(int fd, int32_t pid)
{
    char path[64], line[512];
    unsigned long long inode;
    bool found = false;
    struct stat st;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int) pid);
    f = fstat(fd, &st) ? NULL : fopen(path, "re");
    while (f && !found && fgets(line, sizeof(line), f))
        found = strstr(line, "/memfd:" BOARD_NAME " ") &&
                sscanf(line, "%*s %*s %*s %*s %llu", &inode) == 1 && inode == st.st_ino;
    if (f)
        fclose(f);
    return found;
}

int faultloc_board_protect(const struct faultloc_board *b, int32_t i)
{
    if (mprotect((void *) (uintptr_t) b, b->bytes, PROT_READ) ||
        mprotect(faultloc_board_wait_area(b, i), b->wait_bytes, PROT_READ | PROT_WRITE))
        return errno;
    return 0;
}

void faultloc_board_unmap(struct faultloc_board *b)
{
    if (b)
        munmap(b, b->bytes);
}

static void *at(const struct faultloc_board *b, uint64_t offset)
{
    return (char *) (uintptr_t) b + offset;
}

struct faultloc_slot *faultloc_board_slot(const struct faultloc_board *b, int32_t i)
{
    return at(b, b->slots_at + (uint64_t) i * b->page);
}

struct faultloc_wait_area *faultloc_board_wait_area(const struct faultloc_board *b, int32_t i)
{
    return at(b, b->waits_at + (uint64_t) i * b->wait_bytes);
}

struct faultloc_address *faultloc_board_addresses(const struct faultloc_board *b)
{
    return at(b, b->address_at);
}

char *faultloc_board_name(const struct faultloc_board *b, int32_t node)
{
    return at(b, b->name_at + (uint64_t) node * FAULTLOC_NAME_SIZE);
}

int32_t *faultloc_board_rank_node(const struct faultloc_board *b)
{
    return at(b, b->rank_node_at);
}

int32_t *faultloc_board_node_first(const struct faultloc_board *b)
{
    return at(b, b->node_first_at);
}

int32_t *faultloc_board_node_ranks(const struct faultloc_board *b)
{
    return at(b, b->node_ranks_at);
}

int32_t *faultloc_board_rank_pid(const struct faultloc_board *b)
{
    return at(b, b->rank_pid_at);
}

int32_t *faultloc_board_failed(const struct faultloc_board *b)
{
    return at(b, b->failed_at);
}

_Atomic uint8_t *faultloc_board_has_failed(const struct faultloc_board *b)
{
    return at(b, b->has_failed_at);
}

void *faultloc_board_tree(const struct faultloc_board *b)
{
    return at(b, b->tree_at);
}

/* ---- ranks that are given up ----------------------------------------------------------------- */

void faultloc_board_give_up(struct faultloc_board *b, int32_t rank, uint8_t how)
{
    int32_t n = b->failures;

    if (rank < 0 || rank >= b->size || faultloc_board_has_failed(b)[rank])
        return;
    faultloc_board_failed(b)[n] = rank;
    faultloc_board_has_failed(b)[rank] = how;
    b->failures = n + 1; /* after the entry: a rank reads without a lock */
    for (int32_t i = 0; i < b->slots; i++) {
        struct faultloc_slot *slot = faultloc_board_slot(b, i);
        __atomic_store_n(&slot->failures, (uint32_t) (n + 1) | 0x80000000u, __ATOMIC_RELEASE);
        __atomic_store_n(&slot->news, 1, __ATOMIC_RELEASE);
    }
}

void faultloc_board_give_up_of(struct faultloc_board *b, const struct ftree_verdict *v)
{
    const int32_t *first = faultloc_board_node_first(b), *ranks = faultloc_board_node_ranks(b);

    if (!ftree_verdict_ends_ranks(v) || v->local_only || v->node < 0 || v->node >= b->nodes)
        return;
    if (v->rank != FTREE_NONE && v->kind == FTREE_KIND_RANK)
        faultloc_board_give_up(b, v->rank, FAULTLOC_GIVEN_UP_ENDED);
    else
        for (int32_t i = first[v->node]; i < first[v->node + 1]; i++)
            faultloc_board_give_up(b, ranks[i], FAULTLOC_GIVEN_UP_SILENT);
}

/* What is silent or stopped is found in half the stall limit more than that, where nobody was asked
 * before the limit. */
ftree_time faultloc_board_early(const struct faultloc_board *b, const struct ftree_verdict *v)
{
    const struct faultloc_settings *s = &b->settings;
    ftree_time at = v->first_symptom + 3 * s->stall / 2;
    ftree_time early = at > v->located && !s->stall_is_set ? at - v->located : 0;

    return early < s->patience ? early : s->patience;
}

/* Who was waited for anyway may be found as soon as it stops: the first symptom is no sign of how long that
 * was. */
ftree_time faultloc_board_patience(const struct faultloc_board *b, const struct ftree_verdict *v)
{
    const struct faultloc_settings *s = &b->settings;
    ftree_time early = faultloc_board_early(b, v);
    ftree_time least = s->stall_is_set ? 0 : s->stall < s->patience ? s->stall : s->patience;

    return s->patience + (early > least ? early : least);
}

void faultloc_board_settle(struct faultloc_board *b, ftree_time now)
{
    for (int32_t i = 0; i < b->verdicts; i++) {
        const struct ftree_verdict *v = &b->verdict[i];
        if (now >= v->located && now - v->located >= faultloc_board_patience(b, v))
            faultloc_board_give_up_of(b, v);
    }
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static int32_t find_verdict(const struct faultloc_board *b, const struct ftree_verdict *v)
{
    for (int32_t i = 0; i < b->verdicts; i++)
        if (b->verdict[i].fln == v->fln && b->verdict[i].id == v->id)
            return i;
    return -1;
}

/* A new one, else that of the verdict which has been over for longest, else, for one that loses a
 * peer, that of the last which does not: whether a peer is lost must be seen here.  -1: none. */
static int32_t free_place(const struct faultloc_board *b, bool loses)
{
    int32_t oldest = -1;

    if (b->verdicts < FAULTLOC_BOARD_VERDICTS)
        return b->verdicts;
    for (int32_t i = 0; i < b->verdicts; i++)
        if (b->verdict[i].withdrawn &&
            (oldest < 0 || b->verdict[i].withdrawn < b->verdict[oldest].withdrawn))
            oldest = i;
    for (int32_t i = b->verdicts - 1; i >= 0 && oldest < 0 && loses; i--)
        if (!ftree_verdict_ends_ranks(&b->verdict[i]))
            oldest = i;
    return oldest;
}

/* Ranks read without a lock.  An agent that was killed in the middle leaves the count odd, hence
 * the or: who writes there next sets it right. */
static void write_verdict(struct faultloc_board *b, int32_t i, const struct ftree_verdict *v)
{
    b->writing[i] |= 1;
    atomic_thread_fence(memory_order_release); /* the stores below stay behind it */
    b->verdict[i] = *v;
    b->writing[i]++;
}

void faultloc_board_remember(struct faultloc_board *b, const struct ftree_verdict *v)
{
    int32_t i = find_verdict(b, v), lost = ftree_verdict_ends_ranks(v);

    if (i < 0 && !v->withdrawn)
        i = free_place(b, lost);
    if (i >= 0)
        write_verdict(b, i, v);
    if (i == b->verdicts)
        b->verdicts = i + 1; /* after the verdict itself: a successor may read at any moment */
    else if (i >= 0)
        b->withdrawals++;
    for (i = 0; i < b->verdicts; i++)
        lost += ftree_verdict_ends_ranks(&b->verdict[i]);
    b->peer_lost = lost > 0;
}

static bool ranks_fit(const struct faultloc_board *b, const struct ftree_ranks *set)
{
    if (set->count < 0 || set->ranges < 0 || set->ranges > FTREE_RANGES_MAX)
        return false;
    for (int32_t i = 0; i < set->ranges; i++)
        if (set->range[i].first < 0 || set->range[i].first > set->range[i].last ||
            set->range[i].last >= b->size)
            return false;
    return true;
}

/* What names something that the job does not have would be looked up beyond the tables. */
static bool fits_job(const struct faultloc_board *b, const struct ftree_verdict *v)
{
    return v->class_ < FTREE_CLASS_COUNT && v->kind < FTREE_KIND_COUNT && v->node >= 0 &&
           v->node < b->nodes && v->fln >= 0 && v->fln < b->nodes && v->rank >= FTREE_NONE &&
           v->rank < b->size && v->evidences >= 0 && v->evidences <= FTREE_EVIDENCE_MAX &&
           v->statistics.samples >= 0 && v->statistics.samples <= FTREE_STATISTICS_SAMPLES &&
           v->candidates >= 0 && v->candidates <= FTREE_CANDIDATE_MAX &&
           ranks_fit(b, &v->victims) && ranks_fit(b, &v->component);
}

bool faultloc_board_read(const struct faultloc_board *b, int32_t i, struct ftree_verdict *out)
{
    uint32_t before;

    if (i < 0 || i >= b->verdicts || i >= FAULTLOC_BOARD_VERDICTS)
        return false;
    before = b->writing[i];
    if (before % 2)
        return false;
    *out = b->verdict[i];
    atomic_thread_fence(memory_order_acquire); /* the loads above stay before it */
    return b->writing[i] == before && fits_job(b, out);
}

/* ---- the job ------------------------------------------------------------------------------- */

int faultloc_job_describe(const struct faultloc_board *b, struct faultloc_job *out)
{
    int rc;

    *out = (struct faultloc_job){.names = malloc((size_t) b->nodes * sizeof(*out->names))};
    if (!out->names)
        return ENOMEM;
    if (b->tree_bytes) {
        rc = ftree_tree_unpack(faultloc_board_tree(b), b->tree_bytes, &out->tree);
        if (rc)
            return rc == FTREE_ERR_NOMEM ? ENOMEM : EPROTO;
    }
    for (int32_t i = 0; i < b->nodes; i++)
        out->names[i] = faultloc_board_name(b, i);
    out->job = (struct ftree_job){.nodes = b->nodes,
                                  .size = b->size,
                                  .fanout = b->fanout,
                                  .tree = out->tree,
                                  .seed = b->seed,
                                  .node_name = out->names,
                                  .rank_node = faultloc_board_rank_node(b),
                                  .node_first = faultloc_board_node_first(b),
                                  .node_ranks = faultloc_board_node_ranks(b),
                                  .rank_pid = faultloc_board_rank_pid(b)};
    memcpy(out->job.has_path, b->has_path, sizeof(out->job.has_path));
    return 0;
}

void faultloc_job_free(struct faultloc_job *j)
{
    free(j->names);
    ftree_tree_free(j->tree);
    *j = (struct faultloc_job){.names = NULL};
}

/* ---- what was set while the job runs --------------------------------------------------------- */

/* Readers are the agents that follow, so that half of it is nothing. */
int faultloc_board_keep_setting(struct faultloc_board *b, int fd, const void *bytes, size_t len)
{
    ssize_t n;

    b->setting_bytes = 0;
    if (len > UINT32_MAX || ftruncate(fd, (off_t) (b->bytes + len)))
        return len > UINT32_MAX ? EFBIG : errno;
    n = pwrite(fd, bytes, len, (off_t) b->bytes);
    if (n != (ssize_t) len)
        return n < 0 ? errno : EIO;
    b->setting_bytes = (uint32_t) len;
    return 0;
}

void *faultloc_board_setting(const struct faultloc_board *b, int fd, size_t *len)
{
    void *bytes;

    *len = b->setting_bytes;
    bytes = *len > 0 ? malloc(*len) : NULL;
    if (bytes && pread(fd, bytes, *len, (off_t) b->bytes) != (ssize_t) *len) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}
