// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyzer/partition/sampled_work.h"
#include "analyzer/report/critical_path.h"
#include "analyzer/report/facts.h"
#include "analyzer/report/formats.h"
#include "analyzer/report/job.h"
#include "analyzer/stats/tables.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

using trace::Trace;

/// Breaks at spaces; continuation lines are indented like the first line's text.
std::string wrap(std::string_view text, std::size_t width, const std::string& first,
                 const std::string& next) {
  std::string out;
  std::string line = first;
  bool empty = true;
  std::string safe = escape_terminal(text);
  for (std::string_view rest = safe; !rest.empty();) {
    std::size_t space = std::min(rest.find(' '), rest.size());
    std::string_view word = rest.substr(0, space);
    rest.remove_prefix(std::min(space + 1, rest.size()));
    if (!empty && count_columns(line) + 1 + count_columns(word) > width) {
      out += line + "\n";
      line = next;
      empty = true;
    }
    line += (empty ? "" : " ") + std::string(word);
    empty = false;
  }
  return out + line + "\n";
}

std::string bar(double share, std::size_t columns) {
  static constexpr std::array<const char*, 9> kEighths = {"",  "▏", "▎", "▍", "▌",
                                                          "▋", "▊", "▉", "█"};
  double longest = static_cast<double>(columns) * 8;
  auto eighths = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * longest + 0.5);
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

std::string facts_section(const Trace& trace, const Analysis& analysis, std::size_t width) {
  std::string out = "\nRecorded\n";
  for (const auto& [label, value] : report_facts(trace, analysis))
    if (label != "trace" || analysis.job)
      out += wrap(value, width, fmt::format("  {:<11}", label), std::string(13, ' '));
  return out;
}

std::string doubts_section(const Analysis& analysis, std::size_t width) {
  if (analysis.doubts.empty()) return "";
  std::string out = "\nBefore you trust the figures\n";
  for (const Doubt& doubt : analysis.doubts)
    out += wrap(doubt.text, width, fmt::format("  {:<6} ", doubt.severity), std::string(9, ' '));
  return out;
}

/// "device 0"; for a host, its thread, which is a name from the recorded program.
std::string who(const Trace& trace, const DevicePartition& partition) {
  if (!partition.device.valid()) return escape_terminal(partition_label(trace, partition));
  return fmt::format("device {}", trace.devices[partition.device.value].ordinal);
}

/// What the host did where no range shows it.
std::string sampled_lines(const Trace& trace, const Analysis& analysis,
                          const DevicePartition& partition, std::size_t width) {
  constexpr std::size_t kShown = 6;
  constexpr double kLeastShown = 0.01;
  const SampledWorks sampled = sampled_works(trace, analysis.steps, partition);
  std::string out;
  for (std::size_t i = 0; i < std::min(kShown, sampled.works.size()); ++i) {
    const SampledWork& work = sampled.works[i];
    const double share = ratio(work.per_step, partition.per_steady_step.total());
    if (share < kLeastShown) break;
    if (i == 0)
      out += fmt::format("  the host's own time, by {} samples of its stack:\n",
                         format_count(sampled.samples));
    out += wrap(
        function_text(work) + (work.from.empty() ? "" : ", from " + work.from), width,
        fmt::format("    {:>10} {:>8}  ", format_duration(work.per_step), format_percent(share)),
        std::string(25, ' '));
  }
  return out;
}

std::string waterfall_section(const Trace& trace, const Analysis& analysis, std::size_t width) {
  constexpr std::size_t kBeforeBar = 46;
  std::size_t columns =
      std::clamp<std::size_t>(width, kBeforeBar + 8, kBeforeBar + 40) - kBeforeBar;
  std::string out;
  for (const DevicePartition& partition : analysis.partitions) {
    if (partition.steady_steps == 0) continue;
    DurationNs total = partition.per_steady_step.total();
    std::string what = analysis.steps.all.empty()
                           ? "whole span, no steps"
                           : fmt::format("mean of {} steady steps and the time between them",
                                         partition.steady_steps);
    out += "\n" + wrap(fmt::format("Where the time went ({}, {})", who(trace, partition), what),
                       width, "", "  ");
    for (const TimeClassInfo& c : time_classes()) {
      DurationNs time = partition.per_steady_step[c.time_class];
      if (time.ns == 0) continue;
      out += fmt::format("  {:<23}{:>10} {:>8}  {}\n", c.label, format_duration(time),
                         format_percent(ratio(time, total)), bar(ratio(time, total), columns));
    }
    out += fmt::format("  {:<23}{:>10} {:>8}\n", analysis.steps.all.empty() ? "span" : "step cost",
                       format_duration(total), "100.0 %");
    if (const std::string between = between_note(partition); !between.empty())
      out += fmt::format("  between steps: {}\n", between);
    out += sampled_lines(trace, analysis, partition, width);
    if (partition.hidden_h2d.ns > 0)
      out += fmt::format("  hidden under compute: {} of copies to the device\n",
                         format_duration(partition.hidden_h2d));
    if (partition.hidden_comm.ns > 0)
      out += fmt::format("  hidden under compute: {} of communication\n",
                         format_duration(partition.hidden_comm));
  }
  return out;
}

/// A fix and how it is made.
std::string fix_section(const Finding& finding, const PredictedGain& gain, std::size_t width) {
  std::string out = wrap(fix_line(gain), width, "     fix  ", std::string(10, ' '));
  for (const Advice& advice : finding.advice)
    if (advice.fix == gain.fix)
      out += wrap(advice_line(advice), width, "          ", std::string(12, ' '));
  return out;
}

/// `with`: other findings of the same time, for which this one stands.
std::string finding_section(const Analysis& analysis, const Finding& finding,
                            const std::vector<const Finding*>& with, std::size_t number,
                            std::size_t width) {
  constexpr std::size_t kEvidenceShown = 3;
  std::string out =
      "\n" + wrap(fmt::format("{}. {}: {}, {}", number, finding_label(finding),
                              gain_label(analysis, finding), confidence_label(finding)),
                  width, "  ", "     ");
  out += wrap(finding.claim, width, "     ", "     ");
  for (const PredictedGain& gain : finding.fixes) out += fix_section(finding, gain, width);
  if (finding.fixes.empty())
    if (const std::string why = prediction_label(finding); !why.empty())
      out += wrap(why, width, "     ", "     ");
  for (const Advice& advice : finding.advice)
    if (advice.fix.empty())
      out += wrap(advice_line(advice), width, "     do   ", std::string(10, ' '));
  for (const Finding* one : with)
    out += wrap(fmt::format("{}: {}", finding_label(*one), one->claim), width,
                "     same time: ", std::string(10, ' '));
  for (std::size_t i = 0; i < std::min(kEvidenceShown, finding.evidence.size()); ++i) {
    const Evidence& evidence = finding.evidence[i];
    out += wrap(fmt::format("at {}, {}: {}", format_time(evidence.where.begin),
                            format_duration(evidence.where.length()), evidence.note),
                width, "     see  ", std::string(10, ' '));
  }
  return out;
}

std::string_view heading_of(Status status) {
  switch (status) {
    case Status::kNoGain:
      return "seen, but no gain";
    case Status::kCannotTell:
      return "cannot tell";
    default:
      return "checked and fine";
  }
}

/// The rules that say the same as `finding`, in order; empty when none does.
std::string rules_with_claim(const Analysis& analysis, const Finding& finding, Status status) {
  std::string rules;
  std::size_t count = 0;
  for (const Finding& other : analysis.findings) {
    if (other.status != status || other.claim != finding.claim) continue;
    rules += fmt::format("{}{}", count++ ? ", " : "", other.rule);
  }
  return count > 1 ? rules : std::string();
}

std::string findings_section(const Analysis& analysis, std::size_t width) {
  std::string out = "\nFindings\n";
  std::size_t number = 0;
  for (const Finding& finding : analysis.findings) {
    if (finding.status == Status::kFound && finding.part_of.empty())
      out += finding_section(analysis, finding, same_time(analysis, finding), ++number, width);
  }
  if (number == 0)
    out +=
        fmt::format("  none above 5 % of the {}\n", analysis.steps.all.empty() ? "span" : "step");
  const std::vector<std::string> plan = plan_lines(analysis);
  if (!plan.empty()) out += fmt::format("\n  {}\n", kPlanTitle);
  for (const std::string& line : plan) out += wrap(line, width, "     +  ", std::string(8, ' '));
  if (const std::string note = prediction_note(analysis); !note.empty())
    out += "\n" + wrap(note, width, "  ", "  ");
  for (Status status : {Status::kNoGain, Status::kCannotTell, Status::kFine}) {
    bool first = true;
    for (const Finding& finding : analysis.findings) {
      if (finding.status != status) continue;
      if (first) out += fmt::format("\n  {}\n", heading_of(status));
      first = false;
      if (const std::string rules = rules_with_claim(analysis, finding, status); !rules.empty()) {
        if (rules.starts_with(fmt::format("{},", finding.rule)))
          out += wrap(fmt::format("{} ({})", finding.claim, rules), width, "    ", "    ");
        continue;
      }
      out += wrap(finding.claim, width, fmt::format("    {:<22} ", finding.rule),
                  std::string(27, ' '));
    }
  }
  return out;
}

std::string table_section(const Table& table, const ReportOptions& options) {
  if (table.rows.empty()) return "";
  std::string note = table.note.empty() ? "" : fmt::format("  ({})", table.note);
  std::size_t width = options.text_width;
  std::string title = count_columns(table.title + note) <= width
                          ? table.title + escape_terminal(note) + "\n"
                          : table.title + "\n" + wrap(note.substr(2), width, "  ", "   ");
  return "\n" + title +
         to_text(table, {.max_rows = options.max_rows, .width = width, .indent = "  "});
}

}  // namespace

std::string wrap_text(std::string_view text, std::size_t width, const std::string& first,
                      const std::string& next) {
  return wrap(text, width, first, next);
}

std::string render_text(const Trace& trace, const Analysis& analysis,
                        const ReportOptions& options) {
  std::size_t width = options.text_width;
  std::string out = wrap(report_title(trace, analysis), width, "Headway report: ", "  ") +
                    doubts_section(analysis, width);
  out += "\nVerdict\n" + wrap(verdict(trace, analysis), width, "  ", "  ");
  out += facts_section(trace, analysis, width) + job_text(trace, analysis, options) +
         waterfall_section(trace, analysis, width) + findings_section(analysis, width) +
         critical_path_text(trace, analysis, width);
  for (const Table& table :
       make_tables(trace, analysis, {op_type_table, op_table, collective_sum_table, loader_table}))
    out += table_section(table, options);
  return out;
}

}  // namespace headway::analyzer
