// SPDX-License-Identifier: MIT
// Results are those of the processor's kernels (kernels/gradient_list/op.h) to the bit.
#include <doctest/doctest.h>

#include <deque>

#include "kernels/stream_op/launch.h"
#include "tests/kernels/cuda/gpu.h"
#include "tests/kernels/random_array.h"

namespace headway::test {
namespace {

using kernels::AddUpGradients;
using kernels::GradientTensor;
using kernels::PackGradients;
using kernels::UnpackGradients;
using kernels::cuda::Launches;
using kernels::cuda::Limits;

constexpr NumberFormat kFull = NumberFormat::kFloat32;

/// More tensors than a small table holds, of sizes about those of packs and chunks, in all formats in turn. On the
/// processor they are FP32 arrays with the values of the format.
struct Gradients {
  std::vector<NumberFormat> formats;
  std::vector<std::vector<float>> host;
  std::deque<Array> device;
  std::vector<GradientTensor> host_tensors, tensors;
  std::int64_t count = 0;

  Gradients(std::size_t offset, std::uint32_t seed, bool odd = true) {
    std::vector<std::int64_t> counts = {1, 7, 8, 0, 9, 300, 16384, 16385, 50'000};
    for (std::int64_t i = 0; i < 190; ++i) counts.push_back(3 + i);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (!odd) counts[i] = (counts[i] + 7) / 8 * 8;
      formats.push_back(kFormats[i % 3]);
      host.push_back(rounded(formats[i], random_floats(counts[i], seed++)));
      // An array must have a byte.
      std::vector<float> values = host[i];
      if (values.empty()) values.push_back(0);
      device.emplace_back(formats[i], values, offset);
      tensors.push_back({device[i].get(), counts[i], 1, formats[i]});
      count += counts[i];
    }
    for (std::size_t i = 0; i < counts.size(); ++i)
      host_tensors.push_back({host[i].data(), counts[i], 1, kFull});
  }
  /// Whether the device has what the processor has, rounded to the formats.
  bool same() const {
    for (std::size_t i = 0; i < host.size(); ++i)
      if (!host[i].empty() && device[i].read() != rounded(formats[i], host[i])) return false;
    return true;
  }
};

Limits with_parameters(std::size_t bytes) {
  Limits limits = gpu().limits();
  limits.parameter_bytes = bytes;
  return limits;
}
constexpr std::size_t kParameterBytes[] = {kernels::cuda::kSmallParameters,
                                           kernels::cuda::kLargeParameters};

}  // namespace

TEST_CASE("gradients of all formats are packed in one launch, or in as many as small tables need") {
  for (std::size_t bytes : kParameterBytes) {
    for (std::size_t offset : {0U, 1U}) {
      for (bool odd : {false, true}) {
        CAPTURE(bytes);
        CAPTURE(offset);
        Gradients g(offset, 1, odd);
        std::vector<float> flat(static_cast<std::size_t>(g.count));
        const Array on_device(kFull, g.count, offset);
        const Launches launches = kernels::cuda::launches(
            with_parameters(bytes), PackGradients{g.tensors, on_device.floats()});
        CHECK(launches.size() == (bytes == kernels::cuda::kLargeParameters ? 1 : 2));
        gpu().run(launches);
        run(PackGradients{g.host_tensors, flat.data()});
        CHECK(on_device.read() == flat);
      }
    }
  }
}

TEST_CASE("gradients come back divided, each rounded to its format") {
  for (std::size_t bytes : kParameterBytes) {
    for (std::size_t offset : {0U, 3U}) {
      for (bool odd : {false, true}) {
        Gradients g(offset, 1, odd);
        const std::vector<float> flat = random_floats(g.count, 7);
        const Array on_device(kFull, flat, offset);
        gpu().run(kernels::cuda::launches(with_parameters(bytes),
                                          UnpackGradients{g.tensors, on_device.floats(), 0.3F}));
        run(UnpackGradients{g.host_tensors, flat.data(), 0.3F});
        CHECK(g.same());
      }
    }
  }
}

TEST_CASE("micro batches add up as on the processor") {
  for (std::size_t offset : {0U, 1U}) {
    for (int batches : {1, 2, 4}) {
      CAPTURE(offset);
      CAPTURE(batches);
      Gradients first(offset, 1);
      std::vector<float> sums(static_cast<std::size_t>(first.count));
      const Array on_device(kFull, first.count, offset);  // NaN, which the first must not read
      for (int batch = 0; batch < batches; ++batch) {
        Gradients g(offset, 100 * static_cast<std::uint32_t>(batch));
        const bool last = batch + 1 == batches;
        gpu().run(kernels::cuda::launches(
            gpu().limits(), AddUpGradients{g.tensors, on_device.floats(), batch == 0, last, 0.3F}));
        run(AddUpGradients{g.host_tensors, sums.data(), batch == 0, last, 0.3F});
        CHECK(g.same());
        if (!last) CHECK(on_device.read() == sums);
      }
    }
  }
}

TEST_CASE("what a parameter server receives is added to what it has") {
  for (std::size_t offset : {0U, 1U}) {
    const std::vector<float> from = random_floats(20'003, 1);
    std::vector<float> to = random_floats(20'003, 2);
    const Array device_from(kFull, from, offset), device_to(kFull, to, 0);
    gpu().run(kernels::cuda::launches(
        gpu().limits(), kernels::AddVector{20'003, device_from.floats(), device_to.floats()}));
    run(kernels::AddVector{20'003, from.data(), to.data()});
    CHECK(device_to.read() == to);
  }
}

}  // namespace headway::test
