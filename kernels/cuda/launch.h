// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/number_format.h"

namespace headway::kernels::cuda {

/// What a kernel's parameters may take: 4096 bytes up to CUDA 12.0, 32764 bytes since (sm_70 and newer).
inline constexpr std::size_t kSmallParameters = 4096;
inline constexpr std::size_t kLargeParameters = 32764;

/// What the size of a grid and the packing of parameters depend on.
struct Limits {
  int multiprocessors = 132;
  std::size_t parameter_bytes = kLargeParameters;
};

struct Grid {
  unsigned x = 1;
  unsigned y = 1;
};

/// One launch of a kernel of this folder, as plain data: launchers make them without a driver, so that tests can
/// look at them; KernelLibrary::run hands them to the driver. Pointers in the parameters are the device's.
struct Launch {
  const char* image =
      "";  ///< `adam` of kernels/adam/kernel.cu, `layer_norm_forward` of kernels/layer_norm/forward.cu
  std::string kernel;
  /// Generated code that has the kernel, whose name no other code has; null: `image` has it.
  std::shared_ptr<const std::string> code = nullptr;
  Grid grid;
  unsigned threads = 1;               ///< of a block
  std::vector<std::byte> parameters;  ///< the bytes of the kernel's one parameter, a struct
  /// Shared memory of a block beside what the kernel declares, the same in every launch of a kernel; at most 99 KiB,
  /// which every GPU since sm_80 has.
  unsigned shared_bytes = 0;

  /// The parameters as what they are; for tests, and to change what differs from step to step.
  template <class Parameters>
  Parameters as() const {
    Parameters result;
    std::memcpy(&result, parameters.data(), sizeof result);
    return result;
  }
};
using Launches = std::vector<Launch>;

template <class Parameters>
Launch make_launch(const char* image, std::string kernel, Grid grid, unsigned threads,
                   const Parameters& parameters, unsigned shared_bytes = 0) {
  static_assert(std::is_trivially_copyable_v<Parameters> && sizeof(Parameters) <= kLargeParameters);
  Launch launch{.image = image,
                .kernel = std::move(kernel),
                .grid = grid,
                .threads = threads,
                .parameters = std::vector<std::byte>(sizeof parameters),
                .shared_bytes = shared_bytes};
  std::memcpy(launch.parameters.data(), &parameters, sizeof parameters);
  return launch;
}

/// "add" and kFloat16 give "add_f16". Fails for TF32, which no array in memory has.
std::string kernel_name(const char* base, NumberFormat format);

/// Blocks for `work` pieces of which a thread takes one at a time: all of them, or as many as keep every
/// multiprocessor full (`per_multiprocessor` blocks), which then take several.
unsigned blocks_for(std::int64_t work, unsigned threads, const Limits& limits,
                    int per_multiprocessor = 16);

/// Fails (internal error) naming the kernel unless `holds`.
void require(bool holds, const char* kernel, const char* what);
/// Fails unless `address` is not null and a multiple of `bytes`.
void require_aligned(const void* address, std::size_t bytes, const char* kernel, const char* what);

/// True where all addresses are multiples of 16: a thread may load that much at once.
template <class... Pointers>
bool all_packed(Pointers... addresses) {
  return ((reinterpret_cast<std::uintptr_t>(addresses) % 16 == 0) && ...);
}

}  // namespace headway::kernels::cuda
