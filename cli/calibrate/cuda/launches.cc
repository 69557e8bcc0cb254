// SPDX-License-Identifier: MIT
#include "cli/calibrate/calibrate.h"
#include "cli/calibrate/cuda/measurements.h"
#include "cli/calibrate/host/threads.h"
#include "common/error.h"

namespace headway::calibrate {
namespace {

/// Fewer than the 1024 launches that a stream takes before it blocks the host.
constexpr int kQueued = 500;
/// Longer than the host needs to launch kQueued kernels at 5 µs each.
constexpr std::uint64_t kHeldUpNs = 10'000'000;
constexpr int kPeriods = 20;
constexpr int kRoundTrips = 200;
constexpr int kWarmUp = 20;

double ns_of(const std::function<void()>& work) {
  const std::int64_t begin = now_ns();
  work();
  return static_cast<double>(now_ns() - begin);
}

void queue_empty(Session& session) {
  for (int i = 0; i < kQueued; ++i) session.launch_empty();
}

}  // namespace

void measure_launches(Session& session, FigureSet& figures) {
  for (int i = 0; i < kWarmUp; ++i) session.launch_empty();
  session.wait();
  std::vector<double> round_trips;
  std::vector<double> idle;
  for (int i = 0; i < kRoundTrips; ++i) {
    round_trips.push_back(ns_of([&] {
      session.launch_empty();
      session.wait();
    }));
    idle.push_back(ns_of([&] { session.wait(); }));
  }
  figures[MachineFigure::kRoundTrip] = figure_of(std::move(round_trips));
  figures[MachineFigure::kIdleSync] = figure_of(std::move(idle));
  std::vector<double> periods;
  for (int i = 0; i < kPeriods; ++i)
    periods.push_back(session.time_queued(kHeldUpNs, [&] { queue_empty(session); }) * 1e9 /
                      kQueued);
  figures[MachineFigure::kKernelPeriod] = figure_of(std::move(periods));
}

void run_launches(const std::string& device_name) {
  std::string why;
  std::unique_ptr<Driver> driver = cuda::load_driver(why);
  if (!driver) fail_internal("{}", why);
  int count = 0;
  HEADWAY_CU(*driver, cuDeviceGetCount, &count);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = 0;
    char name[256] = "";
    HEADWAY_CU(*driver, cuDeviceGet, &device, ordinal);
    HEADWAY_CU(*driver, cuDeviceGetName, name, sizeof name - 1, device);
    if (name != device_name) continue;
    Session session(*driver, ordinal);
    for (int i = 0; i < kRoundTrips; ++i) {
      session.launch_empty();
      session.wait();
    }
    session.launch_spin(kHeldUpNs);
    queue_empty(session);
    session.wait();
    return;
  }
  fail_internal("the driver lists no GPU named '{}'", device_name);
}

}  // namespace headway::calibrate
