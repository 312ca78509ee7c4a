##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The source files and the tests; a new one is a new line here (maint/list-sources.sh --update).

core_sources = \
    src/util/ftree/check.c \
    src/util/ftree/ftree.c \
    src/util/ftree/ftree_inspect.c \
    src/util/ftree/announce/announce.c \
    src/util/ftree/announce/gather.c \
    src/util/ftree/base/base.c \
    src/util/ftree/base/event.c \
    src/util/ftree/base/names.c \
    src/util/ftree/base/ranks.c \
    src/util/ftree/base/spans.c \
    src/util/ftree/base/symptom.c \
    src/util/ftree/examine/crowd.c \
    src/util/ftree/examine/facts.c \
    src/util/ftree/examine/indirect.c \
    src/util/ftree/examine/inquiry.c \
    src/util/ftree/examine/neighbour.c \
    src/util/ftree/examine/probe.c \
    src/util/ftree/examine/silence.c \
    src/util/ftree/examine/suspect.c \
    src/util/ftree/hang/answer.c \
    src/util/ftree/hang/history.c \
    src/util/ftree/hang/lag.c \
    src/util/ftree/hang/model.c \
    src/util/ftree/hang/runs.c \
    src/util/ftree/hang/sweeps.c \
    src/util/ftree/intake/correlate.c \
    src/util/ftree/intake/flood.c \
    src/util/ftree/intake/route.c \
    src/util/ftree/leave/leave.c \
    src/util/ftree/net/outbox.c \
    src/util/ftree/net/parcel.c \
    src/util/ftree/net/relay.c \
    src/util/ftree/net/send.c \
    src/util/ftree/observe/answer.c \
    src/util/ftree/observe/symptom.c \
    src/util/ftree/query/answer.c \
    src/util/ftree/query/hang.c \
    src/util/ftree/query/lag.c \
    src/util/ftree/query/query.c \
    src/util/ftree/query/result.c \
    src/util/ftree/query/set.c \
    src/util/ftree/query/stacks.c \
    src/util/ftree/recheck/recheck.c \
    src/util/ftree/report/report.c \
    src/util/ftree/report/report_json.c \
    src/util/ftree/report/report_stacks.c \
    src/util/ftree/report/report_waiting.c \
    src/util/ftree/report/report_words.c \
    src/util/ftree/rules/rules.c \
    src/util/ftree/rules/rules_builtin.c \
    src/util/ftree/rules/rules_check.c \
    src/util/ftree/rules/rules_place.c \
    src/util/ftree/rules/rules_read.c \
    src/util/ftree/rules/rules_read_model.c \
    src/util/ftree/rules/rules_reader.c \
    src/util/ftree/stacks/stacks.c \
    src/util/ftree/state/case.c \
    src/util/ftree/state/own.c \
    src/util/ftree/state/partition.c \
    src/util/ftree/state/peer.c \
    src/util/ftree/state/route.c \
    src/util/ftree/state/verdict.c \
    src/util/ftree/state/way.c \
    src/util/ftree/straggle/straggle.c \
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
    src/util/ftree/waitfor/answer.c \
    src/util/ftree/waitfor/ask.c \
    src/util/ftree/waitfor/decide.c \
    src/util/ftree/waitfor/gather.c \
    src/util/ftree/waitfor/hang.c \
    src/util/ftree/waitfor/hang_late.c \
    src/util/ftree/waitfor/hang_verdict.c \
    src/util/ftree/waitfor/judge.c \
    src/util/ftree/waitfor/look.c \
    src/util/ftree/waitfor/note.c \
    src/util/ftree/waitfor/verdict.c \
    src/util/ftree/waitfor/waitfor.c \
    src/util/ftree/waits/around.c \
    src/util/ftree/waits/blocked.c \
    src/util/ftree/waits/bytes.c \
    src/util/ftree/waits/classes.c \
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
    src/util/ftree/wire/wire_setting.c \
    src/util/ftree/wire/wire_state.c

core_headers = \
    src/util/ftree/ftree.h \
    src/util/ftree/ftree_inspect.h \
    src/util/ftree/ftree_int.h \
    src/util/ftree/announce/announce.h \
    src/util/ftree/base/base.h \
    src/util/ftree/base/event.h \
    src/util/ftree/examine/examine.h \
    src/util/ftree/hang/answer.h \
    src/util/ftree/hang/hang.h \
    src/util/ftree/hang/lag.h \
    src/util/ftree/intake/intake.h \
    src/util/ftree/leave/leave.h \
    src/util/ftree/net/net.h \
    src/util/ftree/observe/observe.h \
    src/util/ftree/query/query.h \
    src/util/ftree/recheck/recheck.h \
    src/util/ftree/report/report.h \
    src/util/ftree/report/report_int.h \
    src/util/ftree/rules/rules.h \
    src/util/ftree/rules/rules_place.h \
    src/util/ftree/rules/rules_reader.h \
    src/util/ftree/stacks/stacks.h \
    src/util/ftree/state/state.h \
    src/util/ftree/straggle/straggle.h \
    src/util/ftree/topology/topo.h \
    src/util/ftree/topology/tree.h \
    src/util/ftree/topology/tree_int.h \
    src/util/ftree/waitfor/hang_int.h \
    src/util/ftree/waitfor/waitfor.h \
    src/util/ftree/waits/classes.h \
    src/util/ftree/waits/waits.h \
    src/util/ftree/waits/waits_int.h \
    src/util/ftree/wire/codec.h \
    src/util/ftree/wire/wire.h

glue_sources = \
    src/mpid/ch4/faultloc/base/iface.c \
    src/mpid/ch4/faultloc/base/mark.c \
    src/mpid/ch4/faultloc/base/proc.c \
    src/mpid/ch4/faultloc/base/say.c \
    src/mpid/ch4/faultloc/base/sock.c \
    src/mpid/ch4/faultloc/base/spawn.c \
    src/mpid/ch4/faultloc/base/text_file.c \
    src/mpid/ch4/faultloc/board/action.c \
    src/mpid/ch4/faultloc/board/board.c \
    src/mpid/ch4/faultloc/board/start.c \
    src/mpid/ch4/faultloc/board/topology.c \
    src/mpid/ch4/faultloc/board/verdicts.c \
    src/mpid/ch4/faultloc/board/wakeup.c \
    src/mpid/ch4/faultloc/io/launcher_notify.c \
    src/mpid/ch4/faultloc/io/loop.c \
    src/mpid/ch4/faultloc/io/reader.c \
    src/mpid/ch4/faultloc/io/rule_file.c \
    src/mpid/ch4/faultloc/io/socket_opener.c \
    src/mpid/ch4/faultloc/io/symptom_parse.c \
    src/mpid/ch4/faultloc/io/symptom_socket.c \
    src/mpid/ch4/faultloc/io/worker.c \
    src/mpid/ch4/faultloc/io/writer.c \
    src/mpid/ch4/faultloc/net/channel_accept.c \
    src/mpid/ch4/faultloc/net/channel_event.c \
    src/mpid/ch4/faultloc/net/channel_slots.c \
    src/mpid/ch4/faultloc/net/channel_tcp.c \
    src/mpid/ch4/faultloc/net/conn.c \
    src/mpid/ch4/faultloc/net/delivery.c \
    src/mpid/ch4/faultloc/net/frame.c \
    src/mpid/ch4/faultloc/node/lag.c \
    src/mpid/ch4/faultloc/node/log.c \
    src/mpid/ch4/faultloc/node/numa.c \
    src/mpid/ch4/faultloc/node/samples.c \
    src/mpid/ch4/faultloc/node/state.c \
    src/mpid/ch4/faultloc/node/wait_page.c \
    src/mpid/ch4/faultloc/node/watch.c \
    src/mpid/ch4/faultloc/agent/agent.c \
    src/mpid/ch4/faultloc/agent/ask.c \
    src/mpid/ch4/faultloc/agent/child.c \
    src/mpid/ch4/faultloc/agent/deputy.c \
    src/mpid/ch4/faultloc/agent/exec.c \
    src/mpid/ch4/faultloc/agent/link.c \
    src/mpid/ch4/faultloc/agent/looks.c \
    src/mpid/ch4/faultloc/agent/note.c \
    src/mpid/ch4/faultloc/agent/partner.c \
    src/mpid/ch4/faultloc/agent/program.c \
    src/mpid/ch4/faultloc/agent/reporter.c \
    src/mpid/ch4/faultloc/agent/set.c \
    src/mpid/ch4/faultloc/agent/sources.c \
    src/mpid/ch4/faultloc/agent/stack_json.c \
    src/mpid/ch4/faultloc/agent/stacks.c \
    src/mpid/ch4/faultloc/agent/status.c \
    src/mpid/ch4/faultloc/agent/status_json.c \
    src/mpid/ch4/faultloc/agent/status_text.c \
    src/mpid/ch4/faultloc/agent/stop_job.c

glue_headers = \
    src/mpid/ch4/faultloc/agent/ask.h \
    src/mpid/ch4/faultloc/agent/child.h \
    src/mpid/ch4/faultloc/agent/exec.h \
    src/mpid/ch4/faultloc/agent/json.h \
    src/mpid/ch4/faultloc/agent/link.h \
    src/mpid/ch4/faultloc/agent/looks.h \
    src/mpid/ch4/faultloc/agent/note.h \
    src/mpid/ch4/faultloc/agent/partner.h \
    src/mpid/ch4/faultloc/agent/program.h \
    src/mpid/ch4/faultloc/agent/reporter.h \
    src/mpid/ch4/faultloc/agent/set.h \
    src/mpid/ch4/faultloc/agent/sources.h \
    src/mpid/ch4/faultloc/agent/stacks.h \
    src/mpid/ch4/faultloc/agent/status.h \
    src/mpid/ch4/faultloc/agent/stop_job.h \
    src/mpid/ch4/faultloc/base/address.h \
    src/mpid/ch4/faultloc/base/clock.h \
    src/mpid/ch4/faultloc/base/iface.h \
    src/mpid/ch4/faultloc/base/mark.h \
    src/mpid/ch4/faultloc/base/proc.h \
    src/mpid/ch4/faultloc/base/say.h \
    src/mpid/ch4/faultloc/base/sock.h \
    src/mpid/ch4/faultloc/base/spawn.h \
    src/mpid/ch4/faultloc/base/syscalls.h \
    src/mpid/ch4/faultloc/base/text_file.h \
    src/mpid/ch4/faultloc/board/action.h \
    src/mpid/ch4/faultloc/board/board.h \
    src/mpid/ch4/faultloc/board/launcher.h \
    src/mpid/ch4/faultloc/board/start.h \
    src/mpid/ch4/faultloc/board/topology.h \
    src/mpid/ch4/faultloc/board/verdicts.h \
    src/mpid/ch4/faultloc/board/wait_area.h \
    src/mpid/ch4/faultloc/board/wakeup.h \
    src/mpid/ch4/faultloc/handler/handler.h \
    src/mpid/ch4/faultloc/io/launcher_notify.h \
    src/mpid/ch4/faultloc/io/loop.h \
    src/mpid/ch4/faultloc/io/reader.h \
    src/mpid/ch4/faultloc/io/rule_file.h \
    src/mpid/ch4/faultloc/io/socket_opener.h \
    src/mpid/ch4/faultloc/io/symptom_socket.h \
    src/mpid/ch4/faultloc/io/worker.h \
    src/mpid/ch4/faultloc/io/writer.h \
    src/mpid/ch4/faultloc/mpi/parts.h \
    src/mpid/ch4/faultloc/mpi/place.h \
    src/mpid/ch4/faultloc/mpi/waits_parts.h \
    src/mpid/ch4/faultloc/net/channel.h \
    src/mpid/ch4/faultloc/net/channel_impl.h \
    src/mpid/ch4/faultloc/net/conn.h \
    src/mpid/ch4/faultloc/net/delivery.h \
    src/mpid/ch4/faultloc/net/frame.h \
    src/mpid/ch4/faultloc/node/lag.h \
    src/mpid/ch4/faultloc/node/log.h \
    src/mpid/ch4/faultloc/node/numa.h \
    src/mpid/ch4/faultloc/node/samples.h \
    src/mpid/ch4/faultloc/node/state.h \
    src/mpid/ch4/faultloc/node/wait_page.h \
    src/mpid/ch4/faultloc/node/watch.h \
    src/mpid/ch4/faultloc/seam/faultloc_pt2pt.h \
    src/mpid/ch4/faultloc/seam/faultloc_seam.h \
    src/mpid/ch4/faultloc/seam/faultloc_sums.h \
    src/mpid/ch4/faultloc/seam/faultloc_ucx.h

handler_sources = \
    src/mpid/ch4/faultloc/handler/facts.c \
    src/mpid/ch4/faultloc/handler/names.c \
    src/mpid/ch4/faultloc/handler/print.c \
    src/mpid/ch4/faultloc/handler/snapshot.c \
    src/mpid/ch4/faultloc/handler/syscalls.c \
    src/mpid/ch4/faultloc/handler/unwind.c

hydra_sources = \
    src/pm/hydra/pm/pmiserv/faultloc_arrival.c \
    src/pm/hydra/pm/pmiserv/faultloc_cgroup.c \
    src/pm/hydra/pm/pmiserv/faultloc_cleanup.c \
    src/pm/hydra/pm/pmiserv/faultloc_holders.c \
    src/pm/hydra/pm/pmiserv/faultloc_hosts.c \
    src/pm/hydra/pm/pmiserv/faultloc_hydra.c \
    src/pm/hydra/pm/pmiserv/faultloc_incident.c \
    src/pm/hydra/pm/pmiserv/faultloc_keepalive.c \
    src/pm/hydra/pm/pmiserv/faultloc_late.c \
    src/pm/hydra/pm/pmiserv/faultloc_message.c \
    src/pm/hydra/pm/pmiserv/faultloc_pending.c \
    src/pm/hydra/pm/pmiserv/faultloc_process.c \
    src/pm/hydra/pm/pmiserv/faultloc_summary.c

hydra_headers = \
    src/pm/hydra/pm/pmiserv/faultloc_arrival.h \
    src/pm/hydra/pm/pmiserv/faultloc_barrier.h \
    src/pm/hydra/pm/pmiserv/faultloc_cgroup.h \
    src/pm/hydra/pm/pmiserv/faultloc_children.h \
    src/pm/hydra/pm/pmiserv/faultloc_cleanup.h \
    src/pm/hydra/pm/pmiserv/faultloc_holders.h \
    src/pm/hydra/pm/pmiserv/faultloc_hosts.h \
    src/pm/hydra/pm/pmiserv/faultloc_hydra.h \
    src/pm/hydra/pm/pmiserv/faultloc_incident.h \
    src/pm/hydra/pm/pmiserv/faultloc_keepalive.h \
    src/pm/hydra/pm/pmiserv/faultloc_late.h \
    src/pm/hydra/pm/pmiserv/faultloc_lost.h \
    src/pm/hydra/pm/pmiserv/faultloc_pending.h \
    src/pm/hydra/pm/pmiserv/faultloc_process.h \
    src/pm/hydra/pm/pmiserv/faultloc_proxy.h \
    src/pm/hydra/pm/pmiserv/faultloc_server.h

testlib_sources = \
    test/lib/base.c \
    test/lib/lone.c \
    test/lib/messages.c \
    test/lib/process.c \
    test/lib/program.c \
    test/lib/sample.c \
    test/lib/stories.c \
    test/lib/suite.c \
    test/lib/waiters.c \
    test/lib/waiting_ranks.c \
    test/lib/world.c

testlib_headers = \
    test/lib/base.h \
    test/lib/files.h \
    test/lib/hang.h \
    test/lib/lone.h \
    test/lib/messages.h \
    test/lib/nomem.h \
    test/lib/nomem_json.h \
    test/lib/process.h \
    test/lib/program.h \
    test/lib/sample.h \
    test/lib/schema.h \
    test/lib/shape.h \
    test/lib/stories.h \
    test/lib/suite.h \
    test/lib/switches.h \
    test/lib/waiters.h \
    test/lib/waiting_ranks.h \
    test/lib/world.h

sim_sources = \
    tools/sim/agent.c \
    tools/sim/alarms.c \
    tools/sim/command.c \
    tools/sim/deadline.c \
    tools/sim/fault.c \
    tools/sim/hang.c \
    tools/sim/network.c \
    tools/sim/plan.c \
    tools/sim/plot.c \
    tools/sim/pool.c \
    tools/sim/program.c \
    tools/sim/queue.c \
    tools/sim/replay.c \
    tools/sim/replay_command.c \
    tools/sim/replay_read.c \
    tools/sim/result.c \
    tools/sim/run.c \
    tools/sim/script.c \
    tools/sim/sim_memory.c \
    tools/sim/topology.c \
    tools/sim/trace.c \
    tools/sim/truth.c \
    tools/sim/units.c

sim_headers = \
    tools/sim/alarms.h \
    tools/sim/command.h \
    tools/sim/deadline.h \
    tools/sim/draw.h \
    tools/sim/hang.h \
    tools/sim/network.h \
    tools/sim/plot.h \
    tools/sim/pool.h \
    tools/sim/program.h \
    tools/sim/queue.h \
    tools/sim/replay.h \
    tools/sim/result.h \
    tools/sim/run.h \
    tools/sim/script.h \
    tools/sim/sim_memory.h \
    tools/sim/topology.h \
    tools/sim/truth.h \
    tools/sim/units.h

unit_tests = \
    test/unit/test_answer \
    test/unit/test_chains \
    test/unit/test_check \
    test/unit/test_correlate \
    test/unit/test_crowd \
    test/unit/test_event \
    test/unit/test_facts \
    test/unit/test_faultloc_action \
    test/unit/test_faultloc_answers_nomem \
    test/unit/test_faultloc_ask \
    test/unit/test_faultloc_board \
    test/unit/test_faultloc_channel_tcp \
    test/unit/test_faultloc_child \
    test/unit/test_faultloc_delivery \
    test/unit/test_faultloc_exec \
    test/unit/test_faultloc_handler \
    test/unit/test_faultloc_iface \
    test/unit/test_faultloc_lag \
    test/unit/test_faultloc_launcher \
    test/unit/test_faultloc_launcher_notify \
    test/unit/test_faultloc_log \
    test/unit/test_faultloc_mark \
    test/unit/test_faultloc_note \
    test/unit/test_faultloc_numa \
    test/unit/test_faultloc_proc \
    test/unit/test_faultloc_program \
    test/unit/test_faultloc_reader \
    test/unit/test_faultloc_reporter \
    test/unit/test_faultloc_rules \
    test/unit/test_faultloc_samples \
    test/unit/test_faultloc_say \
    test/unit/test_faultloc_set \
    test/unit/test_faultloc_socket_opener \
    test/unit/test_faultloc_spawn \
    test/unit/test_faultloc_stack_json \
    test/unit/test_faultloc_stacks \
    test/unit/test_faultloc_start \
    test/unit/test_faultloc_state \
    test/unit/test_faultloc_status \
    test/unit/test_faultloc_status_json \
    test/unit/test_faultloc_status_text \
    test/unit/test_faultloc_symptom_socket \
    test/unit/test_faultloc_text_file \
    test/unit/test_faultloc_topology \
    test/unit/test_faultloc_verdicts \
    test/unit/test_faultloc_wait_page \
    test/unit/test_faultloc_wakeup \
    test/unit/test_faultloc_watch \
    test/unit/test_faultloc_worker \
    test/unit/test_faultloc_writer \
    test/unit/test_flood \
    test/unit/test_ftree \
    test/unit/test_fuzz_rules \
    test/unit/test_fuzz_tree \
    test/unit/test_fuzz_wire \
    test/unit/test_group \
    test/unit/test_hang \
    test/unit/test_hang_story \
    test/unit/test_hydra_arrival \
    test/unit/test_hydra_cleanup \
    test/unit/test_hydra_holders \
    test/unit/test_hydra_hosts \
    test/unit/test_hydra_incident \
    test/unit/test_hydra_keepalive \
    test/unit/test_hydra_late \
    test/unit/test_hydra_pending \
    test/unit/test_hydra_process \
    test/unit/test_indirect \
    test/unit/test_inquiry \
    test/unit/test_lag \
    test/unit/test_leave \
    test/unit/test_names \
    test/unit/test_neighbour \
    test/unit/test_nomem \
    test/unit/test_outbox \
    test/unit/test_peer \
    test/unit/test_probe \
    test/unit/test_query \
    test/unit/test_relay \
    test/unit/test_report \
    test/unit/test_report_nomem \
    test/unit/test_rules \
    test/unit/test_rules_nomem \
    test/unit/test_rules_place \
    test/unit/test_rules_read \
    test/unit/test_set \
    test/unit/test_setting \
    test/unit/test_side \
    test/unit/test_silence \
    test/unit/test_sim_alarms \
    test/unit/test_sim_deadline \
    test/unit/test_sim_network \
    test/unit/test_sim_pool \
    test/unit/test_sim_program \
    test/unit/test_sim_queue \
    test/unit/test_sim_replay \
    test/unit/test_sim_run \
    test/unit/test_sim_script \
    test/unit/test_sim_topology \
    test/unit/test_sim_truth \
    test/unit/test_sim_units \
    test/unit/test_spread \
    test/unit/test_stacks \
    test/unit/test_story \
    test/unit/test_straggle_story \
    test/unit/test_symptom \
    test/unit/test_topo \
    test/unit/test_tree \
    test/unit/test_tree_nomem \
    test/unit/test_tree_read \
    test/unit/test_verdict \
    test/unit/test_waitfor \
    test/unit/test_waitfor_answer \
    test/unit/test_waitfor_ask \
    test/unit/test_waitfor_decide \
    test/unit/test_waitfor_gather \
    test/unit/test_waitfor_judge \
    test/unit/test_waitfor_look \
    test/unit/test_waitfor_note \
    test/unit/test_waitfor_verdict \
    test/unit/test_waits_large \
    test/unit/test_waits_match \
    test/unit/test_waits_mismatch \
    test/unit/test_waits_nomem \
    test/unit/test_waits_program \
    test/unit/test_waits_record \
    test/unit/test_waits_reduction \
    test/unit/test_waits_sums \
    test/unit/test_waits_words \
    test/unit/test_wire \
    test/unit/test_wire_state \
    test/unit/test_withdraw

test_programs = \
    test/lib/fits_schema \
    test/lib/sample_reports \
    test/lib/stranger \
    test/lib/symptom_listener

tool_tests = \
    test/unit/t-bench.sh \
    test/unit/t-documents.sh \
    test/unit/t-faultloc-program.sh \
    test/unit/t-faultloc-rules.sh \
    test/unit/t-faultloc-set.sh \
    test/unit/t-faultloc-simulate.sh \
    test/unit/t-faultloc-symptom.sh \
    test/unit/t-layers.sh \
    test/unit/t-scenario.sh \
    test/unit/t-slurm-drain-node.sh

mpi_tests = \
    test/mpi/test_bench.sh \
    test/mpi/test_collectives.sh \
    test/mpi/test_ended_jobs.sh \
    test/mpi/test_examples.sh \
    test/mpi/test_exec.sh \
    test/mpi/test_failures.sh \
    test/mpi/test_finalize.sh \
    test/mpi/test_harm_ending.sh \
    test/mpi/test_harm_fork.sh \
    test/mpi/test_harm_holders.sh \
    test/mpi/test_harm_same_job.sh \
    test/mpi/test_harm_wrappers.sh \
    test/mpi/test_hydra_fixes.sh \
    test/mpi/test_key.sh \
    test/mpi/test_late.sh \
    test/mpi/test_limits.sh \
    test/mpi/test_lost_in_init.sh \
    test/mpi/test_lost_peer.sh \
    test/mpi/test_many_ranks.sh \
    test/mpi/test_nofinalize.sh \
    test/mpi/test_one_node.sh \
    test/mpi/test_one_rank.sh \
    test/mpi/test_outside.sh \
    test/mpi/test_poll_limit.sh \
    test/mpi/test_sessions.sh \
    test/mpi/test_signal_at_start.sh \
    test/mpi/test_some_ranks.sh \
    test/mpi/test_spawn.sh \
    test/mpi/test_stacks.sh \
    test/mpi/test_threads.sh \
    test/mpi/test_upstream_fixes.sh \
    test/mpi/test_version.sh \
    test/mpi/test_waits.sh

cluster_tests = \
    test/cluster/test_cluster.sh \
    test/cluster/test_crash_launcher.sh \
    test/cluster/test_failures_host.sh \
    test/cluster/test_harm_launcher_withdrawn.sh \
    test/cluster/test_healthy.sh \
    test/cluster/test_late.sh \
    test/cluster/test_lost_peer.sh \
    test/cluster/test_on_demand.sh \
    test/cluster/test_rules_reload.sh \
    test/cluster/test_slurm.sh \
    test/cluster/test_status.sh \
    test/cluster/test_straggler.sh \
    test/cluster/test_stranger.sh \
    test/cluster/test_topology.sh \
    test/cluster/test_waits.sh

scenario_tests = \
    test/cluster/power_off.scenario \
    test/cluster/power_off_first.scenario \
    test/cluster/power_off_4x4.scenario \
    test/cluster/two_of_eight.scenario \
    test/cluster/chain.scenario \
    test/cluster/unknown_peer.scenario \
    test/cluster/abort.scenario \
    test/cluster/stop.scenario \
    test/cluster/stop_one_of_four.scenario \
    test/cluster/freeze_rank.scenario \
    test/cluster/local.scenario \
    test/cluster/pause.scenario \
    test/cluster/kill.scenario \
    test/cluster/failures.scenario \
    test/cluster/data_path_down.scenario \
    test/cluster/data_path_cable.scenario \
    test/cluster/data_path_switch.scenario \
    test/cluster/cut.scenario \
    test/cluster/agent_killed.scenario \
    test/cluster/agent_killed_deputy.scenario \
    test/cluster/agent_stopped.scenario \
    test/cluster/fln_and_suspect.scenario \
    test/cluster/root.scenario \
    test/cluster/root_and_substitute.scenario \
    test/cluster/overloaded_fln.scenario \
    test/cluster/two_subtrees.scenario \
    test/cluster/symptom_storm.scenario \
    test/cluster/symptom_storm_healthy.scenario \
    test/cluster/crash_signal.scenario \
    test/cluster/crash_exit.scenario \
    test/cluster/crash_memory.scenario \
    test/cluster/crash_mpi_abort.scenario \
    test/cluster/crash_two.scenario \
    test/cluster/crash_clocks.scenario \
    test/cluster/crash_busy.scenario \
    test/cluster/crash_proxy.scenario \
    test/cluster/crash_first_host.scenario \
    test/cluster/harm_agent.scenario \
    test/cluster/harm_debugger.scenario \
    test/cluster/harm_network.scenario \
    test/cluster/harm_resources.scenario \
    test/cluster/harm_stop.scenario

man_pages = \
    doc/MPIX_Comm_failure_ack.3 \
    doc/MPIX_Comm_failure_get_acked.3 \
    doc/MPIX_Faultloc_verdicts.3 \
    doc/faultloc-handler.1 \
    doc/faultloc-rules.5 \
    doc/faultloc.1 \
    doc/faultloc.7 \
    doc/faultloc_verdict.3

example_programs = \
    doc/examples/event.c \
    doc/examples/event.f90 \
    doc/examples/failures.c \
    doc/examples/failures.f90 \
    doc/examples/verdicts.c \
    doc/examples/verdicts.f90

tool_sources = \
    tools/agent_socket.c \
    tools/ask.c \
    tools/check.c \
    tools/faultloc.c \
    tools/input.c \
    tools/meaning.c \
    tools/rules.c \
    tools/rules_explain.c \
    tools/rules_learn.c \
    tools/set.c \
    tools/status.c \
    tools/symptom.c \
    tools/text.c \
    tools/agent_socket.h \
    tools/tool.h \
    tools/tool_rules.h

tool_programs = tools/faultloc
