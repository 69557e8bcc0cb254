// SPDX-License-Identifier: MIT
#include "analyzer/evidence/loader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analyzer/evidence/communication.h"
#include "analyzer/evidence/counters.h"
#include "common/statistics.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {
namespace {

using trace::RangeKind;

constexpr std::int64_t kLargeRead = 65'536;
/// bytes/s that a hard disk and a gigabit network both reach.
constexpr double kAssumedRate = 100e6;
/// Share of a read of unknown size that uses a processor: the middle between 0 and one half, above
/// which PyTorch's hook calls it decoding.
constexpr double kCopiesOfReads = 0.25;

bool is_stage(RangeKind kind) {
  return kind == RangeKind::kRead || kind == RangeKind::kDecode || kind == RangeKind::kAugment ||
         kind == RangeKind::kCollate;
}

std::int64_t files_opened(const trace::Trace& trace, TimeNs since) {
  std::int64_t opened = 0;
  for_each_call_on_file(trace, since, [&](const FileCalls& one) {
    if (!one.read) opened += one.calls;
  });
  return opened;
}

/// Adds calls on files to `reads`. Files are counted instead of calls, because libraries differ in
/// the number of calls per file.
void add_calls_on_files(const trace::Trace& trace, TimeNs since, Reads& reads) {
  std::int64_t opened = 0;
  for_each_call_on_file(trace, since, [&](const FileCalls& one) {
    reads.time += one.busy;
    if (!one.read) {
      opened += one.calls;
      return;
    }
    reads.bytes += one.bytes;
    if (one.calls == 1 && one.busy.ns > 0 && one.bytes >= kLargeRead)
      reads.large_read_rate =
          std::max(reads.large_read_rate, static_cast<double>(one.bytes) / one.busy.seconds());
  });
  if (reads.bytes == 0) return;
  reads.count = std::max<std::int64_t>(opened, 1);  // 0: opened before the recording began
  reads.files = true;
}

}  // namespace

void for_each_read(
    const trace::Trace& trace, TimeNs since,
    const std::function<void(trace::ThreadId, Interval, std::int64_t bytes)>& visit) {
  if (trace.range_info.empty()) return;
  bool any = false;
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const trace::RangeInfo* info = trace.info(trace::RangeId{i});
    if (!info || info->kind != RangeKind::kRead || info->bytes <= 0) continue;
    any = true;
    const Interval time = trace.ranges.interval(trace::RangeId{i});
    if (time.begin >= since) visit(trace.ranges.thread[i], time, info->bytes);
  }
  if (any) return;
  for_each_call_on_file(trace, since, [&](const FileCalls& one) {
    visit(one.thread, {one.time.begin, one.time.begin + one.busy}, one.read ? one.bytes : 0);
  });
}

void for_each_call_on_file(const trace::Trace& trace, TimeNs since,
                           const std::function<void(const FileCalls&)>& visit) {
  if (trace.io.size() == 0) return;
  std::vector<bool> loads(trace.threads.size());
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const trace::RangeInfo* info = trace.info(trace::RangeId{i});
    if (info && (info->kind == RangeKind::kRead || info->kind == RangeKind::kBatch))
      loads[trace.ranges.thread[i].value] = true;
  }
  const trace::Io& io = trace.io;
  for (std::uint32_t i = 0; i < io.size(); ++i) {
    if (!loads[io.thread[i].value] || io.interval(trace::IoId{i}).begin < since) continue;
    const bool read = io.op[i] == trace::IoOp::kRead;
    if (!read && io.op[i] != trace::IoOp::kOpen) continue;
    visit({io.thread[i], io.interval(trace::IoId{i}), io.busy[i], io.bytes[i],
           std::max<std::int64_t>(1, io.calls[i]), read});
  }
}

Reads sum_reads(const trace::Trace& trace, TimeNs since) {
  Reads reads{0, 0, {}, kAssumedRate};
  if (trace.range_info.empty()) return reads;
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const trace::RangeInfo* info = trace.info(trace::RangeId{i});
    if (!info || info->kind != RangeKind::kRead || info->bytes <= 0) continue;
    const Interval interval = trace.ranges.interval(trace::RangeId{i});
    if (interval.begin < since) continue;
    const DurationNs time = interval.length();
    ++reads.count;
    reads.bytes += info->bytes;
    reads.time += time;
    if (time.ns > 0 && info->bytes >= kLargeRead) {
      reads.large_read_rate =
          std::max(reads.large_read_rate, static_cast<double>(info->bytes) / time.seconds());
    }
  }
  if (reads.count == 0) {
    add_calls_on_files(trace, since, reads);
  } else if (const std::int64_t opened = files_opened(trace, since); opened > 0) {
    reads.count = opened;
    reads.files = true;
  }
  return reads;
}

bool samples_are_numbers(const trace::Trace& trace) {
  /// The fastest picture decoders read 0.2 to 0.4 GB/s of compressed data on one processor.
  constexpr double kLeastNsPerByte = 1.5;
  const StageTime decoding = time_of_stage(trace, RangeKind::kDecode);
  const auto read = static_cast<double>(sum_reads(trace).bytes);
  return decoding.ranges > 0 && read > 0 &&
         static_cast<double>(decoding.time.ns) < kLeastNsPerByte * read;
}

std::int64_t batches_made(const trace::Trace& trace, TimeNs since) {
  std::int64_t batches = 0;
  if (trace.range_info.empty()) return 0;
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const trace::RangeInfo* info = trace.info(trace::RangeId{i});
    batches += info && info->kind == RangeKind::kBatch && trace.ranges.start[i] >= since;
  }
  return batches;
}

LoaderWork loader_work(const RuleContext& context) {
  const trace::Trace& trace = context.trace;
  LoaderWork work;
  if (trace.range_info.empty()) return work;
  std::vector<bool> trains(trace.threads.size());
  for (const Step& step : context.steps.all) trains[step.thread.value] = true;
  std::map<trace::ThreadId, Interval> lives;  // of those that make batches
  Interval window = counters::steady_window(context);
  DurationNs making;
  DurationNs computing;
  DurationNs batch_time;
  std::int64_t batches = 0;
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const trace::RangeInfo* info = trace.info(trace::RangeId{i});
    if (!info || (info->kind != RangeKind::kBatch && !is_stage(info->kind))) continue;
    trace::ThreadId thread = trace.ranges.thread[i];
    Interval interval = trace.ranges.interval(trace::RangeId{i});
    if (trains[thread.value]) {
      work.on_training_thread = true;
      continue;
    }
    Interval& life = lives.emplace(thread, interval).first->second;
    life = {std::min(life.begin, interval.begin), std::max(life.end, interval.end)};
    DurationNs inside = intersect(interval, window).length();
    if (info->kind == RangeKind::kBatch) {
      making += inside;
      if (window.contains(interval.begin)) {
        batch_time += interval.length();
        ++batches;
      }
    } else if (info->kind != RangeKind::kRead) {
      computing += inside;
    }
  }
  std::vector<Interval> together;
  for (const auto& [thread, life] : lives) {
    work.workers.push_back(thread);
    together.push_back(life);
  }
  work.at_once = most_at_once(together);
  work.making = ratio(making, window.length());
  work.computing = ratio(computing, window.length());
  if (batches) work.per_batch = batch_time / batches;
  return work;
}

std::size_t most_at_once(std::span<const Interval> lives) {
  std::vector<std::pair<TimeNs, int>> changes;  // at equal times, ends sort before begins
  for (const Interval& life : lives) {
    changes.emplace_back(life.begin, 1);
    changes.emplace_back(life.end, -1);
  }
  std::ranges::sort(changes);
  int now = 0;
  int most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return static_cast<std::size_t>(most);
}

namespace {

/// The number at the start of the text; 0 if there is none.
std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

std::int64_t tensors_of_batch(const trace::Trace& trace) {
  const std::int64_t tensors = number(trace.setting("DataLoader.batch_tensors"));
  return tensors > 0 ? tensors : 2;
}

std::int64_t batches_ahead(const trace::Trace& trace) {
  return std::max<std::int64_t>(0, number(trace.setting("prefetch")));
}

std::optional<DataSet> data_set(const trace::Trace& trace) {
  const std::string_view loader = trace.setting("DataLoader");
  const auto value_of = [&](std::string_view key) -> std::int64_t {
    const std::size_t at = loader.find(key);
    return at == std::string_view::npos ? 0 : number(loader.substr(at + key.size()));
  };
  const std::int64_t samples = value_of(" samples=");
  const std::int64_t of_batch = value_of(" batch_size=");
  const std::int64_t bytes = number(trace.setting("DataLoader.batch_bytes"));
  if (samples <= 0 || of_batch <= 0 || bytes <= 0) return std::nullopt;
  const double all =
      static_cast<double>(samples) / static_cast<double>(of_batch) * static_cast<double>(bytes);
  if (!(all < 1e18)) return std::nullopt;
  return DataSet{samples, static_cast<std::int64_t>(all), of_batch, bytes};
}

bool is_in_memory(const trace::Trace& trace) {
  return trace.setting("DataLoader").find(" in_memory=True") != std::string_view::npos;
}

std::optional<bool> samples_are_random(const trace::Trace& trace) {
  if (!trace.setting("DataLoader.samples_draw_from").empty()) return true;
  if (!trace.setting("DataLoader.samples_draw_nothing").empty()) return false;
  return std::nullopt;
}

bool reads_come_from_memory(const trace::Trace& trace, TimeNs since) {
  // Flash answers in about 70 us. Opening a file in the page cache takes 5 to 15 us of a processor,
  // and the call may have to wait for a free one.
  constexpr DurationNs kFromMemory{25'000};
  constexpr double kFastest = 0.1;
  std::vector<double> each;
  std::vector<double> opens;
  for_each_call_on_file(trace, since, [&](const FileCalls& calls) {
    (calls.read ? each : opens)
        .push_back(static_cast<double>(calls.busy.ns) / static_cast<double>(calls.calls));
  });
  if (each.empty()) each = std::move(opens);  // a file's name may be known where its bytes are not
  if (each.empty()) return false;
  std::ranges::sort(each);
  return percentile_sorted(each, kFastest) < static_cast<double>(kFromMemory.ns);
}

StageTime time_of_stage(const trace::Trace& trace, RangeKind stage) {
  StageTime all;
  for (std::uint32_t r = 0; !trace.range_info.empty() && r < trace.ranges.size(); ++r) {
    const trace::RangeInfo* info = trace.info(trace::RangeId{r});
    if (!info || info->kind != stage) continue;
    if (trace.strings[trace.ranges.name[r]] == kWholeSamples) continue;
    all.time += trace.ranges.interval(trace::RangeId{r}).length();
    ++all.ranges;
  }
  return all;
}

std::int64_t trainers_in(const trace::Trace& trace) {
  std::set<std::int32_t> ranks;
  for (const trace::Process& process : trace.processes)
    if (process.rank >= 0) ranks.insert(process.rank);
  return std::max<std::int64_t>(1, std::ssize(ranks));
}

std::int64_t processor_count(const trace::Trace& trace) {
  std::string_view text = trace.meta_value(trace::meta::kCpuCount);
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  const std::int64_t here = trainers_in(trace);
  const std::int64_t of_machine = ranks_per_node(trace);
  if (count == 0 || of_machine == 0) return count;
  return std::max<std::int64_t>(
      1, count * here /
             std::min<std::int64_t>(of_machine, std::max<std::int64_t>(here, trace.world_size)));
}

namespace {

/// How long a loader's process lived in the window: from its first to its last range or sample.
DurationNs life_in(const trace::Trace& trace, trace::ProcessId process,
                   const trace::CounterSeries* series, Interval window) {
  std::optional<Interval> life;
  const auto add = [&](Interval more) {
    life = life ? Interval{std::min(life->begin, more.begin), std::max(life->end, more.end)} : more;
  };
  for (std::size_t t = 0; t < trace.threads.size(); ++t) {
    if (trace.threads[t].process != process) continue;
    const auto ranges = trace.ranges_of_thread[trace::ThreadId::from(t)];
    if (ranges.empty()) continue;
    add(trace.ranges.interval(ranges.front()));
    add(trace.ranges.interval(ranges.back()));
  }
  if (series && !series->time.empty()) add({series->time.front(), series->time.back()});
  return life ? intersect(*life, window).length() : DurationNs{};
}

}  // namespace

double processors_of(const trace::Trace& trace, const trace::CounterSeries& series,
                     Interval window) {
  return counters::summarise(series, window).mean / 100 *
         ratio(life_in(trace, series.process, &series, window), window.length());
}

std::optional<double> processors_taken(const trace::Trace& trace, const Steps& steps,
                                       std::set<trace::ProcessId> processes, Interval window) {
  for (const Step& step : steps.all)
    if (processes.contains(trace.threads[step.thread.value].process)) return std::nullopt;
  // Workers that restart with each epoch are many processes, but few live at the same time.
  double taken = 0;
  DurationNs known;
  for (const trace::CounterSeries& series : trace.counters) {
    if (series.name != counters::kProcessCpu || !processes.contains(series.process)) continue;
    if (counters::summarise(series, window).count == 0) continue;
    taken += processors_of(trace, series, window);
    known += life_in(trace, series.process, &series, window);
    processes.erase(series.process);
  }
  // Processes without samples count like the others, if their lifetime is the smaller part.
  DurationNs unknown;
  for (const trace::ProcessId process : processes)
    unknown += life_in(trace, process, nullptr, window);
  if (known.ns == 0 || unknown > known) return std::nullopt;
  return taken * (1 + ratio(unknown, known));
}

namespace {

/// Share of a processor that the training thread uses while it makes a batch: the use of its
/// process, minus the most that the rest of the step can use when it does not wait for a processor.
/// Nothing if the rest may also wait for a device or other ranks.
std::optional<double> share_of_own_processor(const RuleContext& context) {
  const trace::Trace& trace = context.trace;
  if (trace.device_ops.size() > 0 || trainers_in(trace) > 1 || context.steps.all.empty())
    return std::nullopt;
  const Interval window = counters::steady_window(context);
  const trace::ThreadId trainer = context.steps.all.front().thread;
  DurationNs making;
  for (const trace::RangeId range : trace.ranges_of_thread[trainer]) {
    const trace::RangeInfo* info = trace.info(range);
    if (info && info->kind == RangeKind::kBatch)
      making += intersect(trace.ranges.interval(range), window).length();
  }
  const double makes = ratio(making, window.length());
  if (makes <= 0) return std::nullopt;
  for (const trace::CounterSeries& series : trace.counters) {
    if (series.name != counters::kProcessCpu ||
        series.process != trace.threads[trainer.value].process)
      continue;
    const counters::Summary summary = counters::summarise(series, window);
    if (summary.count == 0) return std::nullopt;
    const auto wanted = counters::steady(context, "machine.pressure_cpu");
    const double waits = wanted ? std::clamp(wanted->mean / 100, 0.0, 1.0) : 0.0;
    return std::clamp((summary.mean / 100 - (1 - makes) * (1 - waits)) / makes, 0.0, 1.0);
  }
  return std::nullopt;
}

/// Share of a processor that a worker uses while it makes a batch, from the processor time of
/// processes that do nothing else. Nothing if that is not sampled.
std::optional<double> share_of_processor(const RuleContext& context) {
  const trace::Trace& trace = context.trace;
  const LoaderWork work = loader_work(context);
  std::set<trace::ProcessId> makers;
  for (trace::ThreadId worker : work.workers) makers.insert(trace.threads[worker.value].process);
  if (makers.empty()) return share_of_own_processor(context);
  const auto taken =
      processors_taken(trace, context.steps, std::move(makers), counters::steady_window(context));
  if (!taken || work.making <= 0) return std::nullopt;
  return std::min(1.0, *taken / work.making);
}

}  // namespace

std::optional<double> sampled_share_of_making(const RuleContext& context) {
  return share_of_processor(context);
}

double share_of_making(const RuleContext& context) {
  const trace::Trace& trace = context.trace;
  DurationNs making;
  DurationNs reading;
  DurationNs computing;
  const Interval window = counters::steady_window(context);
  for (std::uint32_t i = 0; !trace.range_info.empty() && i < trace.ranges.size(); ++i) {
    const trace::RangeInfo* info = trace.info(trace::RangeId{i});
    if (!info || (info->kind != RangeKind::kBatch && !is_stage(info->kind))) continue;
    const DurationNs inside = intersect(trace.ranges.interval(trace::RangeId{i}), window).length();
    (info->kind == RangeKind::kBatch  ? making
     : info->kind == RangeKind::kRead ? reading
                                      : computing) += inside;
  }
  const Reads reads = sum_reads(trace, context.steps.warm_from());
  double share = 1;
  if (const auto sampled = share_of_processor(context)) {
    share = *sampled;
  } else if (making.ns > 0 && (reads.count > 0 || reading.ns > 0)) {
    const double computes = std::min(1.0, ratio(computing, making));
    const double copies =
        reads.count > 0 ? std::min(1.0, static_cast<double>(reads.bytes) / reads.large_read_rate /
                                            std::max(1e-9, reads.time.seconds()))
                        : kCopiesOfReads;
    share = computes + (1 - computes) * copies;
  }
  return std::max(share, 1e-3);
}

/// Workers that mostly wait still cost a process and memory each. So their number is limited to the usual
/// one for a GPU of a large machine, or to a few per processor if that is more.
double most_workers(double processors) {
  constexpr double kMostPerProcessor = 4;
  constexpr double kUsualForGpu = 16;
  return std::max(kUsualForGpu, kMostPerProcessor * processors);
}

/// Number of workers that fit on `processors` free processors if each uses `share` of one.
double workers_on(double processors, double share) {
  return std::min(processors / share, most_workers(processors));
}

/// Least number of workers that keep nearly all of the free processors busy on average, if each independently wants one
/// for `share` of the time. More than fit on the mean: some of them wait for the storage at the same time.
std::int64_t workers_to_fill(double processors, double share) {
  constexpr double kNearlyAll = 0.95;
  constexpr double kMany = 128;  // chance hardly matters
  if (processors > kMany)
    return std::llround(std::min(std::ceil(workers_on(processors, share)), 1e9));
  const auto most = static_cast<std::size_t>(most_workers(processors));
  std::vector<double> wanting = {1};  // by number of workers that want a processor: the probability
  for (std::size_t workers = 1; workers < most; ++workers) {
    wanting.push_back(0);
    for (std::size_t k = workers; k > 0; --k) wanting[k] += share * (wanting[k - 1] - wanting[k]);
    wanting[0] *= 1 - share;
    double busy = 0;
    for (std::size_t k = 1; k <= workers; ++k)
      busy += wanting[k] * std::min(processors, static_cast<double>(k));
    if (busy >= kNearlyAll * processors) return static_cast<std::int64_t>(workers);
  }
  return static_cast<std::int64_t>(most);
}

std::int64_t workers_that_fit(const RuleContext& context) {
  const std::int64_t processors = processor_count(context.trace);
  if (processors <= 0) return 0;
  const std::int64_t trainers = trainers_in(context.trace);
  return static_cast<std::int64_t>(
      std::max(1.0, std::floor(workers_on(
                        static_cast<double>(processors - trainers) / static_cast<double>(trainers),
                        share_of_making(context)))));
}

/// Mean time of a steady step without the training thread's waits for batches. Waits for the device
/// count as work.
DurationNs work_of_training_thread(const RuleContext& context) {
  const trace::Ranges& ranges = context.trace.ranges;
  DurationNs work;
  for (const std::uint32_t index : context.steps.steady) {
    const Step& step = context.steps.all[index];
    work += step.cycle().length();
    const auto rows = context.trace.ranges_of_thread[step.thread];
    auto row = std::ranges::lower_bound(
        rows, step.host.begin, {}, [&](trace::RangeId range) { return ranges.start[range.value]; });
    for (; row != rows.end() && ranges.start[row->value] < step.cycle().end; ++row) {
      const trace::RangeId around = ranges.parent[row->value];
      const auto& contexts = context.attribution.contexts;
      if (!contexts[row->value].input_wait) continue;
      if (around.valid() && contexts[around.value].input_wait) continue;
      work -= intersect(ranges.interval(*row), step.cycle()).length();
    }
  }
  return work / std::max<std::int64_t>(1, std::ssize(context.steps.steady));
}

WorkerRoom room_for_workers(const RuleContext& context, DurationNs step, DurationNs making) {
  const std::int64_t processors = processor_count(context.trace);
  if (processors <= 0) return {};
  const double share = share_of_making(context);
  const double each =
      static_cast<double>(processors) / static_cast<double>(trainers_in(context.trace));
  const auto training = static_cast<double>(std::min(step, work_of_training_thread(context)).ns);
  const double least = (training + share * static_cast<double>(making.ns)) / each;
  const double busy = training / std::max({1.0, training, least});
  return {workers_to_fill(std::max(0.0, each - busy), share), DurationNs{std::llround(least)}};
}

std::int64_t workers_needed(DurationNs making, DurationNs step) {
  constexpr double kReserve = 1.2;
  return static_cast<std::int64_t>(
      std::ceil(kReserve * ratio(making, std::max(step, DurationNs{1}))));
}

}  // namespace headway::analyzer
