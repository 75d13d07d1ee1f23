// SPDX-License-Identifier: Apache-2.0
// Messages over a non-blocking socket: a length in front of each, bounded. Private to this folder.
#pragma once

#include "bench/collective/message.hpp"
#include "bench/collective/socket.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mergewise::detail {

/// Sending and receiving use separate state, so that one thread may send (under the owner's lock)
/// while another receives.
class Channel {
 public:
  /// Until both sides know each other, messages are small.
  static constexpr std::size_t kHandshakeLimit = 64 << 10;
  static constexpr std::size_t kLimit = 256 << 20;

  Channel() = default;
  explicit Channel(Descriptor socket, std::size_t limit = kHandshakeLimit)
      : socket_(std::move(socket)), limit_(limit) {}

  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] bool open() const { return static_cast<bool>(socket_); }
  void close() { socket_.close(); }
  void set_limit(std::size_t limit) { limit_ = limit; }

  /// Queues a message and sends what the socket takes now. A broken connection shows when
  /// receiving. Throws BackendError for a message above the limit.
  void send(MessageKind kind, std::string_view body = {});
  void flush();
  [[nodiscard]] bool sending() const { return sent_ < out_.size(); }
  /// The other side reads an end after what was sent.
  void end_sending();

  /// Takes in what has arrived. False once the other side has closed or the connection broke;
  /// messages that came before are still there.
  bool receive();
  /// The next whole message. Throws BackendError for one above the limit.
  [[nodiscard]] std::optional<Message> next();
  /// Drops what has arrived.
  void discard();

 private:
  Descriptor socket_;
  std::size_t limit_ = kHandshakeLimit;
  std::string out_;
  std::size_t sent_ = 0;
  std::string in_;
  std::size_t taken_ = 0;
};

/// Sends what is left, says that no more comes, and waits until the other sides have closed too or
/// the stamp: closing with unread input would destroy what is on its way to them.
void close_politely(const std::vector<Channel*>& channels, Stamp until);

}  // namespace mergewise::detail
