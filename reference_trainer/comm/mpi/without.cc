// SPDX-License-Identifier: MIT
#include "reference_trainer/comm/ranks.h"

namespace headway::trainer {

std::unique_ptr<CommBackend> connect_mpi(int, std::chrono::nanoseconds) {
  return nullptr;
}

}  // namespace headway::trainer
