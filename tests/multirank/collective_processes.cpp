// SPDX-License-Identifier: Apache-2.0
#include "tests/multirank/collective_processes.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

namespace mergewise {
namespace {

struct Pipe {
  detail::Descriptor read;
  detail::Descriptor write;
};

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return {detail::Descriptor(ends[0]), detail::Descriptor(ends[1])};
}

}  // namespace

RankProcess::RankProcess(int rank, int size, const std::string& rendezvous, double deadline_s,
                         const std::string& mode) {
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
  std::vector<std::string> words{MERGEWISE_COLLECTIVE_RANK,  std::to_string(rank),
                                 std::to_string(size),       rendezvous,
                                 std::to_string(deadline_s), mode};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int error = posix_spawn(&process_.id, MERGEWISE_COLLECTIVE_RANK, &actions, nullptr,
                                arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " MERGEWISE_COLLECTIVE_RANK);
  input_ = std::move(in.write);
  from_ = std::move(out.read);
}

RankProcess::~RankProcess() {
  if (process_.id < 0) return;
  kill(process_.id, SIGKILL);
  wait();
}

void RankProcess::signal(int number) const { kill(process_.id, number); }

bool RankProcess::read_more() {
  std::array<char, 4096> chunk;
  for (;;) {
    const ssize_t got = read(from_.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    output_.append(chunk.data(), static_cast<std::size_t>(got));
    return true;
  }
}

bool RankProcess::says(const std::string& line) {
  while (output_.find(line + "\n") == std::string::npos) {
    if (!read_more()) return false;
  }
  return true;
}

int RankProcess::wait() {
  while (read_more()) {
  }
  int status = 0;
  while (waitpid(process_.id, &status, 0) < 0 && errno == EINTR) {
  }
  process_.id = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace mergewise
