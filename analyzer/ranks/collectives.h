// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/model/event_ref.h"
#include "analyzer/steps/steps.h"
#include "common/time.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// What two collectives must share to be the same one on two ranks, besides their place.
struct CollectiveGroup {
  std::string communicator;  ///< as the program names it; empty when the trace does not tell
  std::string kind;          ///< "allreduce", …; "collective" when only its mechanism is known
  auto operator<=>(const CollectiveGroup&) const = default;
};

/// One communication of one rank. Times are of the rank's own clock.
struct RankCollective {
  std::uint32_t group = 0;     ///< index into Collectives::groups
  std::int64_t sequence = -1;  ///< in its communicator, as recorded; -1: not recorded
  std::int64_t step = -1;      ///< number of the step that launched it; -1: outside all steps
  TimeNs launch;               ///< when the host asked for it: program order
  Interval time;               ///< on the device
  std::int64_t bytes = -1;     ///< full message; -1 unknown
  std::int32_t ranks = 0;      ///< members of the communicator; 0 unknown
  std::int32_t peer = -1;      ///< root, or the other end; -1 none or unknown
  bool on_host = false;        ///< the host carried it out: `op` is its range
  std::uint32_t op = 0;        ///< its device op in the rank's trace

  EventRef event() const {
    return on_host ? EventRef::of(trace::RangeId{op}) : EventRef::of(trace::DeviceOpId{op});
  }
};

/// The event of the collective that `cause`, the cause of a piece of communication, belongs to: a
/// device op itself, or the outermost range of communication around a range of the host.
EventRef collective_of(const trace::Trace& trace, const Attribution& attribution, EventRef cause);

/// The communications of one rank in program order.
struct Collectives {
  std::vector<CollectiveGroup> groups;
  std::vector<RankCollective> rows;
  std::int64_t named = 0;  ///< rows known by the name of their kernel only: no communicator
};

/// All collectives of a trace: those that it declares, and the communication kernels that it does
/// not; without devices, the communication that training threads carry out. Linear in the number of
/// device ops, or of ranges.
Collectives collectives_of(const trace::Trace& trace, const Steps& steps,
                           const Attribution& attribution);

/// True when no member can end before the last has begun, so that time up to the last arrival is
/// waiting: all-reduce, all-gather, reduce-scatter, all-to-all, barrier.
bool is_synchronising(std::string_view kind);
/// True when data go from one member to all or from all to one: a broadcast's root may leave before the others come,
/// or wait for them until there is room for what it sends.
bool is_one_sided(std::string_view kind);

/// Bytes over the slowest link per byte of message, as NCCL's tests define bus bandwidth: 2(n-1)/n
/// for all-reduce, (n-1)/n for all-gather, reduce-scatter and all-to-all, 1 for what moves once
/// (broadcast, reduce, send, recv). 0 where it has no meaning: other kinds, fewer than two ranks.
double bus_factor(std::string_view kind, int ranks);

/// True for one side of a message from one rank to another.
bool is_point_to_point(std::string_view kind);
/// True when the recording has such messages with their device ops.
bool passes_messages(const trace::Trace& trace);

}  // namespace headway::analyzer
