# How code is compiled: hot is what -O2 executes, cold the rest. The interpreter's loops over lanes need more passes of GCC than hot
# code does: PTXOPT_HOT_LANES leaves out fewer.
#
# Hot code is at -O3 without the passes of GCC that take time and save no instructions here: with all of these, it takes a fifth
# longer to compile, and -O2 executes 0.5% more. Cold code is at -Og, which takes a third off the time of -O1, and a start executes
# 12% more. Both together take a quarter off a cold build. Under sanitizers -O0 halves the time of cold code.
set(PTXOPT_HOT "")
set(PTXOPT_HOT_LANES "")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  set(PTXOPT_SANITIZED ON)
  set(PTXOPT_COLD -O0)
else()
  set(PTXOPT_SANITIZED OFF)
  set(PTXOPT_COLD $<$<CONFIG:Release>:-O1>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # -Og alone does not inline what is called once: the code would be half as large again.
    set(PTXOPT_COLD $<$<CONFIG:Release>:-Og> $<$<CONFIG:Release>:-finline-functions-called-once>)
    set(passes ipa-icf ipa-sra ipa-cp ipa-vrp partial-inlining tree-vrp)
    list(TRANSFORM passes REPLACE "(.+)" "$<$<CONFIG:Release>:-fno-\\1>" OUTPUT_VARIABLE PTXOPT_HOT_LANES)
    set(passes tree-pre code-hoisting tree-pta tree-tail-merge tree-loop-im tree-loop-distribution tree-loop-distribute-patterns
      peel-loops predictive-commoning split-loops unswitch-loops version-loops-for-strides)
    list(TRANSFORM passes REPLACE "(.+)" "$<$<CONFIG:Release>:-fno-\\1>" OUTPUT_VARIABLE PTXOPT_HOT)
    list(PREPEND PTXOPT_HOT ${PTXOPT_HOT_LANES})
  endif()
endif()
# GCC collects garbage from 256 MB on, not from 128: 5% less time for a tenth more memory.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=262144>)

# The linker takes the first copy of a template that hot and cold code use: hot code and the interpreter are linked first. Users of
# the static library get the copies of cold code.
function(ptxopt_hot_first target)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:ptxopt> $<TARGET_OBJECTS:ptxopt_passes> $<TARGET_OBJECTS:ptxopt_interpreter>)
endfunction()
