// SPDX-License-Identifier: Apache-2.0
#include "bench/app/vocabulary.hpp"

#include "bench/app/compressors.hpp"
#include "bench/app/data_folder.hpp"
#include "bench/strategies/registry.hpp"
#include "workloads/model.hpp"
#include "workloads/workload.hpp"

namespace mergewise {

ConfigVocabulary vocabulary() {
  ConfigVocabulary words;
  words.models = model_ids();
  for (const std::string& id : strategy_ids()) {
    words.strategies[id] = make_strategy(id)->options();
  }
  for (const CompressorEntry& entry : compressors()) {
    words.compressors[entry.id] = entry.options;
  }
  words.check_compressor = check_compressor;
  words.accelerators = accelerator_ids(accelerators_folder());
  words.devices = {"cpu"};
  words.collectives = {"gloo"};
  return words;
}

}  // namespace mergewise
