/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* The program faultloc-handler: what it reads from /proc, and what it does to those that it looks
 * at. */

#include "faultloc/base/proc.h"
#include "faultloc/handler/handler.h"
#include "files.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- mounts ---------------------------------------------------------------------------------- */

static const char mounts[] =
    "21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "30 21 0:26 / /home rw shared:2 master:3 - nfs4 fs1.site:/export/home rw,vers=4.2\n"
    "31 21 0:27 / /home/scratch\\040two rw - lustre 10.0.0.1@tcp:/scratch rw\n"
    "32 21 0:28 / /smb rw - cifs //win/share\\040x rw\n"
    "33 21 0:29 / /mnt rw - fuse.sshfs me@box:/data rw\n"
    "34 21 0:30 / /tmp rw - tmpfs tmpfs rw\n"
    "35 30 0:31 / /home rw - tmpfs upper rw\n"
    "garbage\n";

static const struct {
    long id;
    const char *path, *point, *type, *server;
} mount_rows[] = {{-1, "/etc/passwd", "/", "ext4", ""},
                  {-1, "/home2/x", "/", "ext4", ""},
                  {-1, "/home/me/f", "/home", "tmpfs", ""}, /* the later one covers */
                  {30, "", "/home", "nfs4", "fs1.site"},
                  {-1, "/home/scratch two/f", "/home/scratch two", "lustre", "10.0.0.1@tcp"},
                  {-1, "/smb/a", "/smb", "cifs", "win"},
                  {33, "/etc", "/mnt", "fuse.sshfs", "me@box"},
                  {-1, "/tmp", "/tmp", "tmpfs", ""}};

TEST_CASES(a_path_is_below_a_mount, COUNT(mount_rows))
{
    struct handler_mount m;

    ck_assert(handler_mount_find(mounts, mount_rows[_i].id, mount_rows[_i].path, &m));
    ck_assert_str_eq(m.point, mount_rows[_i].point);
    ck_assert_str_eq(m.type, mount_rows[_i].type);
    ck_assert_str_eq(m.server, mount_rows[_i].server);
}

TEST_CASE(no_mount_is_found_in_nothing)
{
    struct handler_mount m;

    ck_assert(!handler_mount_find("", -1, "/", &m));
    ck_assert(!handler_mount_find(mounts, 99, "/home", &m));
    ck_assert(!handler_mount_find("1 2 - \n - - -\n\n", -1, "/", &m));
}

static const struct {
    const char *symbol, *name;
} names[] = {
    {"solve_", "solve_"},
    {"memcpy@@GLIBC_2.14", "memcpy"},
    {"", ""},
    {"_Znonsense", "_Znonsense"},
    {"_Z2CGRK6MatrixR4Data", "CG"},
    {"_ZNK3net6Socket4readEPvm", "net::Socket::read"},
    {"_Z4pushIiEvT_", "push<int>"},
    {"_ZN12_GLOBAL__N_15innerEi", "(anonymous namespace)::inner"},
    {"_ZN3FooclEi", "Foo::operator()"},
    {"_ZN3FoocvbEv", "Foo::operator bool"},
    {"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()"},
    {"_Z4workPFvvE.constprop.0", "work"},
};

TEST_CASES(functions_have_the_names_that_people_write, COUNT(names))
{
    char name[HANDLER_TEXT_MAX];

    handler_function(names[_i].symbol, name, sizeof(name));
    ck_assert_str_eq(name, names[_i].name);
}

TEST_CASE(calls_have_names)
{
    ck_assert_str_eq(handler_syscall(SYS_read)->name, "read");
    ck_assert_int_eq(handler_syscall(SYS_openat)->path, 1);
    ck_assert_ptr_null(handler_syscall(99999));
    ck_assert_ptr_null(handler_syscall(-1));
}

/* ---- the frame of a function ----------------------------------------------------------------- */

/* A process: its stack from STACK_AT on, and a page of code from CODE_AT on, in which `callee` begins
 * at 0x100, another function at 0x200, a stub of the first at 0x300, and the table with its address at
 * 0x400. */
#define STACK_AT 0x7ff000
#define CODE_AT 0x400000
#define CALLEE (CODE_AT + 0x100)
#define BEHIND (CODE_AT + 0x80) /* where callee returns to */

struct memory {
    uint8_t code[4096];
    uint64_t stack[512];
};

static size_t read_memory(void *ctx, uint64_t at, void *buf, size_t len)
{
    const struct memory *m = ctx;
    const uint8_t *from = at >= STACK_AT ? (const uint8_t *) m->stack : m->code;
    uint64_t begin = at >= STACK_AT ? STACK_AT : CODE_AT;
    size_t there = at - begin < 4096 ? 4096 - (size_t) (at - begin) : 0;

    if (at < begin)
        return 0;
    len = len < there ? len : there;
    memcpy(buf, from + (at - begin), len);
    return len;
}

#define PLAIN "\x55\x48\x89\xe5\x48\x83\xec\x40" /* push %rbp; mov %rsp,%rbp; sub $64,%rsp */
#define MARKED "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x41\x57\x53\x48\x81\xec\x80\x00\x00\x00"
#define TOUCHED "\x55\x48\x89\xe5\x48\x83\xec\x20\x48\x83\x0c\x24\x00\x48\x83\xec\x20\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
#define LOOPED "\x55\x48\x89\xe5\x4c\x8d\x9c\x24\x00\xf8\xff\xff\x48\x81\xec\x00\x10\x00\x00\x48\x83\x0c\x24\x00\x4c\x39\xdc\x75\xef\x48\x83\xec\x10\x90\x90\x90\x90\x90"
#define OTHER "\x53\x48\x89\xfb" /* push %rbx; ... */
#define CALL(to) "\xe8", 5, (to) - 0x80

static const struct {
    const char *what, *begin; /* of callee */
    size_t begins;
    const char *call; /* the instruction before BEHIND */
    size_t len;
    int64_t target; /* of it, from BEHIND; 0: none */
    int word, stale; /* the frame, by number in the stack; and what looks like one, 0: nothing */
    int found; /* 0: nothing */
} frames[] = {
    {"its size is told", PLAIN, 8, CALL(0x100), 8, 0, 8},
    {"with endbr64 and two registers saved", MARKED, 18, CALL(0x100), 18, 0, 18},
    {"called by a stub", PLAIN, 8, CALL(0x300), 8, 0, 8},
    {"called indirectly", PLAIN, 8, "\xff\xd0", 2, 0, 8, 0, 8},
    {"an earlier call is left in it", PLAIN, 8, CALL(0x100), 8, 2, 8},
    {"its size is not told", OTHER, 4, CALL(0x100), 40, 0, 40},
    {"it has an array of variable length", PLAIN, 8, CALL(0x100), 100, 0, 100},
    {"called by a stub, and searched for", OTHER, 4, CALL(0x300), 40, 0, 40},
    {"called by the table", OTHER, 4, "\xff\x15", 6, 0x400 - 0x80, 40, 0, 40},
    {"called indirectly: it cannot be told from another", OTHER, 4, "\xff\xd0", 2, 0, 40, 0, 0},
    {"a call of another function", OTHER, 4, CALL(0x200), 40, 0, 0},
    {"a call of another function where it should be", PLAIN, 8, CALL(0x200), 8, 0, 0},
    {"at no multiple of 16", OTHER, 4, CALL(0x100), 41, 0, 0},
    {"an earlier call is left, and its size is not told", OTHER, 4, CALL(0x100), 40, 20, 0},
    {"each page is touched", TOUCHED, 28, CALL(0x100), 8, 2, 8},
    {"each page is touched in a loop", LOOPED, 38, CALL(0x100), 258, 2, 258},
};

static void build(struct memory *m, int row)
{
    size_t len = frames[row].len;
    uint8_t *call = m->code + 0x80 - len;
    int32_t relative = (int32_t) frames[row].target;
    uint64_t callee = CALLEE;

    memset(m, 0x90, sizeof(*m));
    memset(m->stack, 0, sizeof(m->stack));
    memcpy(m->code + 0x100, frames[row].begin, frames[row].begins);
    memcpy(m->code + 0x300, "\xff\x25\xfa\x00\x00\x00", 6); /* jmp *0xfa(%rip) */
    memcpy(m->code + 0x400, &callee, sizeof(callee));
    memcpy(call, frames[row].call, strlen(frames[row].call));
    if (relative)
        memcpy(m->code + 0x80 - sizeof(relative), &relative, sizeof(relative));
    m->stack[frames[row].word] = STACK_AT + 8 * 300;
    m->stack[frames[row].word + 1] = BEHIND;
    if (frames[row].stale)
        m->stack[frames[row].stale + 1] = BEHIND;
}

TEST_CASES(a_frame_is_found, COUNT(frames))
{
    static struct memory m;
    uint64_t found;

    build(&m, _i);
    found = handler_frame_pointer(read_memory, &m, CALLEE, STACK_AT);
    ck_assert_msg(found == (frames[_i].found ? STACK_AT + 8 * (uint64_t) frames[_i].found : 0),
                  "%s: %#llx", frames[_i].what, (unsigned long long) found);
}

/* ---- a process that is looked at ------------------------------------------------------------- */

/* AddressSanitizer wraps the calls in functions of its own, which keep a frame pointer and are reached
 * by a jump: nothing tells where their frames are. */
static bool can_unwind(void)
{
#ifdef __SANITIZE_ADDRESS__
    return false;
#else
    return handler_can_unwind();
#endif
}

static volatile long turns;

static __attribute__((noinline)) void wait_in_epoll(void)
{
    struct epoll_event e;
    int fd = epoll_create1(0);

    _exit(epoll_wait(fd, &e, 1, -1) < 0 ? 40 : 41); /* not to be interrupted */
}

static __attribute__((noinline)) void read_pipe(void)
{
    int fd[2];
    char c;

    if (pipe(fd) == 0 && read(fd[0], &c, 1) != 1)
        _exit(42); /* not to be interrupted, either */
    turns++;
}

static void receive_for(long seconds)
{
    struct timeval limit = {.tv_sec = seconds};
    int fd[2];
    char c;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0 &&
        setsockopt(fd[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
        recv(fd[0], &c, 1, 0) != 1)
        _exit(43);
    turns++;
}

static __attribute__((noinline)) void receive(void)
{
    receive_for(0);
    turns++;
}

static __attribute__((noinline)) void receive_with_timeout(void)
{
    receive_for(3600);
    turns++;
}

static volatile int length = 3000;

/* It keeps its frame by the frame pointer, which the kernel does not tell, and has in its array what
 * is left of earlier calls. */
static __attribute__((noinline)) void wait_in_array(void)
{
    char array[length];

    array[length - 1] = 1;
    read_pipe();
    turns += array[length - 1];
}

static __attribute__((noinline)) void call_it(void)
{
    wait_in_array();
    turns++;
}

/* What is left of an earlier call, in the array of a later one, is not taken for a frame. */
static __attribute__((noinline)) void solve(int n, bool waits)
{
    char array[n];

    array[0] = 1;
    if (waits)
        read_pipe();
    turns += array[0];
}

static __attribute__((noinline)) void not_there(void)
{
    char room[256];

    room[0] = 1;
    solve(16, false);
    turns += room[0];
}

static __attribute__((noinline)) void wait_above_stale(void)
{
    not_there();
    solve(4096, true);
    turns++;
}

#define LARGE 200000

static __attribute__((noinline)) void doze(void)
{
    usleep(300);
    turns++;
}

/* It goes to and fro between two callers, above a frame that is larger than what is copied. */
static __attribute__((noinline)) void large(void (*run)(void))
{
    char array[LARGE];

    array[0] = 1;
    run();
    turns += array[0];
}

static __attribute__((noinline)) void doze_in_a(void)
{
    doze();
    turns++;
}

static __attribute__((noinline)) void doze_in_b(void)
{
    doze();
    turns += 2;
}

static __attribute__((noinline)) void from_a(void)
{
    large(doze_in_a);
    turns++;
}

static __attribute__((noinline)) void from_b(void)
{
    large(doze_in_b);
    turns += 2;
}

static void go_to_and_fro(void)
{
    for (;;) {
        from_a();
        from_b();
    }
}

static volatile int depth = 20000;

static __attribute__((noinline)) int recurse(int n)
{
    int below = n > 0 ? recurse(n - 1) : (read_pipe(), 0);

    turns++;
    return below + 1;
}

static void wait_deep(void)
{
    turns += recurse(depth);
}

/* Code that has no call frame information, as of an assembler; %rbp is its caller's. */
long handler_test_kernel(long n);
#if defined(__x86_64__)
__asm__(".text\n.globl handler_test_kernel\n.type handler_test_kernel,@function\n"
        "handler_test_kernel: mov %rdi,%rax\n1: dec %rax\n jnz 1b\n ret\n"
        ".size handler_test_kernel,.-handler_test_kernel\n");
#else
long handler_test_kernel(long n)
{
    while (n-- > 0)
        turns++;
    return 0;
}
#endif

static void run_kernel(void)
{
    turns += handler_test_kernel(1000000000000000);
}

static __attribute__((noinline)) void spin(void)
{
    for (;;)
        turns++;
}

static pid_t start(void (*run)(void))
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run();
        _exit(0);
    }
    return pid;
}

static char state_of(pid_t pid)
{
    struct faultloc_proc proc = {0};

    faultloc_proc_read(NULL, pid, &proc);
    return proc.state;
}

static void await_state(pid_t pid, char state)
{
    for (int i = 0; i < 10000 && state_of(pid) != state; i++)
        usleep(1000);
    ck_assert_int_eq(state_of(pid), state);
}

/* It waits; or it has run for some time, and is beyond its start. */
static void await_work(pid_t pid, char state)
{
    struct faultloc_proc proc = {0};

    while (state == 'R' && proc.ticks < 2)
        faultloc_proc_read(NULL, pid, &proc);
    await_state(pid, state);
}

static void look_at(pid_t pid, struct handler_process *p)
{
    *p = (struct handler_process){.pid = pid};
    handler_facts(NULL, p);
    handler_unwind(p);
}

static bool has_function(const struct handler_thread *t, const char *function)
{
    for (int i = 0; i < t->frames; i++)
        if (!strcmp(t->frame[i].function, function))
            return true;
    return false;
}

/* ---- the caller of MPI alone ----------------------------------------------------------------- */

#define FRAMES 6

static const struct {
    const char *module[FRAMES], *function[FRAMES]; /* of a library there is no function */
    int found;
} callers[] = {
    {{"libucp.so.0", "libmpi.so.12", "libmpi.so.12", "app", "app", "libc.so.6"},
     {"", "", "", "exchange", "main", ""}, 3},
    {{"libmpi.so.12", "libmpifort.so.12", "app", "app"}, {"", "", "halo_", "MAIN__"}, 2},
    {{"libmpi.so.12", "libhalo.so", "app"}, {"", "exchange", "main"}, 1}, /* its own library */
    {{"libmpi.so.12", "libtool.so", "app"}, {"", "MPI_Recv", "main"}, 2}, /* a tool wraps MPI */
    {{"app", "app", "app"}, {"progress", "PMPI_Recv", "main"}, 2}, /* MPI is linked into it */
    {{"libmpi.so.12", "app", "libmpi.so.12", "app"}, {"", "delete_attribute", "", "main"}, 1},
    {{"libc.so.6", "app", "app"}, {"", "compute", "main"}, 1}, /* in no call of MPI */
    {{"libmpi.so.12", "libmpi.so.12"}, {"", ""}, 2}, /* the rest is not known */
    {{"", "[vdso: 1]"}, {"", ""}, 2},
    /* an interpreter's by way of ctypes, or of mpi4py; its extension's own */
    {{"libmpi.so.12", "libffi.so.8", "_ctypes.cpython-311.so", "python3.11", "python3.11"},
     {"", "ffi_call", "call", "", ""}, 3},
    {{"libmpi.so.12", "MPI.cpython-311-x86_64-linux-gnu.so", "libpython3.11.so.1.0"},
     {"", "__pyx_f_recv", ""}, 2},
    {{"libmpi.so.12", "solver.cpython-311.so", "python3.11"}, {"", "solve", ""}, 1},
    {{"libmpi.so.12", "libffi.so.8", "app"}, {"", "ffi_call", "main"}, 1},
};

TEST_CASES(the_call_of_mpi_is_found, COUNT(callers))
{
    static struct handler_frame f[FRAMES];
    int n = 0;

    for (; n < FRAMES && callers[_i].module[n]; n++) {
        snprintf(f[n].module, sizeof(f[n].module), "%s", callers[_i].module[n]);
        snprintf(f[n].function, sizeof(f[n].function), "%s", callers[_i].function[n]);
    }
    ck_assert_int_eq(handler_caller(f, n), callers[_i].found);
}

static const struct {
    const char *module, *words; /* NULL: it is of no interpreter */
} scripts[] = {
    {"python3.11", "a line of Python code, which py-spy dump --pid 7 shows on its node"},
    {"libpython3.11.so.1.0", "a line of Python code, which py-spy dump --pid 7 shows on its node"},
    {"python", "a line of Python code, which py-spy dump --pid 7 shows on its node"},
    {"libjvm.so", "a line of Java code, which jstack 7 shows on its node"},
    {"libruby-3.1.so.3.1", "a line of Ruby code, which rbspy snapshot --pid 7 shows on its node"},
    {"libR.so", "a line of R code"},
    {"libjulia-internal.so.1.10", "a line of Julia code"},
    {"julia", NULL}, /* a program that computes Julia sets */
    {"R", NULL},
    {"node", NULL},
    {"pythonic", NULL},
    {"python-solver", NULL},
    {"libReaction.so", NULL},
    {"libmpi.so.12", NULL},
    {"", NULL},
};

TEST_CASES(an_interpreter_is_known, COUNT(scripts))
{
    static struct handler_frame f;

    f = (struct handler_frame){.line = 3, .file = "ceval.c", .function = "_PyEval"};
    snprintf(f.module, sizeof(f.module), "%s", scripts[_i].module);
    ck_assert_int_eq(handler_is_script(&f), scripts[_i].words != NULL);
    if (!scripts[_i].words)
        return;
    handler_name_script(&f, 7);
    ck_assert_str_eq(f.function, scripts[_i].words);
    ck_assert(f.line == 0 && !*f.file && !*f.module);
}

static struct {
    volatile uint64_t sp, pc;
} *noted; /* shared with the child */

/* It does not stop running, as a rank that waits in MPI, and what it has called since is not there. */
static __attribute__((noinline)) void note_and_spin(void)
{
    noted->sp = (uintptr_t) __builtin_dwarf_cfa();
    noted->pc = (uintptr_t) __builtin_return_address(0);
    while (noted->pc)
        turns++;
}

static __attribute__((noinline)) void exchange(void)
{
    note_and_spin();
    turns++;
}
enum { EXCHANGE_LINE = __LINE__ - 3 };

static inline __attribute__((always_inline)) void inlined(void)
{
    note_and_spin();
    turns++;
}
enum { INLINED_LINE = __LINE__ - 3 };

static __attribute__((noinline)) void call_inlined(void)
{
    inlined();
    turns++;
}

static const struct {
    void (*run)(void);
    const char *function;
    int line;
} waits[] = {{exchange, "exchange", EXCHANGE_LINE}, {call_inlined, "inlined", INLINED_LINE}};

TEST_CASES(a_wait_says_where_it_returns_to, COUNT(waits))
{
    struct handler_process p;
    pid_t pid;

    noted = mmap(NULL, sizeof(*noted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid = start(waits[_i].run);
    while (!noted->pc)
        ;
    p = (struct handler_process){.pid = pid, .sp = noted->sp, .pc = noted->pc};
    handler_facts(NULL, &p);
    handler_unwind_caller(&p);
    if (can_unwind()) {
        ck_assert_int_eq(p.thread[0].frames, 1);
        ck_assert_str_eq(p.thread[0].frame[0].function, waits[_i].function);
        ck_assert_int_eq(p.thread[0].frame[0].line, waits[_i].line);
    }
    handler_free(&p);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    munmap(noted, sizeof(*noted));
}

/* ---- what it does to others ------------------------------------------------------------------ */

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static const struct {
    void (*run)(void);
    char state;
    const char *function, *call;
} looks[] = {{read_pipe, 'S', "read_pipe", "read"},
             {receive, 'S', "receive", "recvfrom"},
             {receive_with_timeout, 'S', "receive_with_timeout", "recvfrom"},
             {spin, 'R', "spin", NULL},
             {call_it, 'S', "wait_in_array", "read"},
             {wait_in_epoll, 'S', "wait_in_epoll", "epoll_wait"}};

/* It goes on as it was; test_undisturbed.c has all calls. */
TEST_CASES(one_that_is_looked_at_notices_nothing, COUNT(looks))
{
    pid_t pid = start(looks[_i].run);
    struct handler_process p;
    int status;

    await_work(pid, looks[_i].state);
    for (int i = 0; i < 5; i++) {
        look_at(pid, &p);
        ck_assert_ptr_null(p.why);
        ck_assert_int_eq(p.threads, 1);
        if (looks[_i].call)
            ck_assert_str_eq(handler_syscall(p.thread[0].syscall)->name, looks[_i].call);
        if (can_unwind())
            ck_assert_msg(!p.thread[0].why && has_function(&p.thread[0], looks[_i].function) &&
                              has_function(&p.thread[0], "suite_run"),
                          "%s", p.thread[0].why ? p.thread[0].why : "another function");
        handler_free(&p);
    }
    ck_assert_int_eq(waitpid(pid, &status, WNOHANG), 0);
    await_state(pid, looks[_i].state);
    end(pid);
}

/* Also where the numbers have started again meanwhile, and another thread has a lower one. */
TEST_CASE(its_first_thread_comes_first)
{
    static const pid_t order[] = {42, 7, 40, 43};
    struct handler_process p = {.pid = 42};
    char name[32], line[160];

    files_begin();
    files_write("42/stat", "42 (app) S 1 1 1 0 -1 0 0 0 0 0 3 4 0 0 20 0 4 0 777 0 0\n");
    for (size_t i = 0; i < COUNT(order); i++) {
        snprintf(name, sizeof(name), "42/task/%d/stat", (int) order[COUNT(order) - 1 - i]);
        snprintf(line, sizeof(line), "%d (app) S 1 1 1 0 -1 0 0 0 0 0 3 4 0 0 20 0 4 0 777 0 0\n",
                 (int) order[COUNT(order) - 1 - i]);
        files_write(name, line);
    }
    handler_facts(files_root, &p);
    ck_assert_ptr_null(p.why);
    ck_assert_int_eq(p.threads, COUNT(order));
    for (size_t i = 0; i < COUNT(order); i++)
        ck_assert_int_eq(p.thread[i].tid, order[i]);
    handler_free(&p);
}

/* No stack is wrong; one that is not whole says why. */
static const struct {
    void (*run)(void);
    char state;
    const char *has, *has_not, *why;
} doubts[] = {{wait_above_stale, 'S', "solve", "not_there", NULL},
              {wait_deep, 'S', "recurse", "main", "cut"},
              {run_kernel, 'R', "handler_test_kernel", "main", "not found"}};

TEST_CASES(a_stack_that_is_not_whole_says_so, COUNT(doubts))
{
    pid_t pid = start(doubts[_i].run);
    const struct handler_thread *t;
    struct handler_process p;

    await_work(pid, doubts[_i].state);
    look_at(pid, &p);
    t = &p.thread[0];
    if (can_unwind()) {
        ck_assert(has_function(t, doubts[_i].has) && !has_function(t, doubts[_i].has_not));
        ck_assert(t->is_cut || t->why || has_function(t, "main"));
        if (doubts[_i].why)
            ck_assert(t->is_cut ? !t->why : t->why && strstr(t->why, doubts[_i].why));
    }
    handler_free(&p);
    end(pid);
}

TEST_CASE(frames_of_two_moments_are_not_mixed)
{
    pid_t pid = start(go_to_and_fro);
    struct handler_process p;
    int whole = 0;

    for (int i = 0; i < 200 || whole == 0; i++) {
        const struct handler_thread *t;
        look_at(pid, &p);
        t = &p.thread[0];
        ck_assert(!(has_function(t, "doze_in_a") && has_function(t, "from_b")));
        ck_assert(!(has_function(t, "doze_in_b") && has_function(t, "from_a")));
        whole += !t->why;
        handler_free(&p);
        if (!can_unwind())
            break;
    }
    end(pid);
}

TEST_CASE(one_that_is_stopped_stays_so_and_goes_on)
{
    pid_t pid = start(read_pipe);
    struct handler_process p;

    await_state(pid, 'S');
    kill(pid, SIGSTOP);
    await_state(pid, 'T');
    look_at(pid, &p);
    if (can_unwind())
        ck_assert(has_function(&p.thread[0], "read_pipe"));
    handler_free(&p);
    ck_assert_int_eq(state_of(pid), 'T');
    kill(pid, SIGCONT);
    await_state(pid, 'S');
    end(pid);
}

/* Returns the debugger. */
static pid_t debug(pid_t pid)
{
    pid_t other;
    int fd[2];
    char c = 0;

    ck_assert_int_eq(pipe(fd), 0);
    other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        c = ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
        if (write(fd[1], &c, 1) == 1)
            for (;;)
                pause();
    }
    ck_assert(read(fd[0], &c, 1) == 1 && c == 1);
    return other;
}

TEST_CASE(one_that_a_debugger_holds_is_left_to_it)
{
    pid_t pid = start(spin), debugger = debug(pid);
    struct handler_process p;

    await_work(pid, 'R');
    look_at(pid, &p);
    if (can_unwind())
        ck_assert(has_function(&p.thread[0], "spin"));
    handler_free(&p);
    end(debugger);
    end(pid);
}

TEST_CASE(another_process_of_that_number_is_not_meant)
{
    struct handler_process p = {.pid = getpid(), .start = 1};

    handler_facts(NULL, &p);
    ck_assert_str_eq(p.why, "there is no such process");
    handler_free(&p);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Returns its exit code, -1: a signal ended it. */
static int run(const char *arguments)
{
    char command[512];
    int status;

    snprintf(command, sizeof(command), "exec %s/faultloc-handler %s >/dev/null 2>&1",
             getenv("top_builddir"), arguments);
    status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_CASE(exit_codes)
{
    char arguments[64];

    ck_assert_int_eq(run("--help"), 0);
    ck_assert_int_eq(run("--version"), 0);
    ck_assert_int_eq(run(""), 2);
    ck_assert_int_eq(run("0"), 2);
    ck_assert_int_eq(run("12x"), 2);
    ck_assert_int_eq(run("--nothing 1"), 2);
    ck_assert_int_eq(run("--deadline x 1"), 2);
    ck_assert_int_eq(run("--where 1"), 2);
    ck_assert_int_eq(run("--where x 1"), 2);
    ck_assert_int_eq(run("2000000000"), 1);
    snprintf(arguments, sizeof(arguments), "--no-stacks %d", (int) getpid());
    ck_assert_int_eq(run(arguments), 0);
}

TEST_CASE(an_address_is_named)
{
    char command[256], line[256] = "", *name;
    FILE *f;

    snprintf(command, sizeof(command), "%s/faultloc-handler --where %lx %d", getenv("top_builddir"),
             (unsigned long) (uintptr_t) &an_address_is_named, (int) getpid());
    f = popen(command, "r");
    ck_assert_ptr_nonnull(f);
    if (!fgets(line, sizeof(line), f))
        line[0] = '\0';
    pclose(f);
    name = strstr(line, "an_address_is_named(), test_handler.c:");
    ck_assert_msg(!can_unwind() || name == line, "%s", line);
}
