// SPDX-License-Identifier: Apache-2.0
// What ranks say to one another on the control connection, and its bytes. Private to this folder.
#pragma once

#include "bench/core/units.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mergewise::detail {

enum class MessageKind : std::uint8_t {
  kHello = 1,      ///< rank -> hub: Hello
  kHelloSeen,      ///< hub -> rank: this is the right rank 0; wait for the others
  kWelcome,        ///< hub -> rank: Welcome; all are here
  kReject,         ///< hub -> rank: Reject
  kStatus,         ///< rank -> hub: Status, the heartbeat; hub -> rank: empty, its heartbeat
  kStatusRequest,  ///< hub -> rank: say where you are, now
  kCall,           ///< rank -> hub: Call, a collective
  kSet,            ///< rank -> hub: key, value
  kGet,            ///< rank -> hub: id, key
  kPing,           ///< rank -> hub: id
  kReply,          ///< hub -> rank: Reply to a Call, a kGet or a kPing
  kReport,         ///< rank -> hub: what failed
  kVerdict,        ///< hub -> rank: the sentence
  kVerdictSeen,    ///< rank -> hub
  kGoodbye,        ///< either way: leaving on purpose
};

struct Message {
  MessageKind kind;
  std::string body;
};

/// Appends fields: 8-byte little-endian integers, texts with their length in front.
class Writer {
 public:
  Writer& number(std::int64_t value);
  Writer& text(std::string_view value);
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what a Writer wrote. Throws BackendError when the bytes end too early.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  std::int64_t number();
  std::string text();

 private:
  std::string_view bytes_;
};

/// What identifies the host a rank runs on.
struct HostInfo {
  std::string boot_id;
  std::int64_t network_namespace = 0;  ///< its inode
  std::string name;
  [[nodiscard]] bool same_host(const HostInfo& other) const {
    return boot_id == other.boot_id && network_namespace == other.network_namespace;
  }
};
[[nodiscard]] HostInfo this_host();

struct Hello {
  static constexpr std::int64_t kProtocol = 1;
  std::int64_t protocol = kProtocol;
  std::string token;     ///< of the rendezvous file; empty for tcp
  std::string instance;  ///< random: tells a second try from a second process
  std::int64_t rank = 0;
  std::int64_t size = 0;
  HostInfo host;
  std::string address;         ///< its end of the connection
  bool address_fixed = false;  ///< by --interface or --address

  [[nodiscard]] std::string encode() const;
  /// Throws BackendError when these are not a hello's bytes; fields after `protocol` are read only
  /// when the protocol is ours.
  [[nodiscard]] static Hello decode(std::string_view bytes);
};

struct Welcome {
  bool single_host = false;
  std::string address;  ///< where the others reach this rank
  [[nodiscard]] std::string encode() const;
  [[nodiscard]] static Welcome decode(std::string_view bytes);
};

struct Reject {
  bool bad_input = false;  ///< InputError, else BackendError
  std::string reason;
  [[nodiscard]] std::string encode() const;
  [[nodiscard]] static Reject decode(std::string_view bytes);
};

/// Where a rank is.
struct Status {
  std::string phase;
  std::int64_t group = -1;  ///< -1: none
  [[nodiscard]] std::string encode() const;
  [[nodiscard]] static Status decode(std::string_view bytes);
};

enum class CallKind : std::int64_t { kBarrier = 0, kAllGather, kBroadcast };
[[nodiscard]] std::string_view to_string(CallKind kind);

struct Call {
  std::int64_t id = 0;
  std::int64_t sequence = 0;  ///< of this rank's collectives, from 0
  CallKind kind = CallKind::kBarrier;
  std::string body;
  [[nodiscard]] std::string encode() const;
  [[nodiscard]] static Call decode(std::string_view bytes);
};

struct Reply {
  std::int64_t id = 0;
  bool failed = false;  ///< the body is the error's text
  std::string body;
  [[nodiscard]] std::string encode() const;
  [[nodiscard]] static Reply decode(std::string_view bytes);
};

/// 128 random bits as hexadecimal digits.
[[nodiscard]] std::string random_name();

}  // namespace mergewise::detail
