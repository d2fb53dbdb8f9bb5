# The files that include CLI11 are compiled in three pieces. Each of them by itself takes ten times as long as its own lines
# need: CLI11 is headers alone, and GCC emits hundreds of its functions into each object, precompiled or not.
#
# `drop_in` has what ptxopt-ptxas needs: one object takes all that it was compiled with into a program.
set(unity_drop_in options/guard_options options/number_checks options/optimizer_options options/wrapper_options)
set(unity_files commands/diff commands/doctor commands/report commands/run_line commands/tune commands/verify
  options/ptxas_options)
set(unity_optimizer commands/as commands/baseline commands/nvcc commands/reduce manual/describe options/command_line
  options/parse_arguments)
set_target_properties(ptxopt_commands PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
foreach(group drop_in files optimizer)
  list(TRANSFORM unity_${group} REPLACE "(.+)" "src/tool/\\1.cpp")
  set_source_files_properties(${unity_${group}} PROPERTIES UNITY_GROUP ${group})
endforeach()
