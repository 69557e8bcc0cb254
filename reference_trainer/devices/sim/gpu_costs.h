// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/gpu_models.h"

namespace headway::trainer::sim {

/// Figures that a simulation needs beyond the table of GPU models: costs of host calls, gaps
/// between kernels, rates of copies, and the share of its peaks that a good kernel reaches. Times
/// in nanoseconds, rates in bytes per second. Defaults are typical of a server of the GPU's
/// generation; measured values of a machine replace them where they are known.
struct GpuCosts {
  std::string_view model;           ///< GpuModel::id
  std::int64_t launch_ns;           ///< host time of one launch call
  std::int64_t launch_latency_ns;   ///< from start of the call to start of the kernel, stream empty
  std::int64_t kernel_gap_ns;       ///< from end of a kernel to start of the next on its stream
  std::int64_t least_kernel_ns;     ///< duration of a kernel that does nothing
  std::int64_t small_call_ns;       ///< host time of recording an event or making a stream wait
  std::int64_t copy_call_ns;        ///< host time of an asynchronous copy from pinned memory
  std::int64_t sync_wake_ns;        ///< from end of the awaited work to return of the call
  std::int64_t copy_latency_ns;     ///< of one copy of any size
  std::int64_t pinned_bytes_per_s;  ///< in either direction
  std::int64_t pageable_bytes_per_s;
  std::int64_t memory_bytes;  ///< of the device, from its datasheet
  double matrix_share;        ///< share of the peak that a large GEMM or convolution reaches
  double memory_share;        ///< share of the bandwidth that a large streaming kernel reaches
  double collective_share;    ///< share of one direction of the GPU link that an allreduce reaches
  std::string_view source;    ///< where the figures are from
};

std::span<const GpuCosts> gpu_costs();

/// The driver's allocator: host time of cudaMalloc, and of cudaFree once the device is idle. One
/// row serves all GPUs, because published figures do not distinguish them. The times are for blocks
/// up to 2 MiB. Larger blocks take longer, depending on the driver, so a simulation underestimates
/// the loss rather than overestimates it.
struct AllocatorCosts {
  std::int64_t allocate_ns;
  std::int64_t free_ns;
  std::string_view source;
};
const AllocatorCosts& allocator_costs();

/// Highest clock of the multiprocessors, by the vendor's datasheet.
double boost_clock_hz(std::string_view model);

/// CUDA graphs: host time to instantiate and to launch one, and the gap between two of its kernels
/// as a share of the gap between two launches on a stream.
struct GraphCosts {
  double instantiate_node_ns;  ///< per node, once
  double launch_ns;            ///< of the call, for any graph
  double launch_node_ns;       ///< per node, each launch
  double gap_share;            ///< 0..1
  std::string_view source;
};
const GraphCosts& graph_costs(const GpuModel& gpu);

/// A GPU that can be simulated: its rows of both tables.
struct SimulatedGpu {
  const GpuModel* model = nullptr;
  const GpuCosts* costs = nullptr;
};
/// Finds a GPU by id or by the short name of a family ("h100" is "h100-sxm"). Throws Error (usage)
/// that lists the ids when there is none.
SimulatedGpu find_simulated_gpu(std::string_view id);

}  // namespace headway::trainer::sim
