// SPDX-License-Identifier: MIT
// Devices, streams, threads and loaders of all ranks.
#include "tests/planted/dsl/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tests/planted/dsl/expander.h"

namespace headway::planted {
namespace {

Recording::Device read_device(const Statement& s) {
  Recording::Device device;
  const std::string& type = s.arguments[0];
  device.facts.type = type == "cuda"        ? trace::DeviceType::kCuda
                      : type == "host"      ? trace::DeviceType::kHost
                      : type == "simulated" ? trace::DeviceType::kSimulated
                                            : trace::DeviceType::kUnknown;
  if (device.facts.type == trace::DeviceType::kUnknown)
    s.fail("expected cuda, host or simulated, then a name");
  device.facts.name = s.arguments[1];
  device.facts.cores = static_cast<std::int32_t>(s.integer("sms", s.integer("cores", 0)));
  std::string cc = s.text("cc", "");
  if (!cc.empty()) {
    if (cc.size() < 3 || cc.find('.') == std::string::npos) s.fail("cc=: expected such as 9.0");
    device.facts.compute_major = std::atoi(cc.c_str());
    device.facts.compute_minor = std::atoi(cc.c_str() + cc.find('.') + 1);
  }
  device.facts.memory_bytes = s.bytes("memory", 0);
  device.facts.memory_bytes_per_second = s.bytes("bandwidth", 0);
  device.facts.max_clock_hz = s.bytes("clock", 0);
  device.latency = s.duration("latency", device.latency);
  device.gap = s.duration("gap", device.gap);
  device.queue = s.integer("queue", device.queue);
  return device;
}

/// Devices exist from the start, so that those without work are in the trace, too.
void add_devices(const Case& c, Recording& world, int rank) {
  int index = 0;
  for (const Statement& s : c.statements) {
    if (s.keyword == "device") {
      world.devices.push_back(read_device(s));
    } else {
      continue;
    }
    world.devices.back().rank = rank;
    world.devices.back().facts.ordinal = index++;
  }
  if (index > 0) {
    int per_rank = index;
    for (std::size_t i = world.devices.size() - static_cast<std::size_t>(index);
         i < world.devices.size(); ++i) {
      world.devices[i].facts.ordinal += rank * per_rank;
    }
    return;
  }
  Recording::Device device;
  device.rank = rank;
  device.facts.type = trace::DeviceType::kCuda;
  device.facts.name = "NVIDIA A100-SXM4-80GB";
  device.facts.ordinal = rank;
  device.facts.cores = 108;
  device.facts.compute_major = 8;
  device.facts.memory_bytes = 80'000'000'000;
  device.facts.memory_bytes_per_second = 2'039'000'000'000;
  device.facts.max_clock_hz = 1'410'000'000;
  world.devices.push_back(device);
}

int add_process(Recording& world, int rank, std::string name) {
  world.processes.push_back({rank, std::move(name), std::nullopt});
  return static_cast<int>(world.processes.size()) - 1;
}

int add_thread(Recording& world, int process, std::string name, std::int64_t tid) {
  int id = static_cast<int>(world.threads.size());
  world.threads.push_back({process, std::move(name), tid > 0 ? static_cast<int>(tid) : 1000 + id});
  return id;
}

void add_loader(const Case& c, Plan& plan, int rank, int trainer_process, const Statement& loader,
                std::int64_t batches) {
  int workers = static_cast<int>(loader.integer_argument(0));
  for (int w = 0; w < workers; ++w) {
    int process = loader.has("processes")
                      ? add_process(plan.world, rank, fmt::format("loader {}", w))
                      : trainer_process;
    int thread = add_thread(plan.world, process, fmt::format("loader {}", w), 0);
    Expander expander(c, plan, rank, process, thread, static_cast<std::uint64_t>(w) + 10);
    expander.run_worker(loader, w, workers, batches);
    plan.programs.push_back({rank, {loader.duration("start", {1'000'000}).ns}, expander.take()});
  }
}

}  // namespace

int device_of(const Case& c, Recording& world, int rank, int index) {
  int seen = 0;
  for (std::size_t i = 0; i < world.devices.size(); ++i) {
    if (world.devices[i].rank == rank && seen++ == index) return static_cast<int>(i);
  }
  for (const Statement& s : c.statements) {
    if (s.keyword == "stream") s.fail(fmt::format("there is no device {}", index));
  }
  return 0;
}

int stream_of(const Case& c, Recording& world, int rank, const std::string& name) {
  for (std::size_t i = 0; i < world.streams.size(); ++i) {
    if (world.streams[i].name == name && world.rank_of_stream(static_cast<int>(i)) == rank)
      return static_cast<int>(i);
  }
  int device = 0;
  int ordinal = name == "compute" ? 7 : 13 + static_cast<int>(world.streams.size());
  for (const Statement& s : c.statements) {
    if (s.keyword != "stream" || s.arguments.front() != name) continue;
    device = static_cast<int>(s.integer("device", 0));
    ordinal = static_cast<int>(s.integer("ordinal", ordinal));
  }
  world.streams.push_back({device_of(c, world, rank, device), name, ordinal});
  return static_cast<int>(world.streams.size()) - 1;
}

Plan expand(const Case& c) {
  Plan plan;
  plan.loaders.resize(static_cast<std::size_t>(c.ranks));
  for (int rank = 0; rank < c.ranks; ++rank) {
    add_devices(c, plan.world, rank);
    int process = add_process(plan.world, rank, "python");
    LoaderPlan& loader_plan = plan.loaders[static_cast<std::size_t>(rank)];
    const Statement* loader = nullptr;
    for (const Statement& s : c.statements) {
      if (s.keyword != "loader") continue;
      if (loader) s.fail("a case has at most one loader");
      loader = &s;
      loader_plan.workers = static_cast<int>(s.integer_argument(0));
      if (loader_plan.workers < 1 || loader_plan.workers > 512) s.fail("expected 1 to 512 workers");
      loader_plan.prefetch = static_cast<int>(s.integer("prefetch", 2));
      loader_plan.handover = s.duration("handover", loader_plan.handover);
    }
    std::int64_t batches = 0;
    std::uint64_t salt = 1;
    for (const Statement& s : c.statements) {
      if (s.keyword != "thread") continue;
      int thread = add_thread(plan.world, process, s.arguments.front(), s.integer("tid", 0));
      Expander expander(c, plan, rank, process, thread, salt++);
      expander.run(s.body);
      if (expander.inputs() > 0 && batches > 0) s.fail("only one thread may take batches");
      batches += expander.inputs();
      plan.programs.push_back({rank, {s.duration("start", {1'000'000}).ns}, expander.take()});
    }
    if (loader) add_loader(c, plan, rank, process, *loader, batches);
  }
  return plan;
}

}  // namespace headway::planted
