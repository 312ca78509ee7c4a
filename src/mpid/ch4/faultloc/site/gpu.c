/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#include "faultloc/site/site.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>

/*
 * Handler: the GPUs of the node that it runs on, by NVIDIA's NVML; gpu_amd.c has those of AMD.  The
 * library comes with the driver, so it is loaded, not linked, and what of its interface is used is
 * declared here.  Xids are reported as long as somebody listens: of those before, the kernel's log knows
 * (os).
 *
 * Source: NVML API Reference Guide, nvml.h.
 */

#define GPUS_MAX 64
#define PROCESSES_MAX 32
#define XID_MS 100
#define NVML_SUCCESS 0
#define NVML_NO_PERMISSION 4
#define NVML_INSUFFICIENT_SIZE 7
#define NVML_DRIVER_NOT_LOADED 9
#define NVML_GPU_IS_LOST 15
#define NVML_RESET_REQUIRED 16
#define NVML_UNCORRECTED 1
#define NVML_VOLATILE 0
#define NVML_EVENT_XID 8ULL

typedef void *device; /* nvmlDevice_t */

struct process { /* nvmlProcessInfo_t of the third version */
    unsigned pid;
    unsigned long long memory;
    unsigned instance, compute_instance;
};
struct utilization { /* nvmlUtilization_t */
    unsigned gpu, memory;
};
struct event { /* nvmlEventData_t */
    device device;
    unsigned long long type, data;
    unsigned instance, compute_instance;
};

/* What is called; those that a driver may lack stand behind the first five. */
#define CALLS(X) \
    X(init, "nvmlInit_v2", (void) ) \
    X(shutdown, "nvmlShutdown", (void) ) \
    X(count, "nvmlDeviceGetCount_v2", (unsigned *) ) \
    X(handle, "nvmlDeviceGetHandleByIndex_v2", (unsigned, device *) ) \
    X(usage, "nvmlDeviceGetUtilizationRates", (device, struct utilization *) ) \
    X(name, "nvmlDeviceGetName", (device, char *, unsigned) ) \
    X(ecc, "nvmlDeviceGetTotalEccErrors", (device, int, int, unsigned long long *) ) \
    X(retiring, "nvmlDeviceGetRetiredPagesPendingStatus", (device, int *) ) \
    X(rows, "nvmlDeviceGetRemappedRows", \
      (device, unsigned *, unsigned *, unsigned *, unsigned *) ) \
    X(throttled, "nvmlDeviceGetCurrentClocksThrottleReasons", (device, unsigned long long *) ) \
    X(processes, "nvmlDeviceGetComputeRunningProcesses_v3", \
      (device, unsigned *, struct process *) ) \
    X(set_create, "nvmlEventSetCreate", (void **) ) \
    X(listen, "nvmlDeviceRegisterEvents", (device, unsigned long long, void *) ) \
    X(wait, "nvmlEventSetWait_v2", (void *, struct event *, unsigned) )
#define NEEDED 5

struct nvml {
#define MEMBER(name, symbol, arguments) int(*name) arguments;
    CALLS(MEMBER)
#undef MEMBER
    FILE *out;
    void *events;
    bool failed[GPUS_MAX];
    device gpu[GPUS_MAX];
    unsigned n;
    char usage_text[200], limit_text[200];
};

/* ---- the library ----------------------------------------------------------------------------- */

/* What a driver of another age lacks. */
static int unsupported(void)
{
    return 3;
}

static bool load(struct nvml *l, const char *path)
{
    static const char *const symbols[] = {
#define SYMBOL(name, symbol, arguments) symbol,
        CALLS(SYMBOL)
#undef SYMBOL
    };
    void *const members[] = {
#define PLACE(name, symbol, arguments) &l->name,
        CALLS(PLACE)
#undef PLACE
    };
    int (*const none)(void) = unsupported;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL), *at;

    for (size_t i = 0; library && i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        at = dlsym(library, symbols[i]);
        if (!at && i < NEEDED)
            return false;
        memcpy(members[i], at ? (const void *) &at : (const void *) &none, sizeof(at));
    }
    return library != NULL;
}

/* ---- one GPU --------------------------------------------------------------------------------- */

static void say(struct nvml *l, unsigned i, const char *symptom, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void say(struct nvml *l, unsigned i, const char *symptom, const char *format, ...)
{
    char text[200], name[40] = "";
    int at;
    va_list args;

    if (l->gpu[i] && l->name(l->gpu[i], name, sizeof(name)) != NVML_SUCCESS)
        *name = '\0';
    at = snprintf(text, sizeof(text), "GPU %u%s%.39s: ", i, *name ? " " : "", name);
    va_start(args, format);
    vsnprintf(text + at, sizeof(text) - (size_t) at, format, args);
    va_end(args);
    site_say(l->out, symptom, text);
}

/* True: it answers.  One line of a GPU that has failed suffices. */
static bool answers(struct nvml *l, unsigned i, int rc)
{
    if ((rc == NVML_GPU_IS_LOST || rc == NVML_RESET_REQUIRED) && !l->failed[i]) {
        l->failed[i] = true;
        say(l, i, "gpu-failed",
            rc == NVML_GPU_IS_LOST ? "it has fallen off the bus" : "it needs a reset");
    }
    return rc == NVML_SUCCESS;
}

/* Rows and pages that are pending are taken out of use at the next reset; the GPU works till then. */
static void look_at_memory(struct nvml *l, unsigned i)
{
    unsigned corrected, uncorrected, pending = 0, failed = 0;
    unsigned long long errors;
    int retiring;

    if (answers(l, i, l->rows(l->gpu[i], &corrected, &uncorrected, &pending, &failed)) &&
        (failed || pending))
        say(l, i, failed ? "gpu-failed" : NULL,
            failed ? "a bad row of its memory could not be replaced"
                   : "a bad row of its memory waits for a reset to be replaced");
    else if (answers(l, i, l->retiring(l->gpu[i], &retiring)) && retiring == 1)
        say(l, i, NULL, "a bad page of its memory waits for a reset to be retired");
    else if (answers(l, i, l->ecc(l->gpu[i], NVML_UNCORRECTED, NVML_VOLATILE, &errors)) &&
             errors > 0)
        say(l, i, NULL, "%llu uncorrected errors of its memory since the driver was loaded",
            errors);
}

static const struct {
    unsigned long long bit;
    const char *symptom, *why;
} reasons[] = {
    {0x40, "gpu-slow", "heat: the hardware has lowered its clock"},
    {0x20, "gpu-slow", "heat: the driver has lowered its clock"},
    {0x80, "gpu-slow", "power: the node's supply has lowered its clock"},
    {0x08, "gpu-slow", "heat or power: the hardware has lowered its clock"},
};
#define POWER_LIMIT 0x04

static void look_at_clock(struct nvml *l, unsigned i)
{
    unsigned long long bits;

    if (!answers(l, i, l->throttled(l->gpu[i], &bits)))
        return;
    for (size_t j = 0; j < sizeof(reasons) / sizeof(reasons[0]); j++)
        if (bits & reasons[j].bit) {
            say(l, i, reasons[j].symptom, "%s", reasons[j].why);
            return;
        }
    if (bits & POWER_LIMIT) {
        size_t at = strlen(l->limit_text);
        snprintf(l->limit_text + at, sizeof(l->limit_text) - at, "%s%u",
                 at ? ", " : "at the power limit: GPU ", i);
    }
}

/* Some drivers write 32 bytes of a process, and so behind the last one. */
static size_t size_of(const struct process *p, unsigned n)
{
    return p[n].pid == ~0U && p[n].memory == ~0ULL ? sizeof(*p) : sizeof(*p) + 8;
}

/* "GPU 0 100 % (4711 4712), 1 0 % (4713)": one line of all. */
static void note_usage(struct nvml *l, unsigned i)
{
    struct process p[PROCESSES_MAX * 2];
    struct utilization u;
    unsigned n = PROCESSES_MAX;
    size_t at = strlen(l->usage_text), room = sizeof(l->usage_text) - at;

    if (!answers(l, i, l->usage(l->gpu[i], &u)) || u.gpu > 100)
        return;
    snprintf(l->usage_text + at, room, "%s%u %u %%", at ? ", " : "GPU ", i, u.gpu);
    memset(p, 0xff, sizeof(p));
    if (!answers(l, i, l->processes(l->gpu[i], &n, p)) || n > PROCESSES_MAX)
        return;
    for (unsigned j = 0, pid; j < n; j++) {
        at = strlen(l->usage_text), room = sizeof(l->usage_text) - at;
        memcpy(&pid, (char *) p + j * size_of(p, n), sizeof(pid));
        snprintf(l->usage_text + at, room, "%s%u%s", j ? " " : " (", pid, j + 1 == n ? ")" : "");
    }
}

static void look(struct nvml *l, unsigned i)
{
    int rc = l->handle(i, &l->gpu[i]);

    if (rc != NVML_SUCCESS)
        l->gpu[i] = NULL;
    if (rc == NVML_NO_PERMISSION)
        say(l, i, NULL,
            "not known: its device file may not be opened (the job has not been given it)");
    if (!answers(l, i, rc) || !l->gpu[i])
        return;
    if (l->events)
        answers(l, i, l->listen(l->gpu[i], NVML_EVENT_XID, l->events));
    look_at_memory(l, i);
    if (!l->failed[i])
        look_at_clock(l, i);
    if (!l->failed[i])
        note_usage(l, i);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Others are the program's own, such as 13, 31, 43 and 45, or say that something was mended. */
bool site_xid_fails(unsigned long long xid)
{
    static const unsigned short failures[] = {48, 62, 64, 74, 79, 95, 119, 120};

    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
        if (xid == failures[i])
            return true;
    return false;
}

static void hear_xid(struct nvml *l)
{
    struct event e = {.device = NULL};

    if (!l->events || l->wait(l->events, &e, XID_MS) != NVML_SUCCESS || e.type != NVML_EVENT_XID)
        return;
    for (unsigned i = 0; i < l->n; i++)
        if (l->gpu[i] && l->gpu[i] == e.device)
            say(l, i, site_xid_fails(e.data) ? "gpu-failed" : NULL, "Xid %llu", e.data);
}

static void look_at_all(struct nvml *l)
{
    if (l->count(&l->n) != NVML_SUCCESS || l->n == 0) {
        site_say(l->out, NULL, "the node has no GPU that this user may see");
        return;
    }
    l->n = l->n < GPUS_MAX ? l->n : GPUS_MAX;
    if (l->set_create(&l->events) != NVML_SUCCESS)
        l->events = NULL;
    for (unsigned i = 0; i < l->n; i++)
        look(l, i);
    hear_xid(l);
    if (*l->limit_text)
        site_say(l->out, NULL, l->limit_text);
    if (*l->usage_text)
        site_say(l->out, "gpu-usage", l->usage_text);
}

void site_gpu(struct json_object *request, FILE *out)
{
    static struct nvml l;
    const char *library = faultloc_text(request, "library"), *sys = faultloc_text(request, "sys_root");
    int rc;

    l = (struct nvml){.out = out};
    if (!load(&l, library ? library : "libnvidia-ml.so.1")) {
        if (!site_gpu_amd(sys ? sys : "/sys", out))
            site_say_not(out, "no GPU of AMD, and NVML cannot be loaded: no libnvidia-ml.so.1 of the driver here");
        return;
    }
    rc = l.init();
    if (rc == NVML_SUCCESS)
        look_at_all(&l);
    else
        site_say_not(out, rc == NVML_DRIVER_NOT_LOADED ? "the driver is not loaded"
                          : rc == NVML_NO_PERMISSION   ? "this user may not ask the driver"
                                                       : "NVML does not begin");
    if (rc == NVML_SUCCESS)
        l.shutdown();
}
