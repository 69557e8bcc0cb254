// SPDX-License-Identifier: MIT
#include "collector/record/display.h"

#include <fmt/format.h>
#include <unistd.h>

#include "common/format.h"
#include "common/tell.h"
#include "common/text.h"

namespace headway::record {

Display::Display(bool quiet, bool live, std::string file)
    : quiet_(quiet),
      terminal_(!quiet && ::isatty(STDERR_FILENO) == 1),
      progress_(terminal_ && !live && ::isatty(STDOUT_FILENO) == 0),
      file_(escape_terminal(file)) {}

void Display::started() {
  if (terminal_) tell(fmt::format("headway: recording to {}\n", file_));
}

void Display::update(const Progress& progress) {
  if (!progress_ || Clock::now() < next_) return;
  next_ = Clock::now() + std::chrono::seconds(1);
  auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_);
  tell(fmt::format("\r\033[Kheadway: {} s, {} events from {} process{}", elapsed.count(),
                   format_count(progress.events), progress.processes.load(),
                   progress.processes == 1 ? "" : "es"));
  drawn_ = true;
}

void Display::clear() {
  if (drawn_) tell("\r\033[K");
  drawn_ = false;
}

void Display::finishing() {
  clear();
  if (!terminal_) return;
  tell(fmt::format("headway: finishing {} …", file_));
  drawn_ = true;
}

void Display::finished(const std::string& text) {
  clear();
  tell(text);
}

void Display::note(const std::string& line) {
  clear();
  if (!quiet_) tell(fmt::format("headway: {}\n", line));
}

}  // namespace headway::record
