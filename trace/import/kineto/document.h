// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "trace/import/source/source.h"

/// The outermost level of the file, read key by key; only the events array is left to others.
namespace headway::trace::kineto {

/// Text read so far and not yet consumed, refilled from the source.
class Window {
 public:
  Window(import_detail::Source* source, std::string text, std::int64_t offset)
      : source_(source), text_(std::move(text)), offset_(offset) {}

  /// The next character that is not white space; '\0' at the end of the file.
  char peek();
  void skip() { ++at_; }
  /// Place of the next character in the uncompressed file.
  std::int64_t offset() const { return offset_ + static_cast<std::int64_t>(at_); }
  /// Consumes a JSON value. Its text goes to `kept` when it is not longer than `most`. False when
  /// the file ends within.
  bool value(std::string* kept, std::size_t most);
  /// Consumes a string or number; false when there is none.
  bool key(std::string& text);
  /// Everything not consumed; more may be in the source.
  std::string take_rest();
  /// Goes on so many characters, through the source where they are not read yet.
  void skip_bytes(std::int64_t count);

 private:
  bool refill();

  import_detail::Source* source_;
  std::string text_;
  std::size_t at_ = 0;
  std::int64_t offset_;  ///< of text_[0] in the file
};

/// What stands beside the events.
struct Header {
  /// JSON text of the values beside the events, by key; long ones only when something needs them.
  std::map<std::string, std::string> values;
  bool list_form = false;   ///< the file is the array alone
  bool has_events = false;  ///< the object has an events array
};

}  // namespace headway::trace::kineto
