// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/error.h"
#include "common/time.h"

namespace headway::gui {

/// Memory that this process may still use: the machine's free memory, or less if a control group
/// limits it. INT64_MAX when neither is known.
std::int64_t free_memory_bytes();

/// The trace does not fit into memory. Has a time range of it that does.
class TooLarge : public Error {
 public:
  TooLarge(const std::string& message, Interval stretch)
      : Error(ExitCode::kBadInput, message), stretch_(stretch) {}
  Interval stretch() const { return stretch_; }

 private:
  Interval stretch_;
};

/// Throws TooLarge when opening the file would take more than `room` bytes. Reads only row counts.
void require_room(const std::filesystem::path& path, std::int64_t room);

/// "12.5s..20s", the value of --load-range.
std::string stretch_text(Interval stretch);

}  // namespace headway::gui
