// SPDX-License-Identifier: MIT
// The rules of the simulated device, one by one, on its virtual clock.
#include "reference_trainer/devices/sim/sim_device.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "common/error.h"
#include "reference_trainer/devices/sim/sim_graph.h"

namespace headway::trainer::sim {
namespace {

SimWorld& lone_world() {
  static SimWorld world(1, LinkModel{});
  return world;
}

SimOptions h200() {
  SimOptions options;
  options.gpu = find_simulated_gpu("h200");
  options.record_edges = true;
  return options;
}

std::unique_ptr<Kernel> kernel_of(SimDevice& device, std::int64_t flops, std::int64_t bytes,
                                  const std::string& name = "work one") {
  Kernel::Tag tag;
  tag.text = name;
  tag.work = {flops, bytes};
  return device.make_kernel(std::move(tag), kernels::AddVector{});
}

const GpuCosts& costs() {
  return *find_simulated_gpu("h200").costs;
}

}  // namespace

TEST_CASE("a launch returns at once and its kernel starts after the launch latency") {
  SimDevice device(h200(), lone_world());
  const StreamId stream = device.create_stream("compute");
  const auto kernel = kernel_of(device, 0, 48'000'000);
  device.launch(stream, *kernel, {});
  CHECK(device.now().count() == costs().launch_ns);
  device.synchronize(stream);
  const Op& op = device.recording().ops.at(0);
  CHECK(op.start == costs().launch_latency_ns);
  // 48 MB at 90 % of 4.8 TB/s: 11.1 us, a little more for the last wave, and the least kernel.
  const double expected =
      48e6 / (4.8e12 * 0.9) * 1e9 + static_cast<double>(costs().least_kernel_ns);
  CHECK(static_cast<double>(op.end - op.start) >= expected);
  CHECK(static_cast<double>(op.end - op.start) < 1.15 * expected);
  CHECK(device.now().count() == op.end + costs().sync_wake_ns);
}

TEST_CASE(
    "kernels of a stream follow each other at the gap, and the first cause of a start is known") {
  SimDevice device(h200(), lone_world());
  const StreamId stream = device.create_stream("compute");
  const auto kernel = kernel_of(device, 0, 480'000'000);
  for (int i = 0; i < 3; ++i) device.launch(stream, *kernel, {});
  device.synchronize();
  const auto& ops = device.recording().ops;
  REQUIRE(ops.size() == 3);
  CHECK(ops[0].binding == Binding::kLaunch);
  for (std::size_t i = 1; i < ops.size(); ++i) {
    CHECK(ops[i].start == ops[i - 1].end + costs().kernel_gap_ns);
    CHECK(ops[i].binding == Binding::kStream);
    CHECK(ops[i].bound_by == ops[i - 1].correlation);
  }
}

TEST_CASE("the host blocks when 1024 launches are outstanding") {
  SimDevice device(h200(), lone_world());
  const StreamId stream = device.create_stream("compute");
  const auto kernel = kernel_of(device, 0, 48'000'000'000);  // about 11 milliseconds
  for (int i = 0; i < 1024; ++i) device.launch(stream, *kernel, {});
  CHECK(device.now().count() == 1024 * costs().launch_ns);
  device.launch(stream, *kernel, {});
  const std::int64_t first_end = device.recording().ops.at(0).end;
  CHECK(device.now().count() == first_end + costs().launch_ns);
  CHECK(device.recording().calls.back().waited > 0);
  const auto& edges = device.recording().edges;
  CHECK(std::ranges::count(edges, EdgeKind::kQueue, &Edge::kind) == 1);
}

TEST_CASE(
    "a graph is launched by one call, its kernels follow more closely and take one place in the "
    "queue") {
  SimDevice device(h200(), lone_world());
  const StreamId stream = device.create_stream("compute");
  const auto one = kernel_of(device, 0, 48'000'000'000);  // about 11 milliseconds
  const auto two = kernel_of(device, 0, 48'000'000);
  const auto graph = device.join(stream, {}, {one.get(), two.get(), one.get()}, {});
  const std::int64_t before = device.now().count();
  CHECK(before == 3 * 1500);
  for (int i = 0; i < 1024; ++i) device.launch(stream, *graph, {.batch = i});
  CHECK(device.now().count() == before + 1024 * 2503);
  device.launch(stream, *graph, {});
  CHECK(device.recording().calls.back().waited > 0);
  device.synchronize();
  const auto& ops = device.recording().ops;
  REQUIRE(ops.size() == 3 * 1025);
  const auto& call = device.recording().calls.at(1);
  CHECK(call.kind == DeviceCallKind::kGraphLaunch);
  CHECK(ops[0].start == call.start + costs().launch_latency_ns);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(ops[i].call() == call.correlation);
    CHECK(ops[i].node == static_cast<std::int64_t>(i) + 1);
  }
  CHECK(ops[1].correlation != ops[2].correlation);
  const double inside = graph_costs(*find_simulated_gpu("h200").model).gap_share *
                        static_cast<double>(costs().kernel_gap_ns);
  CHECK(static_cast<double>(ops[1].start - ops[0].end) == doctest::Approx(inside));
  CHECK(ops[3].start == ops[2].end + costs().kernel_gap_ns);
}

TEST_CASE("an allocation takes its time and waits for nothing, a free waits for all streams") {
  SimDevice device(h200(), lone_world());
  const StreamId one = device.create_stream("one");
  const StreamId two = device.create_stream("two");
  const auto short_kernel = kernel_of(device, 0, 48'000'000);
  const auto long_kernel = kernel_of(device, 0, 4'800'000'000);
  device.launch(one, *long_kernel, {});
  device.launch(two, *short_kernel, {});
  const std::int64_t before = device.now().count();
  device.allocate_call(1000);
  CHECK(device.now().count() == before + allocator_costs().allocate_ns);
  device.free_call(1000);
  const auto& recording = device.recording();
  std::int64_t last = 0;
  for (const Op& op : recording.ops) last = std::max(last, op.end);
  CHECK(last > before + allocator_costs().allocate_ns);
  CHECK(device.now().count() == last + allocator_costs().free_ns);
  const Call& free = recording.calls.back();
  CHECK(free.kind == DeviceCallKind::kFree);
  CHECK(free.bytes == 1000);
  CHECK(free.end - free.start - free.waited == allocator_costs().free_ns);
  CHECK(!allocator_costs().source.empty());
}

TEST_CASE("an event makes another stream wait, and waiting for a passed one costs nothing") {
  SimDevice device(h200(), lone_world());
  const StreamId first = device.create_stream("first");
  const StreamId second = device.create_stream("second");
  const auto kernel = kernel_of(device, 0, 4'800'000'000);
  const auto quick = kernel_of(device, 0, 1000);
  device.launch(first, *kernel, {});
  const Event event = device.record(first);
  CHECK(!device.done(event));
  device.wait(second, event);
  device.launch(second, *quick, {});
  device.synchronize();
  CHECK(device.done(event));
  const auto& ops = device.recording().ops;
  REQUIRE(ops.size() == 2);
  CHECK(ops[1].start == ops[0].end + costs().kernel_gap_ns);
  CHECK(ops[1].binding == Binding::kEvent);
  device.wait(second, event);
  device.launch(second, *quick, {});
  device.synchronize();
  CHECK(device.recording().ops[2].binding == Binding::kLaunch);
}

TEST_CASE("copies from pinned memory return at once, from pageable memory when they are staged") {
  SimDevice device(h200(), lone_world());
  const StreamId stream = device.create_stream("copy");
  const MemoryView on_device{nullptr, MemoryKind::kDevice};
  constexpr std::int64_t kBytes = 55'000'000;  // a millisecond pinned, 5.5 pageable
  device.copy(stream, on_device, {nullptr, MemoryKind::kPinned}, kBytes, 0);
  CHECK(device.now().count() == costs().copy_call_ns);
  device.synchronize(stream);
  const auto pinned = device.recording().ops.at(0);
  CHECK(pinned.end - pinned.start == 1'000'000 + costs().copy_latency_ns);
  device.copy(stream, on_device, {nullptr, MemoryKind::kPageable}, kBytes, 0);
  const auto pageable = device.recording().ops.at(1);
  CHECK(pageable.end - pageable.start == 5'500'000 + costs().copy_latency_ns);
  CHECK(device.now().count() >= pageable.end);
}

TEST_CASE("copies in one direction share an engine, those in the other have their own") {
  SimDevice device(h200(), lone_world());
  const MemoryView on_device{nullptr, MemoryKind::kDevice};
  const MemoryView pinned{nullptr, MemoryKind::kPinned};
  const StreamId a = device.create_stream("a");
  const StreamId b = device.create_stream("b");
  const StreamId c = device.create_stream("c");
  device.copy(a, on_device, pinned, 55'000'000, 0);
  device.copy(b, on_device, pinned, 55'000'000, 0);
  device.copy(c, pinned, on_device, 55'000'000, 0);
  device.synchronize();
  REQUIRE(device.recording().ops.size() == 3);
  auto in = [&](StreamId stream) {
    return *std::ranges::find(device.recording().ops, stream, &Op::stream);
  };
  CHECK(in(b).start == in(a).end);
  CHECK(in(b).binding == Binding::kEngine);
  CHECK(in(c).start < in(a).end);
}

TEST_CASE("a collective ends for all ranks when the last has arrived and the transfer is done") {
  LinkModel links;
  links.node_bytes_per_s = 100e9;
  links.start_s = 5e-6;
  SimWorld world(4, links);
  std::vector<Recording> recordings(4);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 4; ++rank)
    ranks.emplace_back([&, rank] {
      SimOptions options = h200();
      options.rank = rank;
      SimDevice device(options, world);
      const StreamId stream = device.create_stream("communication");
      device.spend(std::chrono::microseconds(rank * 100));
      SimCollective collective;
      collective.group = &world.world();
      collective.bytes = 100'000'000;
      device.enqueue_collective(stream, collective);
      device.synchronize();
      recordings[static_cast<std::size_t>(rank)] = std::move(device.recording());
    });
  for (std::thread& rank : ranks) rank.join();
  const Op& last = recordings[3].ops.at(0);
  const std::int64_t transfer =
      links.collective_ns(CollectiveKind::kAllReduce, Scope::kWorld, 4, 100'000'000);
  CHECK(transfer == 1'505'000);  // 5 us, and 1.5 times 100 MB at 100 GB/s
  for (const Recording& recording : recordings) {
    const Op& op = recording.ops.at(0);
    CHECK(op.end == last.start + transfer);
    CHECK(op.last_arrival == last.start);
    CHECK(recording.collectives.at(0).ranks == 4);
  }
  CHECK(recordings[0].ops[0].start == last.start - 300'000);
}

TEST_CASE("a rank that fails ends the waiting of the others") {
  SimWorld world(2, LinkModel{});
  std::string told;
  std::thread waiting([&] {
    SimDevice device(h200(), world);
    const StreamId stream = device.create_stream("communication");
    SimCollective collective;
    collective.group = &world.world();
    device.enqueue_collective(stream, collective);
    try {
      device.synchronize();
    } catch (const Error& error) {
      told = error.what();
    }
  });
  world.abandon("Rank 1 failed: no data");
  waiting.join();
  CHECK(told == "Rank 1 failed: no data");
}

TEST_CASE("jitter depends on seed, rank, op and batch alone, and stays in its bounds") {
  SimOptions options = h200();
  options.jitter = 0.1;
  SimDevice one(options, lone_world());
  SimDevice same(options, lone_world());
  options.seed = 2;
  SimDevice other(options, lone_world());
  double least = 2;
  double most = 0;
  int equal = 0;
  for (int batch = 0; batch < 1000; ++batch) {
    const double factor = one.jitter(7, batch);
    CHECK(factor == same.jitter(7, batch));
    equal += factor == other.jitter(7, batch);
    least = std::min(least, factor);
    most = std::max(most, factor);
  }
  CHECK(equal < 5);
  CHECK(least >= 0.9);
  CHECK(least < 0.91);
  CHECK(most <= 1.1);
  CHECK(most > 1.09);
}

TEST_CASE("a kernel with few blocks does not get the whole GPU, matrix units are faster") {
  const SimulatedGpu gpu = find_simulated_gpu("h200");
  const CostModel model(gpu, table_world(gpu), 0, 0);
  Kernel::Tag tag;
  tag.work = {0, 16384 * 132};  // one block for each multiprocessor
  const auto full = model.kernel(tag);
  tag.work.bytes /= 2;
  const auto half = model.kernel(tag);
  CHECK(full.blocks == 132);
  CHECK(half.blocks == 66);
  CHECK(half.ns == full.ns);
  tag.work = {1'000'000'000'000, 100'000'000};
  const auto general = model.kernel(tag);
  tag.math_unit = MathUnit::kTensor;
  const auto tf32 = model.kernel(tag);
  tag.half_operands = true;
  CHECK(general.ns > 6 * tf32.ns);
  CHECK(tf32.ns > model.kernel(tag).ns);
}

TEST_CASE("with twice the data a kernel never takes less time") {
  const SimulatedGpu gpu = find_simulated_gpu("l4");
  const CostModel model(gpu, table_world(gpu), 0, 0);
  for (std::int64_t bytes = 1'000; bytes < 20'000'000; bytes += bytes / 7) {
    CAPTURE(bytes);
    Kernel::Tag tag;
    tag.work = {0, bytes};
    const auto once = model.kernel(tag);
    tag.work.bytes *= 2;
    CHECK(model.kernel(tag).ns >= once.ns);
  }
}

TEST_CASE("every GPU with costs is in the table of models, and a wrong one lists them") {
  for (const GpuCosts& each : gpu_costs()) {
    CAPTURE(each.model);
    CHECK(find_simulated_gpu(each.model).costs == &each);
    CHECK(!each.source.empty());
  }
  CHECK(find_simulated_gpu("h100").model->id == "h100-sxm");
  CHECK_THROWS_WITH_AS(find_simulated_gpu("h20"), doctest::Contains("Did you mean 'h200'?"), Error);
}

}  // namespace headway::trainer::sim
