// SPDX-License-Identifier: MIT
#include "analyzer/ranks/collectives.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>

#include "analyzer/kernels/communication.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr std::string_view kUnknownKind = "collective";

/// "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(…)" and "c10d::allreduce_" -> "allreduce"; empty when
/// the name tells no kind.
std::string_view kind_in_name(std::string_view name) {
  // Longer names first: a reduce-scatter is also a "reduce".
  static constexpr auto kKinds =
      std::to_array<std::string_view>({"reducescatter", "allreduce", "allgather", "alltoall",
                                       "broadcast", "sendrecv", "barrier", "reduce"});
  std::string plain;
  for (char c : name.substr(0, name.find('('))) {
    if (c >= 'A' && c <= 'Z') plain += static_cast<char>(c - 'A' + 'a');
    if (c >= 'a' && c <= 'z') plain += c;
  }
  for (std::string_view kind : kKinds) {
    if (plain.find(kind) != std::string::npos) return kind;
  }
  return "";
}

/// Searches once per distinct name: a trace has thousands of names and millions of ops.
class KindOfName {
 public:
  explicit KindOfName(const Trace& trace) : trace_(trace), known_(trace.strings.size()) {}

  std::string_view operator()(StringId name) {
    if (name.value >= known_.size()) return "";
    Answer& answer = known_[name.value];
    if (!answer.asked) answer = {true, kind_in_name(trace_.strings[name])};
    return answer.kind;
  }

 private:
  struct Answer {
    bool asked = false;
    std::string_view kind;
  };
  const Trace& trace_;
  std::vector<Answer> known_;
};

class StepOf {
 public:
  explicit StepOf(const Steps& steps) : steps_(steps) {}

  std::int64_t operator()(TimeNs t) const {
    auto after = std::upper_bound(steps_.all.begin(), steps_.all.end(), t,
                                  [](TimeNs a, const Step& s) { return a < s.host.begin; });
    if (after == steps_.all.begin()) return -1;
    const Step& step = *(after - 1);
    return step.host.contains(t) ? step.number : -1;
  }

 private:
  const Steps& steps_;
};

class Collector {
 public:
  Collector(const Trace& trace, const Steps& steps, const Attribution& attribution)
      : trace_(trace), steps_(steps), attribution_(attribution), step_of_(steps), kind_of_(trace) {}

  Collectives run() {
    add_declared();
    add_undeclared();
    if (trace_.device_ops.size() == 0) add_on_host();
    std::stable_sort(result_.rows.begin(), result_.rows.end(),
                     [](const RankCollective& a, const RankCollective& b) {
                       return std::pair(a.launch, a.time.begin) < std::pair(b.launch, b.time.begin);
                     });
    return std::move(result_);
  }

 private:
  void add(DeviceOpId op, RankCollective row, std::string communicator, std::string_view kind) {
    row.time = trace_.device_ops.interval(op);
    row.op = op.value;
    CallId call = trace_.device_ops.call[op.value];
    row.launch = call.valid() ? trace_.calls.start[call.value] : row.time.begin;
    add(row, std::move(communicator), kind);
  }

  void add(RankCollective row, std::string communicator, std::string_view kind) {
    row.step = step_of_(row.launch);
    auto [slot, is_new] = groups_.try_emplace({std::move(communicator), std::string(kind)},
                                              static_cast<std::uint32_t>(groups_.size()));
    if (is_new) result_.groups.push_back(slot->first);
    row.group = slot->second;
    result_.rows.push_back(row);
  }

  void add_declared() {
    for (const Collective& declared : trace_.collectives) {
      if (!declared.op.valid() || declared.op.value >= trace_.device_ops.size()) continue;
      if (!seen_.insert(declared.op).second) continue;
      RankCollective row;
      row.sequence = declared.sequence;
      row.bytes = declared.bytes > 0 ? declared.bytes : -1;
      row.ranks = declared.ranks;
      row.peer = declared.peer;
      std::string_view kind = trace_.strings[declared.kind];
      add(declared.op, row, std::string(trace_.strings[declared.communicator]),
          kind.empty() ? kUnknownKind : kind);
    }
  }

  void add_undeclared() {
    const DeviceOps& ops = trace_.device_ops;
    KernelNames kernels(trace_);
    CommunicationOps communication(trace_, kernels);
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      if (!communication[DeviceOpId{i}] || seen_.contains(DeviceOpId{i})) continue;
      RankCollective row;
      row.bytes = ops.bytes[i] > 0 ? ops.bytes[i] : -1;
      row.ranks = trace_.world_size;
      add(DeviceOpId{i}, row, "", kind_of_op(DeviceOpId{i}));
      ++result_.named;
    }
  }

  /// Adds what training threads communicate themselves: the outermost ranges, as one may call another.
  void add_on_host() {
    std::vector<bool> trains(trace_.threads.size());
    for (const Step& step : steps_.all) trains[step.thread.value] = true;
    for (std::uint32_t r = 0; r < trace_.ranges.size(); ++r) {
      const RangeId id{r};
      if (!attribution_.contexts[r].communication || trace_.ranges.is(id, Ranges::kMark) ||
          !trains[trace_.ranges.thread[r].value] ||
          collective_of(trace_, attribution_, EventRef::of(id)) != EventRef::of(id))
        continue;
      RankCollective row;
      row.on_host = true;
      row.op = r;
      row.time = trace_.ranges.interval(id);
      row.launch = row.time.begin;
      if (step_of_(row.launch) < 0) continue;  // set-up or shut-down
      row.ranks = trace_.world_size;
      const std::string_view kind = kind_of_(trace_.ranges.name[r]);
      add(row, "", kind.empty() ? kUnknownKind : kind);
      ++result_.named;
    }
  }

  /// By the kernel's name, else by the ranges around its launch ("c10d::allreduce_"), innermost
  /// first: RCCL runs every collective in one kernel, ncclDevKernel_Generic.
  std::string_view kind_of_op(DeviceOpId op) {
    std::string_view kind = kind_of_(trace_.device_ops.name[op.value]);
    RangeId range = attribution_.range_of[op.value];
    for (; kind.empty() && range.valid(); range = trace_.ranges.parent[range.value])
      kind = kind_of_(trace_.ranges.name[range.value]);
    return kind.empty() ? kUnknownKind : kind;
  }

  const Trace& trace_;
  const Steps& steps_;
  const Attribution& attribution_;
  StepOf step_of_;
  KindOfName kind_of_;
  std::map<CollectiveGroup, std::uint32_t> groups_;
  std::unordered_set<DeviceOpId> seen_;
  Collectives result_;
};

}  // namespace

EventRef collective_of(const Trace& trace, const Attribution& attribution, EventRef cause) {
  if (cause.kind != EventRef::Kind::kRange) return cause;
  RangeId outermost;
  for (RangeId range{cause.index}; range.valid(); range = trace.ranges.parent[range.value]) {
    if (attribution.contexts[range.value].communication) outermost = range;
  }
  return outermost.valid() ? EventRef::of(outermost) : EventRef{};
}

Collectives collectives_of(const Trace& trace, const Steps& steps, const Attribution& attribution) {
  return Collector(trace, steps, attribution).run();
}

bool is_synchronising(std::string_view kind) {
  static constexpr auto kKinds = std::to_array<std::string_view>(
      {"allreduce", "allgather", "reducescatter", "alltoall", "barrier"});
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

bool is_one_sided(std::string_view kind) {
  return kind == "broadcast" || kind == "reduce";
}

double bus_factor(std::string_view kind, int ranks) {
  if (ranks < 2) return 0;
  double n = ranks;
  if (kind == "allreduce") return 2 * (n - 1) / n;
  if (kind == "allgather" || kind == "reducescatter" || kind == "alltoall") return (n - 1) / n;
  bool moves_once = kind == "broadcast" || kind == "reduce" || is_point_to_point(kind);
  return moves_once ? 1 : 0;
}

bool is_point_to_point(std::string_view kind) {
  return kind == "send" || kind == "recv";
}

bool passes_messages(const trace::Trace& trace) {
  return std::ranges::any_of(trace.collectives, [&](const trace::Collective& one) {
    return one.op.valid() && is_point_to_point(trace.strings[one.kind]);
  });
}

}  // namespace headway::analyzer
