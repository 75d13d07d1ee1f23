// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/socket.hpp"

#include "bench/core/error.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

namespace mergewise::detail {
namespace {

std::string error_text(int code) { return std::generic_category().message(code); }

const sockaddr_in& v4(const Endpoint& endpoint) {
  return *reinterpret_cast<const sockaddr_in*>(&endpoint.storage);
}
const sockaddr_in6& v6(const Endpoint& endpoint) {
  return *reinterpret_cast<const sockaddr_in6*>(&endpoint.storage);
}

bool mapped(const Endpoint& endpoint) {
  static constexpr unsigned char kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return endpoint.family() == AF_INET6 &&
         std::memcmp(v6(endpoint).sin6_addr.s6_addr, kPrefix, sizeof kPrefix) == 0;
}

void set_option(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof value);  // Best effort: only speed depends on these.
}

Endpoint with_port(const sockaddr* address, int port) {
  Endpoint endpoint;
  const auto network_port = htons(static_cast<std::uint16_t>(port));
  if (address->sa_family == AF_INET) {
    endpoint.length = sizeof(sockaddr_in);
    std::memcpy(&endpoint.storage, address, endpoint.length);
    reinterpret_cast<sockaddr_in*>(&endpoint.storage)->sin_port = network_port;
  } else {
    endpoint.length = sizeof(sockaddr_in6);
    std::memcpy(&endpoint.storage, address, endpoint.length);
    reinterpret_cast<sockaddr_in6*>(&endpoint.storage)->sin6_port = network_port;
  }
  return endpoint;
}

Endpoint any_address(sa_family_t family, int port) {
  sockaddr_storage any{};
  any.ss_family = family;
  return with_port(reinterpret_cast<const sockaddr*>(&any), port);
}

struct Interface {
  std::string name;
  bool up;
  Endpoint endpoint;
};

std::vector<Interface> interfaces(int port) {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) {
    throw BackendError(
        fmt::format("the network interfaces cannot be listed: {}", error_text(errno)));
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* item = first; item != nullptr; item = item->ifa_next) {
    if (item->ifa_addr == nullptr) continue;
    const int family = item->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    Endpoint endpoint = with_port(item->ifa_addr, port);
    if (family == AF_INET6 && v6(endpoint).sin6_addr.s6_addr[0] == 0xfe) continue;  // link-local
    found.push_back({item->ifa_name, (item->ifa_flags & IFF_UP) != 0, endpoint});
  }
  std::stable_sort(found.begin(), found.end(), [](const Interface& a, const Interface& b) {
    return a.endpoint.family() == AF_INET && b.endpoint.family() != AF_INET;
  });
  return found;
}

Descriptor tcp_socket(int family) {
  Descriptor fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (fd) set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  return fd;
}

/// 0 or the error. The listening socket takes connections of a whole large job at once.
int try_listen(const Endpoint& endpoint, Descriptor& listener) {
  listener = tcp_socket(endpoint.family());
  if (!listener) return errno;
  set_option(listener.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (endpoint.family() == AF_INET6) set_option(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (bind(listener.get(), endpoint.address(), endpoint.length) != 0) return errno;
  if (listen(listener.get(), SOMAXCONN) != 0) return errno;
  return 0;
}

[[noreturn]] void listen_failed(const std::string& where, int port, int error) {
  if (error == EADDRINUSE) {
    throw InputError(
        fmt::format("port {} is in use on this host ({}), so rank 0 cannot listen "
                    "there: choose another port or end the process that has it",
                    port, where));
  }
  throw InputError(
      fmt::format("rank 0 cannot listen on {}: {}; give an address of this host and a free port",
                  where, error_text(error)));
}

}  // namespace

void Descriptor::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

const sockaddr* Endpoint::address() const { return reinterpret_cast<const sockaddr*>(&storage); }
sockaddr* Endpoint::address() { return reinterpret_cast<sockaddr*>(&storage); }

std::string Endpoint::host() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (family() == AF_INET) {
    inet_ntop(AF_INET, &v4(*this).sin_addr, text.data(), text.size());
  } else if (mapped(*this)) {
    inet_ntop(AF_INET, v6(*this).sin6_addr.s6_addr + 12, text.data(), text.size());
  } else if (family() == AF_INET6) {
    inet_ntop(AF_INET6, &v6(*this).sin6_addr, text.data(), text.size());
  }
  return text.data();
}

int Endpoint::port() const {
  return ntohs(family() == AF_INET ? v4(*this).sin_port : v6(*this).sin6_port);
}

std::string Endpoint::text() const {
  const std::string name = host();
  return fmt::format("{}:{}", name.find(':') == std::string::npos ? name : "[" + name + "]",
                     port());
}

bool Endpoint::loopback() const {
  const std::string name = host();
  return name.starts_with("127.") || name == "::1";
}

std::vector<Endpoint> resolve(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* first = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &first);
  if (error != 0) {
    throw BackendError(
        fmt::format("the host name '{}' stands for no address: {}", host, gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(first, &freeaddrinfo);
  std::vector<Endpoint> found;
  for (const addrinfo* item = first; item != nullptr; item = item->ai_next) {
    if (item->ai_family == AF_INET || item->ai_family == AF_INET6) {
      found.push_back(with_port(item->ai_addr, port));
    }
  }
  return found;
}

bool is_literal(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return host == "localhost" || inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

Endpoint interface_endpoint(const std::string& interface, int port) {
  std::set<std::string> names;
  for (const Interface& item : interfaces(port)) {
    if (item.name == interface) return item.endpoint;
    names.insert(item.name);
  }
  throw InputError(fmt::format("no network interface '{}' with an address on this host. Valid: {}",
                               interface, fmt::join(names, ", ")));
}

std::vector<Endpoint> usable_endpoints(int port) {
  std::vector<Endpoint> found;
  for (const Interface& item : interfaces(port)) {
    if (item.up) found.push_back(item.endpoint);
  }
  std::stable_sort(found.begin(), found.end(), [](const Endpoint& a, const Endpoint& b) {
    return !a.loopback() && b.loopback();
  });
  return found;
}

Descriptor listen_on(const Endpoint& endpoint) {
  Descriptor listener;
  const int error = try_listen(endpoint, listener);
  if (error != 0) listen_failed(endpoint.text(), endpoint.port(), error);
  return listener;
}

Descriptor listen_everywhere(int port) {
  Descriptor listener;
  int error = try_listen(any_address(AF_INET6, port), listener);
  if (error != 0 && error != EADDRINUSE) {  // A host without IPv6.
    error = try_listen(any_address(AF_INET, port), listener);
  }
  if (error != 0) listen_failed("any address", port, error);
  return listener;
}

Descriptor accept_from(int listener) {
  for (;;) {
    Descriptor fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd) set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    if (fd || errno != EINTR) return fd;
  }
}

Descriptor connect_to(const Endpoint& to, const Endpoint* from, Nanoseconds limit,
                      std::string& reason) {
  Descriptor fd = tcp_socket(to.family());
  if (fd && from != nullptr && bind(fd.get(), from->address(), from->length) != 0) {
    throw InputError(fmt::format("{} is not an address of this host ({}): give one that is",
                                 from->host(), error_text(errno)));
  }
  if (!fd ||
      (connect(fd.get(), to.address(), to.length) != 0 && errno != EINPROGRESS && errno != EINTR)) {
    reason = fmt::format("{}: {}", to.text(), error_text(errno));
    return {};
  }
  const Stamp until = now() + static_cast<Stamp>(limit);
  std::vector<pollfd> fds{{fd.get(), POLLOUT, 0}};
  while (fds[0].revents == 0 && now() < until) poll_until(fds, until);
  int error = ETIMEDOUT;
  socklen_t length = sizeof error;
  if (fds[0].revents != 0) getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error == 0) return fd;
  reason = fmt::format("{}: {}", to.text(), error_text(error));
  return {};
}

Endpoint local_endpoint(int fd) {
  Endpoint endpoint;
  endpoint.length = sizeof endpoint.storage;
  getsockname(fd, endpoint.address(), &endpoint.length);
  return endpoint;
}

std::pair<Descriptor, Descriptor> socket_pair() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) != 0) {
    throw BackendError(fmt::format("no socket pair: {}", error_text(errno)));
  }
  return {Descriptor(fds[0]), Descriptor(fds[1])};
}

Waker::Waker() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!fd_) throw BackendError(fmt::format("no event descriptor: {}", error_text(errno)));
}

void Waker::wake() {
  const std::uint64_t one = 1;
  while (write(fd_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void Waker::clear() {
  std::uint64_t count = 0;
  while (read(fd_.get(), &count, sizeof count) < 0 && errno == EINTR) {
  }
}

void poll_until(std::vector<pollfd>& fds, Stamp until) {
  // Rounded up, so that the last millisecond is slept through, not spun through.
  const Stamp left = std::max<Stamp>(0, until - now() + 999'999) / 1'000'000;
  const int timeout = static_cast<int>(std::min<Stamp>(left, 3'600'000));
  for (pollfd& item : fds) item.revents = 0;
  if (poll(fds.data(), fds.size(), timeout) <= 0) {
    for (pollfd& item : fds) item.revents = 0;
  }
}

}  // namespace mergewise::detail
