# SPDX-License-Identifier: Apache-2.0
# One library per folder and one test program per mirrored folder, so that layering is a link error away.
include(GoogleTest OPTIONAL)

# mergewise_library(NAME SOURCES a.cpp ... [DEPENDS mergewise::core ...] [PRIVATE fmt::fmt ...])
function(mergewise_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;PRIVATE" ${ARGN})
  add_library(mergewise_${name} STATIC ${arg_SOURCES})
  add_library(mergewise::${name} ALIAS mergewise_${name})
  target_link_libraries(mergewise_${name} PUBLIC mergewise_options ${arg_DEPENDS} PRIVATE ${arg_PRIVATE})
endfunction()

# mergewise_test(NAME SOURCES a.cpp ... DEPENDS mergewise::core ... LABELS unit [TIMEOUT 60] [PROCESSORS 1]
#                [FILTER GTEST_FILTER])
function(mergewise_test name)
  cmake_parse_arguments(arg "" "TIMEOUT;PROCESSORS;FILTER" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE mergewise_options ${arg_DEPENDS} GTest::gmock GTest::gtest_main)
  # Tests are compiled more often than they run.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_FILTER "${arg_FILTER}" PROPERTIES
    LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} PROCESSORS ${arg_PROCESSORS})
endfunction()
