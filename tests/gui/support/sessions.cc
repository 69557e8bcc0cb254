// SPDX-License-Identifier: MIT
#include "tests/gui/support/sessions.h"

#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>

#include "tests/support/training_trace.h"

namespace headway::test {
namespace {

void build(TraceBuilder& builder, const TrainingTrace& run) {
  run.build(builder);
  builder.save();
}

/// Steps of 2.5 ms: 8 layers forward and backward and an update, each a kernel of 90 to 160 µs that the
/// host waits for.
void build_waiting(TraceBuilder& builder) {
  constexpr std::int64_t kUs = 1000;
  builder.thread_name(1, "trainer");
  std::int64_t now = 5000 * kUs;
  for (int step = 0; step < 16; ++step) {
    const std::int64_t begin = now;
    builder.launch(1, now, now + 8 * kUs, now + 12 * kUs, now + 72 * kUs,
                   {.name = "copy batch",
                    .stream = 2,
                    .kind = trace::DeviceOpKind::kCopyHostToDevice,
                    .bytes = 1'200'000,
                    .source = trace::MemoryKind::kPinned});
    now += 10 * kUs;
    auto layer = [&](const char* name, const char* kernel, int k, trace::Phase phase) {
      const std::int64_t enter = now;
      const std::int64_t length = (90 + 10 * (k % 8) + step % 3) * kUs;
      builder.launch(1, now + 4 * kUs, now + 14 * kUs, now + 20 * kUs, now + 20 * kUs + length,
                     {.name = kernel, .phase = phase});
      builder.call(1, trace::DeviceCallKind::kStreamSynchronize, now + 15 * kUs,
                   now + 26 * kUs + length);
      now += 30 * kUs + length;
      builder.range(1, name, enter, now);
    };
    auto phase = [&](const char* name, trace::Phase phase, auto body) {
      const std::int64_t enter = now;
      body();
      builder.range(1, name, enter, now, {.kind = trace::RangeKind::kPhase, .phase = phase});
    };
    phase("forward", trace::Phase::kForward, [&] {
      for (int k = 0; k < 8; ++k) layer("linear", "gemm_f16", k, trace::Phase::kForward);
    });
    phase("backward", trace::Phase::kBackward, [&] {
      for (int k = 8; k-- > 0;) layer("linear grad", "gemm_f16_nt", k, trace::Phase::kBackward);
    });
    phase("update", trace::Phase::kUpdate,
          [&] { layer("sgd", "sgd_update", 0, trace::Phase::kUpdate); });
    builder.range(1, "step", begin, now, {.kind = trace::RangeKind::kStep, .step = step});
  }
}

}  // namespace

std::filesystem::path waiting_file() {
  static TraceBuilder builder;
  static std::once_flag built;
  std::call_once(built, [] {
    build_waiting(builder);
    builder.save();
  });
  return builder.save();
}

std::shared_ptr<const gui::Session> waiting_session() {
  static std::shared_ptr<const gui::Session> session = gui::open_session(waiting_file());
  return session;
}

std::filesystem::path training_file() {
  static TraceBuilder builder;
  static std::once_flag built;
  std::call_once(built, [] { build(builder, {}); });
  return builder.save();
}

std::filesystem::path faster_file() {
  static TraceBuilder builder;
  static std::once_flag built;
  std::call_once(built, [] {
    TrainingTrace run;
    run.decode = 3'000'000;
    run.augment = 1'000'000;
    run.conv = 300'000;
    run.blocks = 5;
    build(builder, run);
  });
  return builder.save();
}

std::shared_ptr<const gui::Session> faster_session() {
  static std::shared_ptr<const gui::Session> session = gui::open_session(faster_file());
  return session;
}

std::filesystem::path long_file() {
  static TraceBuilder builder;
  static std::once_flag built;
  std::call_once(built, [] {
    TrainingTrace run;
    run.steps = 500;
    build(builder, run);
  });
  return builder.save();
}

std::shared_ptr<const gui::Session> training_session() {
  static std::shared_ptr<const gui::Session> session = gui::open_session(training_file());
  return session;
}

std::shared_ptr<const gui::Session> session_of(TraceBuilder& builder) {
  return gui::make_session(builder.load());
}

analyzer::EventRef event_named(const trace::Trace& trace, std::string_view name) {
  auto find = [&](const auto& table) -> std::uint32_t {
    for (std::uint32_t i = 0; i < table.size(); ++i) {
      if (trace.strings[table.name[i]] == name) return i;
    }
    return UINT32_MAX;
  };
  if (std::uint32_t i = find(trace.ranges); i != UINT32_MAX)
    return analyzer::EventRef::of(trace::RangeId{i});
  if (std::uint32_t i = find(trace.device_ops); i != UINT32_MAX)
    return analyzer::EventRef::of(trace::DeviceOpId{i});
  if (std::uint32_t i = find(trace.calls); i != UINT32_MAX)
    return analyzer::EventRef::of(trace::CallId{i});
  throw std::runtime_error("no event named " + std::string(name));
}

namespace {

/// Fills a trace table by table; rows must come by start.
class TwoRanks {
 public:
  trace::Trace build() {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      trace::Process& process = trace_.processes.emplace_back();
      process.pid = static_cast<int>(100 + rank);
      process.rank = static_cast<int>(rank);
      process.name = "python";
      for (const char* name : {"main", "autograd"})
        trace_.threads.push_back({.global_tid = 0,
                                  .tid = static_cast<int>(10 * rank + trace_.threads.size()),
                                  .process = {rank},
                                  .name = name});
      trace_.devices.push_back({.type = trace::DeviceType::kCuda,
                                .ordinal = static_cast<int>(rank),
                                .process = {rank},
                                .name = "GPU"});
      for (int stream : {7, 8})
        trace_.streams.push_back(
            {.device = {rank}, .process = {rank}, .ordinal = stream, .name = ""});
    }
    trace_.domains.assign(1, "");
    for (std::uint32_t rank = 0; rank < 2; ++rank) range(2 * rank, "step", 0, 4000, -1);
    for (std::uint32_t rank = 0; rank < 2; ++rank) range(2 * rank, "aten::linear", 100, 900, 5);
    for (std::uint32_t rank = 0; rank < 2; ++rank) range(2 * rank, "aten::addmm", 200, 800, 5);
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      range(2 * rank + 1, "AddmmBackward0", 1500, 1900, 5);
    using Kind = trace::DeviceCallKind;
    for (std::uint32_t rank = 0; rank < 2; ++rank) call(rank, Kind::kLaunch, 300, 320, 0);
    for (std::uint32_t rank = 0; rank < 2; ++rank) call(rank, Kind::kEventRecord, 330, 340, 77);
    for (std::uint32_t rank = 0; rank < 2; ++rank) call(rank, Kind::kStreamWaitEvent, 350, 360, 77);
    for (std::uint32_t rank = 0; rank < 2; ++rank) call(rank, Kind::kLaunch, 370, 390, 0);
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      call(rank, Kind::kDeviceSynchronize, 2000, 3100, 0);
    // The compute kernel of rank 1 is slower, so its all-reduce begins later.
    op(0, 7, "gemm", 500, 1000, 0, trace::DeviceOpKind::kKernel);
    op(1, 7, "gemm", 500, 1300, 1, trace::DeviceOpKind::kKernel);
    op(0, 8, "ncclDevKernel_AllReduce", 1010, 3000, 6, trace::DeviceOpKind::kCommunication);
    op(1, 8, "ncclDevKernel_AllReduce", 1310, 3000, 7, trace::DeviceOpKind::kCommunication);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      trace::Collective collective;
      collective.op = {2 + rank};
      collective.kind = trace_.strings.add("allreduce");
      collective.communicator = trace_.strings.add("world");
      collective.sequence = 1;
      collective.ranks = 2;
      trace_.collectives.push_back(collective);
    }
    trace_.overheads.push_back({{{50}, {90}},
                                {0},
                                trace_.strings.add("cuModuleLoad"),
                                trace::Overhead::Kind::kModuleLoad});
    trace_.end = {4000};
    trace_.complete = true;
    trace_.ranges_of_thread = group<trace::RangeId>(trace_.ranges.thread, trace_.threads.size());
    trace_.calls_of_thread = group<trace::CallId>(trace_.calls.thread, trace_.threads.size());
    trace_.ops_of_stream =
        group<trace::DeviceOpId>(trace_.device_ops.stream, trace_.streams.size());
    return std::move(trace_);
  }

 private:
  void range(std::uint32_t thread, std::string_view name, std::int64_t start, std::int64_t end,
             std::int64_t sequence) {
    trace::Ranges& r = trace_.ranges;
    r.start.push_back({start});
    r.end.push_back({end});
    r.name.push_back(trace_.strings.add(name));
    r.thread.push_back({thread});
    r.parent.push_back({});
    r.info.push_back(sequence < 0 ? trace::RangeInfoId::none()
                                  : trace::RangeInfoId::from(trace_.range_info.size()));
    if (sequence >= 0) trace_.range_info.push_back({.sequence = sequence});
    r.domain.push_back({0});
    r.depth.push_back(name == "step" ? 0 : name == "aten::addmm" ? 2 : thread % 2 ? 0 : 1);
    r.flags.push_back(0);
  }
  void call(std::uint32_t rank, trace::DeviceCallKind kind, std::int64_t start, std::int64_t end,
            std::uint64_t sync_id) {
    trace::Calls& c = trace_.calls;
    bool launch = kind == trace::DeviceCallKind::kLaunch;
    c.start.push_back({start});
    c.end.push_back({end});
    c.name.push_back(trace_.strings.add(launch    ? "cudaLaunchKernel"
                                        : sync_id ? "cudaEvent"
                                                  : "cudaDeviceSynchronize"));
    c.thread.push_back({2 * rank});
    const std::uint32_t stream = kind == trace::DeviceCallKind::kStreamWaitEvent || start == 370;
    c.stream.push_back({2 * rank + stream});
    c.correlation.push_back(launch ? c.size() : 0);
    c.sync_id.push_back(sync_id);
    c.bytes.push_back(0);
    c.kind.push_back(kind);
    c.op.push_back({});
  }
  void op(std::uint32_t rank, int stream, std::string_view name, std::int64_t start,
          std::int64_t end, std::uint32_t call, trace::DeviceOpKind kind) {
    trace::DeviceOps& o = trace_.device_ops;
    trace_.calls.op[call] = trace::DeviceOpId::from(o.size());
    o.start.push_back({start});
    o.end.push_back({end});
    o.name.push_back(trace_.strings.add(name));
    o.stream.push_back({2 * rank + (stream == 8)});
    o.call.push_back({call});
    o.bytes.push_back(0);
    o.flops.push_back(0);
    o.op.push_back(-1);
    o.batch.push_back(-1);
    o.kind.push_back(kind);
    o.phase.push_back(trace::Phase::kNone);
    o.math_unit.push_back(trace::MathUnit::kUnknown);
    o.source_memory.push_back(trace::MemoryKind::kUnknown);
    o.destination_memory.push_back(trace::MemoryKind::kUnknown);
    o.blocks.push_back(0);
    o.block_threads.push_back(0);
    o.flags.push_back(0);
  }
  template <class RowId, class Key>
  static trace::GroupIndex<RowId, Key> group(const std::vector<Key>& keys, std::size_t count) {
    trace::GroupIndex<RowId, Key> index;
    for (std::size_t k = 0; k < count; ++k) {
      index.offset.push_back(static_cast<std::uint32_t>(index.rows.size()));
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if (keys[i].value == k) index.rows.push_back(RowId::from(i));
      }
    }
    index.offset.push_back(static_cast<std::uint32_t>(index.rows.size()));
    return index;
  }

  trace::Trace trace_;
};

}  // namespace

trace::Trace two_rank_trace() {
  return TwoRanks().build();
}

std::shared_ptr<const gui::Session> two_rank_session() {
  return gui::make_session(two_rank_trace());
}

void build_hostile(TraceBuilder& builder, int threads) {
  const std::int64_t ten_years = std::int64_t{10} * 365 * 24 * 3600 * 1'000'000'000;
  builder.range(1, std::string(1 << 20, 'x'), 0, 1000);
  builder.range(1, "<b>bold</b><img src='file:///etc/passwd'>", 10, 20);
  builder.range(1, "line\nbreak\ttab\x1b[2Jescape\x01", 20, 30);
  builder.range(1, "\u202egnp.tac\u2066", 30, 40);
  builder.range(1, "", 40, 50);
  builder.range(1, "&ampersand && \"quotes\" %1 %2 %s", 50, 60);
  builder.range(1, "漢字 עברית عربى 🚀", 60, 90);
  for (int i = 0; i < 50; ++i) builder.range(1, "point", 95, 95);
  builder.range(1, "early", -ten_years, -ten_years + 5);
  builder.range(1, "late", ten_years - 5, ten_years);
  for (int depth = 0; depth < 400; ++depth) builder.range(2, "deep", depth, 10'000 - depth);
  // Overlap without nesting, which the loader cannot turn into a tree.
  for (int i = 0; i < 400; ++i) builder.range(3, "staggered", i, 5'000 + i);
  for (int t = 0; t < threads; ++t) builder.range(1000 + t, "worker", t, t + 10);
  for (int i = 0; i < 300; ++i)
    builder.launch(1, 100 + i, 101 + i, 90 - i, 2'000, {.name = "before its launch"});
  builder.launch(1, 500, 501, 600, 600, {.name = "kernel of no length"});
  builder.call(1, trace::DeviceCallKind::kDeviceSynchronize, 700, 700);
  builder.counter("infinite", "%", 0, std::numeric_limits<double>::infinity());
  builder.counter("huge", "bytes", 0, 1e308);
  builder.counter("huge", "bytes", 500, -1e308);
  builder.counter("empty name next", "", 10, 1);
  builder.thread_name(2, std::string(100'000, 'n'));
}

}  // namespace headway::test
