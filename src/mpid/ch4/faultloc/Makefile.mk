##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# the seam is included by MPICH's own headers, also where faultloc is configured out
AM_CPPFLAGS += -I$(top_srcdir)/src/mpid/ch4/faultloc

noinst_HEADERS += \
    src/mpid/ch4/faultloc/faultloc_address.h \
    src/mpid/ch4/faultloc/faultloc_bell.h \
    src/mpid/ch4/faultloc/faultloc_board.h \
    src/mpid/ch4/faultloc/faultloc_calls.h \
    src/mpid/ch4/faultloc/faultloc_channel.h \
    src/mpid/ch4/faultloc/faultloc_channel_impl.h \
    src/mpid/ch4/faultloc/faultloc_clock.h \
    src/mpid/ch4/faultloc/faultloc_conn.h \
    src/mpid/ch4/faultloc/faultloc_door.h \
    src/mpid/ch4/faultloc/faultloc_failed.h \
    src/mpid/ch4/faultloc/faultloc_frame.h \
    src/mpid/ch4/faultloc/faultloc_iface.h \
    src/mpid/ch4/faultloc/faultloc_job.h \
    src/mpid/ch4/faultloc/faultloc_lane.h \
    src/mpid/ch4/faultloc/faultloc_launcher.h \
    src/mpid/ch4/faultloc/faultloc_launcher_tell.h \
    src/mpid/ch4/faultloc/faultloc_log.h \
    src/mpid/ch4/faultloc/faultloc_loop.h \
    src/mpid/ch4/faultloc/faultloc_mark.h \
    src/mpid/ch4/faultloc/faultloc_numa.h \
    src/mpid/ch4/faultloc/faultloc_place.h \
    src/mpid/ch4/faultloc/faultloc_porter.h \
    src/mpid/ch4/faultloc/faultloc_proc.h \
    src/mpid/ch4/faultloc/faultloc_program.h \
    src/mpid/ch4/faultloc/faultloc_pt2pt.h \
    src/mpid/ch4/faultloc/faultloc_query.h \
    src/mpid/ch4/faultloc/faultloc_reader.h \
    src/mpid/ch4/faultloc/faultloc_report.h \
    src/mpid/ch4/faultloc/faultloc_rules.h \
    src/mpid/ch4/faultloc/faultloc_seam.h \
    src/mpid/ch4/faultloc/faultloc_sock.h \
    src/mpid/ch4/faultloc/faultloc_spawn.h \
    src/mpid/ch4/faultloc/faultloc_start.h \
    src/mpid/ch4/faultloc/faultloc_state.h \
    src/mpid/ch4/faultloc/faultloc_topology.h \
    src/mpid/ch4/faultloc/faultloc_ucx.h \
    src/mpid/ch4/faultloc/faultloc_verdicts.h \
    src/mpid/ch4/faultloc/faultloc_watch.h \
    src/mpid/ch4/faultloc/faultloc_writer.h

if BUILD_FAULTLOC

AM_CPPFLAGS += -I$(top_srcdir)/src/util/ftree -I$(top_srcdir)/src/util

# In a rank: what includes MPICH's headers.
mpi_core_sources += \
    src/mpid/ch4/faultloc/faultloc_abort.c \
    src/mpid/ch4/faultloc/faultloc_failed.c \
    src/mpid/ch4/faultloc/faultloc_init.c \
    src/mpid/ch4/faultloc/faultloc_place.c \
    src/mpid/ch4/faultloc/faultloc_pt2pt.c \
    src/mpid/ch4/faultloc/faultloc_query.c \
    src/mpid/ch4/faultloc/faultloc_transport.c

# In ranks and in the agent's program.
noinst_LTLIBRARIES += src/mpid/ch4/faultloc/libfaultloc.la
pmpi_convenience_libs += src/mpid/ch4/faultloc/libfaultloc.la
src_mpid_ch4_faultloc_libfaultloc_la_CPPFLAGS = $(AM_CPPFLAGS) \
    -DFAULTLOC_LIBEXECDIR=\"$(libexecdir)\"
src_mpid_ch4_faultloc_libfaultloc_la_SOURCES = \
    src/mpid/ch4/faultloc/faultloc_bell.c \
    src/mpid/ch4/faultloc/faultloc_board.c \
    src/mpid/ch4/faultloc/faultloc_iface.c \
    src/mpid/ch4/faultloc/faultloc_job.c \
    src/mpid/ch4/faultloc/faultloc_mark.c \
    src/mpid/ch4/faultloc/faultloc_ports.c \
    src/mpid/ch4/faultloc/faultloc_proc.c \
    src/mpid/ch4/faultloc/faultloc_report.c \
    src/mpid/ch4/faultloc/faultloc_sock.c \
    src/mpid/ch4/faultloc/faultloc_spawn.c \
    src/mpid/ch4/faultloc/faultloc_start.c \
    src/mpid/ch4/faultloc/faultloc_topology.c \
    src/mpid/ch4/faultloc/faultloc_verdicts.c

include $(top_srcdir)/src/util/ftree/Makefile.mk

# The agent's program; it is no MPI program, and takes of the libraries only what it needs.
libexec_PROGRAMS = faultloc-agent
faultloc_agent_LDFLAGS = -Wl,--as-needed
faultloc_agent_LDADD = src/mpid/ch4/faultloc/libfaultloc.la @jsonlib@ @hwloclib@ $(external_libs)
faultloc_agent_SOURCES = \
    src/mpid/ch4/faultloc/faultloc_agent.c \
    src/mpid/ch4/faultloc/faultloc_calls.c \
    src/mpid/ch4/faultloc/faultloc_channel_accept.c \
    src/mpid/ch4/faultloc/faultloc_channel_event.c \
    src/mpid/ch4/faultloc/faultloc_channel_slots.c \
    src/mpid/ch4/faultloc/faultloc_channel_tcp.c \
    src/mpid/ch4/faultloc/faultloc_conn.c \
    src/mpid/ch4/faultloc/faultloc_deputy.c \
    src/mpid/ch4/faultloc/faultloc_door.c \
    src/mpid/ch4/faultloc/faultloc_door_read.c \
    src/mpid/ch4/faultloc/faultloc_frame.c \
    src/mpid/ch4/faultloc/faultloc_lane.c \
    src/mpid/ch4/faultloc/faultloc_launcher.c \
    src/mpid/ch4/faultloc/faultloc_launcher_tell.c \
    src/mpid/ch4/faultloc/faultloc_log.c \
    src/mpid/ch4/faultloc/faultloc_loop.c \
    src/mpid/ch4/faultloc/faultloc_main.c \
    src/mpid/ch4/faultloc/faultloc_numa.c \
    src/mpid/ch4/faultloc/faultloc_porter.c \
    src/mpid/ch4/faultloc/faultloc_program.c \
    src/mpid/ch4/faultloc/faultloc_reader.c \
    src/mpid/ch4/faultloc/faultloc_rules.c \
    src/mpid/ch4/faultloc/faultloc_state.c \
    src/mpid/ch4/faultloc/faultloc_watch.c \
    src/mpid/ch4/faultloc/faultloc_writer.c

endif BUILD_FAULTLOC
