# The emulated CUDA runtime and driver, which `ptxopt emulate` loads instead of NVIDIA's: one shared library, with
# links of the names that programs ask for.
#
# The archive of ANTLR's runtime is not made for shared libraries, so this one takes the shared one, and names all it needs
# itself. Of what it is made of, only CUDA's functions are seen outside.
file(GLOB_RECURSE emulation_sources CONFIGURE_DEPENDS src/execute/emulate/*.cpp)
list(APPEND emulation_sources src/execute/record/record.cpp src/execute/record/archive.cpp src/execute/record/folder.cpp src/execute/record/recorder.cpp
  src/execute/record/textures.cpp)
list(FILTER emulation_sources EXCLUDE REGEX "/program_file\\.cpp$")  # the tool's alone
add_library(ptxopt_emulation SHARED ${emulation_sources})
target_include_directories(ptxopt_emulation PRIVATE ${PTXOPT_GROUPS})
target_link_libraries(ptxopt_emulation PRIVATE $<TARGET_FILE:ptxopt_tools> $<TARGET_FILE:ptxopt> antlr4_shared fmt::fmt
  nlohmann_json::nlohmann_json PkgConfig::libelf PkgConfig::xxhash PkgConfig::lz4 PkgConfig::zstd PkgConfig::minizip)
set_target_properties(ptxopt_emulation PROPERTIES CXX_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/emulate LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/execute/emulate/exports.map)
target_compile_options(ptxopt_emulation PRIVATE ${PTXOPT_COLD})
target_link_options(ptxopt_emulation PRIVATE LINKER:--exclude-libs,ALL
  LINKER:--version-script=${PROJECT_SOURCE_DIR}/src/execute/emulate/exports.map)
add_dependencies(ptxopt_emulation ptxopt_tools ptxopt)
ptxopt_warnings(ptxopt_emulation)
target_sources(ptxopt_emulation PRIVATE $<TARGET_OBJECTS:ptxopt_interpreter>)  # as in hot.cmake, without the optimizer
ptxopt_unity(ptxopt_emulation)
ptxopt_precompile(ptxopt_emulation emulate/state.h)

set(PTXOPT_EMULATION_LINKS libcudart.so.12 libcudart.so.13 libcuda.so.1 libnvJitLink.so.12 libnvJitLink.so.13)
foreach(link ${PTXOPT_EMULATION_LINKS})
  add_custom_command(TARGET ptxopt_emulation POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink libptxopt_emulation.so ${link}
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/emulate VERBATIM)
endforeach()

# What Triton calls instead of ptxas.
configure_file(src/execute/emulate/ptxas.sh ${PROJECT_BINARY_DIR}/emulate/ptxas COPYONLY)
install(PROGRAMS ${PROJECT_BINARY_DIR}/emulate/ptxas DESTINATION ${CMAKE_INSTALL_LIBDIR}/ptxopt/emulate COMPONENT tool)

install(TARGETS ptxopt_emulation LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/ptxopt/emulate COMPONENT tool)
foreach(link ${PTXOPT_EMULATION_LINKS})
  install(FILES ${PROJECT_BINARY_DIR}/emulate/${link} DESTINATION ${CMAKE_INSTALL_LIBDIR}/ptxopt/emulate COMPONENT tool)
endforeach()
