// SPDX-License-Identifier: Apache-2.0
#include "bench/app/ending.hpp"

#include <unistd.h>

#include <cstdio>

namespace mergewise {

void end_process(ExitCode code) {
  std::fflush(nullptr);
  _exit(static_cast<int>(code));
}

bool Ending::speaks_about(const std::string& verdict) const {
  if (!local_launch_ || rank_ == 0) return true;
  const bool about_rank_0 = verdict.rfind("rank 0 ", 0) == 0;
  return rank_ == 1 && about_rank_0 && verdict.rfind("rank 0 reports", 0) != 0;
}

void Ending::fail(const std::string& verdict) {
  if (ended_.exchange(true)) {
    for (;;) pause();
  }
  ResultBook* book = book_;
  const bool saved = book == nullptr || book->abandon(verdict);
  if (speaks_about(verdict)) std::fprintf(stderr, "\nmergewise: %s\n", verdict.c_str());
  if (!saved) {
    std::fprintf(stderr,
                 "mergewise: the unfinished cases could not be saved; what was finished before is "
                 "in %s\n",
                 book->result_file().c_str());
  }
  end_process(ExitCode::kRunFailed);
}

}  // namespace mergewise
