// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/rendezvous_file.hpp"

#include "bench/collective/message.hpp"
#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace mergewise::detail {
namespace {

constexpr const char* kFirstLine = "mergewise-rendezvous 1";
constexpr std::size_t kMaxAddresses = 256;

std::string path_in(const std::string& directory) { return directory + "/mergewise-rendezvous"; }

}  // namespace

RendezvousFile::RendezvousFile(const std::string& directory, const Publication& publication)
    : path_(path_in(directory)), token_(publication.token) {
  const std::string draft = path_ + "." + token_;
  std::error_code ignored;
  if (!std::filesystem::is_directory(directory, ignored)) {
    throw InputError(
        fmt::format("the rendezvous directory '{}' is missing: make it, where all "
                    "ranks see it",
                    directory));
  }
  {
    std::ofstream file(draft);
    file << kFirstLine << '\n' << token_ << '\n';
    for (const auto& [address, port] : publication.addresses)
      file << address << ' ' << port << '\n';
    file.flush();
    if (!file || std::rename(draft.c_str(), path_.c_str()) != 0) {
      const std::string reason = std::generic_category().message(errno);
      std::filesystem::remove(draft, ignored);
      throw InputError(
          fmt::format("rank 0 cannot write '{}': {}; choose a directory that it can "
                      "write and that all ranks see",
                      path_, reason));
    }
  }
}

RendezvousFile::~RendezvousFile() {
  std::ifstream file(path_);
  std::string line;
  std::string token;
  if (!std::getline(file, line) || !std::getline(file, token) || token != token_) return;
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

std::optional<Publication> read_rendezvous_file(const std::string& directory) {
  std::ifstream file(path_in(directory));
  Publication publication;
  std::string line;
  if (!std::getline(file, line) || line != kFirstLine) return std::nullopt;
  if (!std::getline(file, publication.token) || publication.token.empty()) return std::nullopt;
  while (publication.addresses.size() < kMaxAddresses && std::getline(file, line)) {
    std::istringstream words(line);
    std::string address;
    int port = 0;
    if (words >> address >> port && port > 0 && port < 65536) {
      publication.addresses.emplace_back(address, port);
    }
  }
  return publication;
}

}  // namespace mergewise::detail
