// SPDX-License-Identifier: Apache-2.0
// The file in which rank 0 says where it listens. Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mergewise::detail {

/// What the file says. A file that a killed run left behind looks the same: only the token, which
/// rank 0 must answer to, tells.
struct Publication {
  std::string token;
  std::vector<std::pair<std::string, int>> addresses;  ///< number form and port, best first
};

/// Publishes atomically (a whole file or none, over an older one) and removes the file at the end,
/// unless another run has put its own there.
class RendezvousFile {
 public:
  /// Throws InputError when the directory is missing or cannot be written.
  RendezvousFile(const std::string& directory, const Publication& publication);
  ~RendezvousFile();
  RendezvousFile(const RendezvousFile&) = delete;
  RendezvousFile& operator=(const RendezvousFile&) = delete;

 private:
  std::string path_;
  std::string token_;
};

/// nullopt when there is no file yet, or none that makes sense.
[[nodiscard]] std::optional<Publication> read_rendezvous_file(const std::string& directory);

}  // namespace mergewise::detail
