// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/error.h"
#include "common/time.h"

namespace headway::gui {

/// Memory that this process may still take: what the machine has to spare, less where a control
/// group allows less. INT64_MAX when nothing tells.
std::int64_t free_memory_bytes();

/// A trace that does not fit; offers a stretch of it that does.
class TooLarge : public Error {
 public:
  TooLarge(const std::string& message, Interval stretch)
      : Error(ExitCode::kBadInput, message), stretch_(stretch) {}
  Interval stretch() const { return stretch_; }

 private:
  Interval stretch_;
};

/// Throws TooLarge when opening the file would take more than `room` bytes. Looks at counts only.
void require_room(const std::filesystem::path& path, std::int64_t room);

/// "12.5s..20s" for --load-range.
std::string stretch_text(Interval stretch);

}  // namespace headway::gui
