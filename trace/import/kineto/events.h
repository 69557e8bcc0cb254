// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trace/import/kineto/part.h"
#include "trace/import/source/source.h"

namespace headway::trace::kineto {

/// The input of read_events().
struct EventsInput {
  import_detail::Source& source;
  std::string first;               ///< text that was read already, from the array's bracket on
  std::int64_t offset = 0;         ///< of `first` in the uncompressed file
  std::string file_name;           ///< for messages
  TimeFormat format;               ///< of the times in the file
  bool careful = false;            ///< find the ends of records by parsing: slower, never wrong
  bool keep_launch_flows = false;  ///< needed when calls have no correlation ids
  int threads = 1;
  std::function<void(double)> progress;  ///< gets 0 to 1; may throw to cancel
};

struct Events {
  std::vector<Part> parts;       ///< in file order
  bool guess_failed = false;     ///< a guessed boundary was wrong: read again with `careful`
  bool closed = false;           ///< the array has its closing bracket
  std::int64_t end = 0;          ///< offset behind that bracket, or of the end of the text
  bool whole_tail = false;       ///< `tail` reaches to the end of the file
  std::string tail;              ///< if closed: the text after the bracket
  std::int64_t cut_record = -1;  ///< offset of a record that the end of the file cuts
};

/// Reads the events on `threads` threads. Exceptions of the source and of `progress` propagate.
Events read_events(EventsInput input);

}  // namespace headway::trace::kineto
