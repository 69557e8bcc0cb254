// SPDX-License-Identifier: MIT
// Machines drawn from a seed: the same for the same seed, in their ranges, and what runs at once slows each other down.
#include "reference_trainer/devices/sim/drawn_world.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "reference_trainer/devices/sim/sim_device.h"
#include "reference_trainer/devices/sim/sim_graph.h"
#include "reference_trainer/devices/sim/simulated_run.h"
#include "reference_trainer/switches/switches.h"
#include "tests/reference_trainer/simulated_data.h"

namespace headway::trainer::sim {
namespace {

constexpr std::uint64_t kWorlds = 40;

DrawnWorld world_of(std::uint64_t seed) {
  return draw_world(seed, find_simulated_gpu("h200"), 8);
}

/// As a seed has it, without noise, a throttled clock and pauses.
DrawnWorld steady_world(std::uint64_t seed) {
  DrawnWorld world = world_of(seed);
  world.noise = {};
  world.throttle = {};
  world.pause = {};
  return world;
}

SimOptions on(const DrawnWorld& world) {
  SimOptions options;
  options.gpu = {find_simulated_gpu("h200").model, &world.costs};
  options.drawn = &world;
  return options;
}

std::unique_ptr<Kernel> memory_bound(SimDevice& device) {
  Kernel::Tag tag;
  tag.text = "copy all";
  tag.work = {0, 480'000'000};
  return device.make_kernel(std::move(tag), kernels::AddVector{});
}

std::int64_t length(const Op& op) {
  return op.end - op.start;
}

RunResult run_of(Settings settings, std::int64_t world, std::vector<Recording>* recordings) {
  settings.device = DeviceKind::kSim;
  settings.world = world;
  test::SimulatedData data(settings);
  SimulatedRun run = simulate(settings, data.data(), {true, true}, {});
  if (recordings) *recordings = std::move(run.recordings);
  return run.result;
}

}  // namespace

TEST_CASE("a seed draws the same world again, another seed another one") {
  std::set<double> launches;
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    const auto one = describe(world_of(seed));
    CHECK(one == describe(world_of(seed)));
    for (const auto& [name, value] : one)
      if (name == "launch_ns") launches.insert(value);
    CHECK(world_of(seed).efficiency("conv2d") == world_of(seed).efficiency("conv2d"));
    CHECK(world_of(seed).efficiency("conv2d") != world_of(seed).efficiency("relu"));
  }
  CHECK(launches.size() > kWorlds * 9 / 10);
}

TEST_CASE(
    "one library's product reaches the same with and without a bias, kernels of a family are "
    "close") {
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    CAPTURE(seed);
    const DrawnWorld world = world_of(seed);
    CHECK(world.efficiency("linear") == world.efficiency("matmul"));
    CHECK(world.efficiency("linear_backward_weights") ==
          world.efficiency("matmul_backward_weights"));
    CHECK(world.efficiency("relu") != world.efficiency("gelu"));
    const double range = world.kernels.best_efficiency - world.kernels.least_efficiency;
    CHECK(std::abs(world.efficiency("batch_norm") - world.efficiency("bn_relu")) <= 0.2 * range);
  }
}

TEST_CASE("a drawn machine is never better than its peaks, and has all its parts") {
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    CAPTURE(seed);
    const DrawnWorld world = world_of(seed);
    CHECK(world.costs.matrix_share < 1);
    CHECK(world.costs.memory_share < 1);
    CHECK(world.efficiency("anything") <= 1);
    CHECK(world.efficiency("anything") >= world.kernels.least_efficiency);
    CHECK(world.costs.launch_latency_ns > world.costs.launch_ns);
    CHECK(world.costs.pageable_bytes_per_s <= world.costs.pinned_bytes_per_s);
    CHECK(world.links.network_bytes_per_s > 0);
    CHECK(world.links.node_bytes_per_s > 0);
  }
}

TEST_CASE("noise is one on average and a function of what it is for alone") {
  const DrawnWorld world = world_of(3);
  double sum = 0;
  constexpr int kCount = 20'000;
  for (int i = 0; i < kCount; ++i) {
    const double factor = world.factor(0.1, 7, static_cast<std::uint64_t>(i));
    CHECK(factor > 0);
    sum += factor;
  }
  CHECK(sum / kCount == doctest::Approx(1).epsilon(0.01));
  CHECK(world.factor(0.1, 7, 1) == world.factor(0.1, 7, 1));
  CHECK(world.factor(0.1, 7, 1) != world.factor(0.1, 8, 1));
  CHECK(world.factor(0, 7, 1) == 1);
}

TEST_CASE("two memory-bound kernels that overlap take longer than one after the other") {
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    CAPTURE(seed);
    const DrawnWorld world = steady_world(seed);
    SimWorld lone(1, world.links);
    SimDevice device(on(world), lone);
    const StreamId a = device.create_stream("a");
    const StreamId b = device.create_stream("b");
    const auto kernel = memory_bound(device);
    device.launch(a, *kernel, {});
    device.synchronize();
    const std::int64_t alone = length(device.recording().ops.at(0));
    device.launch(a, *kernel, {});
    device.launch(b, *kernel, {});
    device.synchronize();
    const Op& first = device.recording().ops.at(1);
    const Op& second = device.recording().ops.at(2);
    CHECK(first.end > second.start);
    CHECK(length(first) > alone);
    CHECK(length(second) > alone);
    // Together no sooner than apart: half as fast each while both run, and sharing costs something besides.
    CHECK(std::max(first.end, second.end) - std::min(first.start, second.start) > 2 * alone);
  }
}

TEST_CASE("the machine of the tables lets overlapping kernels be") {
  SimWorld lone(1, LinkModel{});
  SimOptions options;
  options.gpu = find_simulated_gpu("h200");
  SimDevice device(options, lone);
  const StreamId a = device.create_stream("a");
  const StreamId b = device.create_stream("b");
  const auto kernel = memory_bound(device);
  device.launch(a, *kernel, {});
  device.launch(b, *kernel, {});
  device.synchronize();
  CHECK(length(device.recording().ops.at(0)) == length(device.recording().ops.at(1)));
  CHECK(device.recording().ops.at(0).end > device.recording().ops.at(1).start);
}

TEST_CASE("a collective slows the kernels beside it, and copies both ways slow each other") {
  DrawnWorld world = steady_world(5);
  world.contention.streaming_by_comm = 0.5;
  world.contention.by_copy = 0;
  world.contention.copy_by_copy = 0.25;
  world.links.node_bytes_per_s = 1e9;
  SimWorld two(2, world.links);
  std::vector<Recording> recordings(2);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 2; ++rank)
    ranks.emplace_back([&, rank] {
      SimOptions options = on(world);
      options.rank = rank;
      SimDevice device(options, two);
      const StreamId compute = device.create_stream("compute");
      const StreamId communication = device.create_stream("communication");
      const auto kernel = memory_bound(device);
      device.launch(compute, *kernel, {});
      device.synchronize();
      SimCollective collective;
      collective.group = &two.world();
      collective.bytes = 1'000'000'000;  // a second
      device.enqueue_collective(communication, collective);
      device.spend(std::chrono::milliseconds(1));
      device.launch(compute, *kernel, {});
      device.synchronize();
      const MemoryView on_device{nullptr, MemoryKind::kDevice};
      const MemoryView pinned{nullptr, MemoryKind::kPinned};
      device.copy(compute, on_device, pinned, 100'000'000, 0);
      device.synchronize();
      device.copy(compute, on_device, pinned, 100'000'000, 0);
      device.copy(communication, pinned, on_device, 100'000'000, 0);
      device.synchronize();
      recordings[static_cast<std::size_t>(rank)] = std::move(device.recording());
    });
  for (std::thread& rank : ranks) rank.join();
  for (const Recording& recording : recordings) {
    std::vector<std::int64_t> kernels;
    std::vector<std::int64_t> copies;
    for (const Op& op : recording.ops) {
      if (op.kind == DeviceOpKind::kKernel) kernels.push_back(length(op));
      if (op.kind == DeviceOpKind::kCopyHostToDevice) copies.push_back(length(op));
    }
    REQUIRE(kernels.size() == 2);
    REQUIRE(copies.size() == 2);
    CHECK(static_cast<double>(kernels[1]) / static_cast<double>(kernels[0]) ==
          doctest::Approx(1.5).epsilon(0.001));
    CHECK(copies[1] > copies[0] * 6 / 5);
  }
}

TEST_CASE("a run in a drawn world is the same every time, whatever thread comes first") {
  EffectiveSettings effective;
  effective.apply(find_preset("comm-exposed"), DeviceKind::kSim);
  Settings settings = effective.values();
  settings.steps = 12;
  for (std::int64_t world : {1, 2, 3, 4}) {
    CAPTURE(world);
    std::vector<Recording> one;
    std::vector<Recording> two;
    run_of(settings, world, &one);
    run_of(settings, world, &two);
    REQUIRE(one.size() == 4);
    for (std::size_t rank = 0; rank < one.size(); ++rank) {
      REQUIRE(one[rank].ops.size() == two[rank].ops.size());
      CHECK(one[rank].end == two[rank].end);
      CHECK(one[rank].edges.size() == two[rank].edges.size());
      for (std::size_t i = 0; i < one[rank].ops.size(); ++i) {
        CHECK(one[rank].ops[i].start == two[rank].ops[i].start);
        CHECK(one[rank].ops[i].end == two[rank].ops[i].end);
      }
    }
  }
}

TEST_CASE("another world, another step") {
  Settings settings;
  settings.steps = 20;
  settings.batch = 32;
  std::set<double> steps;
  for (std::int64_t world = 1; world <= 10; ++world)
    steps.insert(run_of(settings, world, nullptr).mean_step_s());
  CHECK(steps.size() == 10);
}

}  // namespace headway::trainer::sim
