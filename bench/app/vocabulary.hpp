// SPDX-License-Identifier: Apache-2.0
// Everything that a config or a command line may name, from the registries.
#pragma once

#include "bench/config/run_config.hpp"

namespace mergewise {

[[nodiscard]] ConfigVocabulary vocabulary();

}  // namespace mergewise
