// SPDX-License-Identifier: MIT
// --allocator raw on the CUDA device: launches whose memory comes to another place in every step.
#include "tests/reference_trainer/raw_allocator.h"

#include "tests/reference_trainer/cuda/both_devices.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {

TEST_CASE("memory that comes and goes changes no result on the GPU, and none is left") {
  if (open_cuda_device({})->info().name != "Emulated GPU") {
    MESSAGE(
        "[skipped] a GPU may add a gradient in any order; scripts/gpu_check.sh compares losses");
    return;
  }
  const test::TemporaryFolder cache;
  test::check_raw_allocator(test::train_on_gpu, cache.path());
}

}  // namespace headway::trainer
