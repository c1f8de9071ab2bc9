# Everything comes from the distribution; docs/dependencies.md says what each is for.

find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(ZLIB REQUIRED)
find_package(benchmark REQUIRED)
include(GoogleTest)

find_package(PkgConfig REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(uring REQUIRED IMPORTED_TARGET liburing)
pkg_check_modules(nettle REQUIRED IMPORTED_TARGET nettle)
pkg_check_modules(systemd REQUIRED IMPORTED_TARGET libsystemd)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(pcre2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)

# Debian's dnnl-config.cmake demands OpenCL headers, which the CPU engine does not use.
find_path(DNNL_INCLUDE_DIR dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
add_library(trainward_dnnl INTERFACE)
target_include_directories(trainward_dnnl SYSTEM INTERFACE ${DNNL_INCLUDE_DIR})
target_link_libraries(trainward_dnnl INTERFACE ${DNNL_LIBRARY})
find_package(OpenMP REQUIRED COMPONENTS CXX)

# The C interface only: the C++ one was taken out of the standard.
find_package(MPI REQUIRED COMPONENTS CXX)
add_library(trainward_mpi INTERFACE)
target_include_directories(trainward_mpi SYSTEM INTERFACE ${MPI_CXX_INCLUDE_DIRS})
target_compile_definitions(trainward_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
target_link_libraries(trainward_mpi INTERFACE ${MPI_CXX_LIBRARIES})
