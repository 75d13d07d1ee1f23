// SPDX-License-Identifier: Apache-2.0
#include "kernels/compress/host_compressor.hpp"

#include "kernels/compress/algorithm_compressor.hpp"
#include "kernels/primitives/host/host_primitives.hpp"

namespace mergewise {
namespace {

class HostBackend {
 public:
  explicit HostBackend(HostRun run) : run_(run) {}

  template <typename Algorithm>
  void compress(Algorithm, const CompressArguments& arguments, const GroupLayout&,
                const MessageFacts& facts) {
    *arguments.facts = facts;
    Algorithm::compress(HostPrimitives(run_, &scratch_), arguments);
  }
  template <typename Algorithm>
  void decompress(Algorithm, const DecompressArguments& arguments, const GroupLayout&) const {
    Algorithm::decompress(HostPrimitives(run_, nullptr), arguments);
  }

 private:
  HostRun run_;
  HostScratch scratch_;
};

}  // namespace

std::unique_ptr<Compressor> make_host_compressor(const CompressorSpec& spec, HostRun run) {
  return make_compressor(spec, HostBackend(run));
}

}  // namespace mergewise
