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

/// Size limit of a kernel's parameters: 4096 bytes up to CUDA 12.0, 32764 bytes since (sm_70 and
/// newer).
inline constexpr std::size_t kSmallParameters = 4096;
inline constexpr std::size_t kLargeParameters = 32764;

/// The limits that decide the size of a grid and the packing of parameters.
struct Limits {
  int multiprocessors = 132;
  std::size_t parameter_bytes = kLargeParameters;
};

struct Grid {
  unsigned x = 1;
  unsigned y = 1;
};

/// One launch of a kernel of this folder, as plain data. Launchers make it without a driver, so
/// that tests can inspect it; KernelLibrary::run passes it to the driver. Pointers in the
/// parameters are device addresses.
struct Launch {
  const char* image =
      "";  ///< `adam` of kernels/adam/kernel.cu, `layer_norm_forward` of kernels/layer_norm/forward.cu
  std::string kernel;
  /// Generated code that contains the kernel; kernel names of generated code are unique. Null:
  /// `image` contains it.
  std::shared_ptr<const std::string> code = nullptr;
  Grid grid;
  unsigned threads = 1;               ///< of a block
  std::vector<std::byte> parameters;  ///< the bytes of the kernel's one parameter, a struct
  /// Shared memory of a block in addition to what the kernel declares; the same in every launch of
  /// a kernel. At most 99 KiB, which every GPU since sm_80 has.
  unsigned shared_bytes = 0;

  /// The parameters as their struct; for tests, and to change the fields that differ from step to
  /// step.
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

/// "add" and kFloat16 give "add_f16". Fails for TF32, because no array in memory has this format.
std::string kernel_name(const char* base, NumberFormat format);

/// The number of blocks for `work` pieces, one piece per thread, or as many blocks as fill every
/// multiprocessor (`per_multiprocessor` blocks); each thread then processes several pieces.
unsigned blocks_for(std::int64_t work, unsigned threads, const Limits& limits,
                    int per_multiprocessor = 16);

/// Fails (internal error) naming the kernel unless `holds`.
void require(bool holds, const char* kernel, const char* what);
/// Fails unless `address` is not null and a multiple of `bytes`.
void require_aligned(const void* address, std::size_t bytes, const char* kernel, const char* what);

/// True where all addresses are multiples of 16, so that a thread may load 16 bytes at once.
template <class... Pointers>
bool all_packed(Pointers... addresses) {
  return ((reinterpret_cast<std::uintptr_t>(addresses) % 16 == 0) && ...);
}

}  // namespace headway::kernels::cuda
