##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# The rooms of the glue. A file includes its own folder and those on lower floors, by qualified
# names ("faultloc/board/board.h"); those on one floor do not know each other.
#
#   floor  folder  what is in it                                                   linked into
#   0      seam    what patches call, and the rank's page; no sources              libmpi
#   0      base    clocks, lines on stderr, addresses, interfaces, processes       both
#   1      board   the node's shared segment, and how a rank and its agent meet    both
#   1      net     frames, connections, the channel between the nodes              faultloc-agent
#   1      handler stacks of processes; the top Makefile.am builds it              faultloc-handler
#   1      fabric  messages over UCX or libfabric; the top Makefile.am builds it   faultloc-fabric, -agent
#   2      io      the files, sockets, children of a program; epoll, threads       faultloc-agent
#   2      mpi     settings, start, stop, waits, failed ranks, queries             libmpi
#   3      node    what ranks, /proc and /sys say                                  faultloc-agent
#   3      site    the site's services; the top Makefile.am builds it              faultloc-handlers
#   4      agent   who is agent and who deputy, their loops, the end of a job      faultloc-agent
#
# mpi includes MPICH's headers, and nothing else does: the agent's program knows no MPICH. What ranks
# and agent both need is in base and board for that reason, the interfaces and ports of a node among
# it: a rank finds them, and listens, before there is an agent.
#
# The headers of seam keep the prefix faultloc_ in their names, by which MPICH's own files include
# them; all others are known by their folder. No two sources have one name: they meet in archives.

# the seam is included by MPICH's own headers, also where faultloc is configured out
AM_CPPFLAGS += -I$(top_srcdir)/src/mpid/ch4 -I$(top_srcdir)/src/mpid/ch4/faultloc/seam

noinst_HEADERS += \
    src/mpid/ch4/faultloc/agent/act/exec.h \
    src/mpid/ch4/faultloc/agent/act/handlers.h \
    src/mpid/ch4/faultloc/agent/act/pinger.h \
    src/mpid/ch4/faultloc/agent/act/stop_job.h \
    src/mpid/ch4/faultloc/agent/loop/looks.h \
    src/mpid/ch4/faultloc/agent/loop/sources.h \
    src/mpid/ch4/faultloc/agent/process/link.h \
    src/mpid/ch4/faultloc/agent/process/partner.h \
    src/mpid/ch4/faultloc/agent/process/program.h \
    src/mpid/ch4/faultloc/agent/report/json.h \
    src/mpid/ch4/faultloc/agent/report/node_stacks.h \
    src/mpid/ch4/faultloc/agent/report/note.h \
    src/mpid/ch4/faultloc/agent/report/reporter.h \
    src/mpid/ch4/faultloc/agent/serve/serve_ask.h \
    src/mpid/ch4/faultloc/agent/serve/serve_set.h \
    src/mpid/ch4/faultloc/agent/serve/serve_status.h \
    src/mpid/ch4/faultloc/base/address.h \
    src/mpid/ch4/faultloc/base/clock.h \
    src/mpid/ch4/faultloc/base/ending.h \
    src/mpid/ch4/faultloc/base/fabric.h \
    src/mpid/ch4/faultloc/base/grow.h \
    src/mpid/ch4/faultloc/base/iface.h \
    src/mpid/ch4/faultloc/base/json_text.h \
    src/mpid/ch4/faultloc/base/mark.h \
    src/mpid/ch4/faultloc/base/number.h \
    src/mpid/ch4/faultloc/base/port.h \
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
    src/mpid/ch4/faultloc/board/topology_text.h \
    src/mpid/ch4/faultloc/board/verdicts.h \
    src/mpid/ch4/faultloc/board/wait_area.h \
    src/mpid/ch4/faultloc/board/wakeup.h \
    src/mpid/ch4/faultloc/fabric/net.h \
    src/mpid/ch4/faultloc/fabric/ping.h \
    src/mpid/ch4/faultloc/handler/handler.h \
    src/mpid/ch4/faultloc/io/child.h \
    src/mpid/ch4/faultloc/io/launcher_notify.h \
    src/mpid/ch4/faultloc/io/loop.h \
    src/mpid/ch4/faultloc/io/reader.h \
    src/mpid/ch4/faultloc/io/rule_file.h \
    src/mpid/ch4/faultloc/io/socket_opener.h \
    src/mpid/ch4/faultloc/io/symptom_socket.h \
    src/mpid/ch4/faultloc/io/worker.h \
    src/mpid/ch4/faultloc/io/writer.h \
    src/mpid/ch4/faultloc/mpi/calls/calls.h \
    src/mpid/ch4/faultloc/mpi/fail/fail.h \
    src/mpid/ch4/faultloc/mpi/observe/observe.h \
    src/mpid/ch4/faultloc/mpi/rank/rank.h \
    src/mpid/ch4/faultloc/mpi/start/place.h \
    src/mpid/ch4/faultloc/mpi/waits/waits.h \
    src/mpid/ch4/faultloc/mpi/waits/waits_int.h \
    src/mpid/ch4/faultloc/net/channel.h \
    src/mpid/ch4/faultloc/net/channel_impl.h \
    src/mpid/ch4/faultloc/net/conn.h \
    src/mpid/ch4/faultloc/net/delivery.h \
    src/mpid/ch4/faultloc/net/frame.h \
    src/mpid/ch4/faultloc/node/cgroup.h \
    src/mpid/ch4/faultloc/node/link_watch.h \
    src/mpid/ch4/faultloc/node/log.h \
    src/mpid/ch4/faultloc/node/losses.h \
    src/mpid/ch4/faultloc/node/rank_lag.h \
    src/mpid/ch4/faultloc/node/resends.h \
    src/mpid/ch4/faultloc/node/samples.h \
    src/mpid/ch4/faultloc/node/state.h \
    src/mpid/ch4/faultloc/node/stuck_connections.h \
    src/mpid/ch4/faultloc/node/wait_limit.h \
    src/mpid/ch4/faultloc/node/wait_page.h \
    src/mpid/ch4/faultloc/node/watch.h \
    src/mpid/ch4/faultloc/seam/faultloc_base.h \
    src/mpid/ch4/faultloc/seam/faultloc_ofi.h \
    src/mpid/ch4/faultloc/seam/faultloc_pt2pt.h \
    src/mpid/ch4/faultloc/seam/faultloc_seam.h \
    src/mpid/ch4/faultloc/seam/faultloc_sums.h \
    src/mpid/ch4/faultloc/seam/faultloc_ucx.h \
    src/mpid/ch4/faultloc/seam/faultloc_wait.h \
    src/mpid/ch4/faultloc/site/site.h

if BUILD_FAULTLOC

AM_CPPFLAGS += -I$(top_srcdir)/src/util/ftree -I$(top_srcdir)/src/util

# In a rank: what includes MPICH's headers.
mpi_core_sources += \
    src/mpid/ch4/faultloc/mpi/calls/inside.c \
    src/mpid/ch4/faultloc/mpi/calls/pt2pt.c \
    src/mpid/ch4/faultloc/mpi/calls/wait.c \
    src/mpid/ch4/faultloc/mpi/fail/abort.c \
    src/mpid/ch4/faultloc/mpi/fail/failed.c \
    src/mpid/ch4/faultloc/mpi/fail/query.c \
    src/mpid/ch4/faultloc/mpi/fail/where.c \
    src/mpid/ch4/faultloc/mpi/observe/collectives.c \
    src/mpid/ch4/faultloc/mpi/observe/onesided.c \
    src/mpid/ch4/faultloc/mpi/observe/request_peer.c \
    src/mpid/ch4/faultloc/mpi/observe/transport.c \
    src/mpid/ch4/faultloc/mpi/observe/transport_ofi.c \
    src/mpid/ch4/faultloc/mpi/observe/transport_ucx.c \
    src/mpid/ch4/faultloc/mpi/rank/objects.c \
    src/mpid/ch4/faultloc/mpi/rank/rank.c \
    src/mpid/ch4/faultloc/mpi/rank/settings.c \
    src/mpid/ch4/faultloc/mpi/start/init.c \
    src/mpid/ch4/faultloc/mpi/start/place.c \
    src/mpid/ch4/faultloc/mpi/waits/waits.c \
    src/mpid/ch4/faultloc/mpi/waits/waits_collective.c \
    src/mpid/ch4/faultloc/mpi/waits/waits_comms.c \
    src/mpid/ch4/faultloc/mpi/waits/waits_messages.c \
    src/mpid/ch4/faultloc/mpi/waits/waits_onesided.c \
    src/mpid/ch4/faultloc/mpi/waits/waits_polls.c \
    src/mpid/ch4/faultloc/mpi/waits/waits_record.c \
    src/mpid/ch4/faultloc/mpi/waits/waits_requests.c \
    src/mpid/ch4/faultloc/mpi/waits/waits_threads.c \
    src/mpid/ch4/faultloc/mpi/waits/waits_work.c

# In ranks and in the agent's program.
noinst_LTLIBRARIES += src/mpid/ch4/faultloc/libfaultloc.la
pmpi_convenience_libs += src/mpid/ch4/faultloc/libfaultloc.la
src_mpid_ch4_faultloc_libfaultloc_la_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE \
    -DFAULTLOC_LIBEXECDIR=\"$(libexecdir)\"
src_mpid_ch4_faultloc_libfaultloc_la_SOURCES = \
    src/mpid/ch4/faultloc/base/ending.c \
    src/mpid/ch4/faultloc/base/fabric.c \
    src/mpid/ch4/faultloc/base/iface.c \
    src/mpid/ch4/faultloc/base/mark.c \
    src/mpid/ch4/faultloc/base/port.c \
    src/mpid/ch4/faultloc/base/proc.c \
    src/mpid/ch4/faultloc/base/say.c \
    src/mpid/ch4/faultloc/base/sock.c \
    src/mpid/ch4/faultloc/base/spawn.c \
    src/mpid/ch4/faultloc/base/text_file.c \
    src/mpid/ch4/faultloc/board/action.c \
    src/mpid/ch4/faultloc/board/board.c \
    src/mpid/ch4/faultloc/board/start.c \
    src/mpid/ch4/faultloc/board/topology_text.c \
    src/mpid/ch4/faultloc/board/verdicts.c \
    src/mpid/ch4/faultloc/board/wakeup.c

include $(top_srcdir)/src/util/ftree/Makefile.mk

# The agent's program; it is no MPI program, and takes of the libraries only what it needs.
libexec_PROGRAMS = faultloc-agent
faultloc_agent_CPPFLAGS = $(AM_CPPFLAGS) -D_GNU_SOURCE
faultloc_agent_LDFLAGS = -Wl,--as-needed
faultloc_agent_LDADD = src/mpid/ch4/faultloc/libfaultloc.la @jsonlib@ -lm $(external_libs)
faultloc_agent_SOURCES = \
    src/mpid/ch4/faultloc/io/child.c \
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
    src/mpid/ch4/faultloc/net/channel_packet.c \
    src/mpid/ch4/faultloc/net/channel_slots.c \
    src/mpid/ch4/faultloc/net/channel_tcp.c \
    src/mpid/ch4/faultloc/net/conn.c \
    src/mpid/ch4/faultloc/net/delivery.c \
    src/mpid/ch4/faultloc/net/frame.c \
    src/mpid/ch4/faultloc/node/cgroup.c \
    src/mpid/ch4/faultloc/node/link_watch.c \
    src/mpid/ch4/faultloc/node/log.c \
    src/mpid/ch4/faultloc/node/losses.c \
    src/mpid/ch4/faultloc/node/rank_lag.c \
    src/mpid/ch4/faultloc/node/resends.c \
    src/mpid/ch4/faultloc/node/samples.c \
    src/mpid/ch4/faultloc/node/state.c \
    src/mpid/ch4/faultloc/node/stuck_connections.c \
    src/mpid/ch4/faultloc/node/wait_limit.c \
    src/mpid/ch4/faultloc/node/wait_page.c \
    src/mpid/ch4/faultloc/node/watch.c \
    src/mpid/ch4/faultloc/agent/act/exec.c \
    src/mpid/ch4/faultloc/agent/act/handlers.c \
    src/mpid/ch4/faultloc/agent/act/pinger.c \
    src/mpid/ch4/faultloc/agent/act/stop_job.c \
    src/mpid/ch4/faultloc/agent/loop/agent.c \
    src/mpid/ch4/faultloc/agent/loop/deputy.c \
    src/mpid/ch4/faultloc/agent/loop/looks.c \
    src/mpid/ch4/faultloc/agent/loop/main.c \
    src/mpid/ch4/faultloc/agent/loop/sources.c \
    src/mpid/ch4/faultloc/agent/process/link.c \
    src/mpid/ch4/faultloc/agent/process/partner.c \
    src/mpid/ch4/faultloc/agent/process/program.c \
    src/mpid/ch4/faultloc/agent/report/node_stacks.c \
    src/mpid/ch4/faultloc/agent/report/note.c \
    src/mpid/ch4/faultloc/agent/report/reporter.c \
    src/mpid/ch4/faultloc/agent/report/stack_json.c \
    src/mpid/ch4/faultloc/agent/serve/serve_ask.c \
    src/mpid/ch4/faultloc/agent/serve/serve_set.c \
    src/mpid/ch4/faultloc/agent/serve/serve_status.c \
    src/mpid/ch4/faultloc/agent/serve/serve_status_json.c \
    src/mpid/ch4/faultloc/agent/serve/serve_status_text.c \
    src/mpid/ch4/faultloc/fabric/ping.c

endif BUILD_FAULTLOC
