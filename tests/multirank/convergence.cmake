# SPDX-License-Identifier: Apache-2.0
# Ranks as threads that train small networks over Gloo.
mergewise_test(multirank_convergence
  SOURCES convergence_test.cpp
  DEPENDS mergewise::collective mergewise::kernels mergewise::stats
  LABELS multirank
  TIMEOUT 300
  PROCESSORS 2)
