# What reads, packs and hashes files is linked from archives, where they are: to load five libraries more was a fifth of the time of a
# start.
# Debian compiles libelf's for programs: a library takes the shared one, but in a wheel, which has src/commands/c_api/elf_errors.c.
foreach(name elf minizip z lz4 zstd xxhash)
  find_library(PTXOPT_LIB${name} lib${name}.a)
  if(PTXOPT_WHEEL AND NOT PTXOPT_LIB${name})
    message(FATAL_ERROR "a wheel needs lib${name}.a")
  endif()
endforeach()

# Links what pkg-config found from these archives instead.
function(ptxopt_archives target)
  foreach(name ${ARGN})
    if(NOT PTXOPT_LIB${name} OR NOT (PTXOPT_STATIC_RUNTIME OR PTXOPT_WHEEL))
      return()
    endif()
    list(APPEND archives ${PTXOPT_LIB${name}})
  endforeach()
  if(target STREQUAL PkgConfig::libelf AND NOT PTXOPT_WHEEL)
    get_target_property(shared ${target} INTERFACE_LINK_LIBRARIES)
    set(is_program $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
    set(archives "$<IF:${is_program},${archives},${shared}>")
  endif()
  set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${archives}")
endfunction()
ptxopt_archives(PkgConfig::libelf elf z)
ptxopt_archives(PkgConfig::minizip minizip z)
ptxopt_archives(PkgConfig::lz4 lz4)
ptxopt_archives(PkgConfig::zstd zstd)
ptxopt_archives(PkgConfig::xxhash xxhash)

# The packages whose code is inside what is installed, from archives or headers: their licenses go along.
set(PTXOPT_CODE_OF libantlr4-runtime-dev libfmt-dev libcli11-dev libspdlog-dev nlohmann-json3-dev libxxhash-dev libelf-dev
  libminizip-dev zlib1g-dev liblz4-dev libzstd-dev libstdc++-12-dev)
