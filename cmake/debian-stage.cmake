# Run by cpack on the staged files of both components, before they are packed: see package.cmake.
find_program(gzip gzip REQUIRED)

# The revision's day, for the changelog; a build without git has the epoch's.
set(date "Thu, 01 Jan 1970 00:00:00 +0000")
file(READ ${CPACK_PTXOPT_REVISION} revision)
if(revision MATCHES "DATE \"([0-9]+-[0-9]+-[0-9]+)\"")
  execute_process(COMMAND date -u -R -d ${CMAKE_MATCH_1} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE
    COMMAND_ERROR_IS_FATAL ANY)
endif()

# Our license, and those of the libraries whose code is inside: static, or in headers.
file(READ ${CPACK_PTXOPT_SOURCE}/LICENSE license)
set(copyright "ptxopt\n\n${license}")
foreach(library IN LISTS CPACK_PTXOPT_CODE_OF)
  set(file /usr/share/doc/${library}/copyright)
  if(EXISTS ${file})
    file(READ ${file} text)
    string(APPEND copyright "\n\nThe program contains code of the package ${library}, of which it says:\n\n${text}")
  endif()
endforeach()

set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(changelog "ptxopt (${version}) unstable; urgency=medium\n\n  * Version ${CPACK_PACKAGE_VERSION}.\n\n")
string(APPEND changelog " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")

foreach(component IN ITEMS tool dev)
  set(stage ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr)
  if(NOT EXISTS ${stage})
    continue()
  endif()
  string(TOUPPER ${component} upper)
  set(doc ${stage}/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  file(WRITE ${doc}/copyright "${copyright}")
  file(WRITE ${doc}/changelog.Debian "${changelog}")
  file(GLOB compress ${stage}/share/man/man1/*.1)
  execute_process(COMMAND ${gzip} -9 -n -f ${compress} ${doc}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
  if(EXISTS ${stage}/share/zsh/site-functions)  # Debian's zsh looks there
    file(RENAME ${stage}/share/zsh/site-functions ${stage}/share/zsh/vendor-completions)
  endif()
endforeach()
