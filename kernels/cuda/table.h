// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "kernels/cuda/launch.h"

// Kernels over many entries at once. The entries of a launch travel in its parameters, up to 32,764
// bytes: one launch is enough for the 161 parameters of ResNet-50, and no table has to be copied
// first. More entries take more launches.
namespace headway::kernels::cuda {

/// A kernel's parameters. A Step has the std::int32_t fields `tensors` and `chunks` (of the launch)
/// and `chunk_offset` (chunks of the launches before). An Entry has `first_chunk` (within the
/// launch) and may have `number` (among all entries). fill_tables sets these fields.
template <class StepType, class EntryType, std::size_t kBytes>
struct Table {
  using Step = StepType;
  using Entry = EntryType;
  static constexpr std::size_t kCapacity = (kBytes - sizeof(Step)) / sizeof(Entry);
  Step by;
  Entry tensors[kCapacity];
};

inline constexpr unsigned kTableThreads = 256;

/// Launches of one kernel over all entries, each with as many entries as fit in the table; entries
/// without chunks are left out.
template <class Table, class ChunksOf>
Launches fill_tables(const Limits& limits, const char* image, const std::string& kernel,
                     const typename Table::Step& by, std::span<const typename Table::Entry> entries,
                     const ChunksOf& chunks_of) {
  Launches launches;
  Table table{};
  table.by = by;
  table.by.tensors = table.by.chunks = table.by.chunk_offset = 0;
  auto send = [&] {
    if (table.by.tensors == 0) return;
    const unsigned blocks = blocks_for(table.by.chunks, 1, limits, 8);
    launches.push_back(make_launch(image, kernel, {blocks}, kTableThreads, table));
    table.by.chunk_offset += table.by.chunks;
    table.by.tensors = table.by.chunks = 0;
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::int64_t chunks = chunks_of(entries[i]);
    if (chunks == 0) continue;
    auto& entry = table.tensors[table.by.tensors++];
    entry = entries[i];
    if constexpr (requires { entry.number; }) entry.number = static_cast<std::int32_t>(i);
    entry.first_chunk = table.by.chunks;
    table.by.chunks += static_cast<std::int32_t>(chunks);
    if (static_cast<std::size_t>(table.by.tensors) == Table::kCapacity) send();
  }
  send();
  return launches;
}

/// Launches of `name`_small or `name`_large. The small one is used where all entries fit in it,
/// because it sends fewer bytes.
template <class Step, class Entry, class ChunksOf>
Launches launch_tables(const Limits& limits, const char* image, const std::string& name,
                       const Step& by, std::span<const Entry> entries, const ChunksOf& chunks_of) {
  using Small = Table<Step, Entry, kSmallParameters>;
  using Large = Table<Step, Entry, kLargeParameters>;
  std::size_t used = 0;
  std::int64_t chunks = 0;
  for (const Entry& entry : entries) {
    used += chunks_of(entry) > 0;
    chunks += chunks_of(entry);
  }
  require(chunks < std::int64_t{1} << 31, name.c_str(), "more than 2^31 chunks of elements");
  if (used <= Small::kCapacity || limits.parameter_bytes < kLargeParameters)
    return fill_tables<Small>(limits, image, name + "_small", by, entries, chunks_of);
  return fill_tables<Large>(limits, image, name + "_large", by, entries, chunks_of);
}

}  // namespace headway::kernels::cuda
