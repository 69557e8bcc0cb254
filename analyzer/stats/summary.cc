// SPDX-License-Identifier: MIT
#include "analyzer/stats/summary.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

namespace headway::analyzer {
namespace {

constexpr std::uint32_t kNoGroup = UINT32_MAX;

std::int64_t sample_deviation(std::span<const std::int64_t> values, double mean) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (std::int64_t value : values) {
    double distance = static_cast<double>(value) - mean;
    squares += distance * distance;
  }
  return std::llround(std::sqrt(squares / static_cast<double>(values.size() - 1)));
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "train_step" before "_7": the number counts rather than names.
bool ends_in_counting_word(std::string_view text) {
  static constexpr std::array<std::string_view, 7> kWords = {"step",  "iter",  "iteration", "epoch",
                                                             "batch", "chunk", "microbatch"};
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return lower.ends_with(word); });
}

}  // namespace

void GroupedValues::add(std::uint32_t group, std::int64_t value, std::int64_t bytes) {
  if (group >= summaries_.size()) summaries_.resize(group + std::size_t{1});
  DurationSummary& summary = summaries_[group];
  summary.minimum = summary.count ? std::min(summary.minimum, value) : value;
  summary.maximum = summary.count ? std::max(summary.maximum, value) : value;
  ++summary.count;
  summary.total += value;
  summary.bytes += bytes;
  group_of_.push_back(group);
  values_.push_back(value);
}

std::vector<DurationSummary> GroupedValues::finish() {
  std::vector<std::size_t> begin(summaries_.size() + 1, 0);
  for (std::size_t g = 0; g < summaries_.size(); ++g)
    begin[g + 1] = begin[g] + static_cast<std::size_t>(summaries_[g].count);
  std::vector<std::int64_t> sorted(values_.size());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < values_.size(); ++i) sorted[next[group_of_[i]]++] = values_[i];
  for (std::size_t g = 0; g < summaries_.size(); ++g) {
    DurationSummary& summary = summaries_[g];
    if (summary.count == 0) continue;
    std::span<std::int64_t> values(sorted.data() + begin[g],
                                   static_cast<std::size_t>(summary.count));
    auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    summary.median = *middle;
    summary.stddev = sample_deviation(
        values, static_cast<double>(summary.total) / static_cast<double>(summary.count));
  }
  return std::move(summaries_);
}

std::uint32_t KeyGroups::of(std::uint64_t key) {
  auto [slot, is_new] = group_of_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
  if (is_new) keys_.push_back(key);
  return slot->second;
}

NameGroups::NameGroups(const trace::Strings& strings,
                       std::function<std::string(std::string_view)> label)
    : strings_(strings),
      label_(std::move(label)),
      group_of_(strings.size() + 1, kNoGroup) {}  // the last is for ids that name no string

std::uint32_t NameGroups::of(trace::StringId name) {
  std::uint32_t& group = group_of_[std::min<std::size_t>(name.value, group_of_.size() - 1)];
  if (group != kNoGroup) return group;
  std::string text = label_(strings_[name]);
  auto [slot, is_new] =
      by_label_.try_emplace(std::move(text), static_cast<std::uint32_t>(labels_.size()));
  if (is_new) labels_.push_back(slot->first);
  return group = slot->second;
}

Table duration_table(Table table, Column group, const NameGroups& names,
                     const std::vector<DurationSummary>& sums) {
  table.columns = {std::move(group),
                   {"count", "Count", ColumnKind::kCount},
                   {"total_ns", "Total", ColumnKind::kDuration},
                   {"share", "Share", ColumnKind::kPercent},
                   {"mean_ns", "Mean", ColumnKind::kDuration},
                   {"median_ns", "Median", ColumnKind::kDuration},
                   {"min_ns", "Least", ColumnKind::kDuration},
                   {"max_ns", "Largest", ColumnKind::kDuration},
                   {"stddev_ns", "Std dev", ColumnKind::kDuration}};
  std::int64_t all = 0;
  for (const DurationSummary& sum : sums) all += sum.total;
  std::uint32_t number = 0;
  for (const DurationSummary& sum : sums) {
    table.rows.push_back({names.label(number++), sum.count, sum.total, ratio({sum.total}, {all}),
                          sum.mean(), sum.median, sum.minimum, sum.maximum, sum.stddev});
  }
  sort_by(table, 2);
  return table;
}

std::string without_numbers(std::string_view name) {
  constexpr std::string_view kBefore = " #:=([,";
  constexpr std::string_view kAfter = " )],:/";
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    if (!is_digit(name[i])) {
      out += name[i++];
      continue;
    }
    std::size_t end = i;
    while (end < name.size() && is_digit(name[end])) ++end;
    bool opens = i == 0 || kBefore.find(name[i - 1]) != std::string_view::npos;
    bool closes = end == name.size() || kAfter.find(name[end]) != std::string_view::npos;
    bool counts = i > 1 && (name[i - 1] == '_' || name[i - 1] == '-') && end == name.size() &&
                  ends_in_counting_word(name.substr(0, i - 1));
    if ((opens && closes) || counts) {
      if (out.empty() || out.back() != '#') out += '#';
    } else {
      out += name.substr(i, end - i);
    }
    i = end;
  }
  return out;
}

}  // namespace headway::analyzer
