// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/stats/table.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// What is known about the durations of one group, in nanoseconds. All 0 for an empty group.
struct DurationSummary {
  std::int64_t count = 0;
  std::int64_t total = 0;
  std::int64_t bytes = 0;
  std::int64_t minimum = 0;
  std::int64_t maximum = 0;
  std::int64_t median = 0;  ///< for an even count the upper of the two
  std::int64_t stddev = 0;  ///< of the sample; 0 for fewer than two
  std::int64_t mean() const { return count ? total / count : 0; }
};

/// Sums up values (durations, sizes) by group number. Costs 12 bytes a value while gathering and 8
/// more in finish(); no allocation per value or group.
class GroupedValues {
 public:
  void add(std::uint32_t group, std::int64_t value, std::int64_t bytes = 0);
  /// One summary per group, in the order of their numbers. Call once.
  std::vector<DurationSummary> finish();

 private:
  std::vector<std::uint32_t> group_of_;
  std::vector<std::int64_t> values_;
  std::vector<DurationSummary> summaries_;
};

/// Dense group numbers for keys, in order of first appearance.
class KeyGroups {
 public:
  std::uint32_t of(std::uint64_t key);
  const std::vector<std::uint64_t>& keys() const { return keys_; }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> group_of_;
  std::vector<std::uint64_t> keys_;
};

/// Groups of names that read alike. The text is looked at once per distinct name, so asking for each
/// event is cheap.
class NameGroups {
 public:
  /// `label` makes the name of the group from a name of the trace.
  NameGroups(const trace::Strings& strings, std::function<std::string(std::string_view)> label);
  std::uint32_t of(trace::StringId name);
  const std::string& label(std::uint32_t group) const { return labels_[group]; }

 private:
  const trace::Strings& strings_;
  std::function<std::string(std::string_view)> label_;
  std::vector<std::uint32_t> group_of_;
  std::unordered_map<std::string, std::uint32_t> by_label_;
  std::vector<std::string> labels_;
};

/// `table` with its columns and a row for each group of `names`, largest total first; `group` is the
/// first column, shares are of the sum of all groups.
Table duration_table(Table table, Column group, const NameGroups& names,
                     const std::vector<DurationSummary>& sums);

/// "step 7" -> "step #", "ProfilerStep#12" -> "ProfilerStep#", "batch_3" -> "batch_#": numbers that
/// stand alone, and those behind a word that counts. "layer1.0.conv1" stays: its numbers are names.
std::string without_numbers(std::string_view name);

}  // namespace headway::analyzer
