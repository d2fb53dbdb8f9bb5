# Headers that most files of a target include, compiled once for the target: about half of the time to compile it. They are
# those of libraries, and of ours those that nearly every file of the target includes: a change to one of these compiles the
# target anyway. A target in large batches (unity.cmake) has too few of them to gain by it: ptxopt_unity() comes first.
#
# A file still includes what it uses; -D PTXOPT_PCH=OFF shows whether it does: otherwise the compiler is given these headers
# for every file of the target, asked for or not.
option(PTXOPT_PCH "Compile the headers that most files include once for each target" ON)

# ptxopt_precompile(TARGET HEADER...): the headers, and those of the standard library that all targets use.
function(ptxopt_precompile target)
  get_target_property(files ${target} UNITY_BUILD_BATCH_SIZE)
  if(NOT PTXOPT_PCH OR files GREATER 8)
    return()
  endif()
  set(headers algorithm array bit cmath cstdint cstring deque functional map memory optional set span string string_view
    unordered_map utility vector fmt/format.h ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "<\\1>")
  target_precompile_headers(${target} PRIVATE ${headers})
  # In what is precompiled, GCC 12 also calls the overlapping copy of warnings.cmake by these names.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds>)
endfunction()
