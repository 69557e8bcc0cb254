// SPDX-License-Identifier: MIT
#include "analyzer/evidence/support.h"
#include "analyzer/partition/steady_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/format.h"

namespace headway::analyzer {
namespace {

bool contains(std::initializer_list<TimeClass> classes, TimeClass c) {
  return std::find(classes.begin(), classes.end(), c) != classes.end();
}

}  // namespace

std::string_view confidence_label(const Finding& finding) {
  return finding.confidence >= 0.9 ? "certain" : finding.confidence >= 0.7 ? "likely" : "possible";
}

std::string_view status_id(Status status) {
  switch (status) {
    case Status::kFound:
      return "found";
    case Status::kFine:
      return "fine";
    case Status::kCannotTell:
      return "cannot_tell";
    case Status::kNoGain:
      return "no_gain";
  }
  return "cannot_tell";
}

std::string_view figure_basis_id(FigureBasis basis) {
  return basis == FigureBasis::kReplay ? "replay" : "exposed";
}

namespace {

ClassShare worst_of(const RuleContext& context, std::initializer_list<TimeClass> classes,
                    bool of_hosts) {
  ClassShare worst;
  for (const DevicePartition& device : context.partitions) {
    if (device.steady_steps == 0 || (!device.device.valid() && !of_hosts)) continue;
    DurationNs time;
    for (TimeClass c : classes) time += device.per_steady_step[c];
    ClassShare share{&device, time, device.per_steady_step.total()};
    if (!worst.device || share.share() > worst.share()) worst = share;
  }
  return worst;
}

}  // namespace

ClassShare worst_share(const RuleContext& context, std::initializer_list<TimeClass> classes) {
  // A training thread without a device waits for input as a device does, but not for launches,
  // copies or the host. So it counts only for classes of input.
  return worst_of(context, classes, std::ranges::all_of(classes, [](TimeClass c) {
                    return info(c).group == TimeGroup::kInput;
                  }));
}

ClassShare worst_share_with_hosts(const RuleContext& context,
                                  std::initializer_list<TimeClass> classes) {
  return worst_of(context, classes, true);
}

std::vector<Evidence> longest_segments(const RuleContext& context, const DevicePartition& device,
                                       std::initializer_list<TimeClass> classes,
                                       std::string (*note)(const RuleContext&, const Segment&),
                                       std::size_t limit) {
  struct Piece {
    Interval where;
    Segment dominant;
  };
  std::vector<Piece> pieces;
  for (const DeviceStep& step : device.steps) {
    if (!counts(context.steps, step)) continue;
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = device.segments[step.first_segment + i];
      if (!contains(classes, segment.time_class)) continue;
      if (!pieces.empty() && pieces.back().where.end == segment.interval.begin) {
        pieces.back().where.end = segment.interval.end;
        if (segment.interval.length() > pieces.back().dominant.interval.length())
          pieces.back().dominant = segment;
      } else {
        pieces.push_back({segment.interval, segment});
      }
    }
  }
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return a.where.length() > b.where.length();
  });
  if (pieces.size() > limit) pieces.resize(limit);
  std::vector<Evidence> evidence;
  for (const Piece& piece : pieces)
    evidence.push_back({piece.where, piece.dominant.cause, note(context, piece.dominant)});
  return evidence;
}

Finding found(const Rule& rule, DurationNs recoverable_per_step, const RuleContext& context) {
  Finding finding;
  finding.rule = rule.id;
  finding.title = rule.title;
  finding.status = Status::kFound;
  finding.recoverable_per_step = recoverable_per_step;
  finding.exposed_per_step = recoverable_per_step;
  finding.share_of_step = ratio(recoverable_per_step, context.step);
  return finding;
}

Finding fine(const Rule& rule, std::string what_was_checked, DurationNs exposed) {
  Finding finding;
  finding.rule = rule.id;
  finding.title = rule.title;
  finding.status = Status::kFine;
  finding.exposed_per_step = exposed;
  finding.claim = std::move(what_was_checked);
  finding.confidence = 1;
  return finding;
}

Finding cannot_tell(const Rule& rule, std::string what_is_missing) {
  Finding finding;
  finding.rule = rule.id;
  finding.title = rule.title;
  finding.status = Status::kCannotTell;
  finding.claim = std::move(what_is_missing);
  return finding;
}

std::string of_step(const RuleContext& context, DurationNs time, DurationNs step) {
  if (time.ns == 0) return "none";
  return fmt::format("{} of the {} {} ({})", format_duration(time), format_duration(step),
                     context.steps.all.empty() ? "span" : "step",
                     format_percent(ratio(time, step)));
}

std::string_view per_step(const RuleContext& context) {
  return context.steps.all.empty() ? "in all" : "per step";
}

std::string thread_label(const trace::Trace& trace, trace::ThreadId thread) {
  const trace::Thread& t = trace.threads[thread.value];
  return t.name.empty() ? fmt::format("thread {}", t.tid) : fmt::format("thread '{}'", t.name);
}

std::string settings(const trace::Trace& trace, std::initializer_list<std::string_view> names) {
  std::string text;
  for (std::string_view name : names) {
    std::string_view value = trace.setting(name);
    if (!value.empty()) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

}  // namespace headway::analyzer
