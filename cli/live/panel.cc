// SPDX-License-Identifier: MIT
#include "cli/live/panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "analyzer/samples.h"
#include "common/counted.h"
#include "common/format.h"
#include "common/shell_word.h"
#include "common/text.h"

namespace headway::cli::live {
namespace {

using analyzer::TimeClassInfo;

constexpr std::size_t kLabelColumns = 10;  ///< "Machine   "
constexpr std::size_t kNarrow = 30;        ///< below this width, labels have no own column
constexpr auto kShades = std::to_array<std::string_view>({"█", "▓", "▒", "░"});
constexpr std::uint32_t kRestColour = 0x808080;

struct Share {
  std::string label;
  double share = 0;
  std::uint32_t rgb = kRestColour;
};

/// The largest classes of the step, and the sum of the others.
std::vector<Share> shares_of(const analyzer::ClassTimes& classes) {
  const DurationNs total = classes.total();
  std::vector<const TimeClassInfo*> order;
  for (const TimeClassInfo& one : analyzer::time_classes())
    if (classes[one.time_class].ns > 0) order.push_back(&one);
  std::ranges::stable_sort(order, [&](const TimeClassInfo* a, const TimeClassInfo* b) {
    return classes[a->time_class] > classes[b->time_class];
  });
  std::vector<Share> shares;
  double rest = 0;
  for (const TimeClassInfo* one : order) {
    const double share = ratio(classes[one->time_class], total);
    if (shares.size() + 1 < kShades.size() && share >= 0.005)
      shares.push_back({std::string(one->label), share, one->rgb});
    else
      rest += share;
  }
  if (rest >= 0.005) shares.push_back({"All else", rest});
  return shares;
}

/// Lines with a label and pieces, the most important piece first; pieces that do not fit are left
/// out.
class Lines {
 public:
  explicit Lines(const PanelStyle& style) : style_(style) {}

  std::size_t room() const {
    return style_.width < kNarrow ? style_.width : style_.width - kLabelColumns;
  }
  void add(std::string_view label, const std::vector<std::string>& pieces,
           std::string_view between = "   ") {
    std::string text;
    for (const std::string& piece : pieces) {
      if (piece.empty()) continue;
      const std::string longer = text.empty() ? piece : text + std::string(between) + piece;
      if (count_columns(longer) <= room()) text = longer;
      if (text.empty()) text = cut(piece, room());
    }
    put(label, text);
  }
  /// `text` is `columns` wide on the screen and may contain escape sequences.
  void put(std::string_view label, const std::string& text) {
    std::string head;
    if (style_.width >= kNarrow) {
      head = style_.colour && !label.empty() ? fmt::format("\x1b[1m{}\x1b[0m", label)
                                             : std::string(label);
      head += std::string(kLabelColumns - label.size(), ' ');
    }
    lines.push_back(head + text);
  }
  std::string painted(std::uint32_t rgb, const std::string& text) const {
    if (!style_.colour) return text;
    return fmt::format("\x1b[38;2;{};{};{}m{}\x1b[0m", rgb >> 16, (rgb >> 8) & 255, rgb & 255,
                       text);
  }
  /// Cuts off the end that does not fit.
  static std::string cut(const std::string& text, std::size_t columns) {
    if (count_columns(text) <= columns) return text;
    if (columns == 0) return "";
    std::string out;
    std::size_t used = 0;
    for (const char c : text) {
      const bool begins = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
      if (begins && ++used >= columns) break;
      out += c;
    }
    return out + "…";
  }

  std::vector<std::string> lines;

 private:
  PanelStyle style_;
};

std::string name_of(const Figures& figures) {
  return escape_terminal(figures.file);
}

/// In whole seconds, so that it ticks.
std::string elapsed_text(const Figures& figures) {
  const std::int64_t seconds = std::max<std::int64_t>(0, figures.elapsed.ns / 1'000'000'000);
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
}

std::string title(const Figures& figures, const PanelStyle& style) {
  const std::string processes =
      figures.processes > 1 ? " ─ " + counted(figures.processes, "process", "processes") : "";
  const std::string head = "─ headway ─ ";
  const std::string tail =
      figures.phase == Phase::kWaiting ? "" : fmt::format(" ─ {}", elapsed_text(figures));
  std::string text = head + shorten(name_of(figures), 40) + tail + processes + " ";
  if (count_columns(text) > style.width) text = Lines::cut(head + name_of(figures), style.width);
  while (count_columns(text) < style.width) text += "─";
  return style.colour ? fmt::format("\x1b[2m{}\x1b[0m", text) : text;
}

std::string steps_text(const Figures& figures) {
  return fmt::format("{}{}", figures.steps_are_estimated ? "about " : "",
                     counted(figures.steps_done, "step", "steps"));
}

void add_step(Lines& out, const Figures& figures) {
  if (figures.step_now.ns <= 0) {
    out.add("Step", {figures.steps_done > 0 ? steps_text(figures) + " so far" : "no step yet"});
    return;
  }
  if (figures.steps_now == 0) {
    out.add("Span", {format_duration(figures.step_now), "no steps found"});
    return;
  }
  const std::string whose = figures.rank >= 0 ? fmt::format(" (rank {})", figures.rank) : "";
  std::vector<std::string> pieces = {
      fmt::format("{} now{}", format_duration(figures.step_now), whose)};
  if (figures.steps_run > 0)
    pieces.push_back(fmt::format("{} over the run", format_duration(figures.step_run)));
  pieces.push_back(steps_text(figures));
  if (figures.samples_per_s) pieces.push_back(analyzer::samples_per_s_text(*figures.samples_per_s));
  out.add("Step", pieces);
}

void add_partition(Lines& out, const Figures& figures) {
  const std::vector<Share> shares = shares_of(figures.classes);
  const std::size_t columns = std::min<std::size_t>(out.room(), 100);
  std::string bar;
  std::size_t used = 0;
  double until = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    until += shares[i].share;
    const auto end = std::min(
        columns, static_cast<std::size_t>(std::lround(until * static_cast<double>(columns))));
    std::string cells;
    for (; used < end; ++used) cells += kShades[std::min(i, kShades.size() - 1)];
    bar += out.painted(shares[i].rgb, cells);
  }
  out.put("", bar);
  std::string legend;
  std::size_t width = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const std::string text =
        fmt::format(" {} {}", shares[i].label, format_percent(shares[i].share));
    const std::size_t wider = width + (i ? 2 : 0) + 1 + count_columns(text);
    if (wider > out.room()) break;
    width = wider;
    legend += (i ? "  " : "") + out.painted(shares[i].rgb, std::string(kShades[i])) + text;
  }
  out.put("", legend);
}

void add_ranks(Lines& out, const Figures& figures) {
  if (figures.ranks.size() < 2) return;
  const auto slowest = std::ranges::max_element(figures.ranks, {}, &RankStep::step);
  const auto fastest = std::ranges::min_element(figures.ranks, {}, &RankStep::step);
  std::vector<std::string> each;
  std::size_t width = 0;
  for (const RankStep& one : figures.ranks) {
    each.push_back(fmt::format("{}: {}", one.rank, format_duration(one.step)));
    width += count_columns(each.back()) + 2;
  }
  if (width <= out.room()) return out.add("Ranks", each, "  ");
  out.add("Ranks",
          {fmt::format("{} to {}", format_duration(fastest->step), format_duration(slowest->step)),
           fmt::format("slowest rank {}", slowest->rank),
           counted(static_cast<std::int64_t>(figures.ranks.size()), "rank", "ranks")});
}

void add_machine(Lines& out, const MachineUse& use) {
  std::vector<std::string> pieces;
  for (const GpuUse& gpu : use.gpus) {
    std::string text = fmt::format("GPU {} {:.0f} %", gpu.device, gpu.busy_percent);
    if (gpu.memory_bytes > 0) text += " " + format_bytes(gpu.memory_bytes);
    if (gpu.memory_bytes > 0 && gpu.memory_total_bytes > 0)
      text += " of " + format_bytes(gpu.memory_total_bytes);
    pieces.push_back(std::move(text));
  }
  if (use.processes_cpu_percent) {
    std::string text = fmt::format("CPU {:.0f} %", *use.processes_cpu_percent);
    if (use.processors > 0) text += fmt::format(" of {} %", 100 * use.processors);
    pieces.push_back(std::move(text));
  }
  if (use.resident_bytes)
    pieces.push_back(fmt::format("memory {}", format_bytes(*use.resident_bytes)));
  if (use.machine_cpu_percent)
    pieces.push_back(fmt::format("machine {:.0f} %", *use.machine_cpu_percent));
  if (!pieces.empty()) out.add("Machine", pieces);
}

std::string dropped_text(const Figures& figures) {
  return counted(figures.dropped, "event", "events");
}

}  // namespace

std::vector<std::string> panel(const Figures& figures, const PanelStyle& style) {
  Lines out(style);
  out.lines.push_back(title(figures, style));
  if (figures.phase == Phase::kWaiting) {
    out.add("", {"waiting for a recording to begin"});
  } else {
    add_step(out, figures);
    if (figures.phase != Phase::kRunning && !figures.note.empty())
      out.add("Note", {Lines::cut(escape_terminal(figures.note), out.room())});
    if (figures.dropped > 0) out.add("Dropped", {dropped_text(figures)});
    if (figures.step_now.ns > 0) add_partition(out, figures);
    if (figures.cause)
      out.add("Cause", {Lines::cut(escape_terminal(figures.cause->text), out.room())});
    add_ranks(out, figures);
    add_machine(out, figures.machine);
    if (figures.dropped == 0) out.add("Dropped", {"no event"});
  }
  if (out.lines.size() > style.height) out.lines.resize(style.height);
  return out.lines;
}

std::string plain_line(const Figures& figures) {
  if (figures.phase == Phase::kWaiting)
    return fmt::format("headway: waiting for {}", name_of(figures));
  std::vector<std::string> pieces = {elapsed_text(figures)};
  if (figures.steps_done > 0) pieces.push_back(steps_text(figures));
  if (figures.step_now.ns > 0 && figures.steps_now > 0)
    pieces.push_back(fmt::format("step {} now", format_duration(figures.step_now)));
  if (figures.steps_run > 0)
    pieces.push_back(fmt::format("{} over the run", format_duration(figures.step_run)));
  if (figures.samples_per_s) pieces.push_back(analyzer::samples_per_s_text(*figures.samples_per_s));
  if (figures.step_now.ns > 0) {
    for (const Share& share : shares_of(figures.classes))
      pieces.push_back(fmt::format("{} {}", share.label, format_percent(share.share)));
  }
  if (figures.cause) pieces.push_back("cause: " + escape_terminal(figures.cause->text));
  if (figures.dropped > 0) pieces.push_back(dropped_text(figures) + " dropped");
  if (figures.phase != Phase::kRunning && !figures.note.empty())
    pieces.push_back(escape_terminal(figures.note));
  return fmt::format("headway: {}", fmt::join(pieces, ", "));
}

std::string closing_line(const Figures& figures) {
  const std::string file = name_of(figures);
  const std::string note =
      figures.note.empty() ? "" : fmt::format(" ({})", escape_terminal(figures.note));
  const std::string next =
      fmt::format("Next: headway report {}", shell_word(escape_terminal(figures.file)));
  if (figures.phase == Phase::kEnded)
    return fmt::format("headway: {}: the run ended after {}{}. {}", file, elapsed_text(figures),
                       note, next);
  return fmt::format("headway: {}: the recording was cut after {}{}. {}", file,
                     elapsed_text(figures), note, next);
}

}  // namespace headway::cli::live
