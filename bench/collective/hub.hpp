// SPDX-License-Identifier: Apache-2.0
// The middle of the star, a thread of rank 0: answers calls, keeps the store, listens to
// heartbeats, and says the verdict. Private to this folder.
#pragma once

#include "bench/collective/channel.hpp"
#include "bench/collective/message.hpp"
#include "bench/collective/socket.hpp"
#include "bench/collective/verdict.hpp"
#include "bench/core/units.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace mergewise::detail {

/// Serves one channel per rank, rank 0's own included. All state belongs to the hub's thread.
class Hub {
 public:
  Hub(std::vector<Channel> channels, Nanoseconds deadline_ns);
  /// Says goodbye to who is still there.
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

 private:
  struct Member {
    Channel channel;
    Status status;
    Stamp heard = 0;
    bool lost = false;  ///< its connection ended without a goodbye
    bool left = false;  ///< it said goodbye
    bool told = false;  ///< it has seen the verdict
    std::optional<Call> call;
    [[nodiscard]] bool here() const { return !lost && !left; }
  };
  struct Get {
    int rank;
    std::int64_t id;
    std::string key;
    Stamp until;
  };

  void run();
  void wait_for_messages();
  void read(int rank);
  void handle(int rank, const Message& message, Stamp at);
  void take_call(int rank, Call call);
  void answer_calls();
  void answer_gets(Stamp at);
  void reply(int rank, std::int64_t id, bool failed, std::string body);
  void watch(Stamp at);
  void watch_calls(Stamp at);
  /// The verdict will be said at this stamp, or earlier if already decided so; asks all where they
  /// are.
  void suspect(Stamp judge_at);
  [[nodiscard]] std::optional<std::string> finding(Stamp at) const;
  [[nodiscard]] Status place_of(const std::vector<int>& ranks) const;
  void judge(const std::string& verdict);
  void tell_rank0(Stamp at);
  void leave();

  [[nodiscard]] std::vector<int> ranks_where(bool (*condition)(const Member&)) const;
  [[nodiscard]] std::vector<int> silent(Stamp at) const;
  void send_all(MessageKind kind, const std::string& body, int first_rank = 0);

  Patience patience_;
  std::vector<Member> members_;
  std::map<std::string, std::string> store_;
  std::vector<Get> gets_;
  std::optional<Stamp> calls_since_;  ///< the first rank's arrival at the collective in progress
  std::optional<Stamp> judge_at_;
  std::vector<std::pair<int, std::string>> reports_;
  std::string verdict_;  ///< "": none yet
  Stamp tell_rank0_at_ = 0;
  Stamp last_turn_ = 0;
  Stamp last_heartbeat_ = 0;

  std::atomic<bool> stopping_{false};
  Waker waker_;
  std::thread thread_;
};

/// A thread that no signal of the process is delivered to.
[[nodiscard]] std::thread quiet_thread(const char* name, void (*body)(void*), void* argument);

}  // namespace mergewise::detail
