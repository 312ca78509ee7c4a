/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_SYMPTOM_H_INCLUDED
#define FTREE_SYMPTOM_H_INCLUDED

#include "ftree/base/types.h"

#pragma GCC visibility push(hidden)

/* Symptoms: what goes into a handle, whichever middleware saw it. */

/* Who observes: the middleware that a symptom comes from. */
#define FTREE_SOURCES(X) \
    X(FTREE_SOURCE_MESSAGE_PASSING, "message-passing") \
    X(FTREE_SOURCE_OPERATING_SYSTEM, "operating-system") \
    X(FTREE_SOURCE_PROCESS_MANAGER, "process-manager") \
    X(FTREE_SOURCE_JOB_SCHEDULER, "job-scheduler") \
    X(FTREE_SOURCE_NETWORK_MANAGER, "network-manager") \
    X(FTREE_SOURCE_FILE_SYSTEM, "file-system") \
    X(FTREE_SOURCE_HARDWARE_MONITOR, "hardware-monitor") \
    X(FTREE_SOURCE_USER, "user")

enum ftree_source { FTREE_SOURCES(FTREE_ENUM) FTREE_SOURCE_COUNT };

#define FTREE_SEVERITIES(X) \
    X(FTREE_SEVERITY_INFO, "info") \
    X(FTREE_SEVERITY_WARNING, "warning") \
    X(FTREE_SEVERITY_ERROR, "error") \
    X(FTREE_SEVERITY_FATAL, "fatal")

enum ftree_severity { FTREE_SEVERITIES(FTREE_ENUM) FTREE_SEVERITY_COUNT };

/* The one table of symptoms: identifier, name in rules and reports, source, kind of component it
 * is about, severity where the reporter gives none, meaning.  At most 63: rules keep sets of them
 * in a word. */
#define FTREE_SYMPTOMS(X) \
    X(FTREE_SYMPTOM_PEER_STALL, "peer-stall", MESSAGE_PASSING, RANK, WARNING, \
      "a rank waits for this one longer than the stall limit") \
    X(FTREE_SYMPTOM_PEER_SILENT, "peer-silent", MESSAGE_PASSING, NODE, WARNING, \
      "the node's agent does not acknowledge a control message") \
    X(FTREE_SYMPTOM_FLOOD_QUERY, "flood-query", MESSAGE_PASSING, NODE, INFO, \
      "a rank waits and nobody knows for whom: every node is asked") \
    X(FTREE_SYMPTOM_CHAINED, "chained-stall", MESSAGE_PASSING, RANK, WARNING, \
      "a rank that others wait for is well and waits for this one") \
    X(FTREE_SYMPTOM_PEER_UNREACHABLE, "peer-unreachable", MESSAGE_PASSING, NODE, ERROR, \
      "the netmod cannot reach the node (EHOSTUNREACH, ENETUNREACH, ETIMEDOUT)") \
    X(FTREE_SYMPTOM_PEER_RESET, "peer-reset", MESSAGE_PASSING, RANK, ERROR, \
      "the netmod's connection to the rank was reset or refused (ECONNRESET, ECONNREFUSED, EPIPE)") \
    X(FTREE_SYMPTOM_PROCESS_GONE, "process-gone", OPERATING_SYSTEM, RANK, FATAL, \
      "the process ended without having called MPI_Finalize") \
    X(FTREE_SYMPTOM_PROCESS_STOPPED, "process-stopped", OPERATING_SYSTEM, RANK, ERROR, \
      "the process is in state T, or frozen by its control group") \
    X(FTREE_SYMPTOM_OUT_OF_MEMORY, "out-of-memory", OPERATING_SYSTEM, RANK, FATAL, \
      "the kernel killed the process because memory ran out") \
    X(FTREE_SYMPTOM_MEMORY_PRESSURE, "memory-pressure", OPERATING_SYSTEM, NODE, WARNING, \
      "tasks of the node stall for memory (PSI)") \
    X(FTREE_SYMPTOM_CPU_PRESSURE, "cpu-pressure", OPERATING_SYSTEM, NODE, WARNING, \
      "tasks of the node wait for a CPU (PSI)") \
    X(FTREE_SYMPTOM_CPU_USAGE, "cpu-usage", OPERATING_SYSTEM, NODE, INFO, \
      "the CPU utilization, within its normal range") \
    X(FTREE_SYMPTOM_KERNEL_ERROR, "kernel-error", OPERATING_SYSTEM, NODE, ERROR, \
      "the node's kernel logged an oops, a lockup or a hung task") \
    X(FTREE_SYMPTOM_CPU_THROTTLED, "cpu-throttled", OPERATING_SYSTEM, NODE, WARNING, \
      "the node's processors slow down because they are hot") \
    X(FTREE_SYMPTOM_CLOCK_CHANGED, "clock-changed", OPERATING_SYSTEM, NODE, WARNING, \
      "the node's kernel has given up the processor's clock for a slow one") \
    X(FTREE_SYMPTOM_INTERFACE_DOWN, "interface-down", OPERATING_SYSTEM, NIC, ERROR, \
      "the data interface is down or gone on its own host") \
    X(FTREE_SYMPTOM_CARRIER_LOST, "carrier-lost", OPERATING_SYSTEM, LINK, ERROR, \
      "the data interface is up but has no carrier") \
    X(FTREE_SYMPTOM_CARRIER_FLAPS, "carrier-flaps", OPERATING_SYSTEM, LINK, WARNING, \
      "the carrier of the data interface goes and comes back again and again") \
    X(FTREE_SYMPTOM_LINK_SLOW, "link-slow", OPERATING_SYSTEM, LINK, WARNING, \
      "the data interface has a lower speed than before, or than those of most of the job's nodes") \
    X(FTREE_SYMPTOM_PROCESS_EXITED, "process-exited", PROCESS_MANAGER, RANK, ERROR, \
      "the process ended before MPI_Finalize, with a status or a signal") \
    X(FTREE_SYMPTOM_PROXY_LOST, "proxy-lost", PROCESS_MANAGER, NODE, ERROR, \
      "the launcher lost the connection to its proxy on the node") \
    X(FTREE_SYMPTOM_HEARTBEAT_LOST, "heartbeat-lost", JOB_SCHEDULER, NODE, ERROR, \
      "the scheduler has had no heartbeat from the node") \
    X(FTREE_SYMPTOM_NODE_DOWN, "node-down", JOB_SCHEDULER, NODE, ERROR, \
      "the scheduler has marked the node down") \
    X(FTREE_SYMPTOM_NODE_DRAINED, "node-drained", JOB_SCHEDULER, NODE, INFO, \
      "the scheduler gives the node no new jobs") \
    X(FTREE_SYMPTOM_PORT_DOWN, "port-down", NETWORK_MANAGER, LINK, ERROR, \
      "the switch port that the node is on is down") \
    X(FTREE_SYMPTOM_PORT_DISABLED, "port-disabled", NETWORK_MANAGER, LINK, ERROR, \
      "the switch port that the node is on is switched off") \
    X(FTREE_SYMPTOM_PORT_UP, "port-up", NETWORK_MANAGER, LINK, INFO, \
      "the switch port that the node is on is up") \
    X(FTREE_SYMPTOM_LINK_ERRORS, "link-errors", NETWORK_MANAGER, LINK, WARNING, \
      "symbol errors, drops or retransmits on the node's link") \
    X(FTREE_SYMPTOM_SWITCH_DOWN, "switch-down", NETWORK_MANAGER, SWITCH, ERROR, \
      "the switch does not answer its manager") \
    X(FTREE_SYMPTOM_CONGESTION, "congestion", NETWORK_MANAGER, SWITCH, WARNING, \
      "the switch's buffers have been full for a long time") \
    X(FTREE_SYMPTOM_MOUNT_SILENT, "mount-silent", FILE_SYSTEM, NODE, ERROR, \
      "the server of a mounted file system does not answer the node") \
    X(FTREE_SYMPTOM_IO_ERROR, "io-error", FILE_SYSTEM, NODE, ERROR, \
      "a read or write failed with EIO") \
    X(FTREE_SYMPTOM_IO_SLOW, "io-slow", FILE_SYSTEM, NODE, WARNING, \
      "reads and writes of the node take far longer than usual") \
    X(FTREE_SYMPTOM_POWER_OFF, "power-off", HARDWARE_MONITOR, NODE, FATAL, \
      "the node's BMC says that its power is off") \
    X(FTREE_SYMPTOM_POWER_ON, "power-on", HARDWARE_MONITOR, NODE, INFO, \
      "the node's BMC says that its power is on") \
    X(FTREE_SYMPTOM_TEMPERATURE, "temperature-high", HARDWARE_MONITOR, NODE, WARNING, \
      "a sensor of the node is above its critical threshold") \
    X(FTREE_SYMPTOM_FAN_FAILED, "fan-failed", HARDWARE_MONITOR, NODE, WARNING, \
      "a fan of the node has stopped") \
    X(FTREE_SYMPTOM_SUPPLY_FAILED, "power-supply-failed", HARDWARE_MONITOR, NODE, WARNING, \
      "a power supply of the node has failed, or gets no power") \
    X(FTREE_SYMPTOM_CPU_FAILED, "cpu-failed", HARDWARE_MONITOR, NODE, ERROR, \
      "a processor of the node had an internal error, or has switched itself off") \
    X(FTREE_SYMPTOM_DISK_FAILED, "disk-failed", HARDWARE_MONITOR, NODE, WARNING, \
      "a disk of the node has failed, or is about to") \
    X(FTREE_SYMPTOM_MEMORY_CORRECTED, "memory-corrected", HARDWARE_MONITOR, NODE, INFO, \
      "memory errors that were corrected") \
    X(FTREE_SYMPTOM_MEMORY_UNCORRECTED, "memory-uncorrected", HARDWARE_MONITOR, NODE, FATAL, \
      "memory errors that could not be corrected") \
    X(FTREE_SYMPTOM_GPU_FAILED, "gpu-failed", HARDWARE_MONITOR, NODE, ERROR, \
      "a GPU of the node has failed: it needs a reset, or to be replaced") \
    X(FTREE_SYMPTOM_GPU_SLOW, "gpu-slow", HARDWARE_MONITOR, NODE, WARNING, \
      "a GPU of the node runs below its clock because it is hot or lacks power") \
    X(FTREE_SYMPTOM_GPU_USAGE, "gpu-usage", HARDWARE_MONITOR, NODE, INFO, \
      "what the node's GPUs do: utilization, and the processes on them") \
    X(FTREE_SYMPTOM_USER_SUSPECTS, "user-suspects", USER, NODE, INFO, \
      "a user or a program of theirs asks for an examination of the component")

enum ftree_symptom_kind { FTREE_SYMPTOMS(FTREE_ENUM) FTREE_SYMPTOM_COUNT };
_Static_assert(FTREE_SYMPTOM_COUNT < 64, "a set of symptoms is a word");

#define FTREE_REPORTERS_MAX 4

/* The one form of a symptom, no matter who saw it.  Equal ones (kind and component) are merged on
 * their way: `count` adds up, first and last span them, of the reporters some are kept. */
struct ftree_symptom {
    uint8_t kind; /* enum ftree_symptom_kind, which also says the source */
    uint8_t severity; /* enum ftree_severity */
    struct ftree_component about;
    int32_t reporters;
    int32_t reporter[FTREE_REPORTERS_MAX]; /* nodes */
    uint32_t count;
    int32_t error; /* errno, 0: none */
    ftree_time first, last;
    char detail[FTREE_DETAIL_MAX];
};

const char *ftree_source_name(int source);
const char *ftree_severity_name(int severity);

/* Purpose: the row of a symptom in the table; for a number that is none: "?" and zeros. */
struct ftree_symptom_info {
    const char *name;
    uint8_t source, kind, severity;
    const char *meaning;
};
const struct ftree_symptom_info *ftree_symptom_info(int kind);

/* Purpose: the number of a name, -1: there is no such. */
int ftree_symptom_by_name(const char *name);
int ftree_severity_by_name(const char *name);

#pragma GCC visibility pop

#endif /* FTREE_SYMPTOM_H_INCLUDED */
