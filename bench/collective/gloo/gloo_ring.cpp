// SPDX-License-Identifier: Apache-2.0
#include "bench/collective/gloo/gloo_ring.hpp"

#include "bench/collective/gloo/pipe_signal_guard.hpp"
#include "bench/core/error.hpp"

#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/context.h>
#include <gloo/math.h>
#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/tcp/device.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

namespace mergewise {
namespace {

/// A Gloo context whose pairs we connect ourselves, so that a failure names the rank.
class MeshContext : public gloo::Context {
 public:
  MeshContext(int own_rank, int ranks, std::shared_ptr<gloo::transport::Device> device,
              std::chrono::milliseconds timeout)
      : gloo::Context(own_rank, ranks) {
    setTimeout(timeout);
    device_ = std::move(device);
    transportContext_ = device_->createContext(own_rank, ranks);
    transportContext_->setTimeout(timeout);
  }

  /// The address that `peer` must connect to, as Gloo's bytes.
  std::vector<char> open_pair(int peer) {
    return transportContext_->createPair(peer)->address().bytes();
  }
  void connect_pair(int peer, const std::vector<char>& address) {
    transportContext_->getPair(peer)->connect(address);
  }
};

std::string key_of(const std::string& scope, int from, int to) {
  return fmt::format("{}/{}-{}", scope, from, to);
}

std::shared_ptr<gloo::transport::Device> make_device(const std::string& address) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = address;
  return gloo::transport::tcp::CreateDevice(attributes);
}

std::chrono::milliseconds milliseconds(Nanoseconds duration) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(duration / 1e6) + 1);
}

}  // namespace

GlooRing::GlooRing(ControlPlane& control, int ranks, Nanoseconds deadline_ns)
    : rank_(control.rank()), ranks_(ranks), deadline_ns_(deadline_ns) {
  MERGEWISE_CHECK(rank_ < ranks_ && ranks_ <= control.size(), "a ring of the first ranks");
  const std::string scope = control.numbered(fmt::format("gloo/{}", ranks_));
  if (ranks_ < 2) return;
  const std::string address = control.local_address();
  transport_ = fmt::format("tcp on {}", address);
  const detail::PipeSignalGuard guard;  // Also for the thread of Gloo's device.
  int peer = rank_;
  try {
    auto context = std::make_shared<MeshContext>(rank_, ranks_, make_device(address),
                                                 milliseconds(deadline_ns_));
    for (peer = 0; peer < ranks_; ++peer) {
      if (peer == rank_) continue;
      const std::vector<char> bytes = context->open_pair(peer);
      control.set(key_of(scope, rank_, peer), std::string_view(bytes.data(), bytes.size()));
    }
    for (peer = 0; peer < ranks_; ++peer) {
      if (peer == rank_) continue;
      const std::string bytes = control.get(key_of(scope, peer, rank_));
      context->connect_pair(peer, std::vector<char>(bytes.begin(), bytes.end()));
    }
    context_ = std::move(context);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw BackendError(fmt::format(
        "rank {} at {} cannot connect to rank {} with Gloo: {}. Can their hosts reach one another "
        "there? Name the network with --interface or --address",
        rank_, address, peer, error.what()));
  }
}

GlooRing::~GlooRing() = default;

void GlooRing::all_reduce(float* data, std::size_t count) {
  if (count == 0 || context_ == nullptr) return;
  const detail::PipeSignalGuard guard;
  try {
    gloo::AllreduceOptions options(context_);
    options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(data, count);
    options.setReduceFunction(
        static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
    gloo::allreduce(options);
  } catch (const std::exception& error) {
    throw BackendError(fmt::format(
        "rank {}: the all-reduce of {} floats between {} ranks failed: {}. A peer has probably "
        "died, stalled, or called something else (deadline {})",
        rank_, count, ranks_, error.what(), human_time(deadline_ns_)));
  }
}

}  // namespace mergewise
