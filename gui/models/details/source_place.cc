// SPDX-License-Identifier: MIT
#include "gui/models/details/source_place.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "analyzer/attribution/attribution.h"
#include "gui/models/text/display_text.h"
#include "trace/meta_keys.h"

namespace headway::gui {
namespace {

using analyzer::EventRef;
using trace::RangeId;

/// File suffixes that may be opened in an editor: a trace is untrusted, and a name could be any
/// file.
constexpr auto kEndings =
    std::to_array<std::string_view>({".py", ".pyx", ".pxd", ".pyi", ".c", ".cc", ".cpp", ".cxx",
                                     ".h", ".hh", ".hpp", ".cu", ".cuh", ".rs", ".jl"});
constexpr std::size_t kLongestPath = 4000;  // Linux admits 4095 bytes
/// Limit of the stack depth: deeper stacks occur only in manipulated traces.
constexpr int kDeepest = 4096;

/// The number at the start of `text`; 0: none, or larger than any line number.
int leading_number(std::string_view text, std::size_t& length) {
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  length = static_cast<std::size_t>(read.ptr - text.data());
  return read.ec == std::errc{} && number > 0 && number <= 10'000'000 ? number : 0;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

/// The range in which a call or launch happened; for a range the range itself.
RangeId innermost_of(const TimelineModel& model, EventRef event) {
  const trace::Trace& trace = *model.trace;
  switch (event.kind) {
    case EventRef::Kind::kRange:
      return {event.index};
    case EventRef::Kind::kCall:
      return analyzer::innermost_range(trace, trace.calls.thread[event.index],
                                       trace.calls.start[event.index]);
    case EventRef::Kind::kDeviceOp: {
      const auto& range_of = model.analysis->attribution.range_of;
      if (event.index < range_of.size()) return range_of[event.index];
      const trace::CallId call = trace.device_ops.call[event.index];
      return call.valid() ? innermost_of(model, EventRef::of(call)) : RangeId{};
    }
    case EventRef::Kind::kNone:
      break;
  }
  return {};
}

RangeId innermost_of(const TimelineModel& model, const Target& target) {
  const analyzer::Analysis& analysis = *model.analysis;
  switch (target.kind) {
    case Target::Kind::kEvent:
      return innermost_of(model, target.event);
    case Target::Kind::kSegment:
      return innermost_of(model,
                          analysis.partitions[target.partition].segments[target.index].cause);
    case Target::Kind::kStep:
      return analysis.steps.all[target.index].range;
    default:
      return {};
  }
}

}  // namespace

std::optional<SourcePlace> source_place(std::string_view name) {
  name = name.substr(0, kLongestPath + 16);
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
       dot = name.find('.', dot + 1)) {
    for (const std::string_view ending : kEndings) {
      if (!name.substr(dot).starts_with(ending)) continue;
      const std::size_t end = dot + ending.size();
      if (dot == 0 || end >= name.size() || end > kLongestPath) continue;
      const bool in_brackets = name[end] == '(';
      if (!in_brackets && name[end] != ':') continue;
      std::size_t digits = 0;
      const std::string_view rest = name.substr(end + 1);
      const int line = leading_number(rest, digits);
      if (!line) continue;
      const bool closed = digits < rest.size() && rest[digits] == ')';
      if (in_brackets && !closed) continue;
      const std::string_view file = name.substr(0, end);
      if (std::ranges::any_of(file, is_control)) return std::nullopt;
      return SourcePlace{std::string(file), line};
    }
  }
  return std::nullopt;
}

std::string source_text(const SourcePlace& place) {
  return fmt::format("{}({})", display_text(place.file, 80), place.line);
}

std::vector<SourceFrame> source_frames(const TimelineModel& model, const Target& target,
                                       std::size_t most) {
  std::vector<SourceFrame> frames;
  const trace::Trace& trace = *model.trace;
  RangeId range = innermost_of(model, target);
  for (int depth = 0; range.valid() && depth < kDeepest && frames.size() < most;
       range = trace.ranges.parent[range.value], ++depth) {
    if (auto place = source_place(trace.strings[trace.ranges.name[range.value]]))
      frames.push_back({range, std::move(*place)});
  }
  return frames;
}

SourceFile find_source(const SourcePlace& place, const trace::Trace& trace,
                       std::string_view search_path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<fs::path> folders;
  const fs::path file = place.file;
  const std::string shown = display_text(place.file, 200);
  if (file.is_absolute()) {
    if (fs::is_regular_file(file, ignored)) return {file.lexically_normal(), ""};
    return {{}, fmt::format("{} is not on this machine.", shown)};
  }
  const auto add = [&](const fs::path& folder) {
    if (folder.empty()) return;
    fs::path whole = fs::absolute(folder, ignored).lexically_normal();
    if (std::ranges::find(folders, whole) == folders.end()) folders.push_back(std::move(whole));
  };
  const fs::path started_in = std::string(trace.meta_value(trace::meta::kWorkingDirectory));
  if (started_in.is_absolute()) add(started_in);
  const fs::path beside = fs::path(trace.path).parent_path();
  add(beside.empty() ? fs::path(".") : beside);
  while (!search_path.empty()) {
    const std::size_t colon = search_path.find(':');
    add(std::string(search_path.substr(0, colon)));
    search_path.remove_prefix(colon == std::string_view::npos ? search_path.size() : colon + 1);
  }
  add(".");
  std::vector<std::string> looked;
  for (const fs::path& folder : folders) {
    const fs::path whole = (folder / file).lexically_normal();
    if (fs::is_regular_file(whole, ignored)) return {whole, ""};
    looked.push_back(display_text(folder.string(), 120));
  }
  return {{},
          fmt::format("{} is not on this machine: searched {}. Add folders to HEADWAY_SOURCE_PATH, "
                      "separated by colons.",
                      shown, fmt::join(looked, ", "))};
}

}  // namespace headway::gui
