# cmake --install: headers, library, tool, and the CMake package `ptxopt` with the target ptxopt::ptxopt. The component
# `tool` are the programs with their manual and completion (documents.cmake), `dev` the rest.
include(CMakePackageConfigHelpers)
set(PTXOPT_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ptxopt)

install(TARGETS ptxopt EXPORT ptxoptTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(TARGETS ptxopt_tool ptxopt_drop_in RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
install(PROGRAMS $<TARGET_FILE_DIR:ptxopt_drop_in>/ptxopt-ptxas-blackwell
  DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
install(DIRECTORY include/ptxopt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.h")
install(DIRECTORY schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/ptxopt COMPONENT tool)
# The documentation, with the links between its pages as they are in the sources.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool FILES_MATCHING PATTERN "*.md")
install(EXPORT ptxoptTargets NAMESPACE ptxopt:: DESTINATION ${PTXOPT_PACKAGE_DIR} COMPONENT dev)

# All that the rules above and documents.cmake install, without the tests.
add_custom_target(ptxopt_installed DEPENDS ptxopt_tool ptxopt_drop_in)
if(TARGET ptxopt_loaded)
  add_dependencies(ptxopt_installed ptxopt_loaded)
endif()

configure_package_config_file(cmake/ptxoptConfig.cmake.in ${PROJECT_BINARY_DIR}/ptxoptConfig.cmake
  INSTALL_DESTINATION ${PTXOPT_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ptxoptConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ptxoptConfig.cmake ${PROJECT_BINARY_DIR}/ptxoptConfigVersion.cmake
  DESTINATION ${PTXOPT_PACKAGE_DIR} COMPONENT dev)
