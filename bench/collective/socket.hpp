// SPDX-License-Identifier: Apache-2.0
// Descriptors, addresses and TCP sockets (never inherited by children). Private to this folder.
#pragma once

#include "bench/core/units.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <utility>
#include <vector>

namespace mergewise::detail {

/// Owns a file descriptor; -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Descriptor() { close(); }
  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

/// An IPv4 or IPv6 address with a port.
struct Endpoint {
  sockaddr_storage storage{};
  socklen_t length = 0;
  [[nodiscard]] int family() const { return storage.ss_family; }
  [[nodiscard]] const sockaddr* address() const;
  [[nodiscard]] sockaddr* address();
  /// The number form; an IPv4 address inside an IPv6 one is shown as IPv4.
  [[nodiscard]] std::string host() const;
  [[nodiscard]] int port() const;
  [[nodiscard]] std::string text() const;  ///< "10.0.0.1:29500", "[::1]:29500"
  [[nodiscard]] bool loopback() const;
};

/// What a host name or number stands for. Throws BackendError when it stands for nothing.
[[nodiscard]] std::vector<Endpoint> resolve(const std::string& host, int port);

/// True for a number form of an address and for "localhost".
[[nodiscard]] bool is_literal(const std::string& host);

/// The address of an interface, IPv4 if it has one. Throws InputError naming the interfaces there
/// are.
[[nodiscard]] Endpoint interface_endpoint(const std::string& interface, int port);

/// Addresses of this host that others may reach: IPv4 first, link-local ones left out, loopback
/// ones last.
[[nodiscard]] std::vector<Endpoint> usable_endpoints(int port);

/// A non-blocking listening socket. Throws InputError for a port in use or an address that is not
/// this host's.
[[nodiscard]] Descriptor listen_on(const Endpoint& endpoint);
/// The same on every address of this host.
[[nodiscard]] Descriptor listen_everywhere(int port);

/// A waiting connection as a non-blocking socket; none: an empty descriptor.
[[nodiscard]] Descriptor accept_from(int listener);

/// A connected, non-blocking socket, or an empty descriptor and the reason. `from`: bind the local
/// end to it, or null. Throws InputError when `from` is not an address of this host.
[[nodiscard]] Descriptor connect_to(const Endpoint& to, const Endpoint* from, Nanoseconds limit,
                                    std::string& reason);

[[nodiscard]] Endpoint local_endpoint(int fd);

/// Two connected, non-blocking sockets of this process.
[[nodiscard]] std::pair<Descriptor, Descriptor> socket_pair();

/// Wakes a thread that polls.
class Waker {
 public:
  Waker();
  void wake();
  void clear();
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  Descriptor fd_;
};

/// poll() of these until the stamp at most; also returns, with nothing ready, on a signal.
void poll_until(std::vector<pollfd>& fds, Stamp until);

}  // namespace mergewise::detail
