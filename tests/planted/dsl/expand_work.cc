// SPDX-License-Identifier: MIT
// Statements that concern a device.
#include <fmt/format.h>

#include <algorithm>

#include "tests/planted/dsl/expander.h"

namespace headway::planted {

using trace::DeviceCallKind;
using trace::DeviceOpKind;
using trace::MathUnit;
using trace::MemoryKind;
using trace::Phase;
using Kind = Action::Kind;

namespace {

constexpr std::int64_t kStagedFrom = 65'536;  ///< smaller pageable copies are buffered by CUDA

struct CopyKind {
  std::string_view name;
  DeviceOpKind kind;
  std::string_view op_name;
};
constexpr CopyKind kCopies[] = {{"h2d", DeviceOpKind::kCopyHostToDevice, "Memcpy HtoD"},
                                {"d2h", DeviceOpKind::kCopyDeviceToHost, "Memcpy DtoH"},
                                {"d2d", DeviceOpKind::kCopyDeviceToDevice, "Memcpy DtoD"},
                                {"p2p", DeviceOpKind::kCopyPeer, "Memcpy PtoP"},
                                {"h2h", DeviceOpKind::kCopyHostToHost, "Memcpy HtoH"}};

Phase phase_of(const Statement& s) {
  static constexpr std::string_view kPhases[] = {"none",   "input",         "forward",   "backward",
                                                 "update", "communication", "evaluation"};
  auto phase = std::find(std::begin(kPhases), std::end(kPhases), s.text("phase", "none"));
  if (phase == std::end(kPhases)) s.fail("phase=: expected forward, backward, update, …");
  return static_cast<Phase>(phase - std::begin(kPhases));
}

}  // namespace

bool Expander::on_cuda(int stream) const {
  const Recording& world = plan_.world;
  return world.devices[world.streams[stream].device].facts.type == trace::DeviceType::kCuda;
}

int Expander::stream_named(const Statement& s, std::string_view fallback) {
  return stream_of(case_, plan_.world, rank_, s.text("stream", fallback));
}

Action& Expander::work(const Statement& s, DurationNs device) {
  Action& action = add(in_graph_ ? Kind::kInGraph : Kind::kLaunch, s);
  bool collective = s.keyword == "collective";
  action.stream = stream_named(s, collective ? "comm" : "compute");
  action.host = vary(s, s.duration("call", {4'000}));
  if (s.has("latency")) action.latency = s.duration("latency", {});
  action.device = device;
  action.call = DeviceCallKind::kLaunch;
  action.name = s.text("api", on_cuda(action.stream) ? "cudaLaunchKernel" : "launch");
  action.op.kind = DeviceOpKind::kKernel;
  action.op.phase = phase_of(s);
  std::string math = s.text("math", "");
  action.op.math = math == "tensor"    ? MathUnit::kTensor
                   : math == "general" ? MathUnit::kGeneral
                                       : MathUnit::kUnknown;
  if (!math.empty() && action.op.math == MathUnit::kUnknown)
    s.fail("math=: expected tensor or general");
  action.op.bytes = s.bytes("bytes", 0);
  action.op.flops = s.bytes("flops", 0);
  action.op.op = s.integer("op", -1);
  action.op.batch = s.text("batch") == "this" ? batch_ : s.integer("batch", -1);
  action.op.blocks = s.integer("blocks", 0);
  action.op.threads = s.integer("threads", 0);
  std::string overhead = s.text("overhead");
  if (!overhead.empty()) {
    std::size_t colon = overhead.find(':');
    Statement part = s;
    part.attributes = {{"time", colon == std::string::npos ? "" : overhead.substr(colon + 1)}};
    action.overhead_time = vary(s, part.duration("time", {}));
    std::string kind = overhead.substr(0, colon);
    action.overhead = kind == "module-load"  ? trace::Overhead::Kind::kModuleLoad
                      : kind == "profiler"   ? trace::Overhead::Kind::kProfiler
                      : kind == "queue-full" ? trace::Overhead::Kind::kQueueFull
                      : kind == "allocation" ? trace::Overhead::Kind::kAllocation
                                             : trace::Overhead::Kind::kOther;
  }
  return action;
}

void Expander::launch(const Statement& s) {
  work(s, vary(s, s.duration_argument(1))).op.name = s.arguments.front();
}

void Expander::copy(const Statement& s) {
  auto kind = std::find_if(std::begin(kCopies), std::end(kCopies),
                           [&](const CopyKind& k) { return k.name == s.arguments.front(); });
  if (kind == std::end(kCopies)) s.fail("expected h2d, d2h, d2d, p2p or h2h");
  std::int64_t bytes = s.bytes_argument(1);
  std::string memory = s.text("memory", "pinned");
  if (memory != "pinned" && memory != "pageable" && memory != "unknown")
    s.fail("memory=: expected pinned, pageable or unknown");
  bool pageable = memory == "pageable";
  std::int64_t rate = s.bytes("rate", pageable ? 6'000'000'000 : 25'000'000'000);
  if (rate <= 0) s.fail("rate=: expected more than 0 bytes/s");
  DurationNs transfer{1'000 + static_cast<std::int64_t>(static_cast<double>(bytes) * 1e9 /
                                                        static_cast<double>(rate))};
  Action& action = work(s, vary(s, s.duration("time", transfer)));
  action.op.kind = kind->kind;
  action.op.bytes = bytes;
  MemoryKind host = pageable             ? MemoryKind::kPageable
                    : memory == "pinned" ? MemoryKind::kPinned
                                         : MemoryKind::kUnknown;
  bool from_host = kind->kind == DeviceOpKind::kCopyHostToDevice;
  bool to_host = kind->kind == DeviceOpKind::kCopyDeviceToHost;
  action.op.source = from_host ? host : MemoryKind::kDevice;
  action.op.destination = to_host ? host : MemoryKind::kDevice;
  std::string_view label = pageable ? "Pageable" : "Pinned";
  action.op.name = s.has("name") ? s.text("name")
                   : from_host   ? fmt::format("{} ({} -> Device)", kind->op_name, label)
                   : to_host     ? fmt::format("{} (Device -> {})", kind->op_name, label)
                                 : fmt::format("{} (Device -> Device)", kind->op_name);
  bool blocking = s.has("blocking");
  action.call = blocking ? DeviceCallKind::kCopyBlocking : DeviceCallKind::kCopy;
  if (!s.has("api") && on_cuda(action.stream))
    action.name = blocking ? "cudaMemcpy" : "cudaMemcpyAsync";
  // CUDA stages pageable memory through a buffer of its own while the caller waits.
  action.blocking = blocking || (pageable && (from_host || to_host) && bytes > kStagedFrom);
  action.wake = s.duration("wake", {5'000});
}

void Expander::memset(const Statement& s) {
  Action& action = work(s, vary(s, s.duration("time", {2'000})));
  action.op.kind = DeviceOpKind::kMemset;
  action.op.bytes = s.bytes_argument(0);
  action.op.name = "Memset (Device)";
  action.call = DeviceCallKind::kMemset;
  if (on_cuda(action.stream)) action.name = s.text("api", "cudaMemsetAsync");
}

void Expander::collective(const Statement& s) {
  Action& action = work(s, vary(s, s.duration_argument(2)));
  action.is_collective = true;
  action.op.bytes = 0;
  action.op.name = s.text("name", fmt::format("ncclDevKernel_{}_RING_LL", s.arguments.front()));
  action.op.blocks = s.integer("blocks", 16);
  action.device = action.device + s.duration("wait", {0});
  action.collective.kind = s.arguments.front();
  action.collective.communicator = s.text("communicator", "world");
  action.collective.dtype = s.text("dtype", "float32");
  action.collective.bytes = s.bytes_argument(1);
  int world = case_.world ? case_.world : case_.ranks;
  action.collective.ranks = static_cast<int>(s.integer("ranks", world));
  action.collective.peer = static_cast<int>(s.integer("peer", -1));
  action.visible = !s.has("unseen");
}

void Expander::event(const Statement& s) {
  Action& action = add(s.keyword == "record" ? Kind::kRecord : Kind::kAwait, s);
  action.name = s.arguments.front();
  action.stream = stream_named(s, "compute");
  action.host = vary(s, s.duration("call", {1'500}));
}

void Expander::sync(const Statement& s) {
  const std::string& what = s.arguments.front();
  Action& action = add(Kind::kSyncStream, s);
  action.host = vary(s, s.duration("call", {2'000}));
  action.wake = vary(s, s.duration("wake", {8'000}));
  if (what == "stream") {
    action.stream =
        stream_of(case_, plan_.world, rank_, s.arguments.size() > 1 ? s.arguments[1] : "compute");
    action.call = DeviceCallKind::kStreamSynchronize;
    action.name = s.text("api", on_cuda(action.stream) ? "cudaStreamSynchronize" : "synchronize");
  } else if (what == "device") {
    action.kind = Kind::kSyncDevice;
    action.call = DeviceCallKind::kDeviceSynchronize;
    action.name = s.text("api", "cudaDeviceSynchronize");
  } else if (what == "event") {
    action.kind = Kind::kSyncEvent;
    action.call = DeviceCallKind::kEventSynchronize;
    action.name = s.text("api", "cudaEventSynchronize");
    action.range.name = s.argument(1, "the name of an event");
  } else {
    s.fail("expected 'sync stream [NAME]', 'sync device' or 'sync event NAME'");
  }
}

void Expander::memory(const Statement& s) {
  bool is_free = s.keyword == "free";
  Action& action = add(is_free && s.has("drains") ? Kind::kSyncDevice : Kind::kCall, s);
  action.host = vary(s, s.duration_argument(0));
  action.wake = action.host;
  action.call = is_free ? DeviceCallKind::kFree : DeviceCallKind::kAllocate;
  action.name = s.text("api", is_free ? "cudaFree" : "cudaMalloc");
  action.op.bytes = s.bytes("bytes", 0);
}

void Expander::other_call(const Statement& s) {
  Action& action = add(Kind::kCall, s);
  action.name = s.arguments.front();
  // Of work that is captured or was not recorded: there is no op.
  if (s.has("launches")) action.call = DeviceCallKind::kLaunch;
  action.host = vary(s, s.duration_argument(1));
}

/// One call that enqueues all ops of its body.
void Expander::graph(const Statement& s) {
  std::size_t first = actions_.size();
  in_graph_ = true;
  run(s.body);
  in_graph_ = false;
  if (first == actions_.size()) s.fail("a graph needs at least one op");
  for (std::size_t i = first; i < actions_.size(); ++i) {
    if (actions_[i].kind != Kind::kInGraph) s.fail("a graph holds only device work");
  }
  Action& head = actions_[first];
  head.kind = Kind::kLaunch;
  head.call = DeviceCallKind::kGraphLaunch;
  head.name = s.text("api", "cudaGraphLaunch");
  head.host = vary(s, s.duration("call", {10'000}));
}

}  // namespace headway::planted
