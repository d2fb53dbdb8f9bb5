# The manual and the completion of shells: the program writes them itself, of its own tables. Built with all, installed
# with the tool.
#
# Run as a script, -D TOOL=... -D TO=... -P, it lets the program write them.
if(CMAKE_SCRIPT_MODE_FILE)
  function(run)
    execute_process(COMMAND ${TOOL} ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
  endfunction()
  file(REMOVE_RECURSE ${TO})  # pages of commands that are no more
  file(MAKE_DIRECTORY ${TO})
  run(--write-manual ${TO}/man)
  foreach(shell IN ITEMS bash zsh fish)
    execute_process(COMMAND ${TOOL} --completion ${shell} OUTPUT_FILE ${TO}/ptxopt.${shell} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  # What is run under that name has the page of the command that it is.
  set(page ptxopt.1)
  if(EXISTS ${TO}/man/ptxopt-as.1)
    set(page ptxopt-as.1)
  endif()
  foreach(name IN ITEMS ptxopt-ptxas ptxopt-ptxas-blackwell)
    file(WRITE ${TO}/man/${name}.1 ".so man1/${page}\n")
  endforeach()
  file(TOUCH ${TO}/written)
  return()
endif()

set(documents ${PROJECT_BINARY_DIR}/documents)
add_custom_command(OUTPUT ${documents}/written
  COMMAND ${CMAKE_COMMAND} -D TOOL=$<TARGET_FILE:ptxopt_tool> -D TO=${documents} -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ptxopt_tool ${CMAKE_CURRENT_LIST_FILE} COMMENT "Writing the manual and completion" VERBATIM)
add_custom_target(ptxopt_documents ALL DEPENDS ${documents}/written)
add_dependencies(ptxopt_installed ptxopt_documents)

install(DIRECTORY ${documents}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
install(FILES ${documents}/ptxopt.bash RENAME ptxopt
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool)
install(FILES ${documents}/ptxopt.zsh RENAME _ptxopt
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tool)
install(FILES ${documents}/ptxopt.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tool)
