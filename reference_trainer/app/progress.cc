// SPDX-License-Identifier: MIT
#include "reference_trainer/app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "common/format.h"
#include "common/text.h"

namespace headway::trainer {
namespace {

constexpr std::chrono::milliseconds kTerminalInterval{100};
constexpr std::chrono::seconds kPlainInterval{2};

std::string optional_figure(const char* format, const std::optional<float>& value, double scale) {
  return value ? fmt::format(fmt::runtime(format), *value * scale) : "-";
}

}  // namespace

Progress::Progress(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0), last_shown_(Clock::now()) {}

Progress::~Progress() {
  finish();
}

bool Progress::due(bool last) {
  if (quiet_) return false;
  const Clock::time_point now = Clock::now();
  const bool waited =
      terminal_ ? now - last_shown_ >= kTerminalInterval : now - last_shown_ >= kPlainInterval;
  if (!last && !waited) return false;
  last_shown_ = now;
  return true;
}

void Progress::show(const std::string& line) {
  if (!terminal_) {
    fmt::print(stderr, "{}\n", line);
    return;
  }
  const std::size_t columns = count_columns(line);
  const std::string padding(columns < shown_columns_ ? shown_columns_ - columns : 0, ' ');
  fmt::print(stderr, "\r{}{}", line, padding);
  std::fflush(stderr);
  shown_columns_ = columns;
  open_line_ = true;
}

void Progress::count(const std::string& what, std::int64_t done, std::int64_t total) {
  if (due(done == total)) show(fmt::format("{}: {} of {}", what, done, total));
  if (done == total) finish();
}

void Progress::step(const StepRecord& step, std::int64_t total, std::int64_t batch) {
  const bool last = step.step + 1 == total;
  if (!due(last)) return;
  // The rate covers the steps since the last line: the present speed, not an average of the past.
  const double end_s = step.start_s + step.duration_s;
  const std::int64_t steps = step.step + 1 - since_step_;
  const double rate =
      end_s > since_s_ ? static_cast<double>(steps * batch) / (end_s - since_s_) : 0;
  since_s_ = end_s;
  since_step_ = step.step + 1;
  const double left_s = rate > 0 ? static_cast<double>((total - step.step - 1) * batch) / rate : 0;
  std::string line = fmt::format("step {}/{}  loss {}  accuracy {}  {:.0f} samples/s",
                                 step.step + 1, total, optional_figure("{:.3f}", step.loss, 1),
                                 optional_figure("{:.0f} %", step.accuracy, 100), rate);
  if (!last)
    line += fmt::format("  {} left", format_duration({static_cast<std::int64_t>(left_s * 1e9)}));
  show(line);
}

void Progress::finish() {
  if (open_line_) fmt::print(stderr, "\n");
  open_line_ = false;
  shown_columns_ = 0;
}

}  // namespace headway::trainer
