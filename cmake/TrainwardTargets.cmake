# How every target of this project is made: warnings as errors, one language level, sanitizers on
# request, and an include path that shows a target only the layers it links.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1" CACHE STRING "" FORCE)

set(TRAINWARD_SANITIZE "" CACHE STRING "Value for -fsanitize=, empty for none")
option(TRAINWARD_FUZZ "Fuzzers instead of the tests that replay their seeds; needs clang")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the checkout, so that several clones share what was compiled once.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

add_library(trainward_options INTERFACE)
# What a program does not call is not loaded: a command is to answer in milliseconds.
target_link_options(trainward_options INTERFACE -Wl,--as-needed)
# Installed programs look for libraries in a folder of ours first, where the bundle has them, whatever
# LD_LIBRARY_PATH says; the libraries find each other so too, which the newer tag would not do.
set(CMAKE_INSTALL_RPATH "$ORIGIN/../lib/trainward")
target_link_options(trainward_options INTERFACE -Wl,--disable-new-dtags)
target_compile_options(trainward_options INTERFACE -Wall -Wextra -Wpedantic -Werror -pthread)
if(CMAKE_UNITY_BUILD)
  # A type with a member of an unnamed namespace is one file's own, whichever the compiler begins with.
  target_compile_options(trainward_options INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(TRAINWARD_SANITIZE)
  target_compile_options(trainward_options INTERFACE
    -fsanitize=${TRAINWARD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(trainward_options INTERFACE -fsanitize=${TRAINWARD_SANITIZE})
  # Whether memory may be read, this one check asks with a pipe: without descriptors, which some
  # tests see to, it takes every object for a broken one.
  if(TRAINWARD_SANITIZE MATCHES undefined)
    target_compile_options(trainward_options INTERFACE -fno-sanitize=vptr)
  endif()
  # GCC's manual: sanitizers make this warning wrong more often.
  target_compile_options(trainward_options INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  if(TRAINWARD_SANITIZE STREQUAL thread)
    # ThreadSanitizer does not see Asio's fences. At worst it reports what is no race.
    target_compile_options(trainward_options INTERFACE -Wno-tsan)
  endif()
endif()

# trainward_library(<folder> SOURCES ... [LINKS ...] [PRIVATE_LINKS ...])
#
# Makes the static library of one folder; target `supervisor_decide_core` for supervisor/decide/core/.
# Headers are included by their path from the top ("common/base/error.hpp"), but the path only exists
# for targets that link the folder: the include root is a directory in the build tree that holds
# nothing except a link to this one folder.
function(trainward_library folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  string(REPLACE "/" "_" target ${folder})
  list(JOIN ARG_LINKS " " links)
  list(JOIN ARG_PRIVATE_LINKS " " private_links)
  set_property(GLOBAL APPEND PROPERTY TRAINWARD_LAYERS "${folder}: ${links} ${private_links}")
  set(include_root ${CMAKE_BINARY_DIR}/include/${target})
  get_filename_component(parent ${include_root}/${folder} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder} ${include_root}/${folder} SYMBOLIC)
  add_library(${target} STATIC ${ARG_SOURCES})
  target_include_directories(${target} PUBLIC ${include_root})
  target_link_libraries(${target} PUBLIC ${ARG_LINKS} PRIVATE trainward_options ${ARG_PRIVATE_LINKS})
  # OpenMP compiles with options of its own.
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS AND NOT OpenMP::OpenMP_CXX IN_LIST ARG_PRIVATE_LINKS)
    target_precompile_headers(${target} REUSE_FROM trainward_library_headers)
    # GCC 12 is wrong about <string> here. It keeps quiet about that in a system header, but not when
    # the header comes precompiled.
    target_compile_options(${target} PRIVATE
      -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

# trainward_binary(<name> SOURCES ... LINKS ...): an installed program.
function(trainward_binary name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE trainward_options ${ARG_LINKS})
  install(TARGETS ${name} RUNTIME DESTINATION bin)
  set_property(GLOBAL APPEND PROPERTY TRAINWARD_PROGRAMS ${name})
endfunction()

# trainward_waits(<target> ...): what waits for people, disks and other processes. -O2 would take a
# quarter longer to compile, with no visible effect.
function(trainward_waits)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endforeach()
endfunction()

# trainward_worker(<name>): a program that a supervisor watches, which is to die by its own means
# under sanitizers too (sanitizer_defaults.cpp).
function(trainward_worker name)
  if(TRAINWARD_SANITIZE)
    target_sources(${name} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/sanitizer_defaults.cpp)
  endif()
endfunction()

# The tiers of the tests, each a target: `quick` is what scripts/test builds and runs, `deep` what
# scripts/test --all adds. A ctest entry has its tier as a label.
add_custom_target(quick)
add_custom_target(deep)
# Those of both that are run under ThreadSanitizer, because they test what has threads.
add_custom_target(threaded)

# trainward_test(<name> SOURCES ... LINKS ... [DEEP] [THREADED] [TIMEOUT ...] [FIXTURE ...]): a
# GoogleTest program, one ctest entry a case. FIXTURE: of ctest, what must have been set up.
function(trainward_test name)
  cmake_parse_arguments(ARG "DEEP;THREADED" "TIMEOUT;FIXTURE" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE trainward_options ${ARG_LINKS} GTest::gmock GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/support)
  target_precompile_headers(${name} REUSE_FROM trainward_test_headers)
  # What is tested is optimised; the tests themselves only take longer to compile when they are.
  target_compile_options(${name} PRIVATE -O0)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  set(tier quick)
  if(ARG_DEEP)
    set(tier deep)
  endif()
  add_dependencies(${tier} ${name})
  if(ARG_THREADED)
    add_dependencies(threaded ${name})
  endif()
  set(needs)
  if(ARG_FIXTURE)
    set(needs FIXTURES_REQUIRED ${ARG_FIXTURE})
  endif()
  # Tests run beside each other; OpenMP threads that spin would starve them (wait_policy.hpp).
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT OMP_WAIT_POLICY=PASSIVE LABELS ${tier} ${needs})
endfunction()
