// SPDX-License-Identifier: MIT
#include "analyzer/whatif/timeline_json.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {
namespace {

using namespace trace;
using Json = nlohmann::ordered_json;

enum Process : std::uint8_t { kRecorded = 1, kPredicted = 2 };

std::string_view fate_id(Fate fate) {
  switch (fate) {
    case Fate::kJoined:
      return "joined";
    case Fate::kGone:
      return "gone";
    case Fate::kStays:
      break;
  }
  return "stays";
}

/// The format has times in microseconds; three decimals keep nanoseconds.
double microseconds(DurationNs time) {
  return static_cast<double>(time.ns) / 1e3;
}

/// Rows in the order of display: the step, the streams, then the ranges and calls of each thread.
class Rows {
 public:
  static constexpr std::int64_t kStep = 1;

  explicit Rows(const Trace& trace) : trace_(trace) { names_[kStep] = "step"; }

  std::int64_t of(EventRef event) {
    switch (event.kind) {
      case EventRef::Kind::kDeviceOp: {
        const StreamId id = trace_.device_ops.stream[event.index];
        const Stream& stream = trace_.streams[id.value];
        std::string& name = names_[kFirst + id.value];
        name = fmt::format(
            "device {}, {}", trace_.devices[stream.device.value].ordinal,
            stream.name.empty() ? fmt::format("stream {}", stream.ordinal) : stream.name);
        return kFirst + id.value;
      }
      case EventRef::Kind::kCall:
        return thread_row(trace_.calls.thread[event.index], true);
      default:
        return thread_row(trace_.ranges.thread[event.index], false);
    }
  }

  const std::map<std::int64_t, std::string>& names() const { return names_; }

 private:
  static constexpr std::int64_t kFirst = 2;

  std::int64_t thread_row(ThreadId id, bool calls) {
    const Thread& thread = trace_.threads[id.value];
    const std::int64_t row = kFirst + static_cast<std::int64_t>(trace_.streams.size()) +
                             2 * std::int64_t{id.value} + (calls ? 1 : 0);
    names_[row] = (thread.name.empty() ? fmt::format("thread {}", thread.tid) : thread.name) +
                  (calls ? ", calls" : "");
    return row;
  }

  const Trace& trace_;
  std::map<std::int64_t, std::string> names_;
};

class Writer {
 public:
  Writer(const Predictor& predictor, const PredictedStep& step)
      : predictor_(predictor), trace_(predictor.trace()), step_(step), rows_(trace_) {}

  Json events() {
    add_step(kRecorded, step_.recorded.length());
    add_step(kPredicted, step_.predicted);
    const Interval predicted{step_.recorded.begin, step_.recorded.begin + step_.replayed_tasks};
    for (const PredictedTask& task : step_.tasks) {
      if (!task.interpolated && overlap(task.recorded, step_.recorded))
        add(kRecorded, task, task.recorded);
      if (task.fate != Fate::kGone && overlap(task.predicted, predicted))
        add(kPredicted, task, task.predicted);
    }
    add_recorded_ranges();
    Json all = Json::array();
    for (const auto& [process, name] :
         {std::pair{kRecorded, "recorded"}, std::pair{kPredicted, "predicted"}}) {
      all.push_back(meta(process, 0, "process_name", {{"name", name}}));
      all.push_back(meta(process, 0, "process_sort_index", {{"sort_index", process}}));
      for (const auto& [row, label] : rows_.names()) {
        all.push_back(meta(process, row, "thread_name", {{"name", label}}));
        all.push_back(meta(process, row, "thread_sort_index", {{"sort_index", row}}));
      }
    }
    for (Json& event : events_) all.push_back(std::move(event));
    return all;
  }

  std::int64_t step_number() const {
    const auto& steps = predictor_.analysis().steps.all;
    return step_.step < steps.size() ? steps[step_.step].number : std::int64_t{step_.step};
  }

 private:
  static bool overlap(Interval when, Interval window) {
    return when.begin < window.end && when.end > window.begin;
  }

  /// Adds recorded ranges that are not tasks of the predicted step. If the host then runs ahead,
  /// the predicted step has other ranges than the recorded one.
  void add_recorded_ranges() {
    std::set<EventRef> tasks;
    for (const PredictedTask& task : step_.tasks)
      if (!task.interpolated) tasks.insert(task.event);
    for (ThreadId thread : step_.threads) {
      for (RangeId range : trace_.ranges_of_thread[thread]) {
        const PredictedTask one{EventRef::of(range), trace_.ranges.interval(range), {}};
        if (overlap(one.recorded, step_.recorded) && !tasks.contains(one.event))
          add(kRecorded, one, one.recorded);
      }
    }
  }

  static Json meta(Process process, std::int64_t row, const char* what, Json args) {
    return {{"ph", "M"}, {"pid", process}, {"tid", row}, {"name", what}, {"args", std::move(args)}};
  }

  void add_step(Process process, DurationNs length) {
    events_.push_back({{"ph", "X"},
                       {"pid", process},
                       {"tid", Rows::kStep},
                       {"ts", 0.0},
                       {"dur", microseconds(length)},
                       {"name", fmt::format("step {}", step_number())},
                       {"cat", "step"}});
  }

  void add(Process process, const PredictedTask& task, Interval when) {
    const auto [category, time_class, op] = describe(task.event);
    Json args{{"class", time_class}};
    if (op.value != 0) args["op"] = predictor_.analysis().attribution.ops[op.value].name;
    args["fate"] = fate_id(task.fate);
    if (task.interpolated) args["interpolated"] = true;
    // In whole nanoseconds: equal for an event in both processes, so that a search finds both.
    args["recorded_start_ns"] = (task.recorded.begin - step_.recorded.begin).ns;
    events_.push_back({{"ph", "X"},
                       {"pid", process},
                       {"tid", rows_.of(task.event)},
                       {"ts", microseconds(when.begin - step_.recorded.begin)},
                       {"dur", microseconds(when.length())},
                       {"name", name_of(trace_, task.event)},
                       {"cat", category},
                       {"args", std::move(args)}});
  }

  struct Description {
    const char* category;
    std::string_view time_class;
    OpId op{0};
  };
  Description describe(EventRef event) const {
    const Attribution& attribution = predictor_.analysis().attribution;
    switch (event.kind) {
      case EventRef::Kind::kDeviceOp:
        return {"device", info(attribution.class_of[event.index]).id,
                attribution.op_of[event.index]};
      case EventRef::Kind::kCall: {
        const DeviceOpId op = trace_.calls.op[event.index];
        return {"call", info(class_of_call(trace_.calls.kind[event.index])).id,
                op.valid() ? attribution.op_of[op.value] : OpId{0}};
      }
      default:
        return {"range", "range", OpId{0}};
    }
  }

  const Predictor& predictor_;
  const Trace& trace_;
  const PredictedStep& step_;
  Rows rows_;
  std::vector<Json> events_;
};

}  // namespace

std::string timeline_json(const Predictor& predictor, const PredictedStep& step,
                          const TimelineTitle& title) {
  Writer writer(predictor, step);
  Json root{{"displayTimeUnit", "ns"}};
  root["traceEvents"] = writer.events();
  root["otherData"] = {{"schema", "headway.timeline"},
                       {"version", 1},
                       {"trace", predictor.trace().path},
                       {"fix", title.id},
                       {"title", title.text},
                       {"step", writer.step_number()},
                       {"recorded_ns", step.recorded.length().ns},
                       {"replayed_ns", step.replayed.ns},
                       {"predicted_ns", step.predicted.ns},
                       {"gain_ns", step.gain().ns}};
  return root.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace headway::analyzer
