// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>

namespace headway::bench {

inline constexpr int kGeneratedRanks = 8;

/// Writes a run of eight ranks in one node to `path` (an existing file is overwritten): about
/// `events` events, per layer three nested ranges, two launch calls and two kernels, a collective on
/// a stream of its own now and then, a wait for the device at the end of each step. The same
/// `events` give the same file.
void write_generated_run(const std::filesystem::path& path, std::int64_t events);

/// The main program of a benchmark of such a run: `measure` gets the file that is named on the command line,
/// or a generated one (--quick: of 100 000 events, a number: of that many, else 10 million), which is
/// removed afterwards.
int measure_run(int argc, char** argv, void (*measure)(const std::filesystem::path& file));

}  // namespace headway::bench
