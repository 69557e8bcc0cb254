// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/gpu_models.h"

namespace headway::trainer::sim {

/// What the table of GPU models does not say and a simulation needs: costs of the host's calls, what
/// lies between two kernels, what copies reach, and which share of its peaks a good kernel reaches.
/// Times in nanoseconds, rates in bytes per second. Defaults are typical of a server of the GPU's
/// time; measured values of a machine replace them where they are known.
struct GpuCosts {
  std::string_view model;           ///< GpuModel::id
  std::int64_t launch_ns;           ///< host time of one launch call
  std::int64_t launch_latency_ns;   ///< start of the call to start of the kernel, stream empty
  std::int64_t kernel_gap_ns;       ///< end of a kernel to the start of the next on its stream
  std::int64_t least_kernel_ns;     ///< a kernel that does nothing
  std::int64_t small_call_ns;       ///< recording an event, making a stream wait
  std::int64_t copy_call_ns;        ///< an asynchronous copy from pinned memory
  std::int64_t sync_wake_ns;        ///< end of the awaited work to the return of the call
  std::int64_t copy_latency_ns;     ///< of one copy, whatever its size
  std::int64_t pinned_bytes_per_s;  ///< host to device and back
  std::int64_t pageable_bytes_per_s;
  std::int64_t memory_bytes;  ///< of the device, by its datasheet
  double matrix_share;        ///< of the peak that a large GEMM or convolution reaches
  double memory_share;        ///< of the bandwidth that a large streaming kernel reaches
  double collective_share;    ///< of one direction of the GPU link that an allreduce reaches
  std::string_view source;    ///< where the figures are from
};

std::span<const GpuCosts> gpu_costs();

/// The driver's allocator: host time of cudaMalloc, and of cudaFree once the device has nothing left to do. One row for all
/// GPUs, because published figures do not tell them apart. Of blocks up to 2 MiB; larger ones take longer, by how much
/// depends on the driver, so that what a simulation loses by them is too little rather than too much.
struct AllocatorCosts {
  std::int64_t allocate_ns;
  std::int64_t free_ns;
  std::string_view source;
};
const AllocatorCosts& allocator_costs();

/// Highest clock of the multiprocessors, by the vendor's datasheet.
double boost_clock_hz(std::string_view model);

/// CUDA graphs: host time to make one executable and to launch it, and what lies between two of its kernels, as a share of
/// what lies between two launches on a stream.
struct GraphCosts {
  double instantiate_node_ns;  ///< per node, once
  double launch_ns;            ///< of the call, whatever the graph
  double launch_node_ns;       ///< per node, each launch
  double gap_share;            ///< 0..1
  std::string_view source;
};
const GraphCosts& graph_costs(const GpuModel& gpu);

/// A GPU that can be simulated: both tables' rows.
struct SimulatedGpu {
  const GpuModel* model = nullptr;
  const GpuCosts* costs = nullptr;
};
/// By id, or the short name of a family ("h100" is "h100-sxm"). Throws Error (usage) that lists the
/// ids when there is none.
SimulatedGpu find_simulated_gpu(std::string_view id);

}  // namespace headway::trainer::sim
