// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trace/import/kineto/part.h"
#include "trace/import/source/source.h"

namespace headway::trace::kineto {

/// How the events array is read.
struct EventsInput {
  import_detail::Source& source;
  std::string first;               ///< text read already, from the array's bracket on
  std::int64_t offset = 0;         ///< of `first` in the uncompressed file
  std::string file_name;           ///< for messages
  TimeFormat format;               ///< of the times in the file
  bool careful = false;            ///< find record ends by following the text: slower, never wrong
  bool keep_launch_flows = false;  ///< they are needed where calls have no correlation
  int threads = 1;
  std::function<void(double)> progress;  ///< gets 0 to 1; may throw to cancel
};

struct Events {
  std::vector<Part> parts;       ///< in file order
  bool guess_failed = false;     ///< a boundary was none: read again with `careful`
  bool closed = false;           ///< the array's closing bracket was there
  std::int64_t end = 0;          ///< place behind that bracket, or where the text ends
  bool whole_tail = false;       ///< `tail` reaches to the end of the file
  std::string tail;              ///< closed: what follows the bracket
  std::int64_t cut_record = -1;  ///< place of a record that the end of the file cuts
};

/// Reads the events on `threads` threads. Throws what the source and `progress` throw.
Events read_events(EventsInput input);

}  // namespace headway::trace::kineto
