// SPDX-License-Identifier: MIT
// HEADWAY_COUNTER_SERIES and HEADWAY_COUNTER -> Trace::counters.
#include <algorithm>
#include <numeric>

#include "trace/load/context.h"
#include "trace/tables/counter.h"
#include "trace/tables/counter_series.h"

namespace headway::trace::load_detail {
namespace {

/// Sorts a series by time, because readers search by time: when several threads of a program sample
/// one counter, the samples are stored thread by thread.
void sort_by_time(CounterSeries& series) {
  if (std::is_sorted(series.time.begin(), series.time.end())) return;
  std::vector<std::uint32_t> order(series.time.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return series.time[a] < series.time[b];
  });
  std::vector<TimeNs> time;
  std::vector<double> value;
  time.reserve(order.size());
  value.reserve(order.size());
  for (std::uint32_t i : order) {
    time.push_back(series.time[i]);
    value.push_back(series.value[i]);
  }
  series.time = std::move(time);
  series.value = std::move(value);
}

}  // namespace

void load_counters(Context& context) {
  std::unordered_map<std::int64_t, std::size_t> index;
  using Series = tables::CounterSeries::Row;
  sqlite::Select<tables::CounterSeries, &Series::id, &Series::series, &Series::unit,
                 &Series::global_pid, &Series::device_id,
                 &Series::description>::run(context.db, [&](std::int64_t, const Series& row) {
    CounterSeries series;
    series.name = std::string(row.series);
    series.unit = std::string(row.unit);
    series.description = std::string(row.description);
    if (row.global_pid) series.process = context.process(*row.global_pid);
    if (row.device_id) series.device = static_cast<std::int32_t>(*row.device_id);
    index[row.id] = context.trace.counters.size();
    context.trace.counters.push_back(std::move(series));
  });
  using Sample = tables::Counter::Row;
  sqlite::Select<tables::Counter, &Sample::series_id, &Sample::timestamp, &Sample::value>::run(
      context.db, context.first_row(tables::Counter::name, "timestamp"), INT64_MAX,
      [&](std::int64_t, const Sample& row) {
        auto series = index.find(row.series_id);
        if (series == index.end() || !usable(context.losses, row.timestamp, row.timestamp)) return;
        if (context.stretch && !context.stretch->contains({row.timestamp})) return;
        CounterSeries& target = context.trace.counters[series->second];
        target.time.push_back({row.timestamp});
        target.value.push_back(row.value);
      });
  for (CounterSeries& series : context.trace.counters) sort_by_time(series);
}

}  // namespace headway::trace::load_detail
