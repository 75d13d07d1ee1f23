// SPDX-License-Identifier: Apache-2.0
#include "bench/app/launcher.hpp"

#include "bench/core/units.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

namespace mergewise {
namespace {

constexpr Nanoseconds kGraceNs = 10e9;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mergewise-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw BackendError(fmt::format(
          "cannot make a temporary directory {} for the rendezvous ({}): set TMPDIR to a writable "
          "one",
          pattern, std::strerror(errno)));
    }
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGUSR1, SIGHUP}) sigaddset(&set, signal);
  return set;
}

// Blocks the watched signals while it lives, so that none is lost between two waits.
class BlockedSignals {
 public:
  BlockedSignals() : set_(watched_signals()) { pthread_sigmask(SIG_BLOCK, &set_, &old_); }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &old_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  // The next signal, or 0 after the timeout.
  [[nodiscard]] int wait(Nanoseconds timeout) const {
    const auto whole = static_cast<time_t>(timeout / 1e9);
    const timespec limit{whole, static_cast<long>(timeout - static_cast<double>(whole) * 1e9)};
    const int signal = sigtimedwait(&set_, nullptr, &limit);
    return signal < 0 ? 0 : signal;
  }
  [[nodiscard]] const sigset_t& old() const { return old_; }

 private:
  sigset_t set_;
  sigset_t old_{};
};

struct Child {
  pid_t pid = -1;
  std::optional<int> status;  // as waitpid gives it, once it ended
};

std::vector<std::string> child_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  environment.push_back(fmt::format("{}=1", kLocalRankVariable));
  // Ranks share the processors: one BLAS thread each, unless the user says otherwise.
  if (std::getenv("OPENBLAS_NUM_THREADS") == nullptr) {
    environment.emplace_back("OPENBLAS_NUM_THREADS=1");
  }
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// In a process group of its own, so that Ctrl-C reaches it once: through us.
pid_t spawn(std::vector<std::string> arguments, const sigset_t& signal_mask) {
  std::vector<std::string> environment = child_environment();
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &signal_mask);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, "/proc/self/exe", nullptr, &attributes,
                                pointers(arguments).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw BackendError(
        fmt::format("cannot start a local rank ({}): use fewer ranks", std::strerror(error)));
  }
  return pid;
}

class Children {
 public:
  ~Children() { signal_all(SIGKILL); }

  void start(int ranks, const std::vector<std::string>& arguments, const std::string& rendezvous,
             const sigset_t& signal_mask) {
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<std::string> words{"mergewise"};
      words.insert(words.end(), arguments.begin(), arguments.end());
      for (std::string word :
           {std::string("--rank"), fmt::format("{}", rank), std::string("--world-size"),
            fmt::format("{}", ranks), std::string("--local-rank"), fmt::format("{}", rank),
            std::string("--rendezvous"), rendezvous, std::string("--address"),
            std::string("127.0.0.1")}) {
        words.push_back(std::move(word));
      }
      children_.push_back({spawn(std::move(words), signal_mask), std::nullopt});
    }
  }

  void signal_all(int signal) const {
    for (const Child& child : children_) {
      if (!child.status) kill(child.pid, signal);
    }
  }

  void reap() {
    for (Child& child : children_) {
      int status = 0;
      if (!child.status && waitpid(child.pid, &status, WNOHANG) == child.pid) child.status = status;
    }
  }

  [[nodiscard]] bool all_ended() const {
    for (const Child& child : children_) {
      if (!child.status) return false;
    }
    return true;
  }

  [[nodiscard]] bool any_failed() const {
    for (const Child& child : children_) {
      if (child.status && *child.status != 0) return true;
    }
    return false;
  }

  [[nodiscard]] ExitCode verdict() const {
    std::string killed;
    std::optional<ExitCode> code;
    for (std::size_t rank = 0; rank < children_.size(); ++rank) {
      const int status = children_[rank].status.value_or(0);
      if (WIFSIGNALED(status)) {
        killed += fmt::format("{}rank {} by signal {}", killed.empty() ? "" : ", ", rank,
                              WTERMSIG(status));
      } else if (WEXITSTATUS(status) != 0 && !code) {
        code = static_cast<ExitCode>(WEXITSTATUS(status));
      }
    }
    // A rank that ended by itself has told why, also about those that were killed.
    if (killed.empty() || code) return code.value_or(ExitCode::kOk);
    fmt::print(stderr, "mergewise: the local ranks were killed: {}\n", killed);
    return ExitCode::kRunFailed;
  }

 private:
  std::vector<Child> children_;
};

}  // namespace

void append_option(std::vector<std::string>& arguments, const std::string& flag,
                   const std::string& value) {
  if (!value.empty()) arguments.insert(arguments.end(), {flag, value});
}

ExitCode launch_local_ranks(int ranks, const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  const BlockedSignals signals;
  Children children;
  children.start(ranks, arguments, "file:" + folder.path().string(), signals.old());
  Stamp give_up = 0;
  while (!children.all_ended()) {
    const int signal = signals.wait(0.5e9);
    if (signal != 0 && signal != SIGCHLD) children.signal_all(signal);
    children.reap();
    if (children.any_failed()) {
      if (give_up == 0) give_up = now() + static_cast<Stamp>(kGraceNs);
      // A stopped rank cannot end by itself.
      if (now() > give_up) children.signal_all(SIGKILL);
    }
  }
  return children.verdict();
}

}  // namespace mergewise
