# Sources are compiled in batches: one file includes many. Most of the time to compile ours goes to headers and to the templates
# in them, which a batch reads and instantiates once. A change to one file compiles its batch, so PTXOPT_UNITY=OFF, as in preset
# debug, suits work on sources. OFF also shows which file does not include what it uses; ON, which names of unnamed
# namespaces collide.
#
# A batch takes up to 45 s and 2 GB; all of the tool is 10.
option(PTXOPT_UNITY "Compile sources in batches: less time for a whole build, more for a change to one file" ON)

# ptxopt_unity(TARGET [MOST]): the fewest batches of at most MOST files, 56 unless given, and the same number in each. What is
# compiled at -O3 gains nothing from larger ones.
function(ptxopt_unity target)
  if(PTXOPT_UNITY)
    list(APPEND ARGN 56)
    list(GET ARGN 0 most)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    list(LENGTH sources all)
    math(EXPR batches "(${all} + ${most} - 1) / ${most}")
    math(EXPR files "(${all} + ${batches} - 1) / ${batches}")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()
