// SPDX-License-Identifier: MIT
#include "kernels/compress_top/op.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>

#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

std::uint32_t magnitude_of(float value) {
  return std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFF;
}

/// The smallest magnitude that is sent, and how many values of exactly this magnitude are sent.
struct Cut {
  std::uint32_t magnitude = 0;
  std::int64_t left = 0;
};

/// Goes from the largest bin down to the one that contains the last value that is sent.
void descend(Cut& cut, const TopLevel& level, const std::uint32_t* bins) {
  std::uint32_t bin = (1U << level.bits) - 1;
  while (bin > 0 && cut.left > bins[bin]) cut.left -= bins[bin--];
  cut.magnitude |= bin << level.shift;
}

Cut find_cut(const float* values, std::int64_t count, std::int64_t entries) {
  using Bins = std::array<std::uint32_t, 1 << 11>;
  Cut cut{0, entries};
  for (const TopLevel& level : kTopLevels) {
    const int known = level.shift + level.bits;
    const std::uint32_t mask = (1U << level.bits) - 1;
    Bins bins{};
    std::mutex mutex;
    parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
      Bins mine{};
      for (std::int64_t i = begin; i < end; ++i) {
        const std::uint32_t magnitude = magnitude_of(values[i]);
        mine[magnitude >> level.shift & mask] += magnitude >> known == cut.magnitude >> known;
      }
      const std::scoped_lock lock(mutex);
      for (std::size_t b = 0; b < bins.size(); ++b) bins[b] += mine[b];
    });
    descend(cut, level, bins.data());
  }
  return cut;
}

}  // namespace

std::int64_t compress_top_scratch_bytes(std::int64_t /*count*/) {
  return sizeof(TopScratch);
}

void run(const CompressTop& op) {
  if (op.count == 0) return;
  parallel_for(op.count, kFlatGrain, max_threads(), [&op](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      op.momentum[i] = op.factor * op.momentum[i] + op.gradient[i];
      op.waiting[i] += op.momentum[i];
    }
  });
  Cut cut = find_cut(op.waiting, op.count, op.entries);
  std::byte* to = op.message;
  for (std::int64_t i = 0; i < op.count; ++i) {
    const std::uint32_t magnitude = magnitude_of(op.waiting[i]);
    if (magnitude < cut.magnitude) continue;
    if (magnitude == cut.magnitude && cut.left-- <= 0) continue;
    const auto index = static_cast<std::uint32_t>(i);
    std::memcpy(to, &index, sizeof index);
    std::memcpy(to + sizeof index, &op.waiting[i], sizeof(float));
    to += kTopEntryBytes;
    op.waiting[i] = 0;
    op.momentum[i] = 0;  // momentum factor masking
  }
}

void run(const DecompressTop& op) {
  std::fill_n(op.to, op.count, 0.0F);
  const std::byte* at = op.messages;
  for (std::int64_t entry = 0; entry < op.entries * op.ranks; ++entry, at += kTopEntryBytes) {
    std::uint32_t index = 0;
    float value = 0;
    std::memcpy(&index, at, sizeof index);
    std::memcpy(&value, at + sizeof index, sizeof value);
    op.to[index] += value;
  }
}

}  // namespace headway::kernels
