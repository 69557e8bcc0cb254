// SPDX-License-Identifier: MIT
#include "gui/models/opening/memory_room.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>

#include "common/format.h"
#include "trace/import/extent.h"

namespace headway::gui {
namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

/// Peak memory while opening, per event: during the analysis, its graph and the timeline exist in
/// addition to the columns (docs/design, "Opening large traces"; measured on 10 and 100 million
/// events).
constexpr std::int64_t kPeakBytesPerEvent = 170;
/// Other processes need memory too, and Linux's "available" is an estimate.
constexpr double kUsableShare = 0.85;

std::optional<std::int64_t> number_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string text;
  if (!(in >> text)) return std::nullopt;
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;  // "max"
  return value;
}

std::int64_t free_of_machine() {
  std::ifstream in("/proc/meminfo");
  for (std::string name; in >> name;) {
    std::int64_t kib = 0;
    if (name == "MemAvailable:" && in >> kib) return kib * 1024;
  }
  return kNoLimit;
}

/// Free memory of this process's control group and its ancestors (version 2; a container sees its
/// own group as the root).
std::int64_t free_of_groups() {
  std::ifstream in("/proc/self/cgroup");
  std::filesystem::path group;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("0::/")) group = line.substr(4);
  }
  const std::filesystem::path root = "/sys/fs/cgroup";
  std::int64_t least = kNoLimit;
  for (std::filesystem::path at = root / group;; at = at.parent_path()) {
    auto most = number_in(at / "memory.max");
    auto used = number_in(at / "memory.current");
    if (most && used) {
      // Cached file pages count as used, but can be reclaimed.
      std::int64_t cached = 0;
      std::ifstream stat(at / "memory.stat");
      std::int64_t bytes = 0;
      for (std::string name; stat >> name >> bytes;) {
        if (name == "inactive_file" || name == "active_file") cached += bytes;
      }
      least = std::min(least, std::max<std::int64_t>(0, *most - *used + cached));
    }
    if (at == root || !at.has_relative_path()) break;
  }
  return least;
}

}  // namespace

std::int64_t free_memory_bytes() {
  return std::min(free_of_machine(), free_of_groups());
}

std::string stretch_text(Interval stretch) {
  auto seconds = [](TimeNs t) {
    return fmt::format("{:.9g}s", static_cast<double>(t.ns - t.ns % 1'000'000) * 1e-9);
  };
  return seconds(stretch.begin) + ".." + seconds(stretch.end + DurationNs{999'999});
}

void require_room(const std::filesystem::path& path, std::int64_t room) {
  std::error_code error;
  auto bytes = std::filesystem::file_size(path, error);
  // An event takes at least 12 bytes of a file, so small files need no counting.
  if (error || static_cast<std::int64_t>(bytes) / 12 <= room / kPeakBytesPerEvent / 2) return;
  std::optional<trace::Extent> extent = trace::extent_of(path);
  if (!extent) return;
  const double usable = kUsableShare * static_cast<double>(room);
  const double need = static_cast<double>(extent->events * kPeakBytesPerEvent);
  if (need <= usable || extent->when.empty()) return;
  // A little less than what fits, because event density varies.
  Interval stretch = extent->middle(std::min(1.0, 0.8 * usable / need));
  throw TooLarge(
      fmt::format("{}: holds {} events; opening all of them needs about {}, but {} are free. Open "
                  "a time range: --load-range {} (of {}), or use a machine with more memory.",
                  path.string(), format_count(extent->events),
                  format_bytes(static_cast<std::int64_t>(need)), format_bytes(room),
                  stretch_text(stretch), stretch_text(extent->span())),
      stretch);
}

}  // namespace headway::gui
