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

/// A machine that nobody chose: what `--world SEED` draws from ranges that published figures span. The tables of
/// `gpu_costs.cc` describe a good machine on a good day; a tool that is right about those alone has learnt the tables.
/// Nothing of it is written to a trace. Times in nanoseconds. `none()` leaves everything as the tables have it.
struct DrawnWorld {
  std::uint64_t seed = 0;  ///< 0: not drawn
  GpuCosts costs;          ///< in the place of the table's row
  AllocatorCosts allocator;
  GraphCosts graphs;

  /// Kernels. A family (what moves and computes alike: all products, all elementwise ops) reaches a share of its
  /// bound, each of its kernels a little less or more; short ones less.
  struct {
    double least_efficiency = 1;  ///< of bandwidth, or of `costs.matrix_share`
    double best_efficiency = 1;
    double ramp_ns = 0;  ///< a kernel of that length takes half as long again
    double wave_power =
        1;  ///< of the fill of the last wave: 1 blocks wait for the slowest, 0 they do not
    double access_power = 1;  ///< of what products lose that read less than 16 bytes at once
  } kernels;

  /// Widths of log-normal noise.
  struct {
    double kernel = 0;
    double copy = 0;
    double call = 0;
    double collective = 0;
    double loader = 0;
  } noise;

  /// What runs at once slows each other down.
  struct {
    bool shared = false;           ///< kernels share multiprocessors and memory
    double loss = 0;               ///< what sharing costs besides, as a share
    double matrix_by_comm = 0;     ///< how much longer a product takes while a collective runs
    double streaming_by_comm = 0;  ///< likewise, other kernels
    double by_copy = 0;            ///< likewise, any kernel beside a copy
    double copy_by_copy = 0;       ///< a copy beside one in the other direction
  } contention;

  /// The clock of the multiprocessors: from time to time it is throttled.
  struct {
    double period_ns = 0;  ///< 0: never
    double share = 0;      ///< of the period
    double slower = 0;     ///< kernels take so much longer, as a share
  } throttle;

  /// The host's pauses, as a collector of garbage makes them.
  struct {
    std::int64_t every_steps = 0;  ///< 0: never
    double ns = 0;
    bool between_steps = false;
  } pause;

  /// Where samples lie; the switches `storage_latency_ms` and `storage_mb_per_s` replace latency and bandwidth.
  struct {
    double latency_ns = 0;
    double bytes_per_s = 0;       ///< 0: no limit
    int channels = 0;             ///< reads that are served at once; 0: any number
    std::int64_t warm_after = 0;  ///< batches until the page cache holds the samples; 0: never
    double warm_speed = 1;        ///< how much faster it is from then on
    double processor =
        1;  ///< what decoding and the rest of a loader's work take, by the tables' figures
  } storage;

  LinkModel links;  ///< the switches replace rates and latency

  bool drawn() const { return seed != 0; }
  /// Share of its bound that a kernel of this type of op reaches.
  double efficiency(std::string_view type) const;
  /// exp(width · normal), mean about 1; a function of its arguments alone.
  double factor(double width, std::uint64_t what, std::uint64_t which) const;
};

/// A world for that GPU. The same seed and GPU give the same one.
DrawnWorld draw_world(std::uint64_t seed, SimulatedGpu gpu, int ranks_per_node);
/// The tables' machine.
DrawnWorld table_world(SimulatedGpu gpu);

/// Every figure of a world by name, for the oracle.
std::vector<std::pair<std::string, double>> describe(const DrawnWorld& world);

}  // namespace headway::trainer::sim
