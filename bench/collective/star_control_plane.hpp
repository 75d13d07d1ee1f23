// SPDX-License-Identifier: Apache-2.0
// A rank's end of the star. Rank 0 has one too, connected to the hub in its own process. Private to
// this folder.
#pragma once

#include "bench/collective/channel.hpp"
#include "bench/collective/control_plane.hpp"
#include "bench/collective/hub.hpp"
#include "bench/collective/message.hpp"
#include "bench/collective/phase_box.hpp"
#include "bench/collective/rank.hpp"
#include "bench/collective/socket.hpp"
#include "bench/collective/verdict.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace mergewise::detail {

class StarControlPlane : public ControlPlane {
 public:
  /// `hub`: on rank 0 only.
  StarControlPlane(const RankIdentity& identity, Channel channel, Welcome welcome,
                   Nanoseconds deadline_ns, FailureHandler on_failure, std::unique_ptr<Hub> hub);
  ~StarControlPlane() override;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] std::string local_address() const override { return welcome_.address; }
  [[nodiscard]] bool single_host() const override { return welcome_.single_host; }

  void barrier() override;
  std::vector<std::string> all_gather(std::string_view mine) override;
  std::string broadcast(std::string_view mine) override;
  void set(const std::string& key, std::string_view value) override;
  std::string get(const std::string& key) override;
  void set_phase(std::string_view phase) override { phase_.write(phase); }
  void set_group(std::int64_t group) override { group_.store(group, std::memory_order_relaxed); }
  std::string report_failure(const std::string& message) override;
  ClockSample sample_clock() override;

 private:
  struct Answer {
    Reply reply;
    Stamp arrived = 0;
  };

  /// The thread.
  void run();
  void wait_for_messages();
  /// False when there is nothing more to listen to.
  bool take_in();
  bool handle(const Message& message, Stamp at);
  void send_status();
  void fail(const std::string& verdict);
  [[nodiscard]] Status status() const { return {phase_.read(), group_.load()}; }

  /// The caller's thread.
  std::int64_t new_id();
  Answer await(std::int64_t id);
  void send(MessageKind kind, std::string_view body);
  std::string exchange(CallKind kind, std::string_view body);

  const int rank_;
  const int size_;
  const Welcome welcome_;
  const Patience patience_;
  const FailureHandler on_failure_;

  PhaseBox phase_;
  std::atomic<std::int64_t> group_{-1};

  // The thread's own.
  Stamp heard_ = 0;
  Stamp last_turn_ = 0;
  Stamp last_heartbeat_ = 0;

  std::mutex mutex_;  ///< of all that follows; of the channel, its sending half
  std::condition_variable changed_;
  Channel channel_;
  std::map<std::int64_t, Answer> answers_;
  std::int64_t next_id_ = 0;
  std::int64_t next_sequence_ = 0;
  std::string verdict_;  ///< "": none
  bool rank0_left_ = false;
  std::atomic<bool> stopping_{false};

  std::unique_ptr<Hub> hub_;
  Waker waker_;
  std::thread thread_;
};

}  // namespace mergewise::detail
