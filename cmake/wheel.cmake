# The build of a wheel, by scikit-build-core (pyproject.toml): programs and library that need the C library alone, and of
# that only what version 2.28 has.
#
# Debian's libelf, minizip, zlib, lz4 and zstd are linked from their archives. What of the C library is newer than 2.28 is given by
# src/commands/c_api/old_glibc.c in terms of what is older: the same symbols, which the linker takes first.
option(PTXOPT_WHEEL "Build for a Python wheel: without libraries of the system but libc" ${SKBUILD})
if(PTXOPT_WHEEL)
  foreach(name elf minizip z lz4 zstd)
    find_library(PTXOPT_LIB${name} lib${name}.a REQUIRED)
  endforeach()
  set_target_properties(PkgConfig::libelf PROPERTIES INTERFACE_LINK_LIBRARIES "${PTXOPT_LIBelf};${PTXOPT_LIBz}")
  set_target_properties(PkgConfig::minizip PROPERTIES INTERFACE_LINK_LIBRARIES "${PTXOPT_LIBminizip};${PTXOPT_LIBz}")
  set_target_properties(PkgConfig::lz4 PROPERTIES INTERFACE_LINK_LIBRARIES "${PTXOPT_LIBlz4}")
  set_target_properties(PkgConfig::zstd PROPERTIES INTERFACE_LINK_LIBRARIES "${PTXOPT_LIBzstd}")
endif()
