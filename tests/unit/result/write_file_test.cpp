// SPDX-License-Identifier: Apache-2.0
#include "bench/core/error.hpp"
#include "bench/result/result.hpp"
#include "bench/result/text_file.hpp"
#include "tests/temporary_folder.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace mergewise {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

std::string failure(const std::function<void()>& action) {
  try {
    action();
  } catch (const BackendError& error) {
    return error.what();
  }
  return "no error";
}

// Root may write anywhere; while this lives, the thread's file access is that of nobody.
class WithoutPrivileges {
 public:
  WithoutPrivileges() {
    if (::geteuid() == 0) ::setfsuid(65534);
  }
  WithoutPrivileges(const WithoutPrivileges&) = delete;
  WithoutPrivileges& operator=(const WithoutPrivileges&) = delete;
  ~WithoutPrivileges() { ::setfsuid(::geteuid()); }
};

// Files cannot grow beyond this size while it lives: what a full disk does, without one.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(WriteFile, WritesAllAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const std::string content(3'000'000, 'x');
  write_file(folder.path() / "result.json", content);
  EXPECT_EQ(read_text(folder.path() / "result.json"), content);
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(WriteFile, ReplacesWhatWasThere) {
  const TemporaryFolder folder;
  folder.write("result.json", "a longer text from before");
  write_file(folder.path() / "result.json", "new");
  EXPECT_EQ(read_text(folder.path() / "result.json"), "new");
}

TEST(WriteFile, GivesTheUsualPermissions) {
  const TemporaryFolder folder;
  const mode_t mask = ::umask(022);
  write_file(folder.path() / "result.json", "{}");
  ::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat((folder.path() / "result.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644U);
}

TEST(WriteFile, TakesAPathWithoutAFolder) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file("result.json", "{}");
  fs::current_path(before);
  EXPECT_EQ(read_text(folder.path() / "result.json"), "{}");
}

TEST(WriteFile, NamesThePathThatIsMissing) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "missing" / "result.json";
  EXPECT_THAT(failure([&] { write_file(file, "{}"); }),
              AllOf(HasSubstr(file.string()), HasSubstr("No such file or directory"),
                    HasSubstr("create the folder")));
}

TEST(WriteFile, NamesThePathBelowAFile) {
  const TemporaryFolder folder;
  folder.write("file", "");
  EXPECT_THAT(failure([&] { write_file(folder.path() / "file" / "result.json", "{}"); }),
              HasSubstr("Not a directory"));
}

TEST(WriteFile, NamesTheFolderThatIsReadOnly) {
  const TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec |
                                     fs::perms::others_read | fs::perms::others_exec);
  std::string message;
  {
    const WithoutPrivileges nobody;
    message = failure([&] { write_file(folder.path() / "result.json", "{}"); });
  }
  fs::permissions(folder.path(), fs::perms::owner_all);
  EXPECT_THAT(message, AllOf(HasSubstr("result.json"), HasSubstr("Permission denied"),
                             HasSubstr("make the folder writable")));
}

TEST(WriteFile, KeepsTheOldFileWhenTheNewOneDoesNotFit) {
  const TemporaryFolder folder;
  folder.write("result.json", "old");
  std::string message;
  {
    const FileSizeLimit limit(4096);
    message = failure([&] { write_file(folder.path() / "result.json", std::string(10'000, 'x')); });
  }
  EXPECT_THAT(message, AllOf(HasSubstr("result.json"), HasSubstr("free some space")));
  EXPECT_EQ(read_text(folder.path() / "result.json"), "old");
  EXPECT_EQ(files_in(folder.path()), 1U) << "the unfinished file is removed";
}

TEST(WriteFile, KeepsALinkAndWritesWhatItLeadsTo) {
  const TemporaryFolder folder;
  const fs::path target = folder.write("elsewhere/target.txt", "old");
  const fs::path link = folder.path() / "link.txt";
  fs::create_symlink("elsewhere/target.txt", link);
  write_file(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_text(target), "new");
}

TEST(WriteFile, WritesDevicesAndPipesAsTheyAre) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  write_file(pipe, "through");
  std::string read(16, '\0');
  EXPECT_EQ(::read(reader, read.data(), read.size()), 7);
  EXPECT_EQ(read.substr(0, 7), "through");
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST(WriteFile, CannotReplaceAFolder) {
  const TemporaryFolder folder;
  folder.write("result.json/inside", "");
  EXPECT_THAT(failure([&] { write_file(folder.path() / "result.json", "{}"); }),
              HasSubstr("cannot replace"));
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(WriteResult, WritesADocumentThatParses) {
  const TemporaryFolder folder;
  Result result;
  result.name = "caf\xe9";  // no UTF-8
  write_result(folder.path() / "result.json", result);
  const auto document =
      nlohmann::json::parse(read_text(folder.path() / "result.json").value_or(""));
  EXPECT_EQ(document["schema"], kResultSchema);
  EXPECT_EQ(document["name"], "caf\xef\xbf\xbd");
}

}  // namespace
}  // namespace mergewise
