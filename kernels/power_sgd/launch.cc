// SPDX-License-Identifier: MIT
#include "kernels/power_sgd/launch.h"

#include "kernels/add/launch.h"
#include "kernels/gradient_list/launch.h"

namespace headway::kernels::cuda {
namespace {

std::int64_t pieces(std::int64_t count, std::int64_t each) {
  return (count + each - 1) / each;
}

void append(Launches& to, Launches more) {
  for (Launch& launch : more) to.push_back(std::move(launch));
}

/// One kernel over all matrices, with `chunks_of` chunks each; empty matrices are left out.
template <class ChunksOf>
Launches over_matrices(const Limits& limits, const char* kernel, const PowerLayout& l,
                       const ChunksOf& chunks_of) {
  require(l.rank > 0 && l.rank <= kMostPowerRank, kernel, "the rank must be 1 to 64");
  std::vector<PowerEntry> entries;
  entries.reserve(l.matrices.size());
  for (const PowerMatrix& m : l.matrices) {
    const bool packed =
        m.columns % 4 == 0 && all_packed(l.flat + m.offset, l.error + m.offset, l.second + m.q);
    entries.push_back({m, 0, packed});
  }
  if (!entries.empty())
    for (const float* each : {l.flat, l.error, l.p, l.second})
      require_aligned(each, 4, kernel, "an array");
  const PowerStep by{l.flat, l.error, l.p, l.second, l.rank};
  return launch_tables(limits, "power_sgd", kernel, by, std::span<const PowerEntry>(entries),
                       [&](const PowerEntry& entry) {
                         const PowerMatrix& m = entry.matrix;
                         return m.rows > 0 && m.columns > 0 ? chunks_of(m) : std::int64_t{0};
                       });
}

/// Entries of the gradients that are not matrices: in `flat` and in `second`.
std::vector<GradientEntry> rest_of(const PowerLayout& l) {
  std::vector<GradientEntry> entries;
  entries.reserve(l.rest.size());
  for (const PowerRest& rest : l.rest)
    entries.push_back({l.flat + rest.offset, l.second + rest.at, rest.count});
  return entries;
}

}  // namespace

Launches launches(const Limits& limits, const PowerFirst& op) {
  const PowerLayout& l = op.layout;
  if (l.count == 0) return {};
  Launches result = {add(limits, NumberFormat::kFloat32, l.count, l.flat, l.error, l.flat)};
  append(result, over_matrices(limits, "power_p", l, [](const PowerMatrix& m) {
           const bool wide = m.columns >= kPowerWideColumns;
           return pieces(m.rows, wide ? kPowerRows : kPowerRows * kPowerWarps);
         }));
  return result;
}

Launches launches(const Limits& limits, const PowerSecond& op) {
  const PowerLayout& l = op.layout;
  Launches result = over_matrices(limits, "power_orthonormal", l,
                                  [](const PowerMatrix&) { return std::int64_t{1}; });
  append(result, over_matrices(limits, "power_q", l, [](const PowerMatrix& m) {
           return pieces(m.columns, kPowerColumns);
         }));
  append(result, pack(limits, rest_of(l)));
  return result;
}

Launches launches(const Limits& limits, const PowerRestore& op) {
  const PowerLayout& l = op.layout;
  const GradientEntry second = {l.second, l.second, l.second_count};
  Launches result = unpack(limits, {&second, 1}, op.factor);
  append(result, over_matrices(limits, "power_restore", l, [](const PowerMatrix& m) {
           return pieces(m.rows, kPowerTileRows) * pieces(m.columns, kPowerTileColumns);
         }));
  append(result, unpack(limits, rest_of(l), 1));
  return result;
}

}  // namespace headway::kernels::cuda
