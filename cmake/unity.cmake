# Sources are compiled in batches: one file includes many. Most of the time to compile ours goes to headers and to the templates
# in them, which a batch reads and instantiates once. A change to one file compiles its batch, so PTXOPT_UNITY=OFF, as in preset
# debug, suits work on sources. OFF also shows which file does not include what it uses; ON, which names of unnamed
# namespaces collide.
#
# 48 files take half a minute and 1.4 GB; all of the tool is 15 batches.
option(PTXOPT_UNITY "Compile sources in batches: half the time for a whole build, more for a change to one file" ON)

# ptxopt_unity(TARGET [FILES]): in a batch; fewer where names collide.
function(ptxopt_unity target)
  if(PTXOPT_UNITY)
    list(APPEND ARGN 48)
    list(GET ARGN 0 files)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()
