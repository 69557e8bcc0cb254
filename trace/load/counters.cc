// SPDX-License-Identifier: MIT
// HEADWAY_COUNTER_SERIES and HEADWAY_COUNTER -> Trace::counters.
#include "trace/load/context.h"
#include "trace/tables/counter.h"
#include "trace/tables/counter_series.h"

namespace headway::trace::load_detail {

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
      context.db, [&](std::int64_t, const Sample& row) {
        auto series = index.find(row.series_id);
        if (series == index.end() || !usable(context.losses, row.timestamp, row.timestamp)) return;
        if (context.stretch && !context.stretch->contains({row.timestamp})) return;
        CounterSeries& target = context.trace.counters[series->second];
        // Samples are taken in order; one that is not would break every reader's binary search.
        if (!target.time.empty() && target.time.back().ns > row.timestamp)
          return count(context.losses, Loss::kTimeOutOfRange);
        target.time.push_back({row.timestamp});
        target.value.push_back(row.value);
      });
}

}  // namespace headway::trace::load_detail
