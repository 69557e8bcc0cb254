// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference_trainer/comm/link_model.h"
#include "reference_trainer/devices/sim/gpu_costs.h"

namespace headway::trainer::sim {

/// A random machine: `--world SEED` draws its figures from ranges that published figures span. The
/// tables of `gpu_costs.cc` describe a good machine without disturbances; a tool that is right only
/// there has learnt the tables. A drawn world is never written to a trace. Times in nanoseconds.
/// `table_world()` keeps the figures of the tables.
struct DrawnWorld {
  std::uint64_t seed = 0;  ///< 0: not drawn
  GpuCosts costs;          ///< replace the table's row
  AllocatorCosts allocator;
  GraphCosts graphs;

  /// Kernels. Kernels of one family (similar movement and arithmetic: all products, all elementwise
  /// ops) reach a share of their bound, which varies a little from kernel to kernel. Short kernels
  /// reach less.
  struct {
    double least_efficiency = 1;  ///< of bandwidth, or of `costs.matrix_share`
    double best_efficiency = 1;
    double ramp_ns = 0;  ///< a kernel of this length takes a quarter longer, a very short one half
    double wave_power =
        1;  ///< exponent of the last wave's fill: 1: blocks wait for the slowest; 0: not
    double access_power = 1;  ///< exponent of a product's loss when it reads under 16 bytes at once
  } kernels;

  /// Widths of log-normal noise.
  struct {
    double kernel = 0;
    double copy = 0;
    double call = 0;
    double collective = 0;
    double loader = 0;
  } noise;

  /// How concurrent work slows each other down.
  struct {
    bool shared = false;           ///< kernels share multiprocessors and memory
    double loss = 0;               ///< further cost of sharing, as a share
    double matrix_by_comm = 0;     ///< how much longer a product takes during a collective: share
    double streaming_by_comm = 0;  ///< likewise, for other kernels
    double by_copy = 0;            ///< likewise, for any kernel during a copy
    double copy_by_copy = 0;       ///< likewise, for a copy during one in the other direction
  } contention;

  /// Throttling of the multiprocessors' clock, from time to time.
  struct {
    double period_ns = 0;  ///< 0: never
    double share = 0;      ///< throttled share of the period
    double slower = 0;     ///< how much longer kernels take, as a share
  } throttle;

  /// Pauses of the host, such as those of a garbage collector.
  struct {
    std::int64_t every_steps = 0;  ///< 0: never
    double ns = 0;
    bool between_steps = false;
  } pause;

  /// The storage of the samples; the switches `storage_latency_ms` and `storage_mb_per_s` replace
  /// latency and bandwidth.
  struct {
    double latency_ns = 0;
    double bytes_per_s = 0;       ///< 0: no limit
    int channels = 0;             ///< reads that are served at once; 0: any number
    std::int64_t warm_after = 0;  ///< batches until the page cache holds the samples; 0: never
    double warm_speed = 1;        ///< how much faster the storage is from then on
    double processor =
        1;  ///< time of decoding and the loader's other work, as a multiple of the tables'
  } storage;

  LinkModel links;  ///< the switches replace rates and latency

  bool drawn() const { return seed != 0; }
  /// The share of its bound that a kernel of this op type reaches.
  double efficiency(std::string_view type) const;
  /// exp(width · normal), mean about 1. Depends only on its arguments.
  double factor(double width, std::uint64_t what, std::uint64_t which) const;
};

/// Draws a world for that GPU. The same seed and GPU give the same world.
DrawnWorld draw_world(std::uint64_t seed, SimulatedGpu gpu, int ranks_per_node);
/// The machine that the tables describe.
DrawnWorld table_world(SimulatedGpu gpu);

/// Every figure of a world with its name, for the oracle.
std::vector<std::pair<std::string, double>> describe(const DrawnWorld& world);

}  // namespace headway::trainer::sim
