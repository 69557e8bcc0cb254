// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "reference_trainer/devices/cuda/open.h"
#include "tests/reference_trainer/trained.h"

namespace headway::test {

inline Trained train_on_host(const trainer::Settings& settings) {
  trainer::HostDevice device({1});
  return train_on(device, settings);
}

inline Trained train_on_gpu(const trainer::Settings& settings) {
  const auto device = trainer::open_cuda_device({});
  return train_on(*device, settings);
}

/// Losses step by step, and parameters at the end: their largest difference over the size of the largest. The gradient
/// of the keys' bias is zero but for rounding (a softmax does not see it), which Adam and LAMB make steps of full length:
/// left out.
inline void check_same(const Trained& gpu, const Trained& host, double loss_tolerance,
                       double parameter_tolerance) {
  REQUIRE(gpu.result.steps.size() == host.result.steps.size());
  for (std::size_t i = 0; i < host.result.steps.size(); ++i) {
    CAPTURE(i);
    CHECK(*gpu.result.steps[i].loss ==
          doctest::Approx(*host.result.steps[i].loss).epsilon(loss_tolerance));
  }
  REQUIRE(gpu.parameters.size() == host.parameters.size());
  for (const auto& [name, values] : host.parameters) {
    if (name.ends_with(".qkv.bias")) continue;
    CAPTURE(name);
    double size = 1e-3;
    double difference = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      size = std::max<double>(size, std::abs(values[i]));
      difference = std::max<double>(difference, std::abs(values[i] - gpu.parameters.at(name)[i]));
    }
    CHECK(difference / size < parameter_tolerance);
  }
}

inline void check_same_on_both(const trainer::Settings& settings, double loss_tolerance = 1e-4,
                               double parameter_tolerance = 5e-3) {
  check_same(train_on_gpu(settings), train_on_host(settings), loss_tolerance, parameter_tolerance);
}

/// What is trained is evaluated on the GPU as on the host, in single precision and where half is kept.
inline void check_evaluated_alike(trainer::Settings settings, double tolerance) {
  settings.eval = true;
  settings.eval_samples = 10;
  for (trainer::Precision precision : {trainer::Precision::kFp32, trainer::Precision::kAmpO2}) {
    settings.precision = precision;
    const Trained gpu = train_on_gpu(settings);
    const Trained host = train_on_host(settings);
    REQUIRE(gpu.result.evaluation.has_value());
    CHECK(gpu.result.evaluation->loss ==
          doctest::Approx(host.result.evaluation->loss).epsilon(tolerance));
    CHECK(gpu.result.evaluation->images == host.result.evaluation->images);
  }
}

}  // namespace headway::test
