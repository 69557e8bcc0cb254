// SPDX-License-Identifier: MIT
// Trace and Analysis -> TimelineModel: the rows, in the order in which they are shown, and their
// lanes.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "analyzer/graph/edges.h"
#include "gui/models/text/display_text.h"
#include "gui/models/timeline/lane_packing.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {
namespace {

using trace::CallId;
using trace::DeviceId;
using trace::DeviceOpId;
using trace::ProcessId;
using trace::RangeId;
using trace::Ranges;
using trace::StreamId;
using trace::ThreadId;

constexpr std::size_t kLabelCharacters = 80;

/// "loader-2" before "loader-10".
bool natural_less(std::string_view a, std::string_view b) {
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      auto number = [&](std::string_view& text) {
        while (text.size() > 1 && text[0] == '0') text.remove_prefix(1);
        std::size_t digits = 0;
        while (digits < text.size() && is_digit(text[digits])) ++digits;
        std::string_view result = text.substr(0, digits);
        text.remove_prefix(digits);
        return result;
      };
      std::string_view x = number(a);
      std::string_view y = number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

bool is_same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && contains_ignoring_case(a, b);
}

class Builder {
 public:
  Builder(const trace::Trace& trace, const analyzer::Analysis& analysis,
          const TimelineModel* before)
      : trace_(trace), analysis_(analysis), before_(before) {
    model_.trace = &trace;
    model_.analysis = &analysis;
    model_.row_of_thread.resize(trace.threads.size());
    model_.row_of_calls.resize(trace.threads.size());
    model_.row_of_stream.resize(trace.streams.size());
    // Lanes point into this vector, so it must not reallocate.
    model_.counters.reserve(trace.counters.size());
    threads_of_process_.resize(trace.processes.size());
    look_at_events();
    for (std::size_t t = 0; t < trace.threads.size(); ++t) {
      if (has_events(ThreadId::from(t)))
        threads_of_process_[trace.threads[t].process.value].push_back(ThreadId::from(t));
    }
  }

  /// Finds the threads, processes and devices that need rows of their own for special events.
  void look_at_events() {
    using trace::RangeKind;
    makes_batches_.resize(trace_.threads.size());
    waits_.resize(trace_.threads.size());
    reads_.resize(trace_.processes.size());
    has_communication_.resize(trace_.devices.size());
    for (std::size_t r = 0; r < trace_.ranges.size(); ++r) {
      const trace::RangeInfo* info = trace_.info(RangeId::from(r));
      if (!info) continue;
      ThreadId thread = trace_.ranges.thread[r];
      if (info->kind == RangeKind::kBatch) makes_batches_[thread.value] = true;
      if (info->kind == RangeKind::kInputWait) waits_[thread.value] = true;
      if (info->kind == RangeKind::kRead) reads_[trace_.threads[thread.value].process.value] = true;
    }
    if (!trace_.collectives.empty()) {
      std::int64_t contradicted = 0;
      for (const auto& group : analyzer::find_rendezvous(trace_, contradicted)) {
        for (DeviceOpId op : group.ops) meetings_.emplace_back(op, group.last_start);
      }
      std::sort(meetings_.begin(), meetings_.end());
    }
    for (const analyzer::Step& step : analysis_.steps.all)
      makes_batches_[step.thread.value] = false;
    for (std::size_t c = 0; c < trace_.calls.size(); ++c) {
      if (trace::is_blocking(trace_.calls.kind[c])) waits_[trace_.calls.thread[c].value] = true;
    }
    for (std::size_t op = 0; op < trace_.device_ops.size(); ++op) {
      if (is_communication(DeviceOpId::from(op)))
        has_communication_[device_of(DeviceOpId::from(op)).value] = true;
    }
  }

  bool is_communication(DeviceOpId op) const {
    return op.value < analysis_.attribution.op_of.size() &&
           role_of(trace_, analysis_.attribution, op) ==
               role_of(analyzer::TimeClass::kCommTransfer);
  }
  DeviceId device_of(DeviceOpId op) const {
    return trace_.streams[trace_.device_ops.stream[op.value].value].device;
  }

  TimelineModel build(int threads) {
    add_rows();
    build_lanes(threads);
    add_steps();
    find_bounds();
    return std::move(model_);
  }

 private:
  RowId add(RowKind kind, std::uint32_t subject, std::string label, std::string detail = {}) {
    Row& row = model_.rows.emplace_back();
    row.kind = kind;
    row.subject = subject;
    row.label = std::move(label);
    row.detail = std::move(detail);
    row.depth = static_cast<std::uint8_t>(open_.size());
    row.parent = open_.empty() ? RowId::none() : open_.back();
    for (RowId heading : open_) ++model_.rows[heading.value].descendants;
    return RowId::from(model_.rows.size() - 1);
  }

  template <class Body>
  void inside(RowId heading, Body body) {
    open_.push_back(heading);
    body();
    open_.pop_back();
  }

  void add_rows() {
    std::vector<ProcessId> processes;
    std::map<ProcessId, int> per_rank;
    for (std::size_t i = 0; i < trace_.processes.size(); ++i) {
      processes.push_back(ProcessId::from(i));
      if (has_content(processes.back())) ranks_.insert(process(processes.back()).rank);
    }
    std::stable_sort(processes.begin(), processes.end(), [&](ProcessId a, ProcessId b) {
      return std::pair(process(a).rank, process(a).start) <
             std::pair(process(b).rank, process(b).start);
    });
    std::vector<bool> device_shown(trace_.devices.size(), false);
    auto add_devices = [&](auto belongs) {
      for (std::size_t d = 0; d < trace_.devices.size(); ++d) {
        if (device_shown[d] || !has_ops(DeviceId::from(d)) || !belongs(DeviceId::from(d))) continue;
        device_shown[d] = true;
        add_device(DeviceId::from(d));
      }
    };
    for (ProcessId id : processes) {
      // A CUDA device is placed before the first process that used it.
      add_devices([&](DeviceId device) { return uses(id, device); });
      add_process(id);
    }
    add_devices([](DeviceId) { return true; });
    add_machine_counters();
  }

  const trace::Process& process(ProcessId id) const { return trace_.processes[id.value]; }
  bool has_ops(StreamId stream) const { return !trace_.ops_of_stream[stream].empty(); }
  bool has_ops(DeviceId device) const {
    for (std::size_t s = 0; s < trace_.streams.size(); ++s) {
      if (trace_.streams[s].device == device && has_ops(StreamId::from(s))) return true;
    }
    return false;
  }
  bool uses(ProcessId id, DeviceId device) const {
    for (std::size_t s = 0; s < trace_.streams.size(); ++s) {
      const trace::Stream& stream = trace_.streams[s];
      if (stream.device == device && stream.process == id && has_ops(StreamId::from(s)))
        return true;
    }
    return false;
  }
  bool has_events(ThreadId thread) const {
    return !trace_.ranges_of_thread[thread].empty() || !trace_.calls_of_thread[thread].empty();
  }
  bool has_content(ProcessId id) const {
    return !threads_of_process_[id.value].empty() ||
           std::any_of(trace_.counters.begin(), trace_.counters.end(),
                       [&](const trace::CounterSeries& series) { return series.process == id; });
  }

  std::string rank_prefix(int rank) const {
    return ranks_.size() > 1 ? fmt::format("Rank {} · ", rank) : "";
  }

  void add_device(DeviceId id) {
    const trace::Device& device = trace_.devices[id.value];
    std::string_view type = device.name.starts_with("TPU")                 ? "TPU"
                            : device.type == trace::DeviceType::kCuda      ? "GPU"
                            : device.type == trace::DeviceType::kSimulated ? "Simulated device"
                                                                           : "Host device";
    std::string prefix;
    // A recording merged from several ranks has a GPU 0 for each rank.
    bool is_alone =
        std::count_if(trace_.devices.begin(), trace_.devices.end(),
                      [&](const trace::Device& other) {
                        return other.type == device.type && other.ordinal == device.ordinal;
                      }) == 1;
    if ((device.type != trace::DeviceType::kCuda || !is_alone) && device.process.valid())
      prefix = rank_prefix(process(device.process).rank);
    RowId heading =
        add(RowKind::kDevice, id.value, fmt::format("{}{} {}", prefix, type, device.ordinal),
            display_text(device.name, kLabelCharacters));
    inside(heading, [&] {
      for (std::uint32_t p = 0; p < analysis_.partitions.size(); ++p) {
        if (analysis_.partitions[p].device == id && !analysis_.partitions[p].segments.empty())
          add(RowKind::kPartition, p, "Time classes");
      }
      if (has_communication_[id.value]) add(RowKind::kCollectives, id.value, "Collectives");
      std::vector<StreamId> streams;
      for (std::size_t s = 0; s < trace_.streams.size(); ++s) {
        if (trace_.streams[s].device == id && has_ops(StreamId::from(s)))
          streams.push_back(StreamId::from(s));
      }
      std::stable_sort(streams.begin(), streams.end(), [&](StreamId a, StreamId b) {
        const trace::Stream& x = trace_.streams[a.value];
        const trace::Stream& y = trace_.streams[b.value];
        return std::pair(process(x.process).rank, x.ordinal) <
               std::pair(process(y.process).rank, y.ordinal);
      });
      std::set<ProcessId> owners;
      for (StreamId s : streams) owners.insert(trace_.streams[s.value].process);
      for (StreamId s : streams) add_stream(s, owners.size() > 1);
    });
  }

  void add_stream(StreamId id, bool shared) {
    const trace::Stream& stream = trace_.streams[id.value];
    std::string detail = display_text(stream.name, kLabelCharacters);
    if (is_same_name(detail, fmt::format("stream {}", stream.ordinal))) detail.clear();
    if (shared)
      detail += fmt::format("{}pid {}", detail.empty() ? "" : " · ", process(stream.process).pid);
    model_.row_of_stream[id.value] =
        add(RowKind::kStream, id.value, fmt::format("Stream {}", stream.ordinal), detail);
  }

  void add_process(ProcessId id) {
    if (!has_content(id)) return;
    const trace::Process& p = process(id);
    std::string name = display_text(p.name, kLabelCharacters);
    if (name.find('/') != std::string::npos) name = name.substr(name.rfind('/') + 1);
    std::string detail = fmt::format("pid {}", p.pid);
    if (p.signal) detail += fmt::format(" · killed by signal {}", *p.signal);
    RowId heading = add(RowKind::kProcess, id.value,
                        rank_prefix(p.rank) + (name.empty() ? "Process" : name), detail);
    inside(heading, [&] {
      std::vector<ThreadId> threads = threads_of(id);
      auto loader = std::stable_partition(threads.begin(), threads.end(), [&](ThreadId thread) {
        return !makes_batches_[thread.value];
      });
      for (std::uint32_t p = 0; p < analysis_.partitions.size(); ++p) {
        const analyzer::DevicePartition& partition = analysis_.partitions[p];
        if (partition.device.valid() || !partition.thread.valid() || partition.segments.empty())
          continue;
        if (trace_.threads[partition.thread.value].process == id)
          add(RowKind::kPartition, p, "Time classes");
      }
      std::for_each(threads.begin(), loader, [&](ThreadId thread) { add_thread(thread); });
      if (has_overheads(id)) add(RowKind::kOverheads, id.value, "Overheads", "CUDA and profiler");
      add_loaders(id, {loader, threads.end()});
      std::vector<std::uint32_t> counters;
      for (std::uint32_t c = 0; c < trace_.counters.size(); ++c) {
        if (trace_.counters[c].process == id) counters.push_back(c);
      }
      add_counters(counters, "Counters");
    });
  }

  /// The training thread first, then the main thread, then by name.
  std::vector<ThreadId> threads_of(ProcessId id) const {
    std::set<ThreadId> training;
    for (const analyzer::Step& step : analysis_.steps.all) training.insert(step.thread);
    std::vector<ThreadId> threads = threads_of_process_[id.value];
    std::stable_sort(threads.begin(), threads.end(), [&](ThreadId a, ThreadId b) {
      if (training.contains(a) != training.contains(b)) return training.contains(a);
      const trace::Thread& x = trace_.threads[a.value];
      const trace::Thread& y = trace_.threads[b.value];
      bool x_is_main = x.tid == process(id).pid;
      if (x_is_main != (y.tid == process(id).pid)) return x_is_main;
      if (x.name != y.name) return natural_less(x.name, y.name);
      return x.tid < y.tid;
    });
    return threads;
  }

  void add_thread(ThreadId id) {
    const trace::Thread& thread = trace_.threads[id.value];
    std::string label = display_text(thread.name, kLabelCharacters);
    std::string detail = fmt::format("tid {}", thread.tid);
    if (label.find_first_not_of(' ') == std::string::npos) {
      label = fmt::format("Thread {}", thread.tid);
      detail.clear();
    }
    bool has_calls = !trace_.calls_of_thread[id].empty();
    if (trace_.ranges_of_thread[id].empty()) {
      model_.row_of_calls[id.value] =
          add(RowKind::kCalls, id.value, std::move(label), "device API");
      return;
    }
    RowId row = add(RowKind::kThread, id.value, std::move(label), detail);
    model_.row_of_thread[id.value] = row;
    inside(row, [&] {
      if (has_calls) model_.row_of_calls[id.value] = add(RowKind::kCalls, id.value, "Device API");
      if (waits_[id.value]) add(RowKind::kWaits, id.value, "Waits", "for device and input");
    });
  }

  /// Adds the heading of the loader workers: reads from storage first, then the threads that make
  /// batches.
  void add_loaders(ProcessId id, const std::vector<ThreadId>& threads) {
    if (threads.empty() && !reads_[id.value]) return;
    std::string detail = fmt::format("{} thread{}", threads.size(), threads.size() == 1 ? "" : "s");
    RowId heading = add(RowKind::kLoaders, id.value, "Loader workers", detail);
    inside(heading, [&] {
      if (reads_[id.value]) add(RowKind::kReads, id.value, "Reads", "from storage");
      for (ThreadId thread : threads) add_thread(thread);
    });
  }

  bool has_overheads(ProcessId id) const {
    return std::any_of(trace_.overheads.begin(), trace_.overheads.end(),
                       [&](const trace::Overhead& overhead) { return belongs(overhead, id); });
  }
  /// An overhead without a thread belongs to the first process.
  bool belongs(const trace::Overhead& overhead, ProcessId id) const {
    ProcessId owner =
        overhead.thread.valid() ? trace_.threads[overhead.thread.value].process : ProcessId{0};
    return owner == id && !overhead.interval.empty();
  }

  void add_counters(const std::vector<std::uint32_t>& counters, std::string_view heading) {
    if (counters.empty()) return;
    inside(add(RowKind::kCounters, 0, std::string(heading)), [&] {
      for (std::uint32_t c : counters) {
        const trace::CounterSeries& series = trace_.counters[c];
        std::string label = display_text(series.name, kLabelCharacters);
        if (series.device) label += fmt::format(" (device {})", *series.device);
        add(RowKind::kCounter, static_cast<std::uint32_t>(model_.counters.size()), std::move(label),
            display_text(series.unit, 16));
        model_.counters.emplace_back(series);
      }
    });
  }

  void add_machine_counters() {
    std::vector<std::uint32_t> counters;
    for (std::uint32_t c = 0; c < trace_.counters.size(); ++c) {
      if (!trace_.counters[c].process.valid()) counters.push_back(c);
    }
    if (counters.empty()) return;
    inside(add(RowKind::kMachine, 0, "Machine"), [&] { add_counters(counters, "Counters"); });
  }

  void build_lanes(int threads) {
    std::atomic<std::size_t> next = 0;
    auto work = [&] {
      for (std::size_t i; (i = next.fetch_add(1)) < model_.rows.size();) build_row(model_.rows[i]);
    };
    std::vector<std::thread> helpers;
    for (int i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
  }

  /// Takes over the lanes of a row from `before_` if the analysis does not change them.
  bool take_lanes(Row& row) const {
    if (!before_) return false;
    RowId same;
    if (row.kind == RowKind::kThread) same = before_->row_of_thread[row.subject];
    if (row.kind == RowKind::kCalls) same = before_->row_of_calls[row.subject];
    if (row.kind == RowKind::kStream && looks_the_same(StreamId{row.subject}))
      same = before_->row_of_stream[row.subject];
    if (same.valid()) row.lanes = before_->row(same).lanes;
    return same.valid();
  }

  bool looks_the_same(StreamId stream) const {
    const auto& before = before_->analysis->attribution.class_of;
    const auto& now = analysis_.attribution.class_of;
    auto ops = trace_.ops_of_stream[stream];
    return std::all_of(ops.begin(), ops.end(),
                       [&](DeviceOpId op) { return before[op.value] == now[op.value]; });
  }

  void build_row(Row& row) const {
    if (take_lanes(row)) return;
    switch (row.kind) {
      case RowKind::kPartition:
        return build_partition(row);
      case RowKind::kStream:
        return build_stream(row);
      case RowKind::kThread:
        return build_thread(row);
      case RowKind::kCalls:
        return build_calls(row);
      case RowKind::kCollectives:
        return build_collectives(row);
      case RowKind::kWaits:
        return build_waits(row);
      case RowKind::kReads:
        return build_reads(row);
      case RowKind::kOverheads:
        return build_overheads(row);
      default:
        return;
    }
  }

  void build_partition(Row& row) const {
    const analyzer::DevicePartition& partition = analysis_.partitions[row.subject];
    std::vector<std::uint32_t> order(partition.segments.size());
    std::iota(order.begin(), order.end(), 0u);
    // Steps of two ranks that share a device may overlap.
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return partition.segments[a].interval.begin < partition.segments[b].interval.begin;
    });
    Lane lane;
    lane.reserve(order.size());
    for (std::uint32_t i : order) {
      const analyzer::Segment& segment = partition.segments[i];
      lane.append_overlapping(segment.interval, i, role_of(segment.time_class));
    }
    lane.finish();
    row.lanes.push_back(std::move(lane));
  }

  void build_stream(Row& row) const {
    row.lanes = pack_lanes(
        trace_.ops_of_stream[StreamId{row.subject}],
        [&](DeviceOpId op) { return trace_.device_ops.interval(op); },
        [](DeviceOpId) { return std::size_t{0}; },
        [&](DeviceOpId op) { return role_of(trace_, analysis_.attribution, op); });
  }

  void build_calls(Row& row) const {
    row.lanes = pack_lanes(
        trace_.calls_of_thread[ThreadId{row.subject}],
        [&](CallId call) { return trace_.calls.interval(call); },
        [](CallId) { return std::size_t{0}; },
        [&](CallId call) { return role_of(trace_.calls.kind[call.value]); });
  }

  /// A collective whose ranks are all in the trace is split: waiting until the last rank arrives,
  /// then transfer.
  void build_collectives(Row& row) const {
    struct Piece {
      std::uint32_t value;  ///< DeviceOpId
      Interval when;
      ColorRole color;
    };
    const ColorRole transfer = role_of(analyzer::TimeClass::kCommTransfer);
    std::vector<Piece> pieces;
    auto add = [&](DeviceOpId op) {
      Interval when = trace_.device_ops.interval(op);
      auto last =
          std::lower_bound(meetings_.begin(), meetings_.end(), std::pair(op, TimeNs::min()));
      if (last != meetings_.end() && last->first == op && when.begin < last->second &&
          last->second < when.end) {
        pieces.push_back(
            {op.value, {when.begin, last->second}, role_of(analyzer::TimeClass::kStragglerWait)});
        pieces.push_back({op.value, {last->second, when.end}, transfer});
      } else {
        pieces.push_back({op.value, when, transfer});
      }
    };
    for (std::size_t s = 0; s < trace_.streams.size(); ++s) {
      if (trace_.streams[s].device.value != row.subject) continue;
      for (DeviceOpId op : trace_.ops_of_stream[StreamId::from(s)]) {
        if (is_communication(op)) add(op);
      }
    }
    // Overlapping pieces of several streams get lanes of their own.
    std::stable_sort(pieces.begin(), pieces.end(),
                     [](const Piece& a, const Piece& b) { return a.when.begin < b.when.begin; });
    row.lanes = pack_lanes(
        pieces, [](const Piece& piece) { return piece.when; },
        [](const Piece&) { return std::size_t{0}; },
        [](const Piece& piece) { return piece.color; });
  }

  void build_waits(Row& row) const {
    struct Wait {
      std::uint32_t value;  ///< CallId, or RangeId with kRangeBit
      Interval when;
      ColorRole color;
    };
    std::vector<Wait> waits;
    for (CallId call : trace_.calls_of_thread[ThreadId{row.subject}]) {
      if (trace::is_blocking(trace_.calls.kind[call.value]))
        waits.push_back(
            {call.value, trace_.calls.interval(call), role_of(analyzer::TimeClass::kHostSync)});
    }
    for (RangeId range : trace_.ranges_of_thread[ThreadId{row.subject}]) {
      const trace::RangeInfo* info = trace_.info(range);
      if (info && info->kind == trace::RangeKind::kInputWait)
        waits.push_back({range.value | TimelineModel::kRangeBit, trace_.ranges.interval(range),
                         role_of(trace_, range)});
    }
    std::stable_sort(waits.begin(), waits.end(),
                     [](const Wait& a, const Wait& b) { return a.when.begin < b.when.begin; });
    row.lanes = pack_lanes(
        waits, [](const Wait& wait) { return wait.when; },
        [](const Wait&) { return std::size_t{0}; }, [](const Wait& wait) { return wait.color; });
  }

  void build_reads(Row& row) const {
    std::vector<RangeId> reads;
    for (std::size_t t = 0; t < trace_.threads.size(); ++t) {
      if (trace_.threads[t].process.value != row.subject) continue;
      for (RangeId range : trace_.ranges_of_thread[ThreadId::from(t)]) {
        const trace::RangeInfo* info = trace_.info(range);
        if (info && info->kind == trace::RangeKind::kRead) reads.push_back(range);
      }
    }
    std::sort(reads.begin(), reads.end());  // ids are in the order of start
    row.lanes = pack_lanes(
        reads, [&](RangeId range) { return trace_.ranges.interval(range); },
        [](RangeId) { return std::size_t{0}; },
        [&](RangeId range) { return role_of(trace_, range); });
  }

  void build_overheads(Row& row) const {
    struct Index {
      std::uint32_t value;
    };
    std::vector<Index> mine;
    for (std::uint32_t i = 0; i < trace_.overheads.size(); ++i) {
      if (belongs(trace_.overheads[i], ProcessId{row.subject})) mine.push_back({i});
    }
    row.lanes = pack_lanes(
        mine, [&](Index i) { return trace_.overheads[i.value].interval; },
        [](Index) { return std::size_t{0}; },
        [](Index) { return role_of(analyzer::TimeClass::kProfiler); });
  }

  /// Nested ranges at their depth; below them the ranges that need not nest.
  void build_thread(Row& row) const {
    std::vector<RangeId> nested;
    std::vector<RangeId> free;
    for (RangeId range : trace_.ranges_of_thread[ThreadId{row.subject}])
      (trace_.ranges.is(range, Ranges::kStartEnd) ? free : nested).push_back(range);
    auto interval = [&](RangeId range) { return trace_.ranges.interval(range); };
    auto color = [&](RangeId range) { return role_of(trace_, range); };
    row.lanes = pack_lanes(
        nested, interval,
        [&](RangeId range) { return std::size_t{trace_.ranges.depth[range.value]}; }, color);
    std::vector<Lane> below = pack_lanes(
        free, interval, [](RangeId) { return std::size_t{0}; }, color);
    row.lanes.insert(row.lanes.end(), std::make_move_iterator(below.begin()),
                     std::make_move_iterator(below.end()));
  }

  /// The ruler shows the steps of the first rank's training thread.
  void add_steps() {
    const std::vector<analyzer::Step>& steps = analysis_.steps.all;
    model_.step_lengths = step_lengths(analysis_);
    const analyzer::Step* first = nullptr;
    auto rank = [&](const analyzer::Step& step) {
      return process(trace_.threads[step.thread.value].process).rank;
    };
    for (const analyzer::Step& step : steps) {
      if (!first || rank(step) < rank(*first)) first = &step;
    }
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
      if (steps[i].thread != first->thread) continue;
      model_.steps.append_overlapping(steps[i].host, i,
                                      steps[i].steady ? ColorRole::kStep : ColorRole::kStepDropped);
    }
    model_.steps.finish();
  }

  void find_bounds() {
    TimeNs begin = TimeNs::max();
    TimeNs end = trace_.end;
    auto include = [&](const std::vector<TimeNs>& starts) {
      if (!starts.empty()) begin = std::min(begin, starts.front());
    };
    include(trace_.ranges.start);
    include(trace_.device_ops.start);
    include(trace_.calls.start);
    for (const trace::CounterSeries& series : trace_.counters) {
      include(series.time);
      if (!series.time.empty()) end = std::max(end, series.time.back());
    }
    if (begin == TimeNs::max()) begin = {0};
    model_.bounds = {begin, std::max(end, begin + DurationNs{1})};
  }

  const trace::Trace& trace_;
  const analyzer::Analysis& analysis_;
  const TimelineModel* before_;
  TimelineModel model_;
  std::vector<RowId> open_;
  std::vector<std::vector<ThreadId>> threads_of_process_;  ///< threads with events
  std::set<std::int32_t> ranks_;
  std::vector<bool> makes_batches_;      ///< by thread
  std::vector<bool> waits_;              ///< by thread
  std::vector<bool> reads_;              ///< by process
  std::vector<bool> has_communication_;  ///< by device
  /// When the last rank arrived at each collective that several ranks of the trace took part in.
  std::vector<std::pair<DeviceOpId, TimeNs>> meetings_;
};

}  // namespace

TimelineModel build_timeline(const trace::Trace& trace, const analyzer::Analysis& analysis,
                             int threads, const TimelineModel* before) {
  return Builder(trace, analysis, before).build(threads);
}

}  // namespace headway::gui
