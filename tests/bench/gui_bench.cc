// SPDX-License-Identifier: MIT
// What the GUI costs on a large trace, from a file on disk: the time to the first picture of the
// timeline with and without the cache, the time to the analysed trace, memory, and the time of a frame
// (rows, labels, ruler, overlay, copy to the window) at several zoom levels while panning, at 1920 x
// 1080 without a GPU. Beside each figure that has a limit: the limit and whether it is kept.
// Usage: headway_bench_gui [--quick | EVENTS | FILE] [--open-only | --frames-only]; without: 10 million events.
// --frames-only opens the file once and names the slowest frames of each zoom level.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <QApplication>
#include <QEventLoop>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "common/statistics.h"
#include "gui/models/opening/memory_room.h"
#include "gui/models/opening/trace_cache.h"
#include "gui/models/search/hit_marks.h"
#include "gui/models/search/search.h"
#include "gui/pages/main_window.h"
#include "gui/pages/timeline_page.h"
#include "tests/bench/generated_run.h"

namespace {

using namespace headway;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Processor time of this thread: what a frame costs when nothing else runs on its core.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Of all threads of this process.
double process_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double heap_bytes() {
  struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

double resident_bytes() {
  std::ifstream in("/proc/self/statm");
  double total = 0;
  double resident = 0;
  in >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::string machine_load() {
  std::ifstream in("/proc/loadavg");
  std::string one;
  in >> one;
  return one;
}

void print(const std::string& name, double value, const char* unit) {
  fmt::print("{}: {:.2f} {}\n", name, value, unit);
}

void print(const std::string& name, double value, const char* unit, double limit) {
  fmt::print("{}: {:.2f} {} (limit {:g}: {})\n", name, value, unit, limit,
             value <= limit ? "pass" : "FAIL");
}

/// How often the machine makes a fixed piece of arithmetic last twice its best: other programs on it,
/// and other machines on the same processor, which no clock here tells apart from work.
void print_machine() {
  std::vector<double> ms;
  for (int i = 0; i < 500; ++i) {
    const double cpu = cpu_seconds();
    volatile std::uint64_t x = 1;
    for (int k = 0; k < 1'000'000; ++k) x = x * 3 + 1;
    ms.push_back((cpu_seconds() - cpu) * 1e3);
  }
  std::sort(ms.begin(), ms.end());
  auto slow = std::count_if(ms.begin(), ms.end(), [&](double one) { return one > 2 * ms[0]; });
  fmt::print(
      "machine: arithmetic of {:.2f} ms took twice as long in {:.1f} % of 500 times, p99 {:.2f} "
      "ms\n",
      ms[0], static_cast<double>(slow) / 5, percentile_sorted(ms, 0.99));
}

struct FrameTime {
  const char* move = "";  ///< what the view did
  double wall_ms = 0;
  double cpu_ms = 0;
  double best_ms = 0;  ///< by the clock, of all times that this frame was made
};

void print_frames(const std::string& name, const std::vector<FrameTime>& frames) {
  auto print_share = [&](const std::string& what, double FrameTime::*time, double share,
                         double limit) {
    std::vector<double> ms;
    for (const FrameTime& frame : frames) ms.push_back(frame.*time);
    std::sort(ms.begin(), ms.end());
    print(name + what, percentile_sorted(ms, share), "ms", limit);
  };
  print_share("_p50", &FrameTime::wall_ms, 0.5, 8);
  print_share("_p99", &FrameTime::wall_ms, 0.99, 16.7);
  print_share("_cpu_p50", &FrameTime::cpu_ms, 0.5, 8);
  print_share("_cpu_p99", &FrameTime::cpu_ms, 0.99, 16.7);
  print_share("_best_p99", &FrameTime::best_ms, 0.99, 16.7);
}

void print_slowest(std::vector<FrameTime> frames) {
  std::sort(frames.begin(), frames.end(),
            [](const FrameTime& a, const FrameTime& b) { return a.best_ms > b.best_ms; });
  frames.resize(std::min<std::size_t>(frames.size(), 5));
  for (const FrameTime& one : frames)
    fmt::print("  {}: {:.2f} ms, processor {:.2f} ms, best {:.2f} ms\n", one.move, one.wall_ms,
               one.cpu_ms, one.best_ms);
}

/// Pans and zooms a little around one zoom level. All frames are made several times: each time counts,
/// and the best of a frame is what the program can do.
std::vector<FrameTime> frames_at(gui::TimelineView& view, double zoom, int frames) {
  constexpr int kTimes = 3;
  Interval all = view.frame().model->bounds;
  std::int64_t length = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(static_cast<double>(all.length().ns) / zoom));
  std::int64_t begin = all.begin.ns + (all.length().ns - length) / 3;
  std::vector<FrameTime> times;
  for (int k = 0; k < kTimes * frames; ++k) {
    const int i = k % frames;
    if (i == 0) {
      view.show_interval({{begin}, {begin + length}});
      view.viewport()->repaint();
    }
    const auto [command, move] = i % 7 == 3   ? std::pair(gui::Command::kZoomIn, "zoom in")
                                 : i % 7 == 6 ? std::pair(gui::Command::kZoomOut, "zoom out")
                                 : i % 2      ? std::pair(gui::Command::kPanRight, "pan right")
                                              : std::pair(gui::Command::kPanLeft, "pan left");
    auto start = Clock::now();
    double cpu = cpu_seconds();
    view.run(command);
    view.viewport()->repaint();
    cpu = (cpu_seconds() - cpu) * 1e3;
    times.push_back({move, seconds_since(start) * 1e3, cpu, 0});
  }
  for (int i = 0; i < frames; ++i) {
    double best = times[static_cast<std::size_t>(i)].wall_ms;
    for (int k = i; k < kTimes * frames; k += frames)
      best = std::min(best, times[static_cast<std::size_t>(k)].wall_ms);
    for (int k = i; k < kTimes * frames; k += frames)
      times[static_cast<std::size_t>(k)].best_ms = best;
  }
  return times;
}

/// Frames with all that can lie over them: hits of a search, critical path, links of a selection.
void measure_overlays(gui::TimelineView& view, const gui::Session& session, int frames) {
  auto start = Clock::now();
  gui::Search search(session.trace, session.analysis, "gemm");
  auto hits = std::make_shared<const gui::HitMarks>(session.timeline, search);
  print("search", seconds_since(start), "s");
  view.set_hits(hits);
  start = Clock::now();
  view.show_path(true);
  view.select(gui::Target::of(analyzer::EventRef::of(
                  trace::DeviceOpId::from(session.trace.device_ops.size() / 3))),
              false);
  while (!view.relations()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
  print("relations", seconds_since(start), "s");
  std::vector<FrameTime> all;
  for (double zoom : {1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6}) {
    std::vector<FrameTime> more = frames_at(view, zoom, frames);
    all.insert(all.end(), more.begin(), more.end());
  }
  print_frames("frame_overlays", all);
}

/// Bytes of the columns of a trace and of what groups them.
double column_bytes(const trace::Trace& trace) {
  double bytes = 0;
  auto add = [&](const auto& column) {
    bytes += static_cast<double>(column.size() * sizeof(column[0]));
  };
  auto all_of = [&](auto columns) {
    std::apply([&](auto&... column) { (add(column), ...); }, columns);
  };
  trace::Trace& columns = const_cast<trace::Trace&>(trace);  // columns() has no const form
  all_of(columns.ranges.columns());
  all_of(columns.device_ops.columns());
  all_of(columns.calls.columns());
  add(trace.range_info);
  add(trace.ranges_of_thread.rows);
  add(trace.calls_of_thread.rows);
  add(trace.ops_of_stream.rows);
  return bytes;
}

struct Opening {
  double first_picture = 0;
  double analysed = 0;
  double cpu = 0;
};

/// Opens the file in a window of its own and waits until it is analysed.
Opening open_once(gui::MainWindow& window, const gui::OpenRequest& request) {
  Opening times;
  const Clock::time_point start = Clock::now();
  const double cpu = process_cpu_seconds();
  QEventLoop loop;
  auto first_picture = [&] {
    if (times.first_picture > 0) return;
    window.show_page(gui::Page::kTimeline);
    window.timeline().view().viewport()->repaint();
    times.first_picture = seconds_since(start);
    times.cpu = process_cpu_seconds() - cpu;
  };
  auto looked = QObject::connect(&window, &gui::MainWindow::looked, first_picture);
  auto opened = QObject::connect(&window, &gui::MainWindow::opened, [&] {
    first_picture();
    times.analysed = seconds_since(start);
    loop.quit();
  });
  auto failed = QObject::connect(&window, &gui::MainWindow::open_failed,
                                 [&](const QString& message, ExitCode) {
                                   fmt::print("failed: {}\n", message.toStdString());
                                   std::exit(1);
                                 });
  window.open(request);
  loop.exec();
  for (auto* connection : {&looked, &opened, &failed}) QObject::disconnect(*connection);
  return times;
}

/// Several openings, each in a fresh window. The best is what the program can do, the median what
/// this machine made of it.
void measure_opening(const gui::OpenRequest& request, const char* name, int runs, double limit,
                     bool wait_for_cache) {
  std::vector<double> first;
  std::vector<double> analysed;
  std::vector<double> cpu;
  for (int i = 0; i < runs; ++i) {
    gui::MainWindow window(false);
    window.resize(1920, 1080);
    window.show();
    QApplication::processEvents();
    Opening times = open_once(window, request);
    first.push_back(times.first_picture);
    analysed.push_back(times.analysed);
    cpu.push_back(times.cpu);
    if (wait_for_cache) {
      gui::TraceCache cache(request.source.cache_folder);
      const fs::path kept = cache.file_of(*trace::snapshot_key(request.source.files[0]));
      for (int n = 0; n < 600 && !fs::exists(kept); ++n) {
        QApplication::processEvents();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
      fmt::print("cache_bytes: {:.0f} MB\n",
                 fs::exists(kept) ? static_cast<double>(fs::file_size(kept)) / 1e6 : 0);
    }
  }
  std::sort(first.begin(), first.end());
  print(fmt::format("first_picture_{}_best", name), first.front(), "s", limit);
  print(fmt::format("first_picture_{}_median", name), median(first), "s", limit);
  print(fmt::format("first_picture_{}_cpu", name), *std::min_element(cpu.begin(), cpu.end()), "s");
  print(fmt::format("analysed_{}_best", name), *std::min_element(analysed.begin(), analysed.end()),
        "s");
  fmt::print("load_average: {}\n", machine_load());
}

void measure_memory_and_frames(const gui::OpenRequest& request, int frames, bool slowest) {
  malloc_trim(0);
  const double before = heap_bytes();
  gui::MainWindow window(false);
  window.resize(1920, 1080);
  window.show();
  open_once(window, request);
  // The first look and what the loader used are given back on other threads.
  for (int i = 0; i < 20; ++i) {
    QApplication::processEvents();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const gui::Session& session = *window.session();
  const double columns = column_bytes(session.trace);
  const double all = heap_bytes() - before;
  double events = static_cast<double>(session.trace.event_count());
  fmt::print("events: {:.0f}, rows: {}\n", events, session.timeline.rows.size());
  print("column_bytes_per_event", columns / events, "B");
  print("bytes_per_event", all / events, "B");
  print("memory_beside_the_columns", (all - columns) / columns, "x columns", 1.5);
  print("resident", resident_bytes() / 1e9, "GB");
  if (frames == 0) return;

  gui::TimelineView view;
  view.resize(1920, 1080);
  view.show();
  QApplication::processEvents();  // a window is painted only once it is exposed
  print_machine();
  auto start = Clock::now();
  view.set_session(window.session());
  view.viewport()->repaint();
  print("first_frame", seconds_since(start) * 1e3, "ms");
  for (double zoom : {1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6}) {
    std::vector<FrameTime> times = frames_at(view, zoom, frames);
    if (slowest) print_slowest(times);
    print_frames(fmt::format("frame_zoom_{:.0f}", zoom), times);
  }
  measure_overlays(view, session, frames);
  print_machine();
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t events = 10'000'000;
  int runs = 3;
  int frames = 200;
  bool frames_only = false;
  fs::path file;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "--quick") {
      events = 600'000;  // enough to be shown in two stages and kept in the cache
      runs = 1;
      frames = 10;
    } else if (argument == "--open-only") {
      runs = 1;
      frames = 0;
    } else if (argument == "--frames-only") {
      frames_only = true;
    } else if (std::from_chars(argument.data(), argument.data() + argument.size(), events).ptr !=
               argument.data() + argument.size()) {
      file = argument;
    }
  }
  setenv("QT_QPA_PLATFORM", "offscreen", 1);
  setenv("QT_LOGGING_RULES", "*.warning=false", 1);
  QApplication app(argc, argv);
  const fs::path folder = fs::temp_directory_path() /
                          fmt::format("headway_bench_gui_{}", QApplication::applicationPid());
  fs::create_directories(folder);
  gui::OpenRequest request;
  request.source.files = {file.empty() ? folder / "run.sqlite" : file};
  if (file.empty()) bench::write_generated_run(request.source.files[0], events);
  if (!frames_only) measure_opening(request, "without_cache", runs, 2.5, false);
  if (frames > 0 && !frames_only) {
    request.source.cache_folder = folder / "cache";
    measure_opening(request, "that_fills_the_cache", 1, 2.5, true);
    measure_opening(request, "with_cache", runs, 1.5, false);
  }
  measure_memory_and_frames(request, frames, frames_only);
  fmt::print("peak_memory: {:.2f} GB\n", peak_bytes() / 1e9);
  fs::remove_all(folder);
}
