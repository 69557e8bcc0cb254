// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyzer/evidence/storage_model.h"

/// How recorded reads share their storage: each model replays when the reads began and tells when they
/// should have ended; the one that comes closest is taken, if it explains far more than no sharing.
namespace headway::analyzer {

enum class Sharing : std::uint8_t {
  kNone,    ///< each reader has a storage of its own
  kQueue,   ///< transfers one after the other
  kEqual,   ///< all open transfers at once, each at an equal share of the rate
  kPlaces,  ///< so many reads at once, with their requests; the others wait
};

struct StorageFit {
  Sharing sharing = Sharing::kNone;
  int places = 1;
  double ns_per_byte = 0;
  double own = 0;    ///< ns of each read besides
  double error = 0;  ///< mean absolute, ns
  /// Without sharing: more than this per byte would have made readers wait that did not.
  double most_ns_per_byte = 0;
};

/// `reads`: by begin, with sizes. `most_ns_per_byte`: no transfer takes longer than this; none: not
/// known.
StorageFit fit_storage(std::span<const StorageRead> reads, std::optional<double> most_ns_per_byte);

/// So many reads at a time, of which each takes `own` and each of its bytes so long, in ns.
StorageFit fit_places(std::span<const StorageRead> reads, int places, double own,
                      double ns_per_byte);

/// When the turn of each read is over under a fit, in ns after its begin.
std::vector<double> turn_ends(std::span<const StorageRead> reads, const StorageFit& fit);

}  // namespace headway::analyzer
