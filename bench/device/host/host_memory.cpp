// SPDX-License-Identifier: Apache-2.0
#include "bench/device/host/host_memory.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <string>

namespace mergewise {
namespace {

namespace fs = std::filesystem;

constexpr Bytes kUnlimited = std::numeric_limits<Bytes>::max();

// The files that the two versions of control groups use for the same three facts.
struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* droppable;  // the line of memory.stat
};
constexpr GroupFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file"};
constexpr GroupFiles kVersion2{"memory.max", "memory.current", "inactive_file"};

// A file's only number; nothing for "max" or a missing file.
std::optional<Bytes> read_number(const fs::path& file) {
  std::ifstream in(file);
  Bytes number = 0;
  return in >> number ? std::optional(number) : std::nullopt;
}

// The number after `name` in a file of "name number" lines.
std::optional<Bytes> read_field(const fs::path& file, const std::string& name) {
  std::ifstream in(file);
  std::string word;
  while (in >> word) {
    Bytes number = 0;
    if (word == name && in >> number) return number;
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

Bytes left_in_group(const fs::path& folder, const GroupFiles& files) {
  const std::optional<Bytes> limit = read_number(folder / files.limit);
  const std::optional<Bytes> usage = read_number(folder / files.usage);
  if (!limit || !usage) return kUnlimited;
  const Bytes droppable = read_field(folder / "memory.stat", files.droppable).value_or(0);
  return std::max<Bytes>(0, *limit - *usage + std::min(droppable, *usage));
}

// The group and all its parents. In a container the path may be the host's: what does not exist
// there limits nothing, and the mount itself is always looked at.
Bytes left_in_groups(const fs::path& mount, const fs::path& group, const GroupFiles& files) {
  Bytes left = left_in_group(mount, files);
  fs::path folder = mount;
  for (const fs::path& part : group.relative_path()) {
    folder /= part;
    left = std::min(left, left_in_group(folder, files));
  }
  return left;
}

class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(Bytes size)
      : size_(size),
        data_(static_cast<std::byte*>(
            ::operator new(static_cast<std::size_t>(size), kAlignment, std::nothrow))) {
    if (data_ != nullptr) std::memset(data_, 0, static_cast<std::size_t>(size));
  }
  ~HostBuffer() override { ::operator delete(data_, kAlignment); }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  [[nodiscard]] std::byte* data() override { return data_; }
  [[nodiscard]] Bytes size() const override { return size_; }

 private:
  static constexpr std::align_val_t kAlignment{256};
  Bytes size_;
  std::byte* data_;
};

}  // namespace

Bytes available_memory(const fs::path& root) {
  Bytes available = kUnlimited;
  if (const auto kib = read_field(root / "proc/meminfo", "MemAvailable:")) available = *kib * 1024;
  // Lines "number:controllers:path"; version 2 has one line, with no controllers.
  const fs::path mount = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty())
      available = std::min(available, left_in_groups(mount, group, kVersion2));
    if (controllers == "memory") {
      available = std::min(available, left_in_groups(mount / "memory", group, kVersion1));
    }
  }
  return available;
}

std::unique_ptr<Buffer> make_host_buffer(Bytes size, Bytes available) {
  MERGEWISE_CHECK(size >= 0, "a buffer of negative size was asked for");
  std::unique_ptr<Buffer> buffer;
  if (size <= available) buffer = std::make_unique<HostBuffer>(size);
  if (buffer == nullptr || buffer->data() == nullptr) {
    throw BackendError(fmt::format(
        "cannot allocate {} ({} bytes) of host memory: {} are available to this process",
        human_bytes(size), size, human_bytes(available)));
  }
  return buffer;
}

}  // namespace mergewise
