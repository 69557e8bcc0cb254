// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "collector/inject/definition_index.h"

namespace headway::inject {

/// Registered texts for which the log of the segment has no room: a program that registers "step
/// 123456" for every step fills any log. They stay in the process, in memory of its own that a fork
/// inherits, and their events carry them inline. Writing under the process lock.
class KeptTexts {
 public:
  /// Where a text of `bytes`, its final zero included, may be written; null when there is no room.
  char* room(std::size_t bytes);
  /// Keeps the text that was just written there; its id, that of the same text if it is there
  /// already. 0 when there is no memory.
  std::uint32_t keep(std::size_t bytes);
  /// The text with this id, for ever; null when there is none. Any thread.
  const char* text(std::uint32_t id) const;

  /// In every id, and in none of a string in the log.
  static constexpr std::uint32_t kMark = 1u << 31;

 private:
  static constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
  static constexpr unsigned kOffsetBits = 17;  ///< of an offset in a chunk, in steps of 8 bytes
  std::array<char*, 256> chunks_{};
  std::size_t used_chunks_ = 0;
  std::size_t used_bytes_ = 0;  ///< of the last chunk
  DefinitionIndex index_;
};

}  // namespace headway::inject
