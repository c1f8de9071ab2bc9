# Precompiled headers: half of a build without them is the parsing of the same library headers again.
# One set for libraries, one for test programs (which are compiled with other options). Off with
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON, as scripts/lint does: every file includes what it uses.

set(common_libraries fmt::fmt tl::expected Boost::json)

add_library(trainward_library_headers OBJECT cmake/headers/library.cpp)
target_link_libraries(trainward_library_headers PRIVATE trainward_options ${common_libraries})
target_precompile_headers(trainward_library_headers PRIVATE cmake/headers/library.hpp)

add_executable(trainward_test_headers EXCLUDE_FROM_ALL cmake/headers/test.cpp)
target_link_libraries(trainward_test_headers PRIVATE trainward_options ${common_libraries} GTest::gmock)
target_compile_options(trainward_test_headers PRIVATE -O0)
target_precompile_headers(trainward_test_headers PRIVATE cmake/headers/test.hpp)
