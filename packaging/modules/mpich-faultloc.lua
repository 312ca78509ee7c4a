-- For Lmod. The installation may be moved.
local root = myFileName():match("^(.*)/share/modulefiles/")

help([[MPICH with FaultLoc: MPIR_CVAR_FAULTLOC=1 in a job's environment turns it on.
See faultloc(7).]])
whatis("Description: MPICH that says what broke a parallel job")
family("mpi")
prepend_path("PATH", pathJoin(root, "bin"))
prepend_path("LD_LIBRARY_PATH", pathJoin(root, "lib"))
prepend_path("MANPATH", pathJoin(root, "share/man"))
prepend_path("PKG_CONFIG_PATH", pathJoin(root, "lib/pkgconfig"))
setenv("MPI_HOME", root)
