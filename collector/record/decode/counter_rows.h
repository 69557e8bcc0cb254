// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "collector/record/decode/definitions.h"
#include "collector/record/decode/record_view.h"
#include "collector/record/rows/counter_table.h"
#include "common/time.h"

namespace headway::record {

/// Writes the samples of one process's NVTX counters. A counter group becomes one series per
/// member, "group.member". Any content is safe. One thread.
class CounterRows {
 public:
  CounterRows(std::int64_t global_pid, const Definitions& definitions, CounterTable& table)
      : global_pid_(global_pid), definitions_(definitions), table_(table) {}

  /// False when the counter is not registered, or the sample does not fit its type.
  bool write(const RecordView& view, TimeNs time);

 private:
  struct Member {
    trace::PayloadField field;
    std::int64_t series = 0;  ///< number in CounterTable
  };
  struct Counter {
    std::int64_t series = 0;      ///< of a single number
    std::uint64_t type = 0;       ///< type of the sample's bytes
    std::vector<Member> members;  ///< of a group
  };
  const Counter* find(std::uint16_t domain, std::uint64_t id);
  std::int64_t series(const KnownCounter& counter, std::string_view name, std::string_view unit,
                      std::string_view description);

  std::int64_t global_pid_;
  const Definitions& definitions_;
  CounterTable& table_;
  std::map<std::pair<std::uint16_t, std::uint64_t>, Counter> counters_;
};

}  // namespace headway::record
