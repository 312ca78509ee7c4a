/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef FTREE_FAULT_CLASSES_H_INCLUDED
#define FTREE_FAULT_CLASSES_H_INCLUDED

/*
 * The classes of verdicts: all that is the same for each verdict of a class.  What decides for a
 * class, and from what, is in the rule base (rules/rules_builtin.json).  Lists of classes in
 * schemas, manual pages, README.md and scripts are made from this table by
 * maint/list-classes.sh --update.
 */

/* What a verdict of a class says, beside what is wrong. */
#define FTREE_ENDS_NODE 1 /* nothing of its node goes on, if it is about all of that */
#define FTREE_ENDS_RANKS 2 /* the ranks of its component are gone for good */
#define FTREE_FOR_EVER 4 /* it is never over */
#define FTREE_IS_WAIT 8 /* ranks themselves say what each of them waits for */
#define FTREE_IS_PATH 16 /* it is about a data path: that somebody waits there is no news */
#define FTREE_ENDS_JOB 32 /* the action "abort" ends the job for it: not where the job is only slow,
                           * nor where the fault was not found */
#define FTREE_IS_WARNING 256 /* nothing is lost: it explains nothing that happens */
#define FTREE_NODE_DEAD 64 /* its node is reported as dead, */
#define FTREE_NODE_UNREACHABLE 128 /* or as unreachable */

/* Whom to call: who can mend it.  Of the first cause, where one is known; of "unknown" those of what
 * remains possible. */
#define FTREE_TICKETS(X) \
    X(FTREE_TICKET_OF_CLASS, "") /* as the class has it */ \
    X(FTREE_TICKET_NODE, "node") \
    X(FTREE_TICKET_NETWORK, "network") \
    X(FTREE_TICKET_STORAGE, "storage") \
    X(FTREE_TICKET_APPLICATION, "application")

/* For how long a verdict on a rank explains that somebody waits for it: not at all; for a stall
 * limit where it is the word of its own agent, of which nobody would notice that it is lost later;
 * always. */
enum ftree_explains { FTREE_EXPLAINS_NEVER, FTREE_EXPLAINS_WHILE, FTREE_EXPLAINS_ALWAYS };

/*
 * A row a class, in the order of their numbers (MPI_T events and messages have these: new ones
 * come last):
 *   identifier, name as users meet it, kind of component, origin, whom to call, for how long it
 *   explains a wait,
 *   what it says,
 *   the headline after the component, of one and of several,
 *   the words for its end,
 *   when it is decided for, as README.md says it.
 */
#define FTREE_CLASSES(X) \
    X(FTREE_CLASS_NODE_OUTAGE, "node-outage", NODE, HARDWARE, NODE, NEVER, \
      FTREE_ENDS_NODE | FTREE_ENDS_RANKS | FTREE_ENDS_JOB | FTREE_NODE_DEAD, \
      "is down", "are down", \
      "the node answers again", \
      "the node is silent on every path, and another node, where there is one, answers") \
    X(FTREE_CLASS_NODE_FROZEN, "node-frozen", NODE, HARDWARE, NODE, NEVER, \
      FTREE_ENDS_NODE | FTREE_ENDS_JOB | FTREE_NODE_DEAD, \
      "is frozen", "are frozen", \
      "the node answers again", \
      "the node's kernel accepts connections, but neither of FaultLoc's two processes answers") \
    X(FTREE_CLASS_PROCESS_CRASH, "process-crash", RANK, SOFTWARE, APPLICATION, ALWAYS, \
      FTREE_ENDS_NODE | FTREE_ENDS_RANKS | FTREE_FOR_EVER | FTREE_ENDS_JOB, \
      "ended without MPI_Finalize", "ended without MPI_Finalize", \
      "the fault is over", \
      "the process ended without MPI_Finalize, and its node lives") \
    X(FTREE_CLASS_PROCESS_STOPPED, "process-stopped", RANK, SOFTWARE, APPLICATION, WHILE, FTREE_ENDS_JOB, \
      "is stopped", "are stopped", \
      "the process runs again", \
      "the process is stopped, or a debugger holds it") \
    X(FTREE_CLASS_NIC_FAULT, "nic-fault", NIC, HARDWARE, NODE, NEVER, \
      FTREE_IS_PATH | FTREE_ENDS_JOB | FTREE_NODE_UNREACHABLE, \
      "has failed", "have failed", \
      "the fault is over", \
      "the data network does not reach the node, and the node says that its data interface is" \
      " down or gone") \
    X(FTREE_CLASS_LINK_FAULT, "link-fault", LINK, HARDWARE, NETWORK, NEVER, \
      FTREE_IS_PATH | FTREE_ENDS_JOB | FTREE_NODE_UNREACHABLE, \
      "has failed", "have failed", \
      "the fault is over", \
      "the same, and the interface has no carrier; or packets pass in one direction only") \
    X(FTREE_CLASS_SWITCH_FAULT, "switch-fault", SWITCH, HARDWARE, NETWORK, NEVER, \
      FTREE_ENDS_JOB | FTREE_NODE_UNREACHABLE, \
      "has failed", "have failed", \
      "the fault is over", \
      "all nodes behind a switch of the topology, two at least, are silent, and others answer") \
    X(FTREE_CLASS_NETWORK_DEGRADED, "network-degraded", LINK, HARDWARE, NETWORK, NEVER, \
      FTREE_IS_PATH, \
      "is degraded", "are degraded", \
      "the fault is over", \
      "on the node's data path, in one direction at least, packets are lost or late, or large ones do " \
      "not pass, while those of other nodes pass; or its carrier comes and goes") \
    X(FTREE_CLASS_USER_CODE_HANG, "user-code-hang", RANK, SOFTWARE, APPLICATION, NEVER, FTREE_ENDS_JOB, \
      "hangs in user code", "hang in user code", \
      "the fault is over", \
      "all other ranks, or some while the rest continues, wait for ranks outside MPI that do " \
      "not return, for far longer than the job's own history makes plausible; or a process is " \
      "held by the memory limit of its control group") \
    X(FTREE_CLASS_MPI_HANG, "mpi-hang", RANK, SOFTWARE, APPLICATION, NEVER, FTREE_ENDS_JOB, \
      "hangs in MPI", "hang in MPI", \
      "the fault is over", \
      "the same for ranks in an MPI call that makes no progress: in a driver, or in code of " \
      "the program that MPI called") \
    X(FTREE_CLASS_IO_HANG, "io-hang", RANK, HARDWARE, STORAGE, NEVER, FTREE_ENDS_JOB, \
      "hangs in input or output", "hang in input or output", \
      "the fault is over", \
      "a process is in disk sleep, and its node's file system was reported in trouble, or " \
      "others wait for it and it does not return, or all ranks are in disk sleep") \
    X(FTREE_CLASS_DEADLOCK, "deadlock", RANK, SOFTWARE, APPLICATION, NEVER, FTREE_IS_WAIT | FTREE_ENDS_JOB, \
      "waits for itself", "wait for each other", \
      "its ranks are no longer seen to wait for each other", \
      "ranks wait for each other, or for a message of one that has called MPI_Finalize, and " \
      "no message under way will end that") \
    X(FTREE_CLASS_COLLECTIVE_MISMATCH, "collective-mismatch", RANK, SOFTWARE, APPLICATION, NEVER, \
      FTREE_IS_WAIT | FTREE_ENDS_JOB, \
      "does not match the others in a collective", "are in collectives that do not match", \
      "its ranks are no longer seen to wait for each other", \
      "members of a communicator are in different collectives, or in one with different " \
      "roots, sizes or operators; or one has called MPI_Finalize") \
    X(FTREE_CLASS_STRAGGLER, "straggler", NODE, UNKNOWN, NODE, NEVER, 0, \
      "is slow, others wait for it", "are slow, others wait for them", \
      "the fault is over", \
      "ranks wait for others longer than ever before, and what slows these is known (a CPU " \
      "quota, a shared core, other processes, memory, the clock), or was reported and " \
      "confirmed by the node. It never ends the job") \
    X(FTREE_CLASS_UNKNOWN, "unknown", NODE, UNKNOWN, NETWORK, NEVER, FTREE_IS_PATH, \
      ": cause not identified", ": cause not identified", \
      "the fault is over", \
      "something is wrong; the report says what was asked, and which faults remain possible") \
    X(FTREE_CLASS_GPU_FAULT, "gpu-fault", NODE, HARDWARE, NODE, NEVER, 0, \
      "has a failed GPU", "have failed GPUs", \
      "the fault is over", \
      "a rank waits for the node, and a handler there says that a GPU has failed. It never ends the job") \
    X(FTREE_CLASS_NODE_AT_RISK, "node-at-risk", NODE, HARDWARE, NODE, NEVER, FTREE_IS_WARNING, \
      "has failing hardware", "have failing hardware", \
      "the fault is over", \
      "the node answers, and a part of it was reported to fail: fan, temperature, power supply, disk, " \
      "memory, processor. A warning: it never ends the job")

#endif /* FTREE_FAULT_CLASSES_H_INCLUDED */
