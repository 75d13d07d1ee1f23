// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/channel.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <vector>

namespace mergewise::detail {
namespace {

constexpr std::size_t kHeader = 5;  // 4 bytes of length, 1 of kind

}  // namespace

void Channel::send(MessageKind kind, std::string_view body) {
  if (body.size() > limit_) {
    throw BackendError(
        fmt::format("a message of {} bytes is too large for the control connection (limit {})",
                    body.size(), limit_));
  }
  if (!open()) return;
  const auto length = static_cast<std::uint32_t>(body.size());
  for (int shift = 0; shift < 32; shift += 8) {
    out_.push_back(static_cast<char>((length >> shift) & 0xff));
  }
  out_.push_back(static_cast<char>(kind));
  out_.append(body);
  flush();
}

void Channel::flush() {
  while (open() && sending()) {
    const ssize_t done = ::send(socket_.get(), out_.data() + sent_, out_.size() - sent_,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (done < 0) break;  // Broken: nobody will read it.
    sent_ += static_cast<std::size_t>(done);
  }
  out_.clear();
  sent_ = 0;
}

void Channel::end_sending() {
  if (open()) shutdown(socket_.get(), SHUT_WR);
}

bool Channel::receive() {
  if (!open()) return false;
  std::array<char, 16384> chunk;
  for (;;) {
    const ssize_t got = recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got > 0) {
      in_.append(chunk.data(), static_cast<std::size_t>(got));
      // A flood is taken in portions, so that the limit is enforced between them.
      if (in_.size() - taken_ > limit_ + kHeader) return true;
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
}

std::optional<Message> Channel::next() {
  const std::string_view rest = std::string_view(in_).substr(taken_);
  if (rest.size() < kHeader) return std::nullopt;
  std::uint32_t length = 0;
  for (int i = 3; i >= 0; --i) length = (length << 8) | static_cast<unsigned char>(rest[i]);
  if (length > limit_) {
    throw BackendError(fmt::format(
        "a message of {} bytes came on the control connection (limit {}): it is not mergewise's",
        length, limit_));
  }
  if (rest.size() < kHeader + length) return std::nullopt;
  Message message{static_cast<MessageKind>(rest[4]), std::string(rest.substr(kHeader, length))};
  taken_ += kHeader + length;
  if (taken_ == in_.size()) {
    in_.clear();
    taken_ = 0;
  } else if (taken_ > (1U << 20)) {
    in_.erase(0, taken_);
    taken_ = 0;
  }
  return message;
}

void Channel::discard() {
  in_.clear();
  taken_ = 0;
}

void close_politely(const std::vector<Channel*>& channels, Stamp until) {
  for (bool waiting = true; waiting;) {
    std::vector<pollfd> fds;
    for (Channel* channel : channels) {
      if (!channel->open()) continue;
      channel->flush();
      if (!channel->sending()) channel->end_sending();
      const short wanted = channel->sending() ? POLLIN | POLLOUT : POLLIN;
      fds.push_back({channel->fd(), wanted, 0});
    }
    if (fds.empty() || now() >= until) break;
    poll_until(fds, until);
    for (Channel* channel : channels) {
      if (channel->open() && !channel->receive()) channel->close();
      channel->discard();
    }
  }
  for (Channel* channel : channels) channel->close();
}

}  // namespace mergewise::detail
