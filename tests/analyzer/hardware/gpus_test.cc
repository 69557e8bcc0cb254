// SPDX-License-Identifier: MIT
#include "analyzer/hardware/gpus.h"

#include <doctest/doctest.h>

#include <set>

namespace headway::analyzer {
namespace {

std::string_view id_of(std::string_view name, std::int64_t memory = 0) {
  const GpuModel* model = find_gpu(name, memory);
  return model ? model->id : "none";
}

using TensorCores = DeviceLimits::TensorCores;

TensorCores cores_of(trace::Device device, std::uint16_t architecture = 0) {
  return limits_of(device, architecture).tensor_cores;
}

trace::Device cuda(std::string name) {
  trace::Device device;
  device.type = trace::DeviceType::kCuda;
  device.name = std::move(name);
  return device;
}

}  // namespace

TEST_CASE("device names as drivers write them find their model") {
  CHECK(id_of("Tesla V100-SXM2-16GB") == "v100");
  CHECK(id_of("Tesla V100-PCIE-32GB") == "v100-pcie");
  CHECK(id_of("Tesla T4") == "t4");
  CHECK(id_of("NVIDIA A10") == "a10");
  CHECK(id_of("NVIDIA A10G") == "a10");
  CHECK(id_of("NVIDIA A100-SXM4-40GB") == "a100-40gb");
  CHECK(id_of("NVIDIA A100-PG509-200", 42'000'000'000) == "a100-40gb");
  CHECK(id_of("NVIDIA A100-SXM4-80GB") == "a100-80gb");
  CHECK(id_of("NVIDIA A100 80GB PCIe") == "a100-80gb-pcie");
  CHECK(id_of("NVIDIA H100 PCIe") == "h100-pcie");
  CHECK(id_of("NVIDIA H100 80GB HBM3") == "h100-sxm");
  CHECK(id_of("NVIDIA H200") == "h200");
  CHECK(id_of("NVIDIA B200") == "b200");
  CHECK(id_of("NVIDIA L4") == "l4");
  CHECK(id_of("NVIDIA L40S") == "l40s");
  CHECK(id_of("NVIDIA L40") == "none");
  CHECK(id_of("NVIDIA GeForce RTX 4090") == "rtx-4090");
  CHECK(id_of("AMD Instinct MI250X / MI250") == "mi250x");
  CHECK(id_of("AMD Instinct MI300X") == "mi300x");
  CHECK(id_of("Tesla P100-PCIE-16GB") == "none");
  CHECK(id_of("") == "none");
}

TEST_CASE("each model has its figures, its own id and a source") {
  std::set<std::string_view> ids;
  for (const GpuModel& model : gpu_models()) {
    CAPTURE(model.id);
    CHECK(ids.insert(model.id).second);
    CHECK(!model.source.empty());
    CHECK(model.multiprocessors > 0);
    CHECK(model.memory_bytes_per_second > 100'000'000'000);
    CHECK(model.fp32_flops > 1e12);
    CHECK(model.half_flops >= model.fp32_flops);
    CHECK(model.l2_bytes > 0);
  }
}

TEST_CASE(
    "whether a device has tensor cores follows from name, capability, or its kernels' names") {
  CHECK(cores_of(cuda("NVIDIA A100-SXM4-80GB")) == TensorCores::kPresent);
  CHECK(cores_of(cuda("NVIDIA GeForce GTX 1660 Ti")) == TensorCores::kAbsent);
  CHECK(cores_of(cuda("")) == TensorCores::kUnknown);
  CHECK(cores_of(cuda(""), 70) == TensorCores::kUnknown);  // sm_70 code runs on a GTX 16 too
  CHECK(cores_of(cuda(""), 80) == TensorCores::kPresent);
  trace::Device old = cuda("Tesla P100");
  old.compute_major = 6;
  CHECK(cores_of(old) == TensorCores::kAbsent);
  trace::Device host = cuda("NVIDIA A100-SXM4-80GB");
  host.type = trace::DeviceType::kHost;
  CHECK(cores_of(host) == TensorCores::kAbsent);
}

TEST_CASE("what the recording says of a device goes before the table") {
  trace::Device device = cuda("NVIDIA A100-SXM4-80GB");
  device.cores = 98;
  device.memory_bytes_per_second = 1'000'000'000'000;
  DeviceLimits limits = limits_of(device, 0);
  CHECK(limits.multiprocessors == 98);
  CHECK(limits.memory_bytes_per_second == 1e12);
  CHECK(limits.easy_is_tf32);
  CHECK(limits.peak_flops(trace::MathUnit::kTensor, Precision::kBf16) == 312e12);
  CHECK(limits.peak_flops(trace::MathUnit::kGeneral, Precision::kFp32) == 19.5e12);
}

}  // namespace headway::analyzer
