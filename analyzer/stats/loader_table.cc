// SPDX-License-Identifier: MIT
// Loader workers: what each spends on reading, decoding and collating, in all and for each step.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "analyzer/stats/labels.h"
#include "analyzer/stats/steady_stretch.h"
#include "analyzer/stats/summary.h"
#include "analyzer/stats/tables.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// In the order in which the table lists them.
struct Stage {
  RangeKind kind;
  const char* label;
};
constexpr Stage kStages[] = {{RangeKind::kBatch, "whole batch"},
                             {RangeKind::kRead, "read"},
                             {RangeKind::kDecode, "decode"},
                             {RangeKind::kAugment, "augment"},
                             {RangeKind::kCollate, "collate"}};
constexpr std::size_t kStageCount = std::size(kStages);
constexpr std::size_t kWholeBatch = 0;
constexpr std::size_t kReading = 1;

std::size_t stage_of(const RangeInfo* info) {
  std::size_t stage = 0;
  while (stage < kStageCount && (!info || kStages[stage].kind != info->kind)) ++stage;
  return stage;
}

/// Opening and reading files in a stage that is not a read stage and has no read range inside.
struct Reading {
  std::int64_t ns = 0;
  std::int64_t bytes = 0;
};
Reading reading_in(const Trace& trace, ThreadId thread, Interval interval) {
  Reading reading;
  const Io& io = trace.io;
  std::span<const IoId> rows = trace.io_of_thread[thread];
  auto row = std::partition_point(rows.begin(), rows.end(),
                                  [&](IoId id) { return io.start[id.value] < interval.begin; });
  for (; row != rows.end() && io.start[row->value] < interval.end; ++row) {
    if (io.op[row->value] != IoOp::kRead && io.op[row->value] != IoOp::kOpen) continue;
    reading.ns += io.busy[row->value].ns;
    reading.bytes += io.bytes[row->value];
  }
  reading.ns = std::min(reading.ns, interval.length().ns);
  return reading;
}

class LoaderStages {
 public:
  LoaderStages(const Trace& trace, const Analysis& analysis, const Selection& selection)
      : trace_(trace),
        steady_(trace, analysis.steps),
        worker_of_(trace.threads.size(), UINT32_MAX),
        life_(trace.threads.size()) {
    std::vector<bool> tells_reading(trace.ranges.size(), trace.io.size() == 0);
    for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
      if (stage_of(trace.info({i})) != kReading) continue;
      for (RangeId r{i}; r.valid(); r = trace.ranges.parent[r.value]) tells_reading[r.value] = true;
    }
    for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
      const std::size_t stage = stage_of(trace.info({i}));
      if (stage < kStageCount && selection.has(RangeId{i}))
        add({i}, stage, stage != kWholeBatch && !tells_reading[i]);
    }
    for (std::size_t t = 0; t < life_.size(); ++t) {
      if (worker_of_[t] == UINT32_MAX) continue;
      workers_[worker_of_[t]].life += life_[t].length();
      workers_[0].life += life_[t].length();
    }
    sums_ = values_.finish();
    sums_.resize(workers_.size() * kStageCount);
  }

  void write(Table& table) const {
    if (workers_.size() > 2)
      write(table, fmt::format("all {}", workers_.size() - 1), 0, workers_[0].life);
    for (const auto& [key, w] : index_) {
      const Worker& worker = workers_[w];
      write(table,
            worker.threads == 1 ? worker.name
                                : fmt::format("{} ({} threads)", worker.name, worker.threads),
            w, worker.life);
    }
  }
  bool has_steps() const { return steady_.count > 0; }

 private:
  // Threads of one name in one process are one worker: some loaders start a thread for each batch.
  struct Worker {
    std::string name;
    std::int64_t threads = 0;
    DurationNs life;  ///< summed
    std::int64_t steady_ns[kStageCount] = {};
  };

  std::uint32_t worker_of(std::uint32_t thread) {
    if (worker_of_[thread] != UINT32_MAX) return worker_of_[thread];
    const Thread& t = trace_.threads[thread];
    std::string name = t.name.empty() ? fmt::format("thread {}", t.tid) : t.name;
    auto [slot, is_new] =
        index_.try_emplace({t.process, name}, static_cast<std::uint32_t>(workers_.size()));
    if (is_new) workers_.emplace_back().name = name;
    ++workers_[slot->second].threads;
    return worker_of_[thread] = slot->second;
  }

  void add(RangeId range, std::size_t stage, bool by_calls) {
    const Interval interval = trace_.ranges.interval(range);
    const ThreadId thread = trace_.ranges.thread[range.value];
    const bool is_new = worker_of_[thread.value] == UINT32_MAX;
    const std::uint32_t worker = worker_of(thread.value);
    Interval& life = life_[thread.value];
    life = is_new
               ? interval
               : Interval{std::min(life.begin, interval.begin), std::max(life.end, interval.end)};
    std::int64_t ns = interval.length().ns;
    if (by_calls) {
      const Reading reading = reading_in(trace_, thread, interval);
      if (reading.ns > 0) count(worker, kReading, reading.ns, reading.bytes, interval.begin);
      ns -= reading.ns;
    }
    count(worker, stage, ns, trace_.info(range)->bytes, interval.begin);
  }

  void count(std::uint32_t worker, std::size_t stage, std::int64_t ns, std::int64_t bytes,
             TimeNs begin) {
    for (std::uint32_t w : {std::uint32_t{0}, worker}) {
      values_.add(static_cast<std::uint32_t>(w * kStageCount + stage), ns, bytes);
      if (steady_.window.contains(begin)) workers_[w].steady_ns[stage] += ns;
    }
  }

  void write(Table& table, const std::string& label, std::size_t w, DurationNs life) const {
    for (std::size_t stage = 0; stage < kStageCount; ++stage) {
      const DurationSummary& sum = sums_[w * kStageCount + stage];
      if (sum.count == 0) continue;
      const bool has_bytes = sum.bytes > 0 && sum.total > 0;
      table.rows.push_back(
          {label, std::string(kStages[stage].label), sum.count,
           has_steps() ? Cell(workers_[w].steady_ns[stage] / steady_.count) : Cell(), sum.total,
           ratio({sum.total}, life), sum.mean(), sum.maximum, has_bytes ? Cell(sum.bytes) : Cell(),
           rate_cell(sum.bytes, sum.total)});
    }
  }

  const Trace& trace_;
  SteadyStretch steady_;
  std::map<std::pair<ProcessId, std::string>, std::uint32_t> index_;
  std::vector<Worker> workers_ = std::vector<Worker>(1);  ///< the first entry: all workers
  std::vector<std::uint32_t> worker_of_;                  ///< by thread
  std::vector<Interval> life_;                            ///< by thread
  GroupedValues values_;
  std::vector<DurationSummary> sums_;
};

}  // namespace

Table loader_table(const Trace& trace, const Analysis& analysis, const Selection& selection) {
  const LoaderStages stages(trace, analysis, selection);
  Table table{
      "loaders",
      "Loader workers",
      stages.has_steps()
          ? "Per step is the mean steady step. Other figures cover the whole trace; shares are of "
            "the time between a worker's first and last range."
          : "Over the whole trace; shares are of the time between a worker's first and last "
            "range.",
      {},
      {}};
  table.columns = {{"worker", "Worker", ColumnKind::kText},
                   {"stage", "Stage", ColumnKind::kText},
                   {"count", "Count", ColumnKind::kCount},
                   {"per_step_ns", "A step", ColumnKind::kDuration},
                   {"total_ns", "Total", ColumnKind::kDuration},
                   {"share", "Share", ColumnKind::kPercent},
                   {"mean_ns", "Mean", ColumnKind::kDuration},
                   {"max_ns", "Largest", ColumnKind::kDuration},
                   {"bytes", "Bytes", ColumnKind::kBytes},
                   {"bytes_per_s", "Rate", ColumnKind::kByteRate}};
  stages.write(table);
  return table;
}

}  // namespace headway::analyzer
