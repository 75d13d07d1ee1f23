// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/message.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <random>

namespace mergewise::detail {
namespace {

constexpr std::string_view kMagic = "mergewise-hello";

BackendError malformed() {
  return BackendError(
      "a message on the control connection is malformed: do all ranks run the same "
      "build of mergewise?");
}

}  // namespace

Writer& Writer::number(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) {
    bytes_.push_back(static_cast<char>((bits >> shift) & 0xff));
  }
  return *this;
}

Writer& Writer::text(std::string_view value) {
  number(static_cast<std::int64_t>(value.size()));
  bytes_.append(value);
  return *this;
}

std::int64_t Reader::number() {
  if (bytes_.size() < 8) throw malformed();
  std::uint64_t bits = 0;
  for (int i = 7; i >= 0; --i) bits = (bits << 8) | static_cast<unsigned char>(bytes_[i]);
  bytes_.remove_prefix(8);
  return static_cast<std::int64_t>(bits);
}

std::string Reader::text() {
  const std::int64_t length = number();
  if (length < 0 || static_cast<std::size_t>(length) > bytes_.size()) throw malformed();
  std::string value(bytes_.substr(0, static_cast<std::size_t>(length)));
  bytes_.remove_prefix(static_cast<std::size_t>(length));
  return value;
}

HostInfo this_host() {
  HostInfo info;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> info.boot_id;
  struct stat status {};
  if (stat("/proc/self/ns/net", &status) == 0) {
    info.network_namespace = static_cast<std::int64_t>(status.st_ino);
  }
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0) info.name = name.data();
  return info;
}

std::string Hello::encode() const {
  return Writer()
      .text(kMagic)
      .number(protocol)
      .text(token)
      .text(instance)
      .number(rank)
      .number(size)
      .text(host.boot_id)
      .number(host.network_namespace)
      .text(host.name)
      .text(address)
      .number(address_fixed ? 1 : 0)
      .take();
}

Hello Hello::decode(std::string_view bytes) {
  Reader reader(bytes);
  if (reader.text() != kMagic) throw malformed();
  Hello hello;
  hello.protocol = reader.number();
  if (hello.protocol != kProtocol) return hello;
  hello.token = reader.text();
  hello.instance = reader.text();
  hello.rank = reader.number();
  hello.size = reader.number();
  hello.host.boot_id = reader.text();
  hello.host.network_namespace = reader.number();
  hello.host.name = reader.text();
  hello.address = reader.text();
  hello.address_fixed = reader.number() != 0;
  return hello;
}

std::string Welcome::encode() const {
  return Writer().number(single_host ? 1 : 0).text(address).take();
}

Welcome Welcome::decode(std::string_view bytes) {
  Reader reader(bytes);
  Welcome welcome;
  welcome.single_host = reader.number() != 0;
  welcome.address = reader.text();
  return welcome;
}

std::string Reject::encode() const {
  return Writer().number(bad_input ? 1 : 0).text(reason).take();
}

Reject Reject::decode(std::string_view bytes) {
  Reader reader(bytes);
  Reject reject;
  reject.bad_input = reader.number() != 0;
  reject.reason = reader.text();
  return reject;
}

std::string Status::encode() const { return Writer().text(phase).number(group).take(); }

Status Status::decode(std::string_view bytes) {
  Reader reader(bytes);
  Status status;
  status.phase = reader.text();
  status.group = reader.number();
  return status;
}

std::string_view to_string(CallKind kind) {
  switch (kind) {
    case CallKind::kBarrier:
      return "a barrier";
    case CallKind::kAllGather:
      return "an all-gather of the control plane";
    case CallKind::kBroadcast:
      return "a broadcast of the control plane";
  }
  return "an unknown call";
}

std::string Call::encode() const {
  return Writer()
      .number(id)
      .number(sequence)
      .number(static_cast<std::int64_t>(kind))
      .text(body)
      .take();
}

Call Call::decode(std::string_view bytes) {
  Reader reader(bytes);
  Call call;
  call.id = reader.number();
  call.sequence = reader.number();
  call.kind = static_cast<CallKind>(reader.number());
  call.body = reader.text();
  return call;
}

std::string Reply::encode() const {
  return Writer().number(id).number(failed ? 1 : 0).text(body).take();
}

Reply Reply::decode(std::string_view bytes) {
  Reader reader(bytes);
  Reply reply;
  reply.id = reader.number();
  reply.failed = reader.number() != 0;
  reply.body = reader.text();
  return reply;
}

std::string random_name() {
  std::random_device device;
  std::string name;
  for (int i = 0; i < 4; ++i) name += fmt::format("{:08x}", device());
  return name;
}

}  // namespace mergewise::detail
