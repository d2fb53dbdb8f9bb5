# Headers of others that most files of a target include, compiled once for the target: about a third of the time to
# compile it. Ours are not among them, so that a change to one compiles only what includes it.
#
# A file still includes what it uses; -D PTXOPT_PCH=OFF shows whether it does: otherwise the compiler is given these headers
# for every file of the target, asked for or not.
option(PTXOPT_PCH "Compile the headers of libraries once for each target" ON)

# ptxopt_precompile(TARGET HEADER...): the headers, and those of the standard library that all targets use.
function(ptxopt_precompile target)
  if(NOT PTXOPT_PCH)
    return()
  endif()
  set(headers algorithm array bit cmath cstdint cstring deque functional map memory optional set span string string_view
    unordered_map utility vector fmt/format.h ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "<\\1>")
  target_precompile_headers(${target} PRIVATE ${headers})
  # In what is precompiled, GCC 12 also calls the overlapping copy of warnings.cmake by these names.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds>)
endfunction()
