// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyzer/evidence/storage_model.h"

/// How recorded reads share their storage. Each model predicts the ends of the reads from their
/// begins. The model with the smallest error is taken, if it is far better than no sharing.
namespace headway::analyzer {

enum class Sharing : std::uint8_t {
  kNone,    ///< each reader has a storage of its own
  kQueue,   ///< transfers one after the other
  kEqual,   ///< all open transfers at once, each at an equal share of the rate
  kPlaces,  ///< `places` reads at once, including their requests; the others wait
};

struct StorageFit {
  Sharing sharing = Sharing::kNone;
  int places = 1;
  double ns_per_byte = 0;
  double own = 0;    ///< ns of each read in addition
  double error = 0;  ///< mean absolute error of the reads' ends, ns
  /// Without sharing: if a shared transfer took more than this per byte, readers would have waited
  /// that did not.
  double most_ns_per_byte = 0;
};

/// `reads`: by begin, with sizes. `most_ns_per_byte`: upper limit of a transfer's time; none: not
/// known.
StorageFit fit_storage(std::span<const StorageRead> reads, std::optional<double> most_ns_per_byte);

/// The fit with `places` reads at a time, where a read takes `own` + `ns_per_byte` x its bytes, in
/// ns.
StorageFit fit_places(std::span<const StorageRead> reads, int places, double own,
                      double ns_per_byte);

/// When the turn of each read is over under a fit, in ns after its begin.
std::vector<double> turn_ends(std::span<const StorageRead> reads, const StorageFit& fit);

}  // namespace headway::analyzer
