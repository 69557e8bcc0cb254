// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "trace/import/source/source.h"

/// Reads the outermost level of the file key by key; other code reads the events array.
namespace headway::trace::kineto {

/// Text that was read and is not consumed yet, refilled from the source.
class Window {
 public:
  Window(import_detail::Source* source, std::string text, std::int64_t offset)
      : source_(source), text_(std::move(text)), offset_(offset) {}

  /// The next character that is not white space; '\0' at the end of the file.
  char peek();
  void skip() { ++at_; }
  /// Offset of the next character in the uncompressed file.
  std::int64_t offset() const { return offset_ + static_cast<std::int64_t>(at_); }
  /// Consumes a JSON value. Its text is stored in `kept` if it has at most `most` characters. False
  /// when the file ends inside the value.
  bool value(std::string* kept, std::size_t most);
  /// Consumes a string or number; false when there is none.
  bool key(std::string& text);
  /// Returns all text that is not consumed; the source may have more.
  std::string take_rest();
  /// Skips `count` characters, reading on from the source as needed.
  void skip_bytes(std::int64_t count);

 private:
  bool refill();

  import_detail::Source* source_;
  std::string text_;
  std::size_t at_ = 0;
  std::int64_t offset_;  ///< of text_[0] in the file
};

/// The values beside the events.
struct Header {
  /// JSON text of these values, by key; long values only if they are needed.
  std::map<std::string, std::string> values;
  bool list_form = false;   ///< the file consists of the events array only
  bool has_events = false;  ///< the object has an events array
};

}  // namespace headway::trace::kineto
