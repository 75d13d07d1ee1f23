// SPDX-License-Identifier: Apache-2.0
// Writing results so that a reader sees the old file or the new one, never half of one.
#include "bench/core/error.hpp"
#include "bench/result/result.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

namespace mergewise {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const char* step, int error) {
  const char* advice = "";
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) advice = "; free some space or";
  if (error == EACCES || error == EROFS || error == EPERM) advice = "; make the folder writable or";
  if (error == ENOENT || error == ENOTDIR) advice = "; create the folder or";
  throw BackendError(fmt::format("cannot {} '{}': {}{} choose another folder", step, file.string(),
                                 std::generic_category().message(error),
                                 *advice == '\0' ? ";" : advice));
}

// The errno of the failure, or 0.
int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// A file that is removed again unless it was renamed to its final name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target)
      : target_(target), path_(target.parent_path() / temporary_name(target)) {
    ::unlink(path_.c_str());  // a leftover of a killed process that had our id
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(target_, "write", errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(path_.c_str());
  }

  void write(std::string_view content) {
    const int error = write_all(descriptor_, content);
    if (error != 0) fail(target_, "write", error);
  }

  void rename_to_target() {
    if (::fsync(descriptor_) != 0) fail(target_, "write", errno);
    // Network file systems report what they could not write only now.
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail(target_, "write", errno);
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail(target_, "replace", errno);
    renamed_ = true;
  }

 private:
  // By thread, since a failure's handler may write while the main thread does.
  static std::string temporary_name(const std::filesystem::path& target) {
    return fmt::format(".{}.{}.tmp", target.filename().string(), ::gettid());
  }

  std::filesystem::path target_;
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

// Makes the new name last through a power failure. Some file systems cannot; the file is whole
// either way.
void sync_folder(const std::filesystem::path& folder) {
  const int descriptor =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)::fsync(descriptor);
  ::close(descriptor);
}

// Devices, pipes: what cannot be half an old file, and must not be replaced by a regular one.
void write_through(const std::filesystem::path& file, std::string_view content) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) fail(file, "write", errno);
  const int error = write_all(descriptor, content);
  if (::close(descriptor) != 0 && error == 0) fail(file, "write", errno);
  if (error != 0) fail(file, "write", error);
}

}  // namespace

void write_file(const std::filesystem::path& file, const std::string& content) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  // A link stays a link: what it leads to is written.
  const fs::path target =
      fs::is_symlink(file, ignored) ? fs::weakly_canonical(file, ignored) : file;
  if (fs::exists(target, ignored) && !fs::is_regular_file(target, ignored) &&
      !fs::is_directory(target, ignored)) {
    write_through(target, content);
    return;
  }
  TemporaryFile temporary(target);
  temporary.write(content);
  temporary.rename_to_target();
  sync_folder(target.parent_path());
}

void write_result(const std::filesystem::path& file, const Result& result) {
  // Names of hosts and files may hold anything; what is no UTF-8 becomes a replacement character.
  write_file(file,
             to_json(result).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace mergewise
