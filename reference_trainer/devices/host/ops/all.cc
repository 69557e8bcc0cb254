// SPDX-License-Identifier: MIT
#include <array>

#include "reference_trainer/devices/host/ops/host_ops.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {

std::span<const HostOp> host_ops() {
  using namespace host;
#define HEADWAY_OP(op, host_form, cuda_form) HostOp{&ops::op, host_form},
  static const std::array kAll = {HEADWAY_OPS(HEADWAY_OP)};
#undef HEADWAY_OP
  return kAll;
}

}  // namespace headway::trainer
