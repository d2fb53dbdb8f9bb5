# The git revision for --version, in generated/git_revision.h: of a build's checkout, not of its configuring.
#
# As in LLVM the log of HEAD, which every commit, checkout, reset and rebase writes to, is what the header depends on;
# so a build without a new commit does nothing, and one with it compiles src/commands/tool/revision.cpp and links. There is no mark
# for changes that are not committed: it would be wrong as soon as a file is saved after building, and right only at
# the price of looking at every file in every build. An archive made by `git archive` brings its revision along in
# cmake/revision.txt; any other has none, and --version says only the version.
#
# Run as a script, -D SOURCE=... -D HEADER=... -P, it writes the header if it would change.
function(ptxopt_git_checkout source is_checkout)
  set(${is_checkout} FALSE PARENT_SCOPE)
  find_program(PTXOPT_GIT git)
  if(PTXOPT_GIT)
    execute_process(COMMAND ${PTXOPT_GIT} -c safe.directory=* -C ${source} rev-parse --show-toplevel
      OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
    # A source archive that lies in the checkout of something else has not that one's revision.
    file(REAL_PATH "${source}" source)
    if(status EQUAL 0 AND top STREQUAL source)
      set(${is_checkout} TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  set(revision "")
  ptxopt_git_checkout(${SOURCE} is_checkout)
  if(is_checkout)
    execute_process(COMMAND ${PTXOPT_GIT} -c safe.directory=* -C ${SOURCE} log -1 "--format=%h %cs"
      OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  else()
    file(STRINGS ${SOURCE}/cmake/revision.txt archived REGEX "^[0-9a-f]+ [-0-9]+$")
    if(archived)
      set(revision ${archived})
    endif()
  endif()
  string(REGEX MATCH "^[0-9a-f]+" name "${revision}")
  string(REGEX MATCH "[-0-9]+$" date "${revision}")
  set(text "#define PTXOPT_REVISION \"${name}\"\n#define PTXOPT_REVISION_DATE \"${date}\"\n")
  set(old "")
  if(EXISTS ${HEADER})
    file(READ ${HEADER} old)
  endif()
  if(NOT text STREQUAL old)
    file(WRITE ${HEADER} ${text})
  endif()
  return()
endif()

set(revision_header ${PTXOPT_GENERATED}/git_revision.h)
set(revision_depends ${CMAKE_CURRENT_LIST_FILE} ${CMAKE_CURRENT_LIST_DIR}/revision.txt)
ptxopt_git_checkout(${PROJECT_SOURCE_DIR} is_checkout)
if(is_checkout)
  execute_process(COMMAND ${PTXOPT_GIT} -c safe.directory=* -C ${PROJECT_SOURCE_DIR} rev-parse --git-path logs/HEAD
    OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE)
  get_filename_component(log ${log} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  if(NOT EXISTS ${log})  # git can be told to write none: then every build looks
    set(log ${PROJECT_BINARY_DIR}/look_at_revision)
    set_source_files_properties(${log} PROPERTIES SYMBOLIC TRUE)
    add_custom_command(OUTPUT ${log} COMMAND ${CMAKE_COMMAND} -E true)
  endif()
  list(APPEND revision_depends ${log})
endif()
add_custom_command(OUTPUT ${revision_header}
  COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D HEADER=${revision_header} -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${revision_depends} COMMENT "Looking at the git revision" VERBATIM)
add_custom_target(ptxopt_revision DEPENDS ${revision_header})
