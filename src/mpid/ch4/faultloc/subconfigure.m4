[#] start of __file__
dnl MPICH_SUBCFG_AFTER=src/mpid/ch4

m4_include([src/mpid/ch4/faultloc/version.m4])

AC_DEFUN([PAC_SUBCFG_PREREQ_]PAC_SUBCFG_AUTO_SUFFIX,[
    AC_ARG_ENABLE([faultloc],
                  AS_HELP_STRING([--disable-faultloc],
                                 [leave the fault localization tree out (default: in, with ch4)]),
                  [],[enable_faultloc=yes])
    AM_COND_IF([BUILD_CH4],[],[enable_faultloc=no])
    AM_CONDITIONAL([BUILD_FAULTLOC],[test "$enable_faultloc" != "no"])
])dnl

AC_DEFUN([PAC_SUBCFG_BODY_]PAC_SUBCFG_AUTO_SUFFIX,[
AM_COND_IF([BUILD_FAULTLOC],[
    AC_MSG_NOTICE([RUNNING CONFIGURE FOR ch4:faultloc])
    AC_DEFINE([ENABLE_FAULTLOC],[1],[The fault localization tree is built])
    # what mpichversion and MPI_Get_library_version say of this MPICH, beside what the user has to say
    MPICH_CUSTOM_STRING="FaultLoc FAULTLOC_VERSION_m4${MPICH_CUSTOM_STRING:+, $MPICH_CUSTOM_STRING}"
    PAC_CHECK_HEADER_LIB([sodium.h],[sodium],[sodium_init],[have_sodium=yes],[have_sodium=no])
    AS_IF([test "$have_sodium" = "yes"],
          [PAC_APPEND_FLAG([-lsodium],[WRAPPER_LIBS])],
          [AC_MSG_ERROR([faultloc needs libsodium (Debian: libsodium-dev, Fedora: libsodium-devel, Spack: libsodium); or configure with --disable-faultloc])])
    AC_SEARCH_LIBS([dlopen],[dl],[AS_IF([test "$ac_cv_search_dlopen" != "none required"],
                                        [PAC_APPEND_FLAG([$ac_cv_search_dlopen],[WRAPPER_LIBS])])])
])
])dnl

[#] end of __file__
