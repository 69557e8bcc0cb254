// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "trace/trace.h"

/// How the blocks of a matrix product fill a device's multiprocessors, and what splitting its sum among more blocks
/// (split-k) makes of that.
namespace headway::analyzer {

/// The part of a device's time that a grid uses: whole waves of one block a multiprocessor use all of it, a last wave that is not
/// full takes as long as a full one. Several blocks that share a multiprocessor share its units, so the one with most
/// blocks decides, whatever it holds at once. 1 where one of the numbers is not known.
/// `power`: of what a partial wave beyond the first costs; 1 all of it, 0 nothing (blocks that end at different times).
double wave_fill(double blocks, std::int32_t multiprocessors, double power = 1);
/// The power that is likeliest: a partial wave costs less than a whole one, as multiprocessors take several blocks at once and
/// libraries choose another tile. How much less is in no recording.
inline constexpr double kTailCosts = 0.5;

/// A product by the figures of a recording. Zero: not known.
struct ProductGrid {
  std::int64_t blocks = 0;
  std::int32_t multiprocessors = 0;
  double outputs = 0;        ///< elements of the result
  double depth = 0;          ///< k: terms of each sum
  double bytes = 0;          ///< that it moves
  double arithmetic_ns = 0;  ///< that its flops need at the device's rate
  double memory_ns = 0;      ///< likewise, its bytes
  bool known() const { return blocks > 0 && multiprocessors > 0 && depth > 0; }
};
/// Blocks, outputs, depth and bytes of device ops. The depth is that of the op graph (a shorter batch has fewer outputs of
/// the same depth), else by the tile in the kernel's name. Looks at each name and op once.
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
  std::vector<std::int64_t> most_flops_;  ///< of one kernel, by op of the model
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, double>
      depths_;  ///< by name, op of the model and blocks
};

/// Elements of the tile that a kernel's name tells ("128x256" of "nvjet_tst_128x256_64x4…"); 0 where it tells none.
std::int64_t tile_elements(std::string_view kernel);

/// Each sum in so many parts, by blocks of their own that add up what they have.
struct SplitProduct {
  int parts = 1;
  double left = 1;  ///< share of the time beyond the shortest kernel's
  /// Less than a tenth is not worth another kernel.
  bool is_worth_it() const { return left <= 0.9; }
};
/// The number of parts with which least is left. Each part of a sum has at least 128 terms, and writes and reads a partial
/// result in 4 bytes.
SplitProduct best_split(const ProductGrid& grid, double power = 1);

}  // namespace headway::analyzer
