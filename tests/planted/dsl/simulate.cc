// SPDX-License-Identifier: MIT
#include "tests/planted/dsl/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/planted/dsl/device_queues.h"
#include "tests/planted/dsl/expand.h"

namespace headway::planted {
namespace {

using trace::DeviceCallKind;
using Kind = Action::Kind;

struct Actor {
  const Program* program = nullptr;
  std::size_t next = 0;
  TimeNs now;
  std::vector<int> open;  ///< ranges, indexes into the recording; -1: invisible
  int call = -1;          ///< a blocking call that was entered
  int graph_call = -1;    ///< the last graph launch
  bool done() const { return next == program->actions.size(); }
};

DeviceQueues::Members members_of(const Plan& plan) {
  std::map<std::string, std::set<int>> ranks;
  for (const Program& program : plan.programs) {
    for (const Action& action : program.actions) {
      if (action.is_collective) ranks[action.collective.communicator].insert(program.rank);
    }
  }
  DeviceQueues::Members members;
  for (const auto& [communicator, set] : ranks)
    members[communicator] = static_cast<int>(set.size());
  return members;
}

class Simulation {
 public:
  explicit Simulation(Plan plan)
      : plan_(std::move(plan)),
        out_(plan_.world),
        queues_(out_, members_of(plan_)),
        ready_(plan_.loaders.size()),
        taken_(plan_.loaders.size()) {
    for (const Program& program : plan_.programs) {
      Actor actor;
      actor.program = &program;
      actor.now = program.start;
      actors_.push_back(actor);
    }
  }

  Recording run() {
    for (;;) {
      std::vector<Actor*> order;
      for (Actor& actor : actors_) {
        if (!actor.done()) order.push_back(&actor);
      }
      if (order.empty()) break;
      std::stable_sort(order.begin(), order.end(),
                       [](const Actor* a, const Actor* b) { return a->now < b->now; });
      bool moved = std::any_of(order.begin(), order.end(), [&](Actor* actor) {
        if (!step(*actor)) return false;
        ++actor->next;
        return true;
      });
      if (!moved) {
        const Action& stuck = order.front()->program->actions[order.front()->next];
        stuck.source->fail(
            "waits for something that never comes: an event not recorded, a batch not made, or a "
            "collective that another rank does not join");
      }
    }
    check_finished();
    return std::move(out_);
  }

 private:
  void check_finished() {
    for (const Recording::Op& op : out_.ops) {
      if (op.interval.end.ns < 0) {
        plan_.programs.front().actions.front().source->fail(
            fmt::format("'{}' never runs: a collective that another rank does not join", op.name));
      }
    }
  }

  /// Executes the actor's next action; false when it cannot be executed yet.
  bool step(Actor& actor) {
    const Action& action = actor.program->actions[actor.next];
    switch (action.kind) {
      case Kind::kBeginRange:
        begin(actor, action);
        return true;
      case Kind::kEndRange:
        if (actor.open.back() >= 0) out_.ranges[actor.open.back()].interval.end = actor.now;
        actor.open.pop_back();
        return true;
      case Kind::kMark:
        begin(actor, action);
        out_.ranges.back().flags = trace::Ranges::kMark;
        actor.open.pop_back();
        return true;
      case Kind::kHost:
        actor.now = actor.now + action.host;
        return true;
      case Kind::kInput:
        return take_batch(actor, action);
      case Kind::kBatchIssued:
        return await_order(actor, action);
      case Kind::kBatchReady:
        ready_[rank(actor)][action.batch] = actor.now;
        return true;
      case Kind::kLaunch:
        return launch(actor, action);
      case Kind::kInGraph:
        enqueue(actor, action, actor.graph_call, out_.calls[actor.graph_call].interval.begin);
        return true;
      case Kind::kRecord:
      case Kind::kAwait:
        return event(actor, action);
      case Kind::kSyncStream:
      case Kind::kSyncDevice:
      case Kind::kSyncEvent:
        return synchronize(actor, action);
      case Kind::kCall: {
        int call = add_call(actor, action);
        out_.calls[call].bytes = action.op.bytes;
        actor.now = out_.calls[call].interval.end;
        return true;
      }
      case Kind::kOverhead:
        out_.overheads.push_back(
            {action.thread, action.name, {actor.now, actor.now + action.host}, action.overhead});
        actor.now = actor.now + action.host;
        return true;
    }
    return true;
  }

  std::size_t rank(const Actor& actor) const {
    return static_cast<std::size_t>(actor.program->rank);
  }

  void begin(Actor& actor, const Action& action) {
    if (!action.visible) return actor.open.push_back(-1);
    Recording::Range range = action.range;
    range.thread = action.thread;
    range.interval = {actor.now, actor.now};
    out_.ranges.push_back(std::move(range));
    actor.open.push_back(static_cast<int>(out_.ranges.size()) - 1);
  }

  bool take_batch(Actor& actor, const Action& action) {
    auto made = ready_[rank(actor)].find(action.batch);
    if (made == ready_[rank(actor)].end()) return false;
    const LoaderPlan& loader = plan_.loaders[rank(actor)];
    actor.now = std::max(actor.now + action.host, made->second + loader.handover);
    taken_[rank(actor)][action.batch] = actor.now;
    return true;
  }

  /// The trainer orders a new batch for each that it takes.
  bool await_order(Actor& actor, const Action& action) {
    const LoaderPlan& loader = plan_.loaders[rank(actor)];
    std::int64_t needs = action.batch - std::int64_t{loader.prefetch} * loader.workers;
    if (needs < 0) return true;
    auto taken = taken_[rank(actor)].find(needs);
    if (taken == taken_[rank(actor)].end()) return false;
    actor.now = std::max(actor.now, taken->second);
    return true;
  }

  int add_call(Actor& actor, const Action& action) {
    Recording::Call call;
    call.thread = action.thread;
    call.name = action.name;
    call.kind = action.call;
    call.stream = action.stream;
    call.interval = {actor.now, actor.now + action.host};
    out_.calls.push_back(std::move(call));
    return static_cast<int>(out_.calls.size()) - 1;
  }

  bool launch(Actor& actor, const Action& action) {
    if (actor.call < 0) {
      const Recording::Device& device = out_.devices[out_.streams[action.stream].device];
      std::optional<TimeNs> room = queues_.room_at(action.stream, device.queue);
      if (!room) return false;
      int call = add_call(actor, action);
      Recording::Call& row = out_.calls[call];
      row.correlation = ++correlation_;
      row.bytes = action.op.bytes;
      Interval& interval = row.interval;
      if (action.overhead_time.ns > 0)
        add_overhead(action, interval, action.overhead_time, action.overhead);
      if (*room > interval.end)
        add_overhead(action, interval, *room - interval.end, trace::Overhead::Kind::kQueueFull);
      TimeNs arrival_base = interval.end - action.host;
      enqueue(actor, action, call, arrival_base);
      actor.graph_call = call;
      actor.call = call;
    }
    Interval& interval = out_.calls[actor.call].interval;
    if (action.blocking) {
      std::optional<TimeNs> idle = queues_.idle_at(action.stream);
      if (!idle) return false;
      interval.end = std::max(interval.end, *idle + action.wake);
    }
    actor.now = interval.end;
    actor.call = -1;
    return true;
  }

  /// Something that keeps a launch before it can do its work; the call grows by it.
  void add_overhead(const Action& action, Interval& call, DurationNs time,
                    trace::Overhead::Kind kind) {
    static constexpr std::string_view kNames[] = {"Other", "Module loading", "Instrumentation",
                                                  "Command Buffer Full", "Resource"};
    TimeNs at = call.begin + DurationNs{1'000};
    out_.overheads.push_back({action.thread,
                              std::string(kNames[static_cast<std::size_t>(kind)]),
                              {at, at + time},
                              kind});
    call.end = call.end + time;
  }

  /// `from`: when the call does its work; the op arrives a latency later.
  void enqueue(Actor& actor, const Action& action, int call, TimeNs from) {
    Recording::Op op = action.op;
    op.call = call;
    op.stream = action.stream;
    op.interval = {{-1}, {-1}};
    out_.ops.push_back(std::move(op));
    int id = static_cast<int>(out_.ops.size()) - 1;
    const Recording::Device& device = out_.devices[out_.streams[action.stream].device];
    TimeNs arrival = from + (action.latency.ns >= 0 ? action.latency : device.latency);
    if (!action.is_collective) return queues_.enqueue_op(action.stream, id, arrival, action.device);
    Recording::Collective collective = action.collective;
    collective.op = id;
    collective.sequence = sequences_[{actor.program->rank, collective.communicator}]++;
    queues_.enqueue_collective(action.stream, id, arrival, action.device, collective.communicator,
                               collective.sequence);
    if (action.visible) out_.collectives.push_back(std::move(collective));
  }

  bool event(Actor& actor, const Action& action) {
    bool is_record = action.kind == Kind::kRecord;
    std::uint64_t& event = event_ids_[{actor.program->rank, action.name}];
    if (!is_record && event == 0) return false;
    int call = add_call(actor, action);
    Recording::Call& row = out_.calls[call];
    row.kind = is_record ? DeviceCallKind::kEventRecord : DeviceCallKind::kStreamWaitEvent;
    row.name = is_record ? "cudaEventRecord" : "cudaStreamWaitEvent";
    if (is_record) event = ++last_event_;
    row.sync_id = event;
    if (is_record) {
      const Recording::Device& device = out_.devices[out_.streams[action.stream].device];
      queues_.enqueue_record(action.stream, event, actor.now + device.latency);
    } else {
      queues_.enqueue_await(action.stream, event);
    }
    actor.now = row.interval.end;
    return true;
  }

  bool synchronize(Actor& actor, const Action& action) {
    TimeNs until{0};
    std::uint64_t event = 0;
    if (action.kind == Kind::kSyncEvent) {
      event = event_ids_[{actor.program->rank, action.range.name}];
      std::optional<TimeNs> at = event ? queues_.event_at(event) : std::nullopt;
      if (!at) return false;
      until = *at;
    } else {
      for (int stream = 0; stream < static_cast<int>(out_.streams.size()); ++stream) {
        bool meant = action.kind == Kind::kSyncDevice
                         ? out_.rank_of_stream(stream) == actor.program->rank
                         : stream == action.stream;
        if (!meant) continue;
        std::optional<TimeNs> idle = queues_.idle_at(stream);
        if (!idle) return false;
        until = std::max(until, *idle);
      }
    }
    int call = add_call(actor, action);
    Recording::Call& row = out_.calls[call];
    row.sync_id = event;
    row.bytes = action.op.bytes;
    if (until > actor.now) row.interval.end = std::max(row.interval.end, until + action.wake);
    actor.now = row.interval.end;
    return true;
  }

  Plan plan_;
  Recording& out_;
  DeviceQueues queues_;
  std::vector<Actor> actors_;
  std::vector<std::map<std::int64_t, TimeNs>> ready_;  ///< per rank, by batch
  std::vector<std::map<std::int64_t, TimeNs>> taken_;
  std::map<std::pair<int, std::string>, std::uint64_t> event_ids_;  ///< recorded last
  std::map<std::pair<int, std::string>, std::int64_t> sequences_;
  std::uint64_t correlation_ = 0;
  std::uint64_t last_event_ = 0;
};

}  // namespace

Recording simulate(const Case& c) {
  return Simulation(expand(c)).run();
}

}  // namespace headway::planted
