// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/driver/memory.h"
#include "kernels/cuda/kernel_library.h"

namespace headway::test {

using kernels::NumberFormat;
inline constexpr NumberFormat kFormats[] = {NumberFormat::kFloat32, NumberFormat::kFloat16,
                                            NumberFormat::kBfloat16};

/// The GPU that all tests of this program share: a driver (perhaps the one that runs kernels on the processor,
/// tests/targets/fake_cuda), a context, the kernels, a stream.
class Gpu {
 public:
  explicit Gpu(const cuda::Driver& driver);
  ~Gpu();
  const cuda::Driver& driver() const { return driver_; }
  const cuda::Context& context() const { return context_; }
  const kernels::cuda::Limits& limits() const { return library_.limits(); }
  kernels::cuda::KernelLibrary& library() { return library_; }
  /// Why there is no compiler of generated code; empty when there is one.
  const std::string& no_compiler() const { return no_compiler_; }
  CUstream stream() const { return stream_; }
  /// Runs the launches and waits for them.
  void run(const kernels::cuda::Launches& launches);
  void run(const kernels::cuda::Launch& launch) { run(kernels::cuda::Launches{launch}); }

 private:
  const cuda::Driver& driver_;
  cuda::Context context_;
  std::string no_compiler_;
  kernels::cuda::KernelLibrary library_;
  CUstream stream_ = nullptr;
};
/// The one that main() made.
Gpu& gpu();
void set_gpu(Gpu* gpu);

/// The values as an array of the format holds them.
std::vector<float> rounded(NumberFormat format, std::vector<float> values);

/// An array on the device. `offset` elements lie before it, so that its address may be no multiple of 16.
class Array {
 public:
  Array(NumberFormat format, const std::vector<float>& values, std::size_t offset = 0);
  /// `count` elements that are NaN until a kernel writes them.
  Array(NumberFormat format, std::int64_t count, std::size_t offset = 0);
  void* get() const;
  float* floats() const { return static_cast<float*>(get()); }
  std::vector<float> read() const;

 private:
  NumberFormat format_;
  std::size_t count_;
  std::size_t offset_;
  cuda::DeviceMemory memory_;
};

/// Whatever has no number format: labels, places, masks, sums in double.
template <class T>
class Plain {
 public:
  explicit Plain(const std::vector<T>& values)
      : count_(values.size()), memory_(gpu().driver(), count_ * sizeof(T)) {
    cuda::upload(gpu().driver(), memory_.address(), values.data(), count_ * sizeof(T));
  }
  T* get() const { return reinterpret_cast<T*>(memory_.address()); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    HEADWAY_CU(gpu().driver(), cuMemcpyDtoH, values.data(), memory_.address(), count_ * sizeof(T));
    return values;
  }

 private:
  std::size_t count_;
  cuda::DeviceMemory memory_;
};

/// What a result of the format may differ from double precision, as tests/kernels/random_array.h measures: half a
/// unit of its last place, and for FP32 some units for sums.
inline double tolerance(NumberFormat format) {
  return format == NumberFormat::kFloat32 ? 2e-5 : format == NumberFormat::kFloat16 ? 1e-3 : 6e-3;
}
std::string name_of(NumberFormat format);

}  // namespace headway::test
