// SPDX-License-Identifier: Apache-2.0
// Small helpers for messages that name the valid choices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mergewise {

/// "a, b, c".
[[nodiscard]] std::string join(std::span<const std::string> words,
                               std::string_view separator = ", ");

/// "1 rank", "4 ranks".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun);

/// So many digits after the point, without a minus before zero.
[[nodiscard]] std::string fixed(double number, int digits);

/// How many bytes the UTF-8 character at the start of `text` has; 0 when there is none that is
/// valid.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// Someone's text for a message: cut after `most` bytes, with control characters and what is no
/// UTF-8 escaped (\n, \x1b).
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t most = 60);

/// The choice nearest to `word` by edit distance, or "" when none is near enough to be a likely
/// typing slip.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> choices);

/// "unknown strategy 'mgwfbp', did you mean 'mg_wfbp'? Valid: ddp, mg_wfbp, ..." - the one wording
/// for unknown names.
[[nodiscard]] std::string unknown_name(std::string_view kind, std::string_view word,
                                       std::span<const std::string> choices);

}  // namespace mergewise
