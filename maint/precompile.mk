##
## Copyright (C) by the FaultLoc authors
##     See COPYRIGHT in top-level directory
##

# Read after MPICH's Makefile, whose variables it uses.  mpiimpl.h, with which most source files begin,
# takes half of the time in which one is compiled.  It is compiled once, with the flags of objects for
# the shared and for the static library; GCC finds that, in the folder .gch, before the header
# itself.
#
# What is compiled so has no header among its prerequisites: when one of those of mpiimpl.h changes,
# all such objects go.  The file header is for who includes it by another header, where GCC cannot use
# what was compiled; it stays, for it is among their prerequisites.

header = src/include/mpiimpl.h
precompile = $(CC) $(DEFS) $(DEFAULT_INCLUDES) $(INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) \
    $(CFLAGS) -x c-header $(srcdir)/$(header)

.PHONY: precompiled
precompiled: $(header).d

$(header).d:
	rm -rf $(header).gch
	mkdir -p $(header).gch
	echo '#include "$(abs_srcdir)/$(header)"' >$(header)
	$(precompile) -o $(header).gch/static
	$(precompile) -fPIC -DPIC -MD -MP -MF $@.tmp -MT $@ -o $(header).gch/shared
	find src -name 'lib_lib*.lo' -exec rm -f {} +
	mv $@.tmp $@

-include $(header).d
