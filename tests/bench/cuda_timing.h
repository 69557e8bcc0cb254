// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/statistics.h"
#include "kernels/cuda/driver/memory.h"
#include "kernels/cuda/driver/product.h"
#include "kernels/cuda/kernel_library.h"

namespace headway::bench {

using kernels::NumberFormat;
inline std::int64_t size_of(NumberFormat format) {
  return kernels::bits_of(format) / 8;
}

/// Times launches on the first GPU: memory with random data, a flushed second-level cache, medians and quartiles
/// between events; prints each and keeps it for the JSON.
class CudaTiming {
 public:
  CudaTiming(const cuda::Driver& driver, bool quick)
      : quick_(quick),
        driver_(driver),
        context_(driver, 0),
        library_(context_, kernels::cuda::CodeCompiler::load(context_, no_compiler_)) {
    HEADWAY_CU(driver_, cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
    HEADWAY_CU(driver_, cuEventCreate, &begin_, CU_EVENT_DEFAULT);
    HEADWAY_CU(driver_, cuEventCreate, &end_, CU_EVENT_DEFAULT);
    flush_bytes_ = static_cast<std::size_t>(
        std::max(1, 2 * context_.attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)));
    flush_.emplace(driver_, flush_bytes_);
  }
  ~CudaTiming() {
    driver_.cuEventDestroy_(end_);
    driver_.cuEventDestroy_(begin_);
    driver_.cuStreamDestroy_(stream_);
  }

  const kernels::cuda::Limits& limits() const { return library_.limits(); }
  /// Why generated code cannot be measured; empty when it can.
  const std::string& no_compiler() const { return no_compiler_; }
  bool quick() const { return quick_; }
  /// Memory that lives until `forget`, with normal values in the format (FP16's bits do for BF16, too: any
  /// but zeros and NaN).
  void* array(NumberFormat format, std::int64_t count) {
    const auto bytes = static_cast<std::size_t>(count * size_of(format));
    memory_.emplace_back(driver_, bytes);
    std::vector<std::uint32_t> block(std::min<std::size_t>(bytes / 4 + 1, 1 << 20));
    // Of both signs, from 0.5 to 1.
    for (std::uint32_t& word : block) {
      const auto any = static_cast<std::uint32_t>(random_());
      word = format == NumberFormat::kFloat32   ? (any & 0x807F'FFFFU) | 0x3F00'0000U
             : format == NumberFormat::kFloat16 ? (any & 0x83FF'83FFU) | 0x3800'3800U
                                                : (any & 0x807F'807FU) | 0x3F00'3F00U;
    }
    upload(block.data(), block.size() * 4, bytes);
    return last();
  }
  float* floats(std::int64_t count) {
    return static_cast<float*>(array(NumberFormat::kFloat32, count));
  }
  /// Memory with these values, one after the other until it is full.
  template <class T>
  T* filled(std::int64_t count, const std::vector<T>& values) {
    const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
    memory_.emplace_back(driver_, bytes);
    upload(values.data(), values.size() * sizeof(T), bytes);
    return static_cast<T*>(last());
  }
  void forget() { memory_.clear(); }

  /// `flops`: where arithmetic bounds the work; its rate is held against measure_product's.
  void measure(const std::string& name, const char* format, const std::string& shape,
               std::int64_t bytes, const kernels::cuda::Launches& launches,
               std::int64_t flops = 0) {
    add({name, format, shape, bytes, flops, static_cast<int>(launches.size())},
        [&] { library_.run(stream_, launches); });
  }
  /// Work of a library, which `send` queues on the stream it is given.
  void measure(const std::string& name, const char* format, const std::string& shape,
               std::int64_t bytes, const std::function<void(CUstream)>& send) {
    add({name, format, shape, bytes, 0, 1}, [&] { send(stream_); });
  }
  void measure_copy() {
    const std::size_t bytes = quick_ ? 1 << 16 : std::size_t{512} << 20;
    const cuda::DeviceMemory from(driver_, bytes), to(driver_, bytes);
    HEADWAY_CU(driver_, cuMemsetD8Async, from.address(), 0x5A, bytes, stream_);
    const std::int64_t moved = 2 * static_cast<std::int64_t>(bytes);
    const double seconds =
        add({"copy", "bytes", fmt::format("{} MiB", bytes >> 20), moved, 0, 1}, [&] {
          HEADWAY_CU(driver_, cuMemcpyDtoDAsync, to.address(), from.address(), bytes, stream_);
        });
    copy_rate_ = static_cast<double>(moved) / seconds / 1e9;
  }
  /// The rate of cuBLASLt's BF16 products of large matrices, 8192 each way; 0 where there is no cuBLASLt.
  void measure_product() {
    std::optional<cuda::CublasLt> products;
    try {
      products.emplace();
    } catch (const Error& error) {
      fmt::print("no product to compare with: {}\n", error.what());
      return;
    }
    const std::int64_t n = quick_ ? 64 : 8192;
    cuda::ProductShape shape{n, n, n};
    shape.operands = shape.result = cuda::cublas_lt::Type::kBf16;
    const cuda::Product product(*products, shape);
    const auto bf16 = NumberFormat::kBfloat16;
    void *a = array(bf16, n * n), *b = array(bf16, n * n), *d = array(bf16, n * n);
    void* workspace =
        floats(std::max<std::int64_t>(1, static_cast<std::int64_t>(product.workspace_bytes()) / 4));
    const std::int64_t flops = 2 * n * n * n;
    const double seconds = add(
        {"product", "BF16", fmt::format("{}x{}x{}", n, n, n), 3 * n * n * size_of(bf16), flops, 1},
        [&] { product.run(stream_, a, b, d, workspace); });
    product_rate_ = static_cast<double>(flops) / seconds / 1e12;
    forget();
  }
  nlohmann::json json() const {
    return {{"schema_version", 1},
            {"device", context_.name()},
            {"driver_version", driver_.version},
            {"multiprocessors", context_.multiprocessors()},
            {"copy_gb_per_s", copy_rate_},
            {"product_tflop_per_s", product_rate_},
            {"kernels", results_}};
  }

 private:
  void* last() const { return reinterpret_cast<void*>(memory_.back().address()); }
  void upload(const void* from, std::size_t block, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes; done += block)
      cuda::upload(driver_, memory_.back().address() + done, from, std::min(block, bytes - done));
  }
  /// Seconds of what `work` queues. The write that flushes the cache keeps the GPU busy while the host
  /// launches, so that no launch is waited for.
  double seconds(const std::function<void()>& work) {
    HEADWAY_CU(driver_, cuMemsetD8Async, flush_->address(), 1, flush_bytes_, stream_);
    HEADWAY_CU(driver_, cuEventRecord, begin_, stream_);
    work();
    HEADWAY_CU(driver_, cuEventRecord, end_, stream_);
    HEADWAY_CU(driver_, cuEventSynchronize, end_);
    float milliseconds = 0;
    HEADWAY_CU(driver_, cuEventElapsedTime, &milliseconds, begin_, end_);
    return double{milliseconds} * 1e-3;
  }
  struct What {
    std::string name, format, shape;
    std::int64_t bytes, flops;
    int launches;
  };
  /// The median, in seconds.
  double add(const What& what, const std::function<void()>& work) {
    const int repeats = quick_ ? 3 : 30;
    for (int i = 0; i < (quick_ ? 1 : 5); ++i) seconds(work);
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) times.push_back(seconds(work));
    std::ranges::sort(times);
    const double middle = percentile_sorted(times, 0.5);
    const double rate = static_cast<double>(what.bytes) / middle / 1e9;
    const double share = copy_rate_ > 0 ? 100 * rate / copy_rate_ : 100;
    fmt::print("{}_{}_{}: {:.2f} us ({:.2f} to {:.2f}), {:.0f} GB/s, {:.0f} % of copy", what.name,
               what.format, what.shape, middle * 1e6, percentile_sorted(times, 0.25) * 1e6,
               percentile_sorted(times, 0.75) * 1e6, rate, share);
    results_.push_back({{"name", what.name},
                        {"format", what.format},
                        {"shape", what.shape},
                        {"launches", what.launches},
                        {"bytes", what.bytes},
                        {"median_us", middle * 1e6},
                        {"quartile1_us", percentile_sorted(times, 0.25) * 1e6},
                        {"quartile3_us", percentile_sorted(times, 0.75) * 1e6},
                        {"gb_per_s", rate},
                        {"of_copy_pct", share}});
    if (what.flops > 0) {
      const double tflop_rate = static_cast<double>(what.flops) / middle / 1e12;
      fmt::print(", {:.1f} TFLOP/s", tflop_rate);
      results_.back()["flops"] = what.flops;
      results_.back()["tflop_per_s"] = tflop_rate;
      if (product_rate_ > 0) {
        fmt::print(", {:.0f} % of products", 100 * tflop_rate / product_rate_);
        results_.back()["of_product_pct"] = 100 * tflop_rate / product_rate_;
      }
    }
    fmt::print("\n");
    return middle;
  }

  bool quick_;
  const cuda::Driver& driver_;
  cuda::Context context_;
  std::string no_compiler_;
  kernels::cuda::KernelLibrary library_;
  CUstream stream_ = nullptr;
  CUevent begin_ = nullptr;
  CUevent end_ = nullptr;
  std::size_t flush_bytes_;
  std::optional<cuda::DeviceMemory> flush_;
  std::deque<cuda::DeviceMemory> memory_;
  std::mt19937 random_{1};
  double copy_rate_ = 0;
  double product_rate_ = 0;
  nlohmann::json results_ = nlohmann::json::array();
};

}  // namespace headway::bench
