// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <bitset>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/import/xplane/wire.h"

namespace headway::trace::xplane {

/// The properties of events and planes that are read; XPlane calls them stats and gives them names.
enum class Stat : std::uint8_t {
  kOther,
  kAllocator,
  kBytesAccessed,
  kBytesAllocated,
  kBytesReserved,
  kCapabilityMajor,
  kCapabilityMinor,
  kClockRate,
  kConsumerId,
  kConsumerType,
  kCoreCount,
  kCorrelation,
  kDeviceOrdinal,
  kDeviceType,
  kElementId,
  kFlops,
  kHloCategory,
  kHloModule,
  kHloOp,
  kKernelDetails,
  kMemcpyDetails,
  kMemoryBandwidth,
  kMemorySize,
  kMemsetDetails,
  kName,
  kProcessId,
  kProducerId,
  kProducerType,
  kProfileStart,
  kRunId,
  kStepNumber,
  kTfOp,
  kVendor,
  kCount_,
};

/// The stats of one event. Texts are views into the file.
class Stats {
 public:
  bool has(Stat stat) const { return present_[index(stat)]; }
  /// `fallback` when the event does not have the stat.
  std::int64_t number(Stat stat, std::int64_t fallback = 0) const {
    return has(stat) ? values_[index(stat)].number : fallback;
  }
  /// Empty when the event does not have the stat; valid as long as the file's bytes.
  std::string_view text(Stat stat) const {
    return has(stat) ? values_[index(stat)].text : std::string_view();
  }
  void clear() { present_.reset(); }
  void set(Stat stat, std::int64_t number, std::string_view text) {
    present_.set(index(stat));
    values_[index(stat)] = {number, text};
  }

 private:
  struct Value {
    std::int64_t number = 0;
    std::string_view text;
  };
  static constexpr std::size_t index(Stat stat) { return static_cast<std::size_t>(stat); }
  std::array<Value, static_cast<std::size_t>(Stat::kCount_)> values_;
  std::bitset<static_cast<std::size_t>(Stat::kCount_)> present_;
};

/// The data that all events of one kind share.
struct EventKind {
  std::string_view name;                ///< an op's HLO text, or the name of a host event
  std::string_view display_name;        ///< a shorter name; empty if the profiler gave none
  std::vector<std::string_view> stats;  ///< messages
};

/// One event of a line; its stats are read only when they are needed.
struct Event {
  std::int64_t kind = 0;                ///< id for Plane::kind()
  std::int64_t offset_ps = 0;           ///< from the line's begin
  std::int64_t duration_ps = 0;         ///< 0: a point
  bool aggregated = false;              ///< it stands for several events, without their times
  std::vector<std::string_view> stats;  ///< messages
};

/// A row of a plane: a thread of the host, or a stream or core of a device.
struct Line {
  std::int64_t id = 0;
  std::int64_t timestamp_ns = 0;  ///< time from which its events' offsets count
  std::string_view name;
  std::string_view display_name;
  std::vector<std::string_view> events;  ///< messages
};

/// One plane: a device, or the host. Views into the file.
class Plane {
 public:
  /// Throws WireFault, also when `budget` rows are used up.
  Plane(std::string_view message, std::string_view file, std::int64_t& budget);

  std::string_view name;
  std::vector<Line> lines;
  Stats stats;

  /// Null for an id that the plane does not describe.
  const EventKind* kind(std::int64_t id) const {
    auto found = kinds_.find(id);
    return found == kinds_.end() ? nullptr : &found->second;
  }
  /// Reads the fields of one event; reuses the memory of `event`.
  void read(std::string_view message, Event& event) const;
  /// Reads the stats of an event: those of its kind, replaced by the event's own.
  void read(const EventKind& kind, const Event& event, Stats& stats) const;

 private:
  void read_line(std::string_view message, std::int64_t& budget);
  void read_kind(std::string_view entry);
  void read_stat_name(std::string_view entry);
  void read_stats(const std::vector<std::string_view>& messages, Stats& stats) const;

  std::string_view file_;
  std::unordered_map<std::int64_t, EventKind> kinds_;
  struct StatName {
    std::string_view name;
    Stat stat = Stat::kOther;
  };
  std::unordered_map<std::int64_t, StatName> stat_names_;
};

/// The planes of a profile, and what the profile says about itself.
struct Space {
  std::vector<Plane> planes;
  std::vector<std::string_view> hosts;       ///< names of the machines
  std::vector<std::string_view> complaints;  ///< errors and warnings of the profiler
};
/// Throws WireFault.
Space read_space(std::string_view file);

}  // namespace headway::trace::xplane
