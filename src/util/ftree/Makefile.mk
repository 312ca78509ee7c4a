##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

noinst_HEADERS +=                       \
    src/util/ftree/ftree.h              \
    src/util/ftree/ftree_int.h          \
    src/util/ftree/report.h             \
    src/util/ftree/topo.h               \
    src/util/ftree/wire.h

mpi_core_sources +=                     \
    src/util/ftree/correlate.c          \
    src/util/ftree/ftree.c              \
    src/util/ftree/leave.c              \
    src/util/ftree/outbox.c             \
    src/util/ftree/probe.c              \
    src/util/ftree/report.c             \
    src/util/ftree/spread.c             \
    src/util/ftree/sweep.c              \
    src/util/ftree/symptom.c            \
    src/util/ftree/topo.c               \
    src/util/ftree/verdict.c            \
    src/util/ftree/wire.c
