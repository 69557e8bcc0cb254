// SPDX-License-Identifier: MIT
// Replaces this folder in a build without CUDA.
#include "cli/calibrate/calibrate.h"
#include "common/error.h"

namespace headway::calibrate {
namespace {

constexpr const char* kMissing =
    "this Headway was built with HEADWAY_CUDA=OFF: build it with -DHEADWAY_CUDA=ON";

}  // namespace

CudaMeasurement measure_cuda() {
  return {{}, kMissing};
}

void run_launches(const std::string&) {
  fail_internal("{}", kMissing);
}

}  // namespace headway::calibrate
