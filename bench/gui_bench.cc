// SPDX-License-Identifier: MIT
// What the timeline costs on large traces: preparing it, its memory, and the time of a frame (rows,
// labels, ruler, overlay, copy to the window) at several zoom levels while panning, at 1920 x 1080
// on one core without a GPU. Usage: headway_bench_gui [--quick]
#include <fmt/format.h>
#include <malloc.h>

#include <QApplication>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <vector>

#include "common/statistics.h"
#include "gui/models/session.h"
#include "gui/timeline/timeline_view.h"

namespace {

using namespace headway;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Processor time of this thread: what a frame costs when nothing else runs on its core.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double heap_bytes() {
  struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

constexpr int kRanks = 8;
constexpr std::int64_t kLayers = 40;  ///< of a step: a range with two inner ones, two launches each

/// A run of eight ranks in one node: per layer three nested ranges, two launch calls and two
/// kernels; step ranges around them.
class Generator {
 public:
  trace::Trace generate(std::size_t events) {
    constexpr std::size_t kEventsPerLayer = 7;
    std::size_t layers = events / kEventsPerLayer / kRanks;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) add_rank(rank);
    for (std::uint32_t n = 0; n < 40; ++n) {
      kernels_.push_back(
          trace_.strings.add(fmt::format("void sm90_xmma_gemm_kernel_{}<float>", n)));
      modules_.push_back(trace_.strings.add(fmt::format("aten::module_{}", n)));
    }
    call_ = trace_.strings.add("cudaLaunchKernel");
    step_ = trace_.strings.add("step");
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) fill_rank(rank, layers);
    sort(trace_.ranges);
    sort(trace_.calls);
    sort(trace_.device_ops);
    link();
    return std::move(trace_);
  }

 private:
  void add_rank(std::uint32_t rank) {
    trace::Process& process = trace_.processes.emplace_back();
    process.pid = static_cast<int>(1000 + rank);
    process.rank = static_cast<int>(rank);
    process.name = "python";
    process.injected = true;
    trace_.threads.push_back(
        {.tid = static_cast<int>(1000 + rank), .process = {rank}, .name = "trainer"});
    trace_.devices.push_back({.type = trace::DeviceType::kCuda,
                              .ordinal = static_cast<int>(rank),
                              .process = {rank},
                              .cores = 132,
                              .name = "Generated GPU"});
    for (int s = 0; s < 2; ++s)
      trace_.streams.push_back({.device = {rank}, .process = {rank}, .ordinal = 7 + s, .name = ""});
  }

  std::int64_t random(std::int64_t below) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::int64_t>(state_ >> 33) % below;
  }

  void range(std::uint32_t rank, std::int64_t start, std::int64_t end, trace::StringId name,
             std::uint16_t depth) {
    trace::Ranges& r = trace_.ranges;
    r.start.push_back({start});
    r.end.push_back({end});
    r.name.push_back(name);
    r.thread.push_back({rank});
    r.parent.push_back({});
    r.info.push_back({});
    r.domain.push_back({0});
    r.depth.push_back(depth);
    r.flags.push_back(0);
  }

  void launch(std::uint32_t rank, std::int64_t call, std::int64_t start, std::int64_t end,
              trace::StringId name) {
    std::uint64_t correlation = ++correlation_;
    trace::Calls& c = trace_.calls;
    c.start.push_back({call});
    c.end.push_back({call + 3000});
    c.name.push_back(call_);
    c.thread.push_back({rank});
    c.stream.push_back({2 * rank});
    c.correlation.push_back(correlation);
    c.sync_id.push_back(0);
    c.bytes.push_back(0);
    c.kind.push_back(trace::DeviceCallKind::kLaunch);
    c.op.push_back({});
    trace::DeviceOps& o = trace_.device_ops;
    o.start.push_back({start});
    o.end.push_back({end});
    o.name.push_back(name);
    o.stream.push_back({2 * rank + static_cast<std::uint32_t>(correlation % 8 == 0)});
    o.call.push_back({static_cast<std::uint32_t>(correlation)});  // until link()
    o.bytes.push_back(1'000'000);
    o.flops.push_back(0);
    o.op.push_back(-1);
    o.batch.push_back(-1);
    o.kind.push_back(trace::DeviceOpKind::kKernel);
    o.phase.push_back(correlation % 11 == 0 ? trace::Phase::kUpdate : trace::Phase::kForward);
    o.math_unit.push_back(correlation % 3 ? trace::MathUnit::kTensor : trace::MathUnit::kGeneral);
    o.source_memory.push_back(trace::MemoryKind::kUnknown);
    o.destination_memory.push_back(trace::MemoryKind::kUnknown);
    o.blocks.push_back(128);
    o.block_threads.push_back(256);
    o.flags.push_back(0);
  }

  void fill_rank(std::uint32_t rank, std::size_t layers) {
    std::int64_t host = 1'000'000 + rank * 1000;
    std::int64_t device = host;
    std::int64_t step_start = host;
    for (std::size_t layer = 0; layer < layers; ++layer) {
      std::int64_t begin = host;
      for (int half = 0; half < 2; ++half) {
        std::int64_t inner = host + 500;
        trace::StringId kernel = kernels_[static_cast<std::size_t>(random(40))];
        std::int64_t call = inner + 800;
        std::int64_t start = std::max(call + 4000, device + random(3) * 400);
        std::int64_t end = start + 4000 + random(16) * 900;
        device = end;
        launch(rank, call, start, end, kernel);
        host = call + 3500 + random(4) * 1200;
        range(rank, inner, host, modules_[static_cast<std::size_t>(random(40))], 2);
      }
      range(rank, begin, host, modules_[layer % 40], 1);
      host = std::max(host + 200, device - 200'000);
      if (layer % kLayers == kLayers - 1 || layer + 1 == layers) {
        range(rank, step_start, host, step_, 0);
        step_start = host += 300;
      }
    }
    trace_.end = std::max({trace_.end, TimeNs{host}, TimeNs{device}});
  }

  template <class Table>
  static void sort(Table& table) {
    std::vector<std::uint32_t> order(table.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (table.start[a] != table.start[b]) return table.start[a] < table.start[b];
      return table.end[a] > table.end[b];
    });
    std::apply(
        [&](auto&... column) {
          auto permute = [&](auto& values) {
            std::remove_cvref_t<decltype(values)> sorted;
            sorted.reserve(values.size());
            for (std::uint32_t i : order) sorted.push_back(values[i]);
            values = std::move(sorted);
          };
          (permute(column), ...);
        },
        table.columns());
  }

  template <class RowId, class Key>
  static trace::GroupIndex<RowId, Key> group(const std::vector<Key>& keys, std::size_t count) {
    trace::GroupIndex<RowId, Key> index;
    index.offset.assign(count + 1, 0);
    for (Key key : keys) ++index.offset[key.value + 1];
    std::partial_sum(index.offset.begin(), index.offset.end(), index.offset.begin());
    std::vector<std::uint32_t> next(index.offset.begin(), index.offset.end() - 1);
    index.rows.resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
      index.rows[next[keys[i].value]++] = RowId::from(i);
    return index;
  }

  void link() {
    std::vector<trace::CallId> by_correlation(correlation_ + 1);
    for (std::size_t i = 0; i < trace_.calls.size(); ++i)
      by_correlation[trace_.calls.correlation[i]] = trace::CallId::from(i);
    for (std::size_t i = 0; i < trace_.device_ops.size(); ++i) {
      trace::CallId call = by_correlation[trace_.device_ops.call[i].value];
      trace_.device_ops.call[i] = call;
      trace_.calls.op[call.value] = trace::DeviceOpId::from(i);
    }
    trace_.domains.assign(1, "");
    trace_.complete = true;
    trace_.ranges_of_thread = group<trace::RangeId>(trace_.ranges.thread, trace_.threads.size());
    trace_.calls_of_thread = group<trace::CallId>(trace_.calls.thread, trace_.threads.size());
    trace_.ops_of_stream =
        group<trace::DeviceOpId>(trace_.device_ops.stream, trace_.streams.size());
  }

  trace::Trace trace_;
  std::vector<trace::StringId> kernels_;
  std::vector<trace::StringId> modules_;
  trace::StringId call_;
  trace::StringId step_;
  std::uint64_t correlation_ = 0;
  std::uint64_t state_ = 1;
};

struct FrameTimes {
  std::vector<double> wall_ms;
  std::vector<double> cpu_ms;

  void add(const FrameTimes& more) {
    wall_ms.insert(wall_ms.end(), more.wall_ms.begin(), more.wall_ms.end());
    cpu_ms.insert(cpu_ms.end(), more.cpu_ms.begin(), more.cpu_ms.end());
  }
  void print(const std::string& name) {
    std::sort(wall_ms.begin(), wall_ms.end());
    std::sort(cpu_ms.begin(), cpu_ms.end());
    fmt::print("{}_p50: {:.2f} ms\n", name, percentile_sorted(wall_ms, 0.5));
    fmt::print("{}_p99: {:.2f} ms\n", name, percentile_sorted(wall_ms, 0.99));
    fmt::print("{}_cpu_p50: {:.2f} ms\n", name, percentile_sorted(cpu_ms, 0.5));
    fmt::print("{}_cpu_p99: {:.2f} ms\n", name, percentile_sorted(cpu_ms, 0.99));
  }
};

/// Pans and zooms a little around one zoom level.
FrameTimes frames_at(gui::TimelineView& view, double zoom, int frames) {
  Interval all = view.frame().model->bounds;
  std::int64_t length = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(static_cast<double>(all.length().ns) / zoom));
  std::int64_t begin = all.begin.ns + (all.length().ns - length) / 3;
  view.show_interval({{begin}, {begin + length}});
  view.viewport()->repaint();
  FrameTimes times;
  for (int i = 0; i < frames; ++i) {
    auto start = Clock::now();
    double cpu = cpu_seconds();
    view.run(i % 7 == 3   ? gui::Command::kZoomIn
             : i % 7 == 6 ? gui::Command::kZoomOut
             : i % 2      ? gui::Command::kPanRight
                          : gui::Command::kPanLeft);
    view.viewport()->repaint();
    times.cpu_ms.push_back((cpu_seconds() - cpu) * 1e3);
    times.wall_ms.push_back(seconds_since(start) * 1e3);
  }
  return times;
}

/// Frames with all that can lie over them: hits of a search, critical path, links of a selection.
void measure_overlays(gui::TimelineView& view, const gui::Session& session, const char* name,
                      int frames) {
  auto start = Clock::now();
  gui::Search search(session.trace, session.analysis, "gemm");
  auto hits = std::make_shared<const gui::HitMarks>(session.timeline, search);
  fmt::print("search_{}: {:.3f} s\n", name, seconds_since(start));
  view.set_hits(hits);
  start = Clock::now();
  view.show_path(true);
  view.select(gui::Target::of(analyzer::EventRef::of(
                  trace::DeviceOpId::from(session.trace.device_ops.size() / 3))),
              false);
  while (!view.relations()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
  fmt::print("relations_{}: {:.2f} s\n", name, seconds_since(start));
  FrameTimes all;
  for (double zoom : {1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6}) all.add(frames_at(view, zoom, frames));
  all.print(fmt::format("frame_{}_overlays", name));
}

void measure(std::size_t events, const char* name, int frames) {
  double before = heap_bytes();
  trace::Trace trace = Generator().generate(events);
  malloc_trim(0);
  double trace_bytes = heap_bytes() - before;
  std::size_t count = trace.event_count();
  auto start = Clock::now();
  analyzer::Analysis analysis = analyzer::analyze(trace);
  double analysis_seconds = seconds_since(start);
  before = heap_bytes();
  start = Clock::now();
  gui::TimelineModel model = gui::build_timeline(trace, analysis, 2);
  double build_seconds = seconds_since(start);
  double model_bytes = heap_bytes() - before;
  fmt::print("{} generated events, {} ranks, {} rows\n", count, kRanks, model.rows.size());
  fmt::print("analyze_{}: {:.2f} s\n", name, analysis_seconds);
  fmt::print("build_timeline_{}: {:.3f} s\n", name, build_seconds);
  fmt::print("trace_bytes_per_event_{}: {:.1f} B\n", name,
             trace_bytes / static_cast<double>(count));
  fmt::print("timeline_bytes_per_event_{}: {:.1f} B\n", name,
             model_bytes / static_cast<double>(count));
  model = {};
  analysis = {};

  auto session = gui::make_session(std::move(trace));
  gui::TimelineView view;
  view.resize(1920, 1080);
  view.show();
  QApplication::processEvents();  // a window is painted only once it is exposed
  start = Clock::now();
  view.set_session(session);
  view.viewport()->repaint();
  fmt::print("first_frame_{}: {:.2f} ms\n", name, seconds_since(start) * 1e3);
  FrameTimes all;
  for (double zoom : {1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6}) {
    FrameTimes times = frames_at(view, zoom, frames);
    all.add(times);
    times.print(fmt::format("frame_{}_zoom_{:.0f}", name, zoom));
  }
  all.print(fmt::format("frame_{}", name));
  measure_overlays(view, *session, name, frames);
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = argc > 1 && std::string_view(argv[1]) == "--quick";
  setenv("QT_QPA_PLATFORM", "offscreen", 1);
  setenv("QT_LOGGING_RULES", "*.warning=false", 1);
  QApplication app(argc, argv);
  if (quick) {
    measure(100'000, "100k", 10);
    return 0;
  }
  measure(1'000'000, "1m", 200);
  measure(10'000'000, "10m", 200);
}
