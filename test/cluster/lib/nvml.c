/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* In place of NVIDIA's NVML, for tests of whole jobs: a library of one GPU, in the state that a file
 * beside it has, its name and ".state": "XID REASONS BUSY PID". */

struct process { /* nvmlProcessInfo_t of the third version */
    unsigned pid;
    unsigned long long memory;
    unsigned instance, compute_instance;
};
struct event { /* nvmlEventData_t */
    void *device;
    unsigned long long type, data;
    unsigned instance, compute_instance;
};

static struct {
    unsigned long long xid, reasons;
    unsigned busy, pid;
} gpu;

int nvmlInit_v2(void)
{
    char path[4096];
    Dl_info info;
    FILE *f;

    if (!dladdr(&gpu, &info))
        return 999;
    snprintf(path, sizeof(path), "%s.state", info.dli_fname);
    f = fopen(path, "r");
    if (!f || fscanf(f, "%llu %llu %u %u", &gpu.xid, &gpu.reasons, &gpu.busy, &gpu.pid) != 4)
        return 999;
    fclose(f);
    return 0;
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
    *n = 1;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device)
{
    *device = &gpu;
    return i == 0 ? 0 : 2;
}

int nvmlDeviceGetName(void *device, char *name, unsigned room)
{
    (void) device;
    snprintf(name, room, "H100");
    return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits)
{
    (void) device;
    *bits = gpu.reasons;
    return 0;
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned *rates)
{
    (void) device;
    rates[0] = gpu.busy;
    rates[1] = 0;
    return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, struct process *p)
{
    (void) device;
    *n = gpu.pid ? 1 : 0;
    *p = (struct process){.pid = gpu.pid};
    return 0;
}

int nvmlEventSetCreate(void **set)
{
    *set = &gpu;
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
    *e = (struct event){.device = &gpu, .type = 8, .data = gpu.xid};
    return gpu.xid ? 0 : 10; /* a timeout */
}
