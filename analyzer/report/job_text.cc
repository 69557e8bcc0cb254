// SPDX-License-Identifier: MIT
// A job of many ranks in text and Markdown.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>

#include "analyzer/ranks/job.h"
#include "analyzer/ranks/work.h"
#include "analyzer/report/formats.h"
#include "analyzer/report/job.h"
#include "analyzer/stats/tables.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {

std::vector<std::pair<std::string, std::string>> job_facts(const JobAnalysis& job) {
  std::set<std::string> files;
  std::set<std::string> hosts;
  std::int64_t events = 0;
  for (const RankSummary& rank : job.ranks) {
    files.insert(rank.file);
    if (!rank.host.empty()) hosts.insert(rank.host);
    events += rank.events;
  }
  std::string where =
      hosts.empty() ? "" : fmt::format(" on {} host{}", hosts.size(), hosts.size() == 1 ? "" : "s");
  return {{"job",
           fmt::format("{} of {} ranks{}, {} file{}, {} events", job.ranks.size(), job.world_size,
                       where, files.size(), files.size() == 1 ? "" : "s", format_count(events))},
          {"in detail", fmt::format("{}, {}", rank_label(job.ranks[job.critical]),
                                    job.roles[job.critical].caused_wait.ns > 0
                                        ? "the rank that causes most waiting"
                                        : "the rank with the slowest step")}};
}

namespace {

/// One sentence per clock for up to three clocks, one for all if there are more (JSON has each).
void add_clock_sentences(const JobAnalysis& job, std::vector<std::string>& out) {
  std::vector<const HostClock*> measured;
  std::vector<std::uint32_t> ranks;
  double offset = 0;
  double drift = 0;
  DurationNs residual;
  std::int64_t fewest = INT64_MAX;
  for (const HostClock& host : job.clocks.hosts) {
    if (!host.measured) continue;
    measured.push_back(&host);
    ranks.insert(ranks.end(), host.ranks.begin(), host.ranks.end());
    offset = std::max(offset, std::abs(host.offset_ns));
    drift = std::max(drift, std::abs(host.drift));
    residual = std::max(residual, host.residual);
    fewest = std::min(fewest, host.points);
  }
  if (measured.empty()) return;
  std::string reference = rank_list(job, job.clocks.hosts.front().ranks);
  if (measured.size() > 3) {
    std::sort(ranks.begin(), ranks.end());
    out.push_back(
        fmt::format("Clocks of {} ({} clocks): up to {} from {}, drift up to {:.2f} ppm, residual "
                    "at most {}, each over at least {} collectives.",
                    rank_list(job, ranks), measured.size(),
                    format_duration({static_cast<std::int64_t>(offset)}), reference, drift * 1e6,
                    format_duration(residual), fewest));
    return;
  }
  for (const HostClock* host : measured) {
    out.push_back(fmt::format(
        "Clock of {}: {} from {}, drift {:.2f} ppm, residual {} over {} collectives.",
        rank_list(job, host->ranks), format_duration({static_cast<std::int64_t>(host->offset_ns)}),
        reference, host->drift * 1e6, format_duration(host->residual), host->points));
  }
}

}  // namespace

std::vector<std::string> job_sentences(const JobAnalysis& job) {
  std::vector<std::string> out;
  const RankRole& role = job.roles[job.critical];
  if (role.caused_wait.ns > 0) {
    std::string because =
        role.cause ? fmt::format("; in those steps it spends {} more on '{}' than the usual rank",
                                 format_duration(role.cause->excess_per_step),
                                 info(role.cause->time_class).label)
                   : "";
    out.push_back(fmt::format(
        "The others wait {} per step ({}) for {}, which is last at {} of {} collectives and causes "
        "{} of all waiting{}.",
        format_duration(role.caused_wait), format_percent(ratio(role.caused_wait, job.step)),
        rank_label(job.ranks[job.critical]), format_count(role.last),
        format_count(role.synchronised), format_percent(role.wait_share), because));
  }
  const Imbalance& imbalance = job.imbalance;
  if (imbalance.steps > 0) {
    out.push_back(fmt::format(
        "Compute: {} per step on the mean rank, {} more on the slowest ({} in {} of {} steps).",
        format_duration(imbalance.mean_compute), format_duration(imbalance.excess),
        rank_label(job.ranks[imbalance.slowest]), format_percent(imbalance.slowest_share),
        imbalance.steps));
  }
  add_clock_sentences(job, out);
  if (job.clocks.hosts.size() == 1 && job.ranks.size() > 1) out.push_back("One host, one clock.");
  return out;
}

Table job_rank_table(const trace::Trace& trace, const Analysis& analysis) {
  const JobAnalysis& job = *analysis.job;
  Table table = rank_table(trace, analysis);
  std::vector<std::size_t> order(table.rows.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(job.roles[a].caused_wait, job.roles[a].exposed_wait) >
           std::pair(job.roles[b].caused_wait, job.roles[b].exposed_wait);
  });
  std::vector<std::vector<Cell>> rows;
  for (std::size_t r : order) rows.push_back(std::move(table.rows[r]));
  table.rows = std::move(rows);
  for (std::size_t c = table.columns.size(); c-- > 0;) {  // columns that say nothing here
    bool empty = std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      return display(table.columns[c], row[c]).empty();
    });
    if (!empty && table.columns[c].id != "file") continue;
    table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(c));
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(c));
  }
  return table;
}

std::string job_text(const trace::Trace& trace, const Analysis& analysis,
                     const ReportOptions& options) {
  if (!analysis.job) return "";
  std::string out = "\nRanks\n";
  for (const std::string& sentence : job_sentences(*analysis.job))
    out += wrap_text(sentence, options.text_width, "  ", "    ");
  TextOptions text{.max_rows = options.max_rows, .width = options.text_width, .indent = "  "};
  out += "\n" + to_text(job_rank_table(trace, analysis), text);
  Table collectives = collective_table(trace, analysis);
  if (!collectives.rows.empty()) {
    out += fmt::format("\n{}  ({})\n{}", collectives.title, collectives.note,
                       to_text(collectives, text));
  }
  return out + fmt::format("\nFrom here on: {}\n",
                           rank_label(analysis.job->ranks[analysis.job->critical]));
}

std::string job_markdown(const trace::Trace& trace, const Analysis& analysis,
                         const ReportOptions& options) {
  if (!analysis.job) return "";
  std::string out = "\n### Ranks\n\n";
  for (const std::string& sentence : job_sentences(*analysis.job))
    out += fmt::format("- {}\n", escape_markdown(sentence));
  Table ranks = job_rank_table(trace, analysis);
  out += fmt::format("\n{}\n\n{}", ranks.note, to_markdown(ranks, options.max_rows));
  Table collectives = collective_table(trace, analysis);
  if (!collectives.rows.empty()) {
    out += fmt::format("\n### {}\n\n{}\n\n{}", collectives.title, collectives.note,
                       to_markdown(collectives, options.max_rows));
  }
  return out + fmt::format("\n_From here on: {}_\n",
                           rank_label(analysis.job->ranks[analysis.job->critical]));
}

}  // namespace headway::analyzer
