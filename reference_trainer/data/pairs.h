// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace headway::trainer {

/// Sentences with their translations; tokens are bytes.
struct PairSet {
  struct Pair {
    std::string source;
    std::string target;
    std::size_t longer() const { return std::max(source.size(), target.size()); }
  };
  std::string description;  ///< for people: where they come from
  std::vector<Pair> pairs;
};

struct TrainAndTestPairs {
  PairSet train;
  PairSet test;  ///< every twentieth pair
};

/// Loads all pairs of the message catalogues (*.mo, as gettext installs them) of a folder, in the
/// order of their names. Leaves out pairs longer than `most_bytes` on a side and pairs whose sides
/// are equal. Throws Error (bad input) naming the file when a catalogue is damaged or there are too
/// few pairs.
TrainAndTestPairs load_pairs(const std::filesystem::path& folder, std::int64_t most_bytes);
/// True when the folder has a catalogue.
bool has_pairs(const std::filesystem::path& folder);

/// Sentences of invented words, whose translation replaces every word and reverses their order.
/// Lengths vary between 4 and `most_bytes` bytes. The same seed gives the same pairs.
TrainAndTestPairs generate_pairs(std::uint64_t seed, std::int64_t count, std::int64_t most_bytes);

}  // namespace headway::trainer
