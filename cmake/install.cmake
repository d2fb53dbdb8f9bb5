# cmake --install: headers, library, tool, schemas of its JSON, and the CMake package `ptxopt` with the target ptxopt::ptxopt.
include(CMakePackageConfigHelpers)
set(PTXOPT_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/ptxopt)

install(TARGETS ptxopt EXPORT ptxoptTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ptxopt_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/ptxopt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/ptxopt)
install(EXPORT ptxoptTargets NAMESPACE ptxopt:: DESTINATION ${PTXOPT_PACKAGE_DIR})

configure_package_config_file(cmake/ptxoptConfig.cmake.in ${PROJECT_BINARY_DIR}/ptxoptConfig.cmake
  INSTALL_DESTINATION ${PTXOPT_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ptxoptConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ptxoptConfig.cmake ${PROJECT_BINARY_DIR}/ptxoptConfigVersion.cmake
  DESTINATION ${PTXOPT_PACKAGE_DIR})
