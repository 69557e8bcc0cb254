// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collector/inject/definition_index.h"

namespace headway::inject {

/// Registered texts for which the log of the segment has no room: a program that registers "step
/// 123456" for every step fills any log. They stay in private memory of the process, which a fork
/// inherits, and events carry them inline. Writing requires the process lock.
class KeptTexts {
 public:
  /// Memory to which a text of `bytes` (with its final zero) may be written; null when there is
  /// none.
  char* room(std::size_t bytes);
  /// Keeps the text that was just written to room(). Returns its id, which is that of an equal text
  /// kept before; 0 when there is no memory.
  std::uint32_t keep(std::size_t bytes);
  /// The text with this id, valid for ever; null when there is none. Any thread.
  const char* text(std::uint32_t id) const;

  /// A bit that every id of a kept text has, and no id of a string in the log.
  static constexpr std::uint32_t kMark = 1u << 31;

 private:
  static constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
  static constexpr unsigned kOffsetBits = 17;  ///< width of an offset in a chunk, in 8-byte units
  std::array<char*, 256> chunks_{};
  std::size_t used_chunks_ = 0;
  std::size_t used_bytes_ = 0;  ///< of the last chunk
  DefinitionIndex index_;
};

}  // namespace headway::inject
