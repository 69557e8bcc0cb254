// SPDX-License-Identifier: MIT
// The detector on both devices: the same graph, parameters and batches, under each of its switches.
#include <doctest/doctest.h>

#include "tests/reference_trainer/cuda/both_devices.h"
#include "tests/reference_trainer/tiny_detector.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

using test::check_same_on_both;

Settings small_steps(const test::TemporaryFolder& cache) {
  Settings settings = test::tiny_detector(cache.path());
  settings.samples = 20;
  settings.batch = 2;
  settings.steps = 2;
  settings.learning_rate = 0.01;
  return settings;
}

}  // namespace

TEST_CASE("the detector trains as on the host: boxes assigned by the loader and on the device") {
  const test::TemporaryFolder cache;
  for (Assign assign : {Assign::kLoader, Assign::kPerSample, Assign::kBatched}) {
    CAPTURE(static_cast<int>(assign));
    Settings settings = small_steps(cache);
    settings.assign = assign;
    check_same_on_both(settings, 1e-3, 2e-2);
  }
}

TEST_CASE("the detector trains as on the host with anchors assigned by SimOTA") {
  const test::TemporaryFolder cache;
  for (Assign assign : {Assign::kPerSample, Assign::kBatched}) {
    CAPTURE(static_cast<int>(assign));
    Settings settings = small_steps(cache);
    settings.matching = Matching::kSimota;
    settings.assign = assign;
    check_same_on_both(settings, 1e-3, 2e-2);
  }
}

TEST_CASE("SimOTA on a GPU gives the same losses image by image and for the whole batch") {
  const test::TemporaryFolder cache;
  for (Precision precision : {Precision::kFp32, Precision::kAmpO2}) {
    CAPTURE(static_cast<int>(precision));
    Settings settings = small_steps(cache);
    settings.matching = Matching::kSimota;
    settings.precision = precision;
    settings.assign = Assign::kBatched;
    const test::Trained batched = test::train_on_gpu(settings);
    settings.assign = Assign::kPerSample;
    const test::Trained apart = test::train_on_gpu(settings);
    for (std::size_t i = 0; i < batched.result.steps.size(); ++i)
      CHECK(*apart.result.steps[i].loss == *batched.result.steps[i].loss);
    CHECK(apart.parameters == batched.parameters);
  }
}

TEST_CASE("the detector trains as on the host where the processor picks the anchors") {
  const test::TemporaryFolder cache;
  Settings settings = small_steps(cache);
  settings.coords_on_processor = true;
  check_same_on_both(settings, 1e-3, 2e-2);
}

TEST_CASE("the detector with its convolutions on NCHW trains as on the host") {
  const test::TemporaryFolder cache;
  Settings settings = small_steps(cache);
  settings.channels_first = true;
  check_same_on_both(settings, 1e-3, 2e-2);
}

TEST_CASE("the detector in TF32 trains as on the host, which rounds the same") {
  const test::TemporaryFolder cache;
  Settings settings = small_steps(cache);
  settings.precision = Precision::kTf32;
  check_same_on_both(settings, 3e-2, 0.3);
}

TEST_CASE("the detector in half precision has the losses of the host") {
  // Parameters are not compared: an anchor whose loss is the last to count, and a gradient that is the last to overflow
  // under the loss scale, are decided by the last of eight or eleven bits.
  const test::TemporaryFolder cache;
  for (Precision precision : {Precision::kAmpO1, Precision::kAmpO2, Precision::kBf16}) {
    CAPTURE(static_cast<int>(precision));
    Settings settings = small_steps(cache);
    settings.precision = precision;
    settings.steps = 6;
    const test::Trained gpu = test::train_on_gpu(settings);
    const test::Trained host = test::train_on_host(settings);
    for (std::size_t i = 0; i < host.result.steps.size(); ++i) {
      CAPTURE(i);
      CHECK(*gpu.result.steps[i].loss ==
            doctest::Approx(*host.result.steps[i].loss).epsilon(i == 0 ? 1e-2 : 0.1));
    }
  }
}

}  // namespace headway::trainer
