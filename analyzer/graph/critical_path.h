// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/graph/graph.h"
#include "analyzer/model/event_ref.h"
#include "analyzer/partition/partition.h"
#include "analyzer/steps/steps.h"

namespace headway::analyzer {

/// What a piece of the critical path ran on or waited for.
enum class PathKind : std::uint8_t {
  kHost,
  kInput,
  kAllocator,
  kSync,
  kLaunch,
  kCompute,
  kCommunication,
  kCopy,
  kDeviceGap,
  kUnexplained,
  kCount_,  ///< number of kinds, not one itself
};
inline constexpr std::size_t kPathKindCount = static_cast<std::size_t>(PathKind::kCount_);

struct PathKindInfo {
  PathKind kind;
  std::string_view id;     ///< "launch": stable, in JSON and CSV
  std::string_view label;  ///< for people
  std::string_view doc;    ///< one sentence
};
std::span<const PathKindInfo, kPathKindCount> path_kinds();
const PathKindInfo& info(PathKind kind);

/// A piece of the path: what the end of the window was waiting for at that time.
struct PathPiece {
  Interval interval;
  PathKind kind = PathKind::kUnexplained;
  EdgeKind edge = EdgeKind::kDuration;  ///< the constraint that binds at its end
  bool inferred = false;                ///< that constraint or the one that led here was concluded
  EventRef event;                       ///< op, call or range; none when no event is known
  trace::ThreadId thread;               ///< for host pieces
};

/// The chain of tasks and delays that decided when the window ended. Shortening what is not on it
/// gains nothing.
struct CriticalPath {
  Interval window;                ///< the steady steps; without steps the whole device work
  std::int64_t steps = 0;         ///< steady steps in the window; 0 without steps
  std::vector<PathPiece> pieces;  ///< by time; they cover the window without gap or overlap
  std::array<DurationNs, kPathKindCount> of_kind{};  ///< sums to window.length() exactly
  /// Part of the window: delays whose constraint was concluded, not recorded, and tasks reached by them.
  DurationNs inferred;
  /// Per steady step (on the device whose step it is): the path inside it, by kind.
  struct StepTimes {
    std::uint32_t step = 0;  ///< index into Steps::all
    Interval interval;
    std::array<DurationNs, kPathKindCount> of_kind{};  ///< sums to interval.length() exactly
  };
  std::vector<StepTimes> of_step;
  /// Per device op: how much later it could have ended without delaying the window's end;
  /// saturates at about 4.3 s; kNoSlack outside of the window. Zero on the path.
  std::vector<std::uint32_t> slack_ns;
  static constexpr std::uint32_t kNoSlack = 0xFFFFFFFF;

  // About the graph, so that readers know what the path rests on.
  std::size_t tasks = 0;
  std::array<EdgeCount, kEdgeKindCount> edges{};
  Calibration calibration;

  DurationNs operator[](PathKind kind) const { return of_kind[static_cast<std::size_t>(kind)]; }
};

/// Walks back from the last op of the window along the binding constraints. A trace without any
/// event in the window gives an empty path. About 0.1 µs a task.
CriticalPath find_critical_path(const trace::Trace& trace, const Steps& steps,
                                const std::vector<DevicePartition>& partitions);

/// Slack of each device op in [window.begin, window.end), in the recorded schedule with the graph's
/// edges: binding edges keep their recorded length, the others their calibrated lag.
std::vector<std::uint32_t> slack_of_ops(const DependencyGraph& graph, Interval window);

}  // namespace headway::analyzer
