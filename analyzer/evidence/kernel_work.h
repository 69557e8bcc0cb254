// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <vector>

#include "analyzer/kernels/families.h"
#include "analyzer/partition/partition.h"
#include "analyzer/steps/steps.h"

namespace headway::analyzer {

/// What the kernels of one device do per steady step. Each of several overlapping kernels counts in
/// full.
struct KernelWork {
  trace::DeviceId device;
  std::array<DurationNs, kKernelFamilies> time{};  ///< by family
  std::array<double, kKernelFamilies> kernels{};   ///< by family
  DurationNs matrix_tensor;        ///< GEMM, convolution, attention, recurrent: on tensor cores
  DurationNs matrix_general;       ///< on general cores
  DurationNs matrix_unsaid;        ///< the kernel's name does not say which
  double flops = 0;                ///< of the kernels with known flops
  DurationNs flops_time;           ///< time of these kernels
  std::uint16_t architecture = 0;  ///< the highest that a kernel's name asks for; 0 unknown

  DurationNs of(KernelFamily family) const { return time[static_cast<std::size_t>(family)]; }
  double count(KernelFamily family) const { return kernels[static_cast<std::size_t>(family)]; }
  DurationNs matrix() const { return matrix_tensor + matrix_general + matrix_unsaid; }
  /// All kernels but communication.
  DurationNs compute() const;
};

/// In the order of `partitions`. Linear in the device ops per device.
std::vector<KernelWork> measure_work(const trace::Trace& trace, const Steps& steps,
                                     const std::vector<DevicePartition>& partitions,
                                     const KernelNames& kernels);

/// "compute-bound: 51 % fused attention, 15 % elementwise kernels, 11 % GEMMs; 62 % of the kernel
/// time is matrix work, all of it on tensor cores" for a device that rarely waits.
std::string describe(const KernelWork& work);

}  // namespace headway::analyzer
