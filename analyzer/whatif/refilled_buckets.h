// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/replay/predictor.h"
#include "analyzer/whatif/transfers.h"

namespace headway::analyzer {

/// In MiB. Gradients fill one bucket after the other, and a bucket is sent as soon as it has this many
/// bytes or the backward pass is over.
struct BucketSizes {
  double first = 1;  ///< of each backward pass
  double others = 25;
};

/// Time of a byte beyond the largest recorded message: as before, or half of it by another protocol
/// of the library. The recording does not show where that protocol begins.
enum class Beyond : std::uint8_t { kAlike, kHalf };

/// A message whose gradients the op graph does not show: it stays whole, or its gradients come as evenly
/// as kernels run.
enum class UnknownGradients : std::uint8_t { kStayTogether, kComeEvenly };

/// The exchange of gradients in buckets of other sizes.
struct RefilledBuckets {
  Scenario scenario;  ///< no edits: the buckets stay as they are
  std::int64_t steps = 0;
  std::int64_t recorded = 0;  ///< messages, of all steps
  std::int64_t messages = 0;
  std::vector<double> bytes;  ///< of the last step's messages, before compression, in their order
  bool evenly = false;        ///< messages were cut as UnknownGradients::kComeEvenly says
  /// Steps with a message that these buckets would cut, but it stayed whole: where is not known.
  std::int64_t uncut = 0;
  bool goes_beyond = false;  ///< messages become larger than any that was recorded

  /// True if that is so in most steps. The first and the last may be cut off.
  bool is_uncut() const { return 2 * uncut > steps; }
  std::int64_t recorded_per_step() const { return recorded / steps; }
  std::int64_t per_step() const { return (messages + steps - 1) / steps; }
};

/// Bytes of the gradients in a message, before they were compressed.
double gradient_bytes(const trace::Trace& trace, const Transfer& message);

/// Fills the buckets of every step anew, in the order in which the gradients were sent. A bucket that
/// ends with a recorded message keeps its place and waits for what that message waited for. One that
/// ends inside of a message is sent when its last gradient is ready, before the next one that keeps its
/// place. Messages that no bucket ends with go. `all`: stages_of_exchange; `models`: one for each stage.
RefilledBuckets refill_buckets(const Predictor& predictor,
                               const std::vector<std::vector<Transfer>>& all,
                               const std::vector<TransferModel>& models, const BucketSizes& sizes,
                               UnknownGradients unknown, Beyond beyond = Beyond::kAlike);

}  // namespace headway::analyzer
