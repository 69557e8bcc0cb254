// SPDX-License-Identifier: MIT
#include "tests/kernels/cuda/gpu.h"

#include <bit>
#include <cstdint>
#include <limits>

#include "common/error.h"
#include "kernels/cast/op.h"

namespace headway::test {
namespace {

Gpu* g_gpu = nullptr;

std::size_t bytes_of(NumberFormat format) {
  return static_cast<std::size_t>(kernels::bits_of(format)) / 8;
}

std::uint16_t narrow(NumberFormat format, float value) {
  if (format == NumberFormat::kFloat16)
    return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
  return static_cast<std::uint16_t>(
      std::bit_cast<std::uint32_t>(kernels::reference::round_to(format, value)) >> 16);
}
float widen(NumberFormat format, std::uint16_t bits) {
  if (format == NumberFormat::kFloat16) return static_cast<float>(std::bit_cast<_Float16>(bits));
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace

Gpu::Gpu(const cuda::Driver& driver)
    : driver_(driver),
      context_(driver, 0),
      library_(context_, kernels::cuda::CodeCompiler::load(context_, no_compiler_)) {
  HEADWAY_CU(driver_, cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
}
Gpu::~Gpu() {
  driver_.cuStreamDestroy_(stream_);
}
void Gpu::run(const kernels::cuda::Launches& launches) {
  library_.run(stream_, launches);
  HEADWAY_CU(driver_, cuStreamSynchronize, stream_);
}
Gpu& gpu() {
  HEADWAY_INVARIANT(g_gpu != nullptr);
  return *g_gpu;
}
void set_gpu(Gpu* gpu) {
  g_gpu = gpu;
}

std::vector<float> rounded(NumberFormat format, std::vector<float> values) {
  for (float& value : values) value = kernels::reference::round_to(format, value);
  return values;
}

Array::Array(NumberFormat format, const std::vector<float>& values, std::size_t offset)
    : format_(format),
      count_(values.size()),
      offset_(offset),
      memory_(gpu().driver(), (count_ + offset) * bytes_of(format)) {
  const auto to = reinterpret_cast<CUdeviceptr>(get());
  if (format == NumberFormat::kFloat32) {
    cuda::upload(gpu().driver(), to, values.data(), count_ * sizeof(float));
    return;
  }
  std::vector<std::uint16_t> bits;
  for (float value : values) bits.push_back(narrow(format, value));
  cuda::upload(gpu().driver(), to, bits.data(), count_ * sizeof bits[0]);
}

Array::Array(NumberFormat format, std::int64_t count, std::size_t offset)
    : Array(format,
            std::vector<float>(static_cast<std::size_t>(count),
                               std::numeric_limits<float>::quiet_NaN()),
            offset) {}

void* Array::get() const {
  return reinterpret_cast<void*>(memory_.address() + offset_ * bytes_of(format_));
}

std::vector<float> Array::read() const {
  const auto from = reinterpret_cast<CUdeviceptr>(get());
  std::vector<float> values(count_);
  if (format_ == NumberFormat::kFloat32) {
    HEADWAY_CU(gpu().driver(), cuMemcpyDtoH, values.data(), from, count_ * sizeof(float));
    return values;
  }
  std::vector<std::uint16_t> bits(count_);
  HEADWAY_CU(gpu().driver(), cuMemcpyDtoH, bits.data(), from, count_ * sizeof bits[0]);
  for (std::size_t i = 0; i < count_; ++i) values[i] = widen(format_, bits[i]);
  return values;
}

std::string name_of(NumberFormat format) {
  return format == NumberFormat::kFloat32   ? "FP32"
         : format == NumberFormat::kFloat16 ? "FP16"
                                            : "BF16";
}

}  // namespace headway::test
