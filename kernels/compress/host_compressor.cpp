// SPDX-License-Identifier: Apache-2.0
#include "kernels/compress/host_compressor.hpp"

#include "kernels/compress/algorithm_compressor.hpp"
#include "kernels/compress/host_algorithms.hpp"
#include "kernels/primitives/host/host_scratch.hpp"

namespace mergewise {
namespace {

template <typename Algorithm>
HostCalls calls_for([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512) return avx512::host_calls<Algorithm>();
  if (isa == Isa::kAvx2) return avx2::host_calls<Algorithm>();
#endif
  return baseline::host_calls<Algorithm>();
}

class HostBackend {
 public:
  explicit HostBackend(HostRun run) { scratch_.run = run; }

  template <typename Algorithm>
  void compress(Algorithm, const CompressArguments& arguments, const GroupLayout&,
                const MessageFacts& facts) {
    *arguments.facts = facts;
    calls_for<Algorithm>(scratch_.run.isa).compress(host_tools(scratch_.run, &scratch_), arguments);
  }
  // From several threads where there is no team: nothing of the scratch changes.
  template <typename Algorithm>
  void decompress(Algorithm, const DecompressArguments& arguments, const GroupLayout&) const {
    calls_for<Algorithm>(scratch_.run.isa).decompress(host_tools(scratch_.run, nullptr), arguments);
  }

 private:
  HostScratch scratch_;
};

}  // namespace

std::unique_ptr<Compressor> make_host_compressor(const CompressorSpec& spec, HostRun run) {
  return make_compressor(spec, HostBackend(run));
}

}  // namespace mergewise
