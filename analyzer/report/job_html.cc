// SPDX-License-Identifier: MIT
// A job of many ranks as HTML, with the map of waits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/ranks/job_parts.h"
#include "analyzer/report/job.h"
#include "analyzer/stats/tables.h"
#include "common/format.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

/// Straggler wait as a share of the step, of ranks (rows) by common steps (columns), each cell the
/// mean of those that share it.
struct WaitMap {
  std::vector<std::vector<double>> cells;
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::optional<std::size_t> culprit;  ///< row
};

constexpr std::size_t kMostRows = 96;
constexpr std::size_t kMostColumns = 160;
constexpr std::size_t kMostCells = 6'000;  // 150 bytes each: a page of 64 ranks stays below 2 MB

WaitMap wait_map(const JobAnalysis& job, std::optional<std::uint32_t> culprit) {
  CommonSteps common = common_steps(job);
  WaitMap map;
  if (common.ranks.size() < 2 || common.numbers.empty()) return map;
  std::size_t ranks_a_row = (common.ranks.size() + kMostRows - 1) / kMostRows;
  const std::size_t rows = (common.ranks.size() + ranks_a_row - 1) / ranks_a_row;
  const std::size_t most_columns = std::min(kMostColumns, kMostCells / rows);
  std::size_t steps_a_column = (common.numbers.size() + most_columns - 1) / most_columns;
  auto label = [](std::int64_t first, std::int64_t last) {
    return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
  };
  for (std::size_t s = 0; s < common.numbers.size(); s += steps_a_column)
    map.columns.push_back(
        label(common.numbers[s],
              common.numbers[std::min(s + steps_a_column, common.numbers.size()) - 1]));
  for (std::size_t p = 0; p < common.ranks.size(); p += ranks_a_row) {
    std::size_t end = std::min(p + ranks_a_row, common.ranks.size());
    map.rows.push_back(label(job.ranks[common.ranks[p]].identity.rank,
                             job.ranks[common.ranks[end - 1]].identity.rank));
    if (culprit && std::find(common.ranks.begin() + static_cast<std::ptrdiff_t>(p),
                             common.ranks.begin() + static_cast<std::ptrdiff_t>(end),
                             *culprit) != common.ranks.begin() + static_cast<std::ptrdiff_t>(end))
      map.culprit = map.cells.size();
    std::vector<double>& row = map.cells.emplace_back();
    for (std::size_t s = 0; s < common.numbers.size(); s += steps_a_column) {
      double sum = 0;
      double count = 0;
      for (std::size_t q = p; q < end; ++q) {
        const RankDevice* device = main_device(job.ranks[common.ranks[q]]);
        for (std::size_t t = s; t < std::min(s + steps_a_column, common.numbers.size()); ++t) {
          const RankStep& step = device->steps[common.of[t][q]];
          sum += ratio(step.times[TimeClass::kStragglerWait], step.time.length());
          ++count;
        }
      }
      row.push_back(sum / count);
    }
  }
  return map;
}

/// Light to dark in one hue (ColorBrewer's Oranges ends), so that it reads in grey and for any kind
/// of colour vision.
std::string shade(double share) {
  double t = std::sqrt(std::clamp(share, 0.0, 1.0));
  auto mix = [&](double light, double dark) {
    return static_cast<int>(std::lround(light + (dark - light) * t));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(255, 110), mix(245, 30), mix(235, 4));
}

}  // namespace

std::optional<std::uint32_t> culprit_of(const Analysis& analysis) {
  if (!analysis.job) return std::nullopt;
  const auto found = std::ranges::find_if(analysis.findings, [](const Finding& finding) {
    return finding.rule == "straggler" && finding.status == Status::kFound;
  });
  if (found == analysis.findings.end()) return std::nullopt;
  return analysis.job->critical;
}

std::string wait_map_svg(const JobAnalysis& job, std::optional<std::uint32_t> culprit) {
  WaitMap map = wait_map(job, culprit);
  if (map.cells.empty()) return "";
  constexpr double kWidth = 960;
  constexpr double kLeft = 70;
  constexpr double kBottom = 42;
  constexpr double kTop = 8;  // for the first label above narrow rows
  double row_height = std::clamp(420.0 / static_cast<double>(map.rows.size()), 5.0, 22.0);
  double height = row_height * static_cast<double>(map.rows.size()) + kBottom;
  double pitch = std::min((kWidth - kLeft) / static_cast<double>(map.columns.size()), 40.0);
  double most = 0;
  for (const auto& row : map.cells)
    most = std::max(most, *std::max_element(row.begin(), row.end()));
  std::string svg = fmt::format(
      "<div class=\"fig\"><svg viewBox=\"0 {:.0f} {:.0f} {:.0f}\" role=\"img\" aria-label=\"Waits "
      "per rank and step\"><title>Waits per rank and step</title><desc>One row per rank, one "
      "column per step; the darker, the longer the rank waits for others. A rank that stays light "
      "while others are dark causes the waits. Darkest: {}.</desc>\n",
      -kTop, kWidth, height + kTop, format_percent(most));
  double every = std::ceil(12 / row_height);
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    double y = row_height * static_cast<double>(r);
    const bool is_culprit = map.culprit == r;
    const bool beside =
        map.culprit && r != *map.culprit &&
        std::abs(static_cast<double>(r) - static_cast<double>(*map.culprit)) < every;
    if (is_culprit || (r % static_cast<std::size_t>(every) == 0 && !beside))
      svg += fmt::format("<text x=\"{:.0f}\" y=\"{:.2f}\" class=\"{} end\">{}{}</text>\n",
                         kLeft - 8, y + row_height / 2 + 4, is_culprit ? "culprit" : "axis",
                         is_culprit ? "▸ rank "
                         : r == 0   ? "rank "
                                    : "",
                         map.rows[r]);
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\">"
          "<title>rank {}, step {}: waits {} of the step</title></rect>\n",
          kLeft + pitch * static_cast<double>(c), y, pitch + 0.3, row_height - 0.5,
          shade(most > 0 ? map.cells[r][c] / most : 0), map.rows[r], map.columns[c],
          format_percent(map.cells[r][c]));
    }
  }
  if (map.culprit)
    svg += fmt::format(
        "<rect class=\"culprit\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"/>\n",
        kLeft, row_height * static_cast<double>(*map.culprit),
        pitch * static_cast<double>(map.columns.size()), row_height - 0.5);
  double label_y = height - kBottom + 14;
  auto label_every = static_cast<std::size_t>(std::max(1.0, std::ceil(60 / pitch)));
  for (std::size_t c = 0; c < map.columns.size(); c += label_every)
    svg += fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" class=\"axis\">{}{}</text>\n",
                       kLeft + pitch * static_cast<double>(c), label_y, c == 0 ? "step " : "",
                       map.columns[c]);
  constexpr int kScale = 10;
  for (int i = 0; i <= kScale; ++i)
    svg += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"18\" height=\"10\" fill=\"{}\"/>\n",
                       kLeft + 18 * i, height - 18, shade(static_cast<double>(i) / kScale));
  svg += fmt::format(
      "<text x=\"{:.2f}\" y=\"{:.2f}\" class=\"axis\">0 to {} of the step spent waiting</text>\n",
      kLeft + 18 * (kScale + 1) + 8, height - 9, format_percent(most));
  return svg + "</svg></div>\n";
}

std::string job_html(const trace::Trace& trace, const Analysis& analysis,
                     const ReportOptions& options) {
  if (!analysis.job) return "";
  const JobAnalysis& job = *analysis.job;
  const std::optional<std::uint32_t> culprit = culprit_of(analysis);
  std::vector<std::string> sentences = job_sentences(job);
  std::string out = "<h2 id=\"ranks\">Ranks</h2>\n";
  if (culprit && !sentences.empty()) {
    const RankSummary& rank = job.ranks[*culprit];
    out += fmt::format(
        "<div class=\"card culprit\"><h3>The others wait for {}{}</h3><p>{}</p></div>\n",
        escape_html(rank_label(rank)),
        rank.host.empty() ? "" : fmt::format(" on {}", escape_html(rank.host)),
        escape_html(sentences.front()));
    sentences.erase(sentences.begin());
  }
  out += "<ul class=\"plain\">\n";
  for (const std::string& sentence : sentences)
    out += fmt::format("<li>{}</li>\n", escape_html(sentence));
  out += "</ul>\n" + wait_map_svg(job, culprit);
  // The rank that the others wait for most is the first of its table.
  Table ranks = job_rank_table(trace, analysis);
  out += fmt::format("<p class=\"note\">{}</p>\n{}", escape_html(ranks.note),
                     to_html(ranks, options.max_rows, culprit ? 0 : SIZE_MAX));
  Table collectives = collective_table(trace, analysis);
  if (!collectives.rows.empty()) {
    out += fmt::format("<h2>{}</h2>\n<p class=\"note\">{}</p>\n{}", escape_html(collectives.title),
                       escape_html(collectives.note), to_html(collectives, options.max_rows));
  }
  return out + fmt::format("<p class=\"note\">From here on: {}</p>\n",
                           escape_html(rank_label(job.ranks[job.critical])));
}

}  // namespace headway::analyzer
