// SPDX-License-Identifier: MIT
#include "analyzer/evidence/page_faults.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace headway::analyzer {
namespace {

constexpr std::string_view kSetting = "page_faults";
/// The hook measures many faults in a row. A fault between matrix products takes 1.1 to 1.4 times
/// as long (docs/design/0086-page-faults.md).
constexpr double kAmongOtherWork = 1.25;

/// The number after "`key`=" in a space-separated list; nothing if there is none.
std::optional<double> value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!word.starts_with(key) || word.size() <= key.size() || word[key.size()] != '=') continue;
    word.remove_prefix(key.size() + 1);
    double value = 0;
    const auto [at, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || at != word.data() + word.size() || !(value >= 0))
      return std::nullopt;
    return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<PageFaults> page_faults_of(const trace::Trace& trace, const trace::Process& process) {
  std::optional<PageFaults> last;  // the program repeats the setting; the last one counts
  for (const auto& [name, text] : trace.settings) {
    if (name != kSetting) continue;
    const std::optional<double> pid = value_of(text, "pid");
    if (pid && *pid != static_cast<double>(process.pid)) continue;
    const std::optional<double> per_step = value_of(text, "per_step");
    const std::optional<double> each_ns = value_of(text, "ns");
    constexpr double kMostNs = 1e12;
    if (!per_step || !each_ns || *per_step * *each_ns > kMostNs) continue;
    last = {*per_step, DurationNs{std::llround(*per_step * *each_ns * kAmongOtherWork)},
            value_of(text, "libc").value_or(0) != 0};
  }
  return last;
}

}  // namespace headway::analyzer
