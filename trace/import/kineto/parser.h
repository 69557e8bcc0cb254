// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "trace/import/kineto/part.h"

namespace headway::trace::kineto {

/// Bytes that must be readable behind any text given to the parser.
inline constexpr std::size_t kPadding = 64;

/// Turns JSON text into records with simdjson. Use one per thread; it reuses its buffers.
class Parser {
 public:
  Parser();
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  enum class Outcome : std::uint8_t {
    kWhole,       ///< every record up to the final bracket was read
    kEndedEarly,  ///< the array's own bracket came before the text's last
    kFailed,      ///< the text has a fault; some of its records may have been filed
  };
  struct Result {
    Outcome outcome;
    std::size_t rest = 0;      ///< kEndedEarly: offset of the text after the array's bracket
    std::int64_t filed = 0;    ///< number of records that were filed
    std::size_t unusable = 0;  ///< records without phase or time
  };
  /// `text` is "[record, …]"; kPadding readable bytes follow it.
  Result read_array(std::string_view text, Filing& filing);

  /// Why the last read_array() failed, in the parser's words.
  std::string_view failure() const;
  /// The text of a JSON string (given without quotes) with escapes resolved; unchanged when it has
  /// none or invalid ones.
  std::string unescape(std::string_view raw);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headway::trace::kineto
