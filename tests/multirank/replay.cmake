# SPDX-License-Identifier: Apache-2.0
# Ranks as threads that replay real plans over Gloo.
mergewise_test(multirank_replay
  SOURCES replay_test.cpp
  DEPENDS mergewise::replay mergewise::strategies fmt::fmt
  LABELS multirank
  TIMEOUT 120
  PROCESSORS 2)
