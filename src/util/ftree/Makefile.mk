##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

noinst_HEADERS += \
    src/util/ftree/ftree.h \
    src/util/ftree/ftree_inspect.h \
    src/util/ftree/ftree_int.h \
    src/util/ftree/announce/announce.h \
    src/util/ftree/base/base.h \
    src/util/ftree/base/event.h \
    src/util/ftree/examine/examine.h \
    src/util/ftree/intake/intake.h \
    src/util/ftree/leave/leave.h \
    src/util/ftree/net/net.h \
    src/util/ftree/observe/observe.h \
    src/util/ftree/recheck/recheck.h \
    src/util/ftree/report/report.h \
    src/util/ftree/report/report_int.h \
    src/util/ftree/rules/rules.h \
    src/util/ftree/rules/rules_place.h \
    src/util/ftree/rules/rules_reader.h \
    src/util/ftree/state/state.h \
    src/util/ftree/topology/topo.h \
    src/util/ftree/topology/tree.h \
    src/util/ftree/topology/tree_int.h \
    src/util/ftree/waits/waits.h \
    src/util/ftree/waits/waits_int.h \
    src/util/ftree/wire/wire.h \
    src/util/ftree/wire/wire_int.h

src_mpid_ch4_faultloc_libfaultloc_la_SOURCES += \
    src/util/ftree/ftree.c \
    src/util/ftree/announce/announce.c \
    src/util/ftree/announce/gather.c \
    src/util/ftree/base/base.c \
    src/util/ftree/base/event.c \
    src/util/ftree/base/names.c \
    src/util/ftree/base/ranks.c \
    src/util/ftree/base/symptom.c \
    src/util/ftree/examine/crowd.c \
    src/util/ftree/examine/facts.c \
    src/util/ftree/examine/indirect.c \
    src/util/ftree/examine/neighbour.c \
    src/util/ftree/examine/probe.c \
    src/util/ftree/examine/silence.c \
    src/util/ftree/examine/suspect.c \
    src/util/ftree/intake/correlate.c \
    src/util/ftree/intake/flood.c \
    src/util/ftree/intake/route.c \
    src/util/ftree/leave/leave.c \
    src/util/ftree/net/outbox.c \
    src/util/ftree/net/relay.c \
    src/util/ftree/net/send.c \
    src/util/ftree/observe/answer.c \
    src/util/ftree/observe/symptom.c \
    src/util/ftree/recheck/recheck.c \
    src/util/ftree/report/report.c \
    src/util/ftree/report/report_json.c \
    src/util/ftree/report/report_words.c \
    src/util/ftree/rules/rules.c \
    src/util/ftree/rules/rules_builtin.c \
    src/util/ftree/rules/rules_check.c \
    src/util/ftree/rules/rules_place.c \
    src/util/ftree/rules/rules_read.c \
    src/util/ftree/rules/rules_read_model.c \
    src/util/ftree/rules/rules_reader.c \
    src/util/ftree/state/case.c \
    src/util/ftree/state/own.c \
    src/util/ftree/state/partition.c \
    src/util/ftree/state/peer.c \
    src/util/ftree/state/route.c \
    src/util/ftree/state/verdict.c \
    src/util/ftree/state/way.c \
    src/util/ftree/topology/topo.c \
    src/util/ftree/topology/tree.c \
    src/util/ftree/topology/tree_check.c \
    src/util/ftree/topology/tree_error.c \
    src/util/ftree/topology/tree_hostlist.c \
    src/util/ftree/topology/tree_match.c \
    src/util/ftree/topology/tree_names.c \
    src/util/ftree/topology/tree_pack.c \
    src/util/ftree/topology/tree_read.c \
    src/util/ftree/topology/tree_synthetic.c \
    src/util/ftree/waits/blocked.c \
    src/util/ftree/waits/bytes.c \
    src/util/ftree/waits/cores.c \
    src/util/ftree/waits/fixpoint.c \
    src/util/ftree/waits/graph.c \
    src/util/ftree/waits/items.c \
    src/util/ftree/waits/known.c \
    src/util/ftree/waits/match.c \
    src/util/ftree/waits/mismatch.c \
    src/util/ftree/waits/order.c \
    src/util/ftree/waits/record.c \
    src/util/ftree/waits/reduce.c \
    src/util/ftree/waits/sums.c \
    src/util/ftree/waits/words.c \
    src/util/ftree/wire/wire.c \
    src/util/ftree/wire/wire_bytes.c \
    src/util/ftree/wire/wire_state.c
