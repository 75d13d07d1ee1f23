# SPDX-License-Identifier: Apache-2.0
# Ranks as real processes that are killed, stopped or missing: collective_rank is what they run.
add_executable(collective_rank collective_rank.cpp)
target_link_libraries(collective_rank PRIVATE mergewise_options mergewise::collective fmt::fmt)

mergewise_test(multirank_collective
  SOURCES collective_faults_test.cpp collective_processes.cpp
  DEPENDS mergewise::collective fmt::fmt
  LABELS multirank
  TIMEOUT 120
  PROCESSORS 2)
add_dependencies(multirank_collective collective_rank)
target_compile_definitions(multirank_collective PRIVATE
  MERGEWISE_COLLECTIVE_RANK="$<TARGET_FILE:collective_rank>")
