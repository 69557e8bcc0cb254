// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "collector/record/decode/definitions.h"
#include "collector/record/messages/segment_reader.h"
#include "collector/record/rows/trace_sink.h"
#include "collector/wire/io.h"
#include "collector/wire/record.h"
#include "common/time.h"

namespace headway::record {

/// Rows of HEADWAY_IO from the records of one process image. Any content is safe.
class IoRows {
 public:
  IoRows(std::int64_t global_pid, const Definitions& definitions, TraceSink& sink)
      : global_pid_(global_pid), definitions_(definitions), sink_(sink) {}

  /// Adds the row of a record. False when the record is damaged: the library writes no such record.
  bool add(const wire::Record& record, const wire::IoDetail& detail, Interval when,
           std::int64_t global_tid);
  /// Adds the bytes and calls that were summed but in no record yet when the image ended; their
  /// file is not known.
  void add_pending(const SegmentCounters& counters, TimeNs now);
  /// The number of calls on files so far, including those in sums.
  std::int64_t calls() const { return calls_; }

 private:
  trace::StringId name_of(wire::IoFunction function);

  std::int64_t global_pid_;
  const Definitions& definitions_;
  TraceSink& sink_;
  std::array<std::optional<trace::StringId>, wire::kIoFunctionCount> names_;
  std::int64_t calls_ = 0;
};

}  // namespace headway::record
