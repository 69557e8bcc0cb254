// SPDX-License-Identifier: MIT
// What the trainer's host side costs: a launch, the latency of an idle stream, a wait that wakes
// the host, a copy, and images per second of every preset. Usage: headway_bench_trainer [--quick]
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "reference_trainer/app/data_setup.h"
#include "reference_trainer/devices/host/host_device.h"
#include "reference_trainer/switches/switches.h"
#include "reference_trainer/train/trainer.h"
#include "tests/bench/bench_support.h"

namespace {

using namespace headway::trainer;
using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

void bench_queue(int repeats) {
  HostDevice device({1, 0, 0});
  const StreamId stream = device.create_stream("bench");
  auto nothing = device.make_kernel("nothing", [](const LaunchArguments&) {});
  constexpr int kLaunches = 500;  // below the queue's depth, so that no launch waits
  std::vector<double> launch_us;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    for (int k = 0; k < kLaunches; ++k) device.launch(stream, *nothing, {});
    launch_us.push_back(microseconds(Clock::now() - start) / kLaunches);
    device.synchronize();
  }
  fmt::print("launch_call: {:.2f} us\n", headway::median(launch_us));

  Clock::time_point ran;
  auto stamp = device.make_kernel("stamp", [&](const LaunchArguments&) { ran = Clock::now(); });
  std::vector<double> latency_us;
  std::vector<double> wake_us;
  for (int i = 0; i < repeats; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the stream sleeps, too
    const auto start = Clock::now();
    device.launch(stream, *stamp, {});
    device.synchronize(stream);
    const auto woke = Clock::now();
    latency_us.push_back(microseconds(ran - start));
    wake_us.push_back(microseconds(woke - ran));
  }
  fmt::print("launch_latency_idle_stream: {:.1f} us\n", headway::median(latency_us));
  fmt::print("synchronize_wake: {:.1f} us\n", headway::median(wake_us));
}

void bench_preset(const Preset& preset, bool quick) {
  EffectiveSettings effective;
  effective.apply(preset, DeviceKind::kHost);
  Settings settings = effective.values();
  if (settings.ranks > 1) return;  // processes of their own, not to be timed on a few cores
  settings.threads = 1;
  // The same work without an installed data set.
  const bool pictures = settings.model == ModelKind::kSsd;
  settings.data = pictures ? DataKind::kGeneratedPictures : DataKind::kGenerated;
  if (!pictures && settings.source != SourceKind::kFiles) settings.source = SourceKind::kMemory;
  settings.samples = pictures ? 100 : 1000;
  settings.cache_dir =
      (std::filesystem::temp_directory_path() / "headway_bench_trainer cache").string();
  if (quick) settings.steps = 4;
  std::string note;
  DataSetup data(
      settings, [](auto, auto) {}, note);
  HostDevice device({1, settings.link_mb_per_s * 1e6, settings.memory_gb_per_s * 1e9});
  Trainer trainer(settings, device, data.data());
  const RunResult result = trainer.run({});
  fmt::print("{}: {:.1f} images/s\n", preset.name, result.images_per_second());
  fmt::print("{}_median_step: {:.2f} ms\n", preset.name, result.median_step_s() * 1e3);
  fmt::print("{}_input_wait: {:.1f} %\n", preset.name, 100 * result.input_wait_share());
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = headway::bench::is_quick(argc, argv);
  bench_queue(quick ? 20 : 300);
  for (const Preset& preset : all_presets()) bench_preset(preset, quick);
}
