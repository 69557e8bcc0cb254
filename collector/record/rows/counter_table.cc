// SPDX-License-Identifier: MIT
#include "collector/record/rows/counter_table.h"

#include "trace/tables/counter.h"
#include "trace/tables/counter_series.h"

namespace headway::record {

std::int64_t CounterTable::number(const Series& series) {
  auto known = numbers_.find(View{series.name, series.global_pid, series.device});
  if (known != numbers_.end()) return known->second;
  trace::tables::CounterSeries::Row row;
  row.id = static_cast<std::int64_t>(numbers_.size()) + 1;
  row.series = sink_.keep(series.name);
  row.unit = sink_.keep(series.unit);
  row.description = sink_.keep(series.description);
  if (series.global_pid != 0) row.global_pid = series.global_pid;
  row.device_id = series.device;
  sink_.add<trace::tables::CounterSeries>(row);
  numbers_.emplace(Key{std::string(series.name), series.global_pid, series.device}, row.id);
  return row.id;
}

void CounterTable::add(std::int64_t number, std::int64_t time_ns, double value) {
  sink_.add<trace::tables::Counter>({number, time_ns, value});
}

}  // namespace headway::record
