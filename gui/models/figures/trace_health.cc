// SPDX-License-Identifier: MIT
#include "gui/models/figures/trace_health.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "analyzer/ranks/job.h"
#include "common/format.h"
#include "gui/models/text/display_text.h"
#include "trace/meta_keys.h"

namespace headway::gui {
namespace {

using analyzer::TimeClass;
namespace meta = trace::meta;

constexpr std::size_t kMostLines = 200;
/// A figure is doubtful if more than this share of its basis is unknown.
constexpr double kMostUnknown = 0.05;

HealthLevel level_of(std::string_view severity) {
  return severity == "loss"    ? HealthLevel::kLoss
         : severity == "doubt" ? HealthLevel::kDoubt
                               : HealthLevel::kInfo;
}

std::int64_t number_of(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string count(std::size_t n) {
  return format_count(static_cast<std::int64_t>(n));
}

HealthSection doubts(const analyzer::Analysis& analysis) {
  HealthSection section{"Doubts: read before trusting the figures", {}};
  for (const analyzer::Doubt& doubt : analysis.doubts) {
    if (section.lines.size() == kMostLines) break;
    section.lines.push_back({level_of(doubt.severity), display_text(doubt.text, 600), {}, {}, {}});
  }
  if (section.lines.empty())
    section.lines.push_back({HealthLevel::kGood, "No known doubt or loss.", {}, {}, {}});
  return section;
}

HealthSection losses(const trace::Trace& trace) {
  HealthSection section{"Losses: dropped, repaired or discarded data", {}};
  for (const trace::LossCount& loss : trace.losses) {
    if (section.lines.size() == kMostLines) break;
    section.lines.push_back({level_of(loss.severity),
                             display_text(loss.name, 80),
                             format_count(loss.count),
                             display_text(loss.text, 600),
                             {}});
  }
  std::size_t counters = trace::loss_declarations().size();
  if (section.lines.empty())
    section.lines.push_back({HealthLevel::kGood,
                             fmt::format("None: all {} loss counters are zero.", counters),
                             {},
                             {},
                             {}});
  return section;
}

HealthSection audit(const analyzer::Analysis& analysis) {
  HealthSection section{"Audit: consistency of the events", {}};
  std::size_t fine = 0;
  std::string names;
  for (const analyzer::AuditCheck& check : analyzer::audit_checks()) {
    auto found = std::find_if(
        analysis.audit.begin(), analysis.audit.end(),
        [&](const analyzer::AuditResult& result) { return result.check == check.check; });
    if (found == analysis.audit.end()) {
      ++fine;
      names += fmt::format("{}{}", names.empty() ? "" : ", ", check.id);
      continue;
    }
    std::string value = format_count(found->count);
    if (found->time.ns > 0) value += " · " + format_duration(found->time);
    section.lines.push_back({level_of(trace::severity_name(check.severity)), std::string(check.id),
                             value, std::string(check.text), Target::of(found->first)});
  }
  if (fine)
    section.lines.push_back(
        {HealthLevel::kGood,
         fmt::format("{} of {} checks found nothing", fine, analyzer::audit_checks().size()),
         {},
         names,
         {}});
  return section;
}

/// What was recorded; for each missing kind, what cannot be shown without it.
class Coverage {
 public:
  explicit Coverage(HealthSection& section) : section_(section) {}
  void kind(std::string what, std::size_t n, std::string advice) {
    bool there = n > 0;
    section_.lines.push_back({there ? HealthLevel::kGood : HealthLevel::kInfo,
                              std::move(what),
                              there ? count(n) : "not recorded",
                              there ? std::string() : std::move(advice),
                              {}});
  }
  /// Adds a line about the share of something that is known.
  void share(std::string what, double share, std::string advice) {
    bool enough = share >= 1 - kMostUnknown;
    section_.lines.push_back({enough        ? HealthLevel::kGood
                              : share > 0.0 ? HealthLevel::kDoubt
                                            : HealthLevel::kInfo,
                              std::move(what),
                              share > 0 ? format_percent(share) : "not recorded",
                              enough ? std::string() : std::move(advice),
                              {}});
  }

 private:
  HealthSection& section_;
};

void add_device_coverage(Coverage& cover, const trace::Trace& trace,
                         const analyzer::Analysis& analysis) {
  const trace::DeviceOps& ops = trace.device_ops;
  DurationNs all;
  DurationNs attributed;
  DurationNs measured;
  std::size_t launched = 0;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    DurationNs length = ops.interval({i}).length();
    all += length;
    launched += ops.call[i].valid();
    if (i < analysis.attribution.op_of.size() && analysis.attribution.op_of[i].value != 0)
      attributed += length;
    if (ops.flops[i] > 0 && ops.bytes[i] > 0) measured += length;
  }
  if (ops.size() == 0) return;
  cover.share("Device ops with a recorded launch call",
              static_cast<double>(launched) / static_cast<double>(ops.size()),
              "Gaps on the device cannot be explained without the call: record CUDA API calls too "
              "(nsys: --trace=cuda).");
  cover.share("Device time within a model range or op", ratio(attributed, all),
              "Mark ops with NVTX ranges, or use the framework's profiler, to name this time.");
  cover.share("Device time with known bytes and operations", ratio(measured, all),
              "Needed for comparison with the device's peaks. Programs can describe their ops "
              "(docs/reference/nvtx-conventions.md).");
}

HealthSection coverage(const trace::Trace& trace, const analyzer::Analysis& analysis) {
  HealthSection section{"Recorded and missing data", {}};
  Coverage cover(section);
  std::size_t steps = analysis.steps.all.size();
  std::size_t steady = analysis.steps.steady.size();
  section.lines.push_back(
      {steady ? HealthLevel::kGood : HealthLevel::kDoubt,
       "Training steps",
       steps ? fmt::format("{}, {} of them steady", count(steps), count(steady)) : "none found",
       display_text(analysis.steps.how, 300) +
           (steps ? "" : ". Mark each step with an NVTX range named \"step\"."),
       {}});
  cover.kind("Device ops (kernels, copies, sets)", trace.device_ops.size(),
             "Record on a machine with a GPU, with CUDA tracing on.");
  cover.kind("Calls to the device's API", trace.calls.size(),
             "Needed to tell whether the host or the device waits.");
  cover.kind("Ranges (NVTX, framework ops)", trace.ranges.size(),
             "Mark steps, phases and ops with NVTX, or record with the framework's profiler.");
  add_device_coverage(cover, trace, analysis);
  std::size_t waits = 0;
  std::size_t stages = 0;
  for (const trace::RangeInfo& info : trace.range_info) {
    waits += info.kind == trace::RangeKind::kInputWait;
    stages += info.kind >= trace::RangeKind::kBatch && info.kind <= trace::RangeKind::kCollate;
  }
  cover.kind("Waits for a batch", waits,
             "Mark them, or use PyTorch's profiler, to separate input waits from other host work.");
  cover.kind("Stages of the input pipeline", stages,
             "Mark reading, decoding, augmenting and collating to find the limiting stage.");
  cover.kind("Collectives with their communicator", trace.collectives.size(),
             "A single device has none; for several, record NCCL's NVTX ranges (NCCL 2.19 and "
             "later) or PyTorch's distributed profiler.");
  cover.kind("Nodes of the model's graph", trace.graph_ops.size(),
             "Needed to find op chains to fuse; the framework's ops are a substitute.");
  cover.kind("Counter series", trace.counters.size(),
             "`headway record` samples processors, memory, disks and the GPU; other profilers need "
             "an option.");
  cover.kind("Settings of the program", trace.settings.size(),
             "Needed for advice with current values.");
  return section;
}

HealthSection cost(const trace::Trace& trace, const analyzer::Analysis& analysis) {
  HealthSection section{"Clock and recording overhead", {}};
  std::string_view clock = trace.meta_value(meta::kClock);
  section.lines.push_back(
      {HealthLevel::kInfo,
       "Clock",
       clock.empty() ? "not said" : display_text(clock, 60),
       clock.empty()
           ? "The recording does not name its clock; times within one file are assumed comparable."
           : "",
       {}});
  if (analysis.job) {
    const analyzer::Clocks& clocks = analysis.job->clocks;
    bool fine = clocks.all_aligned();
    section.lines.push_back(
        {fine ? HealthLevel::kGood : HealthLevel::kDoubt,
         "Clocks of the hosts",
         fine ? fmt::format("aligned within {}", format_duration(clocks.worst_residual()))
              : std::string("not aligned"),
         display_text(clocks.doubt, 300),
         {}});
  }
  std::int64_t per_event = number_of(trace.meta_value(meta::kOverheadNsPerEvent));
  if (per_event > 0) {
    DurationNs busiest;
    for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
      std::size_t events = trace.ranges_of_thread[trace::ThreadId{t}].size() +
                           trace.calls_of_thread[trace::ThreadId{t}].size();
      busiest = std::max(busiest, DurationNs{static_cast<std::int64_t>(events) * 2 * per_event});
    }
    double share = ratio(busiest, trace.end - TimeNs{});
    section.lines.push_back({share > 0.02 ? HealthLevel::kDoubt : HealthLevel::kGood,
                             "Recording, on the busiest thread",
                             format_percent(share),
                             fmt::format("{} ns per begin or end of a range, measured on this "
                                         "machine when the recording began.",
                                         per_event),
                             {}});
  }
  if (std::int64_t cpu = number_of(trace.meta_value(meta::kRecorderCpuNs)); cpu > 0)
    section.lines.push_back(
        {HealthLevel::kInfo, "The recorder's own processor time", format_duration({cpu}), {}, {}});
  std::array<DurationNs, 5> overheads{};
  for (const trace::Overhead& one : trace.overheads)
    overheads[std::min<std::size_t>(4, static_cast<std::size_t>(one.kind))] +=
        one.interval.length();
  static constexpr std::array kKinds = {
      "Other overhead of CUDA", "Loading and compiling device code", "The profiler's own work",
      "Full launch queues", "Resources created on first use"};
  for (std::size_t k = 0; k < overheads.size(); ++k) {
    if (overheads[k].ns > 0)
      section.lines.push_back(
          {HealthLevel::kInfo, kKinds[k], format_duration(overheads[k]), {}, {}});
  }
  for (const analyzer::DevicePartition& partition : analysis.partitions) {
    DurationNs time = partition.per_steady_step[TimeClass::kProfiler];
    if (time.ns <= 0) continue;
    double share = ratio(time, partition.per_steady_step.total());
    section.lines.push_back(
        {share > kMostUnknown ? HealthLevel::kDoubt : HealthLevel::kInfo,
         fmt::format("Device idle because of the profiler ({})",
                     display_text(analyzer::partition_label(trace, partition), 60)),
         fmt::format("{} a step · {}", format_duration(time), format_percent(share)),
         "Without the profiler, a step would be up to this much shorter.",
         {}});
  }
  return section;
}

HealthSection origin(const trace::Trace& trace) {
  HealthSection section{"Origin of the trace", {}};
  auto line = [&](const char* what, std::string value) {
    if (!value.empty())
      section.lines.push_back({HealthLevel::kInfo, what, std::move(value), {}, {}});
  };
  auto said = [&](std::string_view key) { return display_text(trace.meta_value(key), 300); };
  line("File", display_text(trace.path, 300));
  std::error_code error;
  if (auto bytes = std::filesystem::file_size(trace.path, error); !error)
    line("Size", format_bytes(static_cast<std::int64_t>(bytes)));
  line("Length", format_duration(trace.end - TimeNs{}));
  line("Ended in order", trace.complete              ? "yes"
                         : said(meta::kLive).empty() ? "no: it was cut"
                                                     : "not yet: still running");
  line("Made by", said(meta::kProducer));
  line("Version", said(meta::kToolVersion));
  line("Imported from", said(meta::kSourceFile));
  line("Command", said(meta::kCommand));
  line("Host", said(meta::kHost));
  line("Processor", said(meta::kCpu));
  line("CUDA", said(meta::kCuda));
  for (const trace::Device& device : trace.devices)
    line("Device", fmt::format("{} · {}", device.ordinal,
                               device.name.empty() ? "unnamed" : display_text(device.name, 80)));
  std::size_t shown = 0;
  for (const trace::Process& process : trace.processes) {
    if (++shown > 20) break;
    std::string ended = process.signal      ? fmt::format("ended by signal {}", *process.signal)
                        : process.exit_code ? fmt::format("exit code {}", *process.exit_code)
                                            : "";
    line("Process", fmt::format("{} · {}{}{}{}", process.pid,
                                process.name.empty() ? "unnamed" : display_text(process.name, 60),
                                process.injected ? "" : " · recorded from outside only",
                                ended.empty() ? "" : " · ", ended));
  }
  if (trace.processes.size() > 20)
    line("Process", fmt::format("… and {} more", trace.processes.size() - 20));
  return section;
}

}  // namespace

std::string_view words_of(HealthLevel level) {
  static constexpr std::array<std::string_view, 4> kWords = {"Fine", "Note", "Doubt", "Lost data"};
  return kWords[static_cast<std::size_t>(level)];
}

TraceHealth make_trace_health(const trace::Trace& trace, const analyzer::Analysis& analysis) {
  TraceHealth health;
  health.sections.push_back(doubts(analysis));
  health.sections.push_back(coverage(trace, analysis));
  health.sections.push_back(losses(trace));
  health.sections.push_back(audit(analysis));
  health.sections.push_back(cost(trace, analysis));
  health.sections.push_back(origin(trace));
  std::size_t lost = 0;
  std::size_t doubtful = 0;
  for (const analyzer::Doubt& doubt : analysis.doubts) {
    lost += doubt.severity == "loss";
    doubtful += doubt.severity == "doubt";
  }
  health.worst = lost ? HealthLevel::kLoss : doubtful ? HealthLevel::kDoubt : HealthLevel::kGood;
  auto things = [](std::size_t n, const char* one, const char* many) {
    return fmt::format("{} {}", n, n == 1 ? one : many);
  };
  health.headline =
      lost ? fmt::format("Data is missing: {}{}. See below for the effect on the figures.",
                         things(lost, "loss", "losses"),
                         doubtful ? " and " + things(doubtful, "doubt", "doubts") : "")
      : doubtful
          ? fmt::format("The trace is complete, with {}.", things(doubtful, "doubt", "doubts"))
          : "The trace is complete, without doubts.";
  return health;
}

}  // namespace headway::gui
