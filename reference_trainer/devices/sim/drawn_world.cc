// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/drawn_world.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "reference_trainer/data/random.h"

namespace headway::trainer::sim {
namespace {

/// Draws one figure after another.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed, 0x3041D, 1) {}
  double even(double low, double high) { return low + (high - low) * random_.uniform(); }
  /// Evenly on a logarithmic scale: for ranges over more than a factor of two.
  double scale(double low, double high) { return low * std::pow(high / low, random_.uniform()); }
  std::int64_t ns(double low, double high) { return std::llround(scale(low, high)); }
  bool chance(double share) { return random_.uniform() < share; }
  template <class T, std::size_t kCount>
  T one(const T (&values)[kCount]) {
    return values[random_.below(kCount)];
  }

 private:
  Random random_;
};

constexpr double kGB = 1e9;

/// The speed of a server's host, driver and bus, independent of the GPU in it.
void draw_host(Draw& draw, GpuCosts& costs) {
  costs.launch_ns = draw.ns(1'400, 7'000);
  costs.launch_latency_ns = costs.launch_ns + draw.ns(1'500, 6'000);
  costs.kernel_gap_ns = draw.ns(500, 2'500);
  costs.least_kernel_ns = draw.ns(1'200, 3'500);
  costs.small_call_ns = draw.ns(350, 1'800);
  costs.copy_call_ns = costs.launch_ns + draw.ns(200, 2'500);
  costs.sync_wake_ns = draw.ns(2'500, 25'000);
  costs.copy_latency_ns = draw.ns(700, 3'000);
  constexpr double kBus[] = {16 * kGB, 32 * kGB, 64 * kGB};  // PCIe 3, 4, 5 x16
  costs.pinned_bytes_per_s = std::llround(draw.one(kBus) * draw.even(0.65, 0.88));
  costs.pageable_bytes_per_s = std::llround(
      std::min(static_cast<double>(costs.pinned_bytes_per_s), draw.scale(2, 12) * kGB));
}

void draw_kernels(Draw& draw, DrawnWorld& world) {
  world.costs.matrix_share = draw.even(0.4, 0.9);
  world.costs.memory_share = draw.even(0.7, 0.95);
  world.kernels.least_efficiency = draw.even(0.45, 0.9);
  world.kernels.best_efficiency = 1;
  world.kernels.ramp_ns = draw.scale(200, 8'000);
  world.kernels.wave_power = draw.even(0.2, 1);
  world.noise.kernel = draw.scale(0.002, 0.05);
  world.noise.copy = draw.scale(0.005, 0.1);
  world.noise.call = draw.scale(0.01, 0.3);
  world.noise.loader = draw.scale(0.01, 0.3);
  world.contention.shared = true;
  world.contention.loss = draw.even(0.01, 0.15);
  // Measured during all-reduces: products took 1.13 to 1.27 times as long, sums 1.09 to 1.94 (Echo;
  // A800 and 3090).
  world.contention.matrix_by_comm = draw.even(0.02, 0.35);
  world.contention.streaming_by_comm = draw.even(0.05, 0.8);
  world.contention.by_copy = draw.even(0, 0.08);
  world.contention.copy_by_copy = draw.even(0, 0.5);
  if (draw.chance(0.25))
    world.throttle = {draw.scale(1e6, 3e7), draw.even(0.1, 0.7), draw.even(0.05, 0.35)};
}

void draw_rest(Draw& draw, DrawnWorld& world) {
  world.allocator.allocate_ns = draw.ns(15'000, 200'000);
  world.allocator.free_ns = draw.ns(5'000, 80'000);
  world.allocator.source = "drawn";
  if (draw.chance(0.3)) {
    constexpr std::int64_t kEvery[] = {1, 5, 7, 10, 20};
    world.pause.every_steps = draw.one(kEvery);
    world.pause.ns = draw.scale(2e5, 3e7);
    world.pause.between_steps = draw.chance(0.5);
  }
  auto& storage = world.storage;
  storage.processor = draw.scale(0.4, 2.5);
  constexpr int kPlaces = 4;
  constexpr double kLatency[kPlaces] = {0, 90e3, 600e3, 6e6};  // page cache, NVMe, network, disk
  constexpr double kRate[kPlaces] = {0, 3 * kGB, 0.8 * kGB, 0.15 * kGB};
  constexpr int kChannels[kPlaces] = {0, 64, 16, 1};
  constexpr int kPlace[] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 3};
  const int place = draw.one(kPlace);
  storage.latency_ns = kLatency[place] * draw.scale(0.5, 2);
  storage.bytes_per_s = kRate[place] * draw.scale(0.5, 2);
  storage.channels = kChannels[place];
  if (storage.channels > 1 && draw.chance(0.5)) storage.channels /= 4;
  if (place > 0 && draw.chance(0.2)) {
    storage.warm_after = draw.ns(8, 60);
    storage.warm_speed = draw.scale(3, 30);
  }
}

/// Links between ranks as NCCL uses them. A flat ring over nodes crosses each network once in each
/// direction, with one connection, which reaches a share of what several reach; rings inside nodes
/// and across them have a connection for each rank.
void draw_links(Draw& draw, SimulatedGpu gpu, int ranks_per_node, DrawnWorld& world) {
  LinkModel& links = world.links;
  links.ranks_per_node = ranks_per_node;
  constexpr double kNoLink = 12 * kGB;  // through the host
  const double link = static_cast<double>(gpu.model->link_bytes_per_second) / 2;
  world.costs.collective_share = draw.even(0.6, 0.9);
  links.node_bytes_per_s =
      (link > 0 ? link : kNoLink * draw.even(0.5, 1.8)) * world.costs.collective_share;
  constexpr double kGigabits[] = {10, 25, 25, 50, 100, 200, 400};
  constexpr double kCards[] = {1, 1, 2, 4, 8};
  links.network_bytes_per_s =
      draw.one(kGigabits) * kGB / 8 * draw.one(kCards) * draw.even(0.7, 0.95);
  links.node_latency_s = draw.scale(0.6e-6, 4e-6);
  links.network_latency_s = draw.scale(2e-6, 40e-6);
  links.start_s = draw.scale(4e-6, 30e-6);
  links.connection_share = draw.even(0.55, 1);
  links.half_rate_bytes = draw.scale(16e3, 1e6);
  links.server_congestion = draw.even(0, 0.05);
  world.noise.collective = draw.scale(0.005, 0.15);
}

constexpr std::string_view kProduct = "product";
/// The share of a kernel's efficiency that is its own, not its family's.
constexpr double kKernelsDiffer = 0.2;

/// Types of ops whose kernels move and compute alike. An op type without a row is its own family.
std::string_view family_of(std::string_view type) {
  struct Row {
    std::string_view part;
    std::string_view family;
  };
  // The first row that matches.
  static constexpr auto kRows = std::to_array<Row>({
      {"linear", kProduct},         {"matmul", kProduct},        {"layer_norm", "layer_norm"},
      {"batch_norm", "batch_norm"}, {"bn_", "batch_norm"},       {"softmax", "softmax"},
      {"nll_loss", "softmax"},      {"adam", "update"},          {"sgd", "update"},
      {"lamb", "update"},           {"lars", "update"},          {"relu", "elementwise"},
      {"gelu", "elementwise"},      {"bias_add", "elementwise"}, {"tanh", "elementwise"},
      {"dropout", "elementwise"},   {"rsqrt", "elementwise"},    {"cluster", "elementwise"},
      {"row_", "elementwise"},      {"_heads", "layout"},        {"nhwc", "layout"},
      {"swap_major", "layout"},     {"join_", "layout"},         {"split_", "layout"},
  });
  static constexpr auto kElementwise = std::to_array<std::string_view>(
      {"add", "sub", "mul", "scale", "spread", "cast", "attention_mask"});
  if (std::ranges::find(kElementwise, type) != kElementwise.end()) return "elementwise";
  for (const Row& row : kRows)
    if (type.find(row.part) != std::string_view::npos) return row.family;
  return type;
}

std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xCBF29CE484222325;  // FNV-1a
  for (char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return value;
}

}  // namespace

double DrawnWorld::efficiency(std::string_view type) const {
  const std::string_view family = family_of(type);
  double level = Random(seed, 0xEFF, hash(family)).uniform();
  // A library's product has the same code with and without a bias.
  if (family != kProduct)
    level += kKernelsDiffer * (Random(seed, 0xEF0, hash(type)).uniform() - level);
  return kernels.least_efficiency + (kernels.best_efficiency - kernels.least_efficiency) * level;
}

double DrawnWorld::factor(double width, std::uint64_t what, std::uint64_t which) const {
  if (width <= 0) return 1;
  Random random(seed ^ 0x9015E, what, which);
  return std::exp(width * random.normal() - width * width / 2);
}

DrawnWorld table_world(SimulatedGpu gpu) {
  DrawnWorld world;
  world.costs = *gpu.costs;
  world.allocator = allocator_costs();
  world.graphs = graph_costs(*gpu.model);
  return world;
}

DrawnWorld draw_world(std::uint64_t seed, SimulatedGpu gpu, int ranks_per_node) {
  DrawnWorld world = table_world(gpu);
  world.seed = seed;
  world.costs.source = "drawn";
  Draw draw(seed);
  draw_host(draw, world.costs);
  draw_kernels(draw, world);
  draw_rest(draw, world);
  draw_links(draw, gpu, ranks_per_node, world);
  // Drawn last, so that older seeds keep their other draws. Gaps between nodes follow measurements
  // (graph_costs): 0.55 to 0.7 on V100, 0.08 on H100; nothing is known about other GPUs.
  const bool closely = graph_costs(*gpu.model).gap_share < 0.5;
  world.graphs = {draw.scale(700, 4'000), draw.scale(2'000, 9'000), draw.scale(1, 300),
                  closely ? draw.even(0.05, 0.5) : draw.even(0.4, 0.85), "drawn"};
  world.kernels.access_power = draw.even(0.4, 1.3);
  return world;
}

std::vector<std::pair<std::string, double>> describe(const DrawnWorld& w) {
  auto of = [](std::int64_t value) { return static_cast<double>(value); };
  return {{"seed", static_cast<double>(w.seed)},
          {"launch_ns", of(w.costs.launch_ns)},
          {"launch_latency_ns", of(w.costs.launch_latency_ns)},
          {"kernel_gap_ns", of(w.costs.kernel_gap_ns)},
          {"least_kernel_ns", of(w.costs.least_kernel_ns)},
          {"small_call_ns", of(w.costs.small_call_ns)},
          {"copy_call_ns", of(w.costs.copy_call_ns)},
          {"sync_wake_ns", of(w.costs.sync_wake_ns)},
          {"copy_latency_ns", of(w.costs.copy_latency_ns)},
          {"pinned_bytes_per_s", of(w.costs.pinned_bytes_per_s)},
          {"pageable_bytes_per_s", of(w.costs.pageable_bytes_per_s)},
          {"matrix_share", w.costs.matrix_share},
          {"memory_share", w.costs.memory_share},
          {"allocate_ns", of(w.allocator.allocate_ns)},
          {"free_ns", of(w.allocator.free_ns)},
          {"graph_instantiate_node_ns", w.graphs.instantiate_node_ns},
          {"graph_launch_ns", w.graphs.launch_ns},
          {"graph_launch_node_ns", w.graphs.launch_node_ns},
          {"graph_gap_share", w.graphs.gap_share},
          {"least_efficiency", w.kernels.least_efficiency},
          {"ramp_ns", w.kernels.ramp_ns},
          {"wave_power", w.kernels.wave_power},
          {"access_power", w.kernels.access_power},
          {"noise_kernel", w.noise.kernel},
          {"noise_copy", w.noise.copy},
          {"noise_call", w.noise.call},
          {"noise_collective", w.noise.collective},
          {"noise_loader", w.noise.loader},
          {"contention_loss", w.contention.loss},
          {"contention_matrix_by_comm", w.contention.matrix_by_comm},
          {"contention_streaming_by_comm", w.contention.streaming_by_comm},
          {"contention_by_copy", w.contention.by_copy},
          {"contention_copy_by_copy", w.contention.copy_by_copy},
          {"throttle_period_ns", w.throttle.period_ns},
          {"throttle_share", w.throttle.share},
          {"throttle_slower", w.throttle.slower},
          {"pause_every_steps", of(w.pause.every_steps)},
          {"pause_ns", w.pause.ns},
          {"pause_between_steps", w.pause.between_steps ? 1.0 : 0.0},
          {"storage_latency_ns", w.storage.latency_ns},
          {"storage_bytes_per_s", w.storage.bytes_per_s},
          {"storage_channels", static_cast<double>(w.storage.channels)},
          {"storage_warm_after_batches", of(w.storage.warm_after)},
          {"storage_warm_speed", w.storage.warm_speed},
          {"loader_processor", w.storage.processor},
          {"node_bytes_per_s", w.links.node_bytes_per_s},
          {"network_bytes_per_s", w.links.network_bytes_per_s},
          {"node_latency_s", w.links.node_latency_s},
          {"network_latency_s", w.links.network_latency_s},
          {"collective_start_s", w.links.start_s},
          {"connection_share", w.links.connection_share},
          {"half_rate_bytes", w.links.half_rate_bytes},
          {"server_congestion", w.links.server_congestion}};
}

}  // namespace headway::trainer::sim
