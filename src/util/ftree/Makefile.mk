##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

noinst_HEADERS += \
    src/util/ftree/ftree.h \
    src/util/ftree/ftree_int.h \
    src/util/ftree/report.h \
    src/util/ftree/report_int.h \
    src/util/ftree/rules.h \
    src/util/ftree/rules_place.h \
    src/util/ftree/rules_reader.h \
    src/util/ftree/topo.h \
    src/util/ftree/tree.h \
    src/util/ftree/tree_int.h \
    src/util/ftree/wire.h \
    src/util/ftree/wire_int.h

src_mpid_ch4_faultloc_libfaultloc_la_SOURCES += \
    src/util/ftree/answer.c \
    src/util/ftree/correlate.c \
    src/util/ftree/crowd.c \
    src/util/ftree/facts.c \
    src/util/ftree/ftree.c \
    src/util/ftree/group.c \
    src/util/ftree/leave.c \
    src/util/ftree/names.c \
    src/util/ftree/neighbour.c \
    src/util/ftree/outbox.c \
    src/util/ftree/probe.c \
    src/util/ftree/relay.c \
    src/util/ftree/report.c \
    src/util/ftree/report_json.c \
    src/util/ftree/report_words.c \
    src/util/ftree/rules.c \
    src/util/ftree/rules_builtin.c \
    src/util/ftree/rules_check.c \
    src/util/ftree/rules_place.c \
    src/util/ftree/rules_read.c \
    src/util/ftree/rules_read_model.c \
    src/util/ftree/rules_reader.c \
    src/util/ftree/side.c \
    src/util/ftree/silence.c \
    src/util/ftree/spread.c \
    src/util/ftree/sweep.c \
    src/util/ftree/symptom.c \
    src/util/ftree/topo.c \
    src/util/ftree/tree.c \
    src/util/ftree/tree_check.c \
    src/util/ftree/tree_hostlist.c \
    src/util/ftree/tree_match.c \
    src/util/ftree/tree_names.c \
    src/util/ftree/tree_pack.c \
    src/util/ftree/tree_read.c \
    src/util/ftree/tree_synthetic.c \
    src/util/ftree/verdict.c \
    src/util/ftree/visit.c \
    src/util/ftree/wire.c \
    src/util/ftree/wire_state.c \
    src/util/ftree/withdraw.c
