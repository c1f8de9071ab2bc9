# The bundle: one archive with the programs and the shared libraries they need, which runs from any
# folder of any machine whose C library is not older (docs/bundle.md). `cmake --install` for this
# machine leaves the libraries out: here they belong to the distribution.
#
#   ninja bundle      build/PRESET/bundle/trainward-VERSION-Linux-x86_64.tar.gz

get_property(programs GLOBAL PROPERTY TRAINWARD_PROGRAMS)
set(TRAINWARD_PROGRAM_FILES "")
foreach(program ${programs})
  list(APPEND TRAINWARD_PROGRAM_FILES $<TARGET_FILE:${program}>)
endforeach()

# What is compiled into the programs without being a library beside them: a file of each, by which its
# package is found.
set(TRAINWARD_COMPILED_IN ${C_ARCHIVE} ${BOOST_JSON_ARCHIVE})
foreach(header CLI/CLI.hpp tl/expected.hpp boost/asio.hpp spdlog/spdlog.h SQLiteCpp/SQLiteCpp.h)
  find_file(TRAINWARD_HEADER_${header} ${header})
  if(TRAINWARD_HEADER_${header})
    list(APPEND TRAINWARD_COMPILED_IN ${TRAINWARD_HEADER_${header}})
  endif()
endforeach()

configure_file(${CMAKE_CURRENT_LIST_DIR}/bundle/libraries.cmake.in
  ${CMAKE_BINARY_DIR}/bundle_libraries.cmake.in @ONLY)
file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/bundle_libraries.cmake
  INPUT ${CMAKE_BINARY_DIR}/bundle_libraries.cmake.in)
install(PROGRAMS ${CMAKE_SOURCE_DIR}/scripts/gpu-bench
  DESTINATION share/trainward/gpu-bench COMPONENT bundle EXCLUDE_FROM_ALL)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/scripts/gpu_bench
  DESTINATION share/trainward/gpu-bench COMPONENT bundle EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN *.py)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(SCRIPT ${CMAKE_BINARY_DIR}/bundle_libraries.cmake COMPONENT bundle EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME trainward)
set(CPACK_PACKAGE_FILE_NAME
  trainward-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
# Line tables stay in the build folder: they are three quarters of the programs.
set(CPACK_STRIP_FILES TRUE)
set(CPACK_VERBATIM_VARIABLES TRUE)
set(CPACK_INSTALL_CMAKE_PROJECTS
  "${CMAKE_BINARY_DIR};trainward;ALL;/;${CMAKE_BINARY_DIR};trainward;bundle;/")
include(CPack)

add_custom_target(programs DEPENDS ${programs})
add_dependencies(quick programs)
add_dependencies(deep programs)
# The same programs make the same archive: its files have the time of the commit.
set(commit_time "git -C ${CMAKE_SOURCE_DIR} log -1 --format=%ct 2>/dev/null || echo 0")
add_custom_target(bundle
  COMMAND sh -c "SOURCE_DATE_EPOCH=\${SOURCE_DATE_EPOCH:-$(${commit_time})} exec \"$@\"" cpack
    ${CMAKE_CPACK_COMMAND} -G TGZ --config ${CMAKE_BINARY_DIR}/CPackConfig.cmake
    -B ${CMAKE_BINARY_DIR}/bundle
  DEPENDS ${programs} VERBATIM USES_TERMINAL)
