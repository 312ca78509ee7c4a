/*
 * Copyright (C) by the FaultLoc authors
 *     See COPYRIGHT in top-level directory
 */

#ifndef TESTUTIL_H_INCLUDED
#define TESTUTIL_H_INCLUDED

#include <mpi.h>

/* What the test programs have in common: they tell a harness who they are and how far they came.
 *
 * The harness sets FAULTLOC_TEST_PIDFILE to a folder that all ranks can write. Without it nothing
 * is said and nothing is written, so that the output of two runs can be compared. */

/* Says who this process is: prints "rank R host H pid P" and writes "H P" to FOLDER/rank.R.
 * The file appears complete or not at all. */
void tu_hello(int rank);

/* Says that this rank is at a point that a script or another rank waits for: writes "R PID
 * MICROSECOND"
 * (since 1970) to FOLDER/WHAT.R, complete or not at all. */
void tu_note(const char *what, int rank);

/* Says, on rank 0 only, that the program's loop runs: prints "looping", creates FOLDER/looping.
 * Call it after the first round, when every rank has connected to its peers. */
void tu_looping(int rank);

/* Prints a line, whose end it has, by one write, so that nothing of another rank comes between:
 * hydra does not wait for ends of lines. */
void tu_say(const char *line);

/* Says that this rank is about to block in an MPI function: prints "BLOCKS rank R in CALL at
 * SECOND" (since 1970), and notes "blocked". */
void tu_blocks(const char *call, int rank);

/* Value of the option "NAME V" in argv, or fallback where it is not given. A value that is not
 * a number ends the program with exit code 2 and says which option it was. */
double tu_number(int argc, char **argv, const char *name, double fallback);

/* Value of the option "NAME V" in argv, or fallback where it is not given. */
const char *tu_string(int argc, char **argv, const char *name, const char *fallback);

/* Seconds on the monotonic clock. */
double tu_now(void);

/* Keeps the processor busy, outside MPI, for this many seconds. */
void tu_compute(double seconds);

/* Brings the ranks of a communicator to the same moment; to be called right before MPI_Finalize or
 * MPI_Session_finalize. Its first rank creates FOLDER/ending. MPICH 4.0.2's ucx netmod needs it
 * over TCP: a rank that comes to the end late flushes its connections, which takes an answer from
 * peers that may by then wait in a PMI barrier, where they never answer: finalize hangs, now and
 * then. All ranks must share a clock. */
void tu_meet(MPI_Comm comm);

/* Prints "PROGRAM: MESSAGE" to stderr and ends the job with exit code 1. */
void tu_fail(const char *program, const char *message);

#endif /* TESTUTIL_H_INCLUDED */
