// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "trace/trace.h"

/// How the blocks of a matrix product fill a device's multiprocessors, and how splitting its sums
/// among more blocks (split-k) changes that.
namespace headway::analyzer {

/// The share of a device's multiprocessors that a grid uses on average. Full waves of one block per
/// multiprocessor use all of them; a partial last wave takes as long as a full one. Blocks that run
/// on one multiprocessor at once share its units, so the multiprocessor with most blocks decides. 1
/// if a number is not known. `power`: cost of a partial wave after the first; 1: as much as a full
/// wave; 0: nothing (blocks end at different times).
double wave_fill(double blocks, std::int32_t multiprocessors, double power = 1);
/// The likeliest `power`. A partial wave costs less than a full one, because multiprocessors run
/// several blocks at once and libraries choose other tiles. No recording shows how much less.
inline constexpr double kTailCosts = 0.5;

/// Figures of a recorded product. Zero: not known.
struct ProductGrid {
  std::int64_t blocks = 0;
  std::int32_t multiprocessors = 0;
  double outputs = 0;        ///< elements of the result
  double depth = 0;          ///< k: terms of each sum
  double bytes = 0;          ///< bytes that it moves
  double arithmetic_ns = 0;  ///< time of its flops at the device's rate
  double memory_ns = 0;      ///< time of its bytes at the device's rate
  bool known() const { return blocks > 0 && multiprocessors > 0 && depth > 0; }
};
/// Blocks, outputs, depth and bytes of device ops. The depth comes from the op graph (a smaller
/// batch has fewer outputs of the same depth), else from the tile in the kernel's name. It is
/// computed once for each name, op of the model and grid.
class ProductGrids {
 public:
  ProductGrids(const trace::Trace& trace, const Attribution& attribution,
               std::int32_t multiprocessors);
  ProductGrid of(trace::DeviceOpId op);

 private:
  double depth_of(trace::DeviceOpId op);

  const trace::Trace& trace_;
  const Attribution& attribution_;
  std::int32_t multiprocessors_;
  std::vector<std::int64_t> most_flops_;  ///< largest of one kernel, by op of the model
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, double>
      depths_;  ///< by name, op of the model and blocks
};

/// Elements of the tile in a kernel's name ("128x256" in "nvjet_tst_128x256_64x4…"); 0 if it has
/// none.
std::int64_t tile_elements(std::string_view kernel);

/// A product with each sum split into `parts`. Each part has its own blocks; the partial results
/// are added up.
struct SplitProduct {
  int parts = 1;
  double left = 1;  ///< remaining share of the time beyond the shortest kernel's
  /// Saving less than a tenth is not worth another kernel.
  bool is_worth_it() const { return left <= 0.9; }
};
/// The number of parts with the smallest `left`. Each part of a sum has at least 128 terms, and its
/// partial result of 4 bytes is written and read.
SplitProduct best_split(const ProductGrid& grid, double power = 1);

}  // namespace headway::analyzer
