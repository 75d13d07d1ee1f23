// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/stamp_table.hpp"

#include "bench/collective/message.hpp"
#include "bench/collective/socket.hpp"
#include "bench/core/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

namespace mergewise::detail {
namespace {

std::string failure(const char* what, const std::string& path) {
  return fmt::format("{} '{}': {}", what, path, std::generic_category().message(errno));
}

/// Maps the file; "" or what failed.
std::string map_file(const std::string& path, bool create, std::size_t bytes, void*& memory) {
  const Descriptor file(
      open(path.c_str(), (create ? O_CREAT | O_EXCL : 0) | O_RDWR | O_CLOEXEC, 0600));
  if (!file) return failure("cannot open", path);
  if (create && ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
    return failure("cannot size", path);
  }
  memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory != MAP_FAILED) return {};
  memory = nullptr;
  return failure("cannot map", path);
}

}  // namespace

StampTable::StampTable(ControlPlane& control, int ranks)
    : rank_(control.rank()), ranks_(ranks), bytes_(sizeof(Slot) * kSlots * ranks) {
  const std::string scope = control.numbered(fmt::format("link/{}", ranks));
  if (rank_ == 0) control.set(scope + "/path", "/dev/shm/mergewise-" + random_name());
  const std::string path = control.get(scope + "/path");
  const auto mapped = [&](int rank) { return fmt::format("{}/mapped/{}", scope, rank); };
  void* memory = nullptr;
  // Rank 0 makes the file first; then the others map it.
  if (rank_ != 0) (void)control.get(mapped(0));
  const std::string mine = map_file(path, rank_ == 0, bytes_, memory);
  slots_ = static_cast<Slot*>(memory);
  for (std::int64_t i = 0; rank_ == 0 && memory != nullptr && i < kSlots * ranks_; ++i) {
    slots_[i].sequence = -1;
  }
  control.set(mapped(rank_), mine);
  std::string problem;
  for (int rank = 0; rank < ranks_; ++rank) {
    const std::string theirs = control.get(mapped(rank));
    if (!theirs.empty() && problem.empty()) problem = fmt::format("rank {} {}", rank, theirs);
  }
  if (rank_ == 0) unlink(path.c_str());
  if (problem.empty()) return;
  if (slots_ != nullptr) munmap(slots_, bytes_);
  throw BackendError(
      fmt::format("an emulated link needs memory that all ranks of this host share, but {}; do "
                  "they see the same /dev/shm, and is there room in it?",
                  problem));
}

StampTable::~StampTable() { munmap(slots_, bytes_); }

StampTable::Slot& StampTable::slot(int rank, std::int64_t sequence) const {
  return slots_[rank * kSlots + sequence % kSlots];
}

void StampTable::arrive(std::int64_t sequence, Stamp at) {
  Slot& mine = slot(rank_, sequence);
  mine.at.store(at, std::memory_order_relaxed);
  mine.sequence.store(sequence, std::memory_order_release);
}

Stamp StampTable::last_arrival(std::int64_t sequence) const {
  Stamp last = 0;
  for (int rank = 0; rank < ranks_; ++rank) {
    const Slot& theirs = slot(rank, sequence);
    if (theirs.sequence.load(std::memory_order_acquire) != sequence) {
      throw BackendError(
          fmt::format("collective {} ended on rank {} although rank {} had not begun it: the ranks "
                      "do not make the same calls",
                      sequence, rank_, rank));
    }
    last = std::max(last, theirs.at.load(std::memory_order_relaxed));
  }
  return last;
}

}  // namespace mergewise::detail
