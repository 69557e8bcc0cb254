// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/simulated_run.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include "common/error.h"
#include "reference_trainer/data/storage_kinds.h"
#include "reference_trainer/devices/sim/sim_communicator.h"
#include "reference_trainer/devices/sim/sim_loader.h"
#include "reference_trainer/train/generation.h"
#include "reference_trainer/train/inference.h"

namespace headway::trainer::sim {
namespace {

/// The defaults of links: the GPU's own link inside the node, half of it per direction, and 400
/// Gb/s of network per rank. Switches replace them.
LinkModel links_of(const Settings& s, SimulatedGpu gpu, const DrawnWorld& world) {
  constexpr double kNetworkPerRank = 50e9;
  constexpr double kNoLink = 12e9;  // GPUs without a link exchange through the host
  LinkModel links;
  if (world.drawn()) {
    links = world.links;
    if (s.node_gb_per_s > 0) links.node_bytes_per_s = s.node_gb_per_s * 1e9;
    if (s.network_gb_per_s > 0) links.network_bytes_per_s = s.network_gb_per_s * 1e9;
    if (s.network_us > 0) links.network_latency_s = s.network_us * 1e-6;
    return links;
  }
  links.ranks_per_node = static_cast<int>(s.ranks_per_node);
  const double link = static_cast<double>(gpu.model->link_bytes_per_second) / 2;
  links.node_bytes_per_s = s.node_gb_per_s > 0
                               ? s.node_gb_per_s * 1e9
                               : (link > 0 ? link : kNoLink) * gpu.costs->collective_share;
  links.network_bytes_per_s = s.network_gb_per_s > 0
                                  ? s.network_gb_per_s * 1e9
                                  : kNetworkPerRank * static_cast<double>(s.ranks_per_node);
  links.node_latency_s = 1e-6;
  links.network_latency_s = s.network_us > 0 ? s.network_us * 1e-6 : 5e-6;
  links.start_s = 5e-6;
  return links;
}

SimOptions device_options(const Settings& s, SimulatedGpu gpu, int rank, const DrawnWorld& world,
                          const SimulationOptions& options) {
  SimOptions result;
  result.drawn = &world;
  result.gpu = gpu;
  result.memory_bytes_per_s = s.memory_gb_per_s * 1e9;
  result.link_bytes_per_s = s.link_mb_per_s * 1e6;
  result.clock = s.clock;
  result.jitter = s.jitter;
  result.seed = static_cast<std::uint64_t>(s.seed);
  result.rank = rank;
  result.split_products = s.split_k;
  result.record_events = options.record_events;
  result.record_edges = options.record_edges;
  return result;
}

/// The storage according to the switches, otherwise as drawn.
Storage::Speed storage_of(const Settings& s, const DrawnWorld& world) {
  Storage::Speed speed = speed_of(s.storage);
  if (s.storage == StorageKind::kMachine)
    speed = {std::chrono::microseconds(static_cast<std::int64_t>(world.storage.latency_ns / 1000)),
             world.storage.bytes_per_s, 0, world.storage.channels};
  speed.replace(s.storage_latency_ms, s.storage_mb_per_s);
  return speed;
}

SimStorage sim_storage(const Settings& s, const DrawnWorld& world) {
  constexpr double kMb = 1e6, kGb = 1e9;
  SimStorage result;
  result.speed = storage_of(s, world);
  result.one_file_each = s.source == SourceKind::kFiles;
  result.decoded = s.decode == Decode::kOffline;
  result.shard_bytes = static_cast<std::int64_t>(s.shard_mb * kMb);
  result.whole_shards = s.shard_read == ShardRead::kFile;
  result.split = s.shard_split;
  result.memory_bytes = static_cast<std::int64_t>(s.host_memory_gb * kGb);
  return result;
}

struct Outcome {
  std::exception_ptr error;
  RunResult result;
  Recording recording;
};

void run_rank(const Settings& settings, const TrainingData& data, const SimOptions& options,
              SimWorld& world, const TrainerHooks& hooks, Outcome& outcome) {
  try {
    SimDevice device(options, world);
    const nvtx::Listening listening(&device);
    SimCommunicator communicator(device);
    LoaderCosts costs;
    costs.cores = static_cast<int>(settings.host_cores);
    costs.scale(device.drawn().storage.processor);
    TrainerParts parts;
    parts.make_loader = [&](SampleSource& source, const LoaderOptions& loader) {
      return std::make_unique<SimLoader>(device, source, loader, costs,
                                         sim_storage(settings, device.drawn()));
    };
    if (world.ranks() > 1) parts.communicator = &communicator;
    if (settings.mode == RunMode::kInfer && settings.generate > 0)
      outcome.result = Generation(settings, device, data, {}, parts.make_loader).run(hooks);
    else if (settings.mode == RunMode::kInfer)
      outcome.result = Inference(settings, device, data, {}, parts.make_loader).run(hooks);
    else
      outcome.result = Trainer(settings, device, data, parts).run(hooks);
    if (settings.source != SourceKind::kMemory)
      outcome.result.cold_steps = static_cast<std::size_t>(
          (device.drawn().storage.warm_after + settings.accumulate - 1) / settings.accumulate);
    outcome.recording = std::move(device.recording());
  } catch (const std::exception& error) {
    outcome.error = std::current_exception();
    world.abandon(fmt::format("Rank {} failed: {}", options.rank, error.what()));
  }
}

}  // namespace

SimulatedRun simulate(const Settings& settings, const TrainingData& data,
                      const SimulationOptions& options, const TrainerHooks& hooks) {
  SimulatedRun run;
  const SimulatedGpu table = find_simulated_gpu(settings.gpu);
  DrawnWorld drawn = settings.world > 0
                         ? draw_world(static_cast<std::uint64_t>(settings.world), table,
                                      static_cast<int>(settings.ranks_per_node))
                         : table_world(table);
  if (settings.pause_every >= 0) drawn.pause = {};  // the trainer makes its own pauses, or none
  run.world = std::make_shared<const DrawnWorld>(std::move(drawn));
  run.gpu = {table.model, &run.world->costs};
  run.ranks = static_cast<int>(settings.ranks);
  run.ranks_per_node = static_cast<int>(settings.ranks_per_node);
  run.clock = settings.clock;
  run.tf32_forbidden = settings.tf32_forbidden;
  run.host_cores = static_cast<int>(settings.host_cores);
  SimWorld world(run.ranks, links_of(settings, run.gpu, *run.world));
  std::vector<Outcome> outcomes(static_cast<std::size_t>(run.ranks));
  TrainerHooks others;  // progress is shown for rank 0
  others.stop = hooks.stop;
  std::vector<std::thread> threads;
  for (int rank = 1; rank < run.ranks; ++rank)
    threads.emplace_back([&, rank] {
      run_rank(settings, data, device_options(settings, run.gpu, rank, *run.world, options), world,
               others, outcomes[static_cast<std::size_t>(rank)]);
    });
  run_rank(settings, data, device_options(settings, run.gpu, 0, *run.world, options), world, hooks,
           outcomes[0]);
  for (std::thread& thread : threads) thread.join();
  for (const Outcome& outcome : outcomes)
    if (outcome.error) std::rethrow_exception(outcome.error);
  run.result = std::move(outcomes[0].result);
  for (Outcome& outcome : outcomes) run.recordings.push_back(std::move(outcome.recording));
  return run;
}

}  // namespace headway::trainer::sim
