// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace headway::trainer {

/// A text as tokens, which are its bytes, cut into sequences of equal length. The token after a
/// sequence is the last token of its labels.
struct TextSet {
  static constexpr int kVocabulary = 256;
  std::string description;  ///< for people: where it comes from
  std::vector<std::uint8_t> tokens;

  /// The number of sequences of `length` tokens in which each token has a successor.
  std::int64_t sequences(std::int64_t length) const {
    return tokens.empty() ? 0 : (static_cast<std::int64_t>(tokens.size()) - 1) / length;
  }
  /// length + 1 tokens.
  std::span<const std::uint8_t> sequence(std::int64_t index, std::int64_t length) const {
    return std::span(tokens).subspan(static_cast<std::size_t>(index * length),
                                     static_cast<std::size_t>(length + 1));
  }
};

struct TrainAndTestText {
  TextSet train;
  TextSet test;  ///< the last twentieth
};

/// All files of a folder (gzipped or plain, by name, subfolders left out) joined to one text.
/// Throws Error (bad input) naming the file or folder when it cannot be read or holds less than
/// `least_bytes`.
TrainAndTestText load_text(const std::filesystem::path& folder, std::int64_t least_bytes);
/// True when the folder exists and has a file in it.
bool has_text(const std::filesystem::path& folder);

/// Sentences of invented words with a simple grammar, which a small network can learn. Used where
/// no text is installed. The same seed gives the same text.
TrainAndTestText generate_text(std::uint64_t seed, std::int64_t bytes);

}  // namespace headway::trainer
