// SPDX-License-Identifier: MIT
#include "analyzer/hardware/gpus.h"

#include <string>

namespace headway::analyzer {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

DeviceLimits::TensorCores tensor_cores(const trace::Device& device, std::string_view name,
                                       std::uint16_t architecture, const GpuModel* model) {
  using enum DeviceLimits::TensorCores;
  if (device.type == trace::DeviceType::kHost || device.type == trace::DeviceType::kSimulated)
    return kAbsent;
  if (model) return model->half_flops > 0 ? kPresent : kAbsent;
  // Turing's GTX 16 has none; every other GPU of capability 7.0 and later has them.
  if (name.find("gtx 16") != std::string_view::npos) return kAbsent;
  if (name.find("amd") != std::string_view::npos || name.find("radeon") != std::string_view::npos)
    return kUnknown;  // their capability numbers mean something else
  if (device.compute_major > 0) return device.compute_major >= 7 ? kPresent : kAbsent;
  if (architecture >= 80) return kPresent;
  return kUnknown;
}

}  // namespace

double DeviceLimits::peak_flops(trace::MathUnit unit, Precision precision) const {
  if (unit != trace::MathUnit::kTensor) return precision == Precision::kFp64 ? 0 : fp32_flops;
  if (!model) return 0;
  switch (precision) {
    case Precision::kTf32:
      return model->tf32_flops;
    case Precision::kFp16:
    case Precision::kBf16:
      return model->half_flops;
    case Precision::kFp8:
      return model->fp8_flops;
    case Precision::kInt8:
      return model->int8_ops;
    default:
      return 0;
  }
}

DeviceLimits limits_of(const trace::Device& device, std::uint16_t architecture) {
  DeviceLimits limits;
  limits.model = find_gpu(device.name, device.memory_bytes);
  limits.tensor_cores = tensor_cores(device, lower(device.name), architecture, limits.model);
  if (limits.model) {
    limits.multiprocessors = limits.model->multiprocessors;
    limits.memory_bytes_per_second = static_cast<double>(limits.model->memory_bytes_per_second);
    limits.fp32_flops = limits.model->fp32_flops;
    limits.easy_is_tf32 = limits.model->tf32_flops > 1.5 * limits.model->fp32_flops;
    limits.easy_tensor_flops =
        limits.easy_is_tf32 ? limits.model->tf32_flops : limits.model->half_flops;
    limits.bf16 = limits.model->bf16;
  } else if (device.compute_major >= 8 || architecture >= 80) {
    limits.easy_is_tf32 = true;
    limits.bf16 = true;
  }
  if (device.cores > 0) limits.multiprocessors = device.cores;
  if (device.memory_bytes_per_second > 0)
    limits.memory_bytes_per_second = static_cast<double>(device.memory_bytes_per_second);
  return limits;
}

}  // namespace headway::analyzer
