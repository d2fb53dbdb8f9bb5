# Sources are compiled in batches: one file includes many. Most of the time to compile ours goes to headers and to the templates
# in them, which a batch reads and instantiates once. A change to one file compiles its batch, so PTXOPT_UNITY=OFF, as in preset
# debug, suits work on sources. OFF also shows which file does not include what it uses; ON, which names of unnamed
# namespaces collide.
#
# A batch takes up to 40 s and 1.3 GB; all of the tool is 18.
option(PTXOPT_UNITY "Compile sources in batches: less time for a whole build, more for a change to one file" ON)

# ptxopt_unity(TARGET [FILES]): so many in a batch, where names of more collide; otherwise about 48, the same in each of a target.
function(ptxopt_unity target)
  if(PTXOPT_UNITY)
    if(ARGN)
      set(files ${ARGN})
    else()
      get_target_property(sources ${target} SOURCES)
      list(FILTER sources INCLUDE REGEX "\\.cpp$")
      list(LENGTH sources all)
      math(EXPR batches "(${all} + 24) / 48")
      if(batches EQUAL 0)
        set(batches 1)
      endif()
      math(EXPR files "(${all} + ${batches} - 1) / ${batches}")
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()
