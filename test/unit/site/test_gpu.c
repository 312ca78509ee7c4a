/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

/* The handler of GPUs, with functions of this program in place of NVML's library. */

#include "faultloc/site/site.h"
#include "files.h"
#include "suite.h"

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* As nvml.h has them. */
struct process {
    unsigned pid;
    unsigned long long memory;
    unsigned instance, compute_instance;
};
struct event {
    void *device;
    unsigned long long type, data;
    unsigned instance, compute_instance;
};

static struct gpu {
    int handle, ecc, rows, usage; /* what the functions return */
    unsigned long long errors, reasons, xid;
    unsigned pending, failed, busy, processes;
    int retiring;
    bool wide;
} gpu[2];
static int init_returns, count_is, running;

#define EXPORT __attribute__((visibility("default")))
EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT int nvmlDeviceGetCount_v2(unsigned *n);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device);
EXPORT int nvmlDeviceGetName(void *device, char *name, unsigned room);
EXPORT int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *n);
EXPORT int nvmlDeviceGetRetiredPagesPendingStatus(void *device, int *is);
EXPORT int nvmlDeviceGetRemappedRows(void *device, unsigned *corrected, unsigned *uncorrected, unsigned *pending,
                                     unsigned *failed);
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits);
EXPORT int nvmlDeviceGetUtilizationRates(void *device, unsigned *rates);
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, struct process *p);
EXPORT int nvmlEventSetCreate(void **set);
EXPORT int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set);
EXPORT int nvmlEventSetWait_v2(void *set, struct event *e, unsigned ms);

int nvmlInit_v2(void)
{
    running += init_returns == 0;
    return init_returns;
}

int nvmlShutdown(void)
{
    running--;
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
    *n = (unsigned) count_is;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device)
{
    *device = &gpu[i % 2];
    return gpu[i % 2].handle;
}

int nvmlDeviceGetName(void *device, char *name, unsigned room)
{
    snprintf(name, room, "H100-%d", device == &gpu[1]);
    return 0;
}

int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *n)
{
    *n = type == 1 && counter == 0 ? ((struct gpu *) device)->errors : 0;
    return ((struct gpu *) device)->ecc;
}

int nvmlDeviceGetRetiredPagesPendingStatus(void *device, int *is)
{
    *is = ((struct gpu *) device)->retiring;
    return 0;
}

int nvmlDeviceGetRemappedRows(void *device, unsigned *corrected, unsigned *uncorrected, unsigned *pending,
                              unsigned *failed)
{
    *corrected = *uncorrected = 0;
    *pending = ((struct gpu *) device)->pending;
    *failed = ((struct gpu *) device)->failed;
    return ((struct gpu *) device)->rows;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits)
{
    *bits = ((struct gpu *) device)->reasons;
    return 0;
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned *rates)
{
    rates[0] = ((struct gpu *) device)->busy;
    rates[1] = 0;
    return ((struct gpu *) device)->usage;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, struct process *p)
{
    unsigned all = ((struct gpu *) device)->processes;
    size_t more = ((struct gpu *) device)->wide ? 8 : 0;

    for (unsigned i = 0; i < all && i < *n; i++) {
        char *at = (char *) p + i * (sizeof(*p) + more);
        memset(at + sizeof(*p), 0, more);
        memcpy(at, &(struct process){.pid = 4711 + i}, sizeof(*p));
    }
    *n = all;
    return 0;
}

int nvmlEventSetCreate(void **set)
{
    *set = gpu;
    return 0;
}

int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set)
{
    (void) device, (void) set;
    return types == 8 ? 0 : 2;
}

int nvmlEventSetWait_v2(void *set, struct event *e, unsigned ms)
{
    (void) set, (void) ms;
    for (int i = 0; i < 2; i++)
        if (gpu[i].xid) {
            *e = (struct event){.device = &gpu[i], .type = 8, .data = gpu[i].xid};
            return 0;
        }
    return 10; /* a timeout */
}

/* "" is this program. */
static const char *ask(const char *library)
{
    static char text[8192];
    struct json_object *request = json_object_new_object();
    char *out = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&out, &len);

    json_object_object_add(request, "library", json_object_new_string(library));
    json_object_object_add(request, "sys_root", json_object_new_string(files_root));
    site_gpu(request, f);
    fclose(f);
    json_object_put(request);
    snprintf(text, sizeof(text), "%s", out);
    free(out);
    ck_assert_int_eq(running, 0);
    return text;
}

BEFORE_EACH
{
    files_begin();
    memset(gpu, 0, sizeof(gpu));
    init_returns = running = 0;
    count_is = 1;
}

#define USAGE "{\"symptom\":\"gpu-usage\",\"text\":\"GPU 0 0 %\"}\n"
#define GPU "\"text\":\"GPU 0 H100-0: "
#define FAILED(words) "{\"symptom\":\"gpu-failed\"," GPU words "\"}\n"
#define SLOW(words) "{\"symptom\":\"gpu-slow\"," GPU words "\"}\n"

static const struct {
    const char *what;
    struct gpu is;
    const char *said;
} states[] = {
    {"well", {.busy = 97, .processes = 2}, "{\"symptom\":\"gpu-usage\",\"text\":\"GPU 0 97 % (4711 4712)\"}\n"},
    {"off the bus", {.handle = 15}, "{\"symptom\":\"gpu-failed\",\"text\":\"GPU 0: it has fallen off the bus\"}\n"},
    {"it falls off while it is asked", {.ecc = 15}, FAILED("it has fallen off the bus")},
    {"it needs a reset", {.rows = 16}, FAILED("it needs a reset")},
    {"another job's", {.handle = 4},
     "{\"text\":\"GPU 0: not known: its device file may not be opened (the job has not been given it)\"}\n"},
    {"no row left", {.failed = 1}, FAILED("a bad row of its memory could not be replaced") USAGE},
    {"a row pending", {.pending = 1},
     "{" GPU "a bad row of its memory waits for a reset to be replaced\"}\n" USAGE},
    {"a page pending", {.rows = 3, .retiring = 1},
     "{" GPU "a bad page of its memory waits for a reset to be retired\"}\n" USAGE},
    {"old errors", {.errors = 5},
     "{" GPU "5 uncorrected errors of its memory since the driver was loaded\"}\n" USAGE},
    {"no ECC", {.ecc = 3, .errors = 5}, USAGE},
    {"hot", {.reasons = 0x40 | 0x08}, SLOW("heat: the hardware has lowered its clock") USAGE},
    {"short of power", {.reasons = 0x80}, SLOW("power: the node's supply has lowered its clock") USAGE},
    {"at its limit", {.reasons = 0x04}, "{\"text\":\"at the power limit: GPU 0\"}\n" USAGE},
    {"idle", {.reasons = 0x01}, USAGE},
    {"an Xid of the hardware", {.xid = 79}, FAILED("Xid 79") USAGE},
    {"an Xid of a program", {.xid = 13}, "{" GPU "Xid 13\"}\n" USAGE},
    {"an Xid that nobody knows", {.xid = 4711}, "{" GPU "Xid 4711\"}\n" USAGE},
    {"a driver that writes more of a process", {.busy = 97, .processes = 2, .wide = true},
     "{\"symptom\":\"gpu-usage\",\"text\":\"GPU 0 97 % (4711 4712)\"}\n"},
    {"as many as there is room for of such", {.busy = 1, .processes = 32, .wide = true}, NULL},
    {"nonsense of a driver", {.busy = 4000000000u}, ""},
    {"more processes than there is room for", {.busy = 1, .processes = 4000}, NULL},
};

TEST_CASES(a_gpu, COUNT(states))
{
    const char *said;

    gpu[0] = states[_i].is;
    said = ask("");
    if (states[_i].said)
        ck_assert_str_eq(said, states[_i].said);
}

TEST_CASE(of_two_the_one_that_failed_is_named)
{
    count_is = 2;
    gpu[0].busy = 100;
    gpu[1].handle = 15;
    ck_assert_str_eq(ask(""), "{\"symptom\":\"gpu-failed\",\"text\":\"GPU 1: it has fallen off the bus\"}\n"
                              "{\"symptom\":\"gpu-usage\",\"text\":\"GPU 0 100 %\"}\n");
}

TEST_CASE(all_at_their_power_limit_are_one_line)
{
    count_is = 2;
    gpu[0].reasons = gpu[1].reasons = 0x04;
    ck_assert_str_eq(ask(""), "{\"text\":\"at the power limit: GPU 0, 1\"}\n"
                              "{\"symptom\":\"gpu-usage\",\"text\":\"GPU 0 0 %, 1 0 %\"}\n");
}

TEST_CASE(a_driver_that_counts_wrongly)
{
    count_is = 0x7fffffff;
    ck_assert_ptr_nonnull(strstr(ask(""), "gpu-usage"));
}

#define CARD "class/drm/card1/device/"
#define AMD_IS(busy) CARD "vendor", "0x1002\n", CARD "gpu_busy_percent", busy
#define AMD_USAGE "{\"symptom\":\"gpu-usage\",\"text\":\"GPU card1 97 %\"}\n"

static const struct {
    const char *file[6], *said; /* NULL: that there is none */
} cards[] = {
    {{AMD_IS("97\n")}, AMD_USAGE},
    {{AMD_IS("97\n"), CARD "ras/umc_err_count", "ue: 0\nce: 3\n"}, AMD_USAGE},
    {{AMD_IS("97\n"), CARD "ras/umc_err_count", "ue: 2\nce: 3\n"},
     "{\"text\":\"GPU card1: 2 uncorrected errors of its memory since the driver was loaded\"}\n" AMD_USAGE},
    {{CARD "vendor", "0x8086\n", CARD "gpu_busy_percent", "97\n"}, NULL},
    {{CARD "vendor", "0x1002\n"}, NULL},
    {{AMD_IS("101\n")}, NULL},
    {{AMD_IS("-1\n")}, NULL},
    {{AMD_IS("no\n")}, NULL},
    {{AMD_IS("")}, NULL},
};

TEST_CASES(one_of_amd, COUNT(cards))
{
    const char *said, *const *file = cards[_i].file;

    for (int i = 0; i < 6 && file[i]; i += 2)
        files_write(file[i], file[i + 1]);
    said = ask("/nowhere/libnvidia-ml.so.1");
    if (cards[_i].said)
        ck_assert_str_eq(said, cards[_i].said);
    else
        ck_assert_ptr_nonnull(strstr(said, "\"why_not\":\"no GPU of AMD, "));
}

TEST_CASE(why_nothing_is_known)
{
    ck_assert_ptr_nonnull(strstr(ask("/nowhere/libnvidia-ml.so.1"), "and NVML cannot be loaded"));
    ck_assert_ptr_nonnull(strstr(ask("libm.so.6"), "and NVML cannot be loaded"));
    init_returns = 9;
    ck_assert_str_eq(ask(""), "{\"why_not\":\"the driver is not loaded\"}\n");
    init_returns = 0;
    count_is = 0;
    ck_assert_str_eq(ask(""), "{\"text\":\"the node has no GPU that this user may see\"}\n");
}
