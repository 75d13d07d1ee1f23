// SPDX-License-Identifier: Apache-2.0
// What collectives make of all ranks' messages, where one process has them all.
#pragma once

#include "kernels/compress/compressor.hpp"

#include <cstddef>
#include <span>

namespace mergewise {

/// Of what arrives: a sum, or the messages of all ranks, `message_bytes` each.
[[nodiscard]] std::size_t received_size(const Compressor& compressor, std::size_t message_bytes,
                                        int ranks);

/// Puts a rank's whole message where Compressor::decompress() looks for it, or adds it to those of
/// the ranks below: ranks in order, from 0. `received`: received_size() bytes.
void receive_message(const Compressor& compressor, std::span<const std::byte> message, int rank,
                     std::span<std::byte> received);

}  // namespace mergewise
