// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace headway::trace::export_detail {

/// The (pid, tid) of a row in a Chrome trace: a thread of a process, or a stream of a device, which
/// is a "process" there. The trace's own numbers if they are unique, else larger ones.
struct ChromeRow {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
};

struct ChromeRows {
  explicit ChromeRows(const Trace& trace);

  std::vector<std::int64_t> process;  ///< pid of each process
  std::vector<std::int64_t> device;   ///< pid of each device
  std::vector<ChromeRow> thread;
  /// By thread: true if the thread stands for the annotations on a stream and has that stream's
  /// row.
  std::vector<bool> is_stream;
  std::vector<ChromeRow> stream;
  /// Correlation id of each call, unique in the file; 0: the call has none.
  std::vector<std::int64_t> correlation;

 private:
  /// The row of the stream whose annotations the thread stands for; null: it is a real thread.
  const ChromeRow* row_of_annotations(const Trace& trace, const Thread& one) const;
};

}  // namespace headway::trace::export_detail
