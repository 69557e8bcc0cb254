// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/record/decode/definitions.h"
#include "collector/record/decode/record_view.h"
#include "collector/record/scope/scope.h"

namespace headway::record {

/// Searches the records of one process image, before they are decoded, for the ranges that open and
/// close the windows of a Scope: steps, or the range that the user named. Any content is safe. One
/// thread.
class RangeWatch {
 public:
  RangeWatch(std::int32_t pid, const Definitions& definitions, Scope& scope)
      : pid_(pid), definitions_(definitions), scope_(scope) {}

  /// The ring belongs to another thread from here on.
  void begin_thread(std::uint32_t ring, TimeNs time);
  /// Looks at one record. Records of one ring come in their order.
  void record(std::uint32_t ring, const RecordView& view, TimeNs time);
  /// The number of the wanted step that begins with the record of this ring and stamp; nullopt when
  /// no step does. The answer is removed: a second call returns nullopt.
  std::optional<std::int64_t> take_step(std::uint32_t ring, std::uint64_t stamp);
  /// To be called when the image is gone: its open windows end.
  void finish(TimeNs now) { scope_.image_ended(pid_, now); }

 private:
  /// An open range whose end is awaited.
  struct Open {
    bool active = false;
    std::uint16_t domain = 0;
    std::uint32_t depth = 0;  ///< of a push
    std::uint64_t id = 0;     ///< of a start/end range; 0: a push/pop range
    std::int64_t number = 0;  ///< of a step
  };
  struct Ring {
    std::vector<std::pair<std::uint16_t, std::uint32_t>> depths;  ///< by domain
    Open step;                                                    ///< the step that is open
    Open range;                                                   ///< the named range that is open
    std::int64_t steps = 0;                                       ///< number begun so far
    bool window = false;  ///< this ring holds a window of steps open
    TimeNs last_step_end;
  };
  /// What the name of a range says.
  struct Named {
    bool step = false;         ///< it is a step
    bool range = false;        ///< it is the range that the user chose
    std::int64_t number = -1;  ///< of a step; -1: the name has none
  };

  Named named(const RecordView& view);
  Named look_at(std::string_view name) const;
  /// The step number from a payload that declares its range a step, -1 without a number; nullopt
  /// when no payload declares a step.
  std::optional<std::int64_t> declared_step(const RecordView& view) const;
  void begins(std::uint32_t index, Ring& ring, const RecordView& view, std::uint64_t id,
              TimeNs time);
  void ends(Ring& ring, TimeNs time, bool step, bool range);
  void step_begins(std::uint32_t index, Ring& ring, const Open& range, std::uint64_t stamp,
                   TimeNs time);
  void step_ends(Ring& ring, TimeNs time);
  void end_of_start(std::uint64_t id, TimeNs time);

  std::int32_t pid_;
  const Definitions& definitions_;
  Scope& scope_;
  std::unordered_map<std::uint32_t, Ring> rings_;
  std::unordered_map<std::uint32_t, Named> known_;  ///< by id of the registered string
  int open_starts_ = 0;                             ///< start/end ranges whose ends are awaited
  bool capturing_ = false;  ///< between cudaProfilerStart and cudaProfilerStop
  bool declared_ = false;   ///< a payload declared a step: then names do not count
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> numbers_;
};

}  // namespace headway::record
