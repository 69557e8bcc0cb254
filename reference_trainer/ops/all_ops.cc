// SPDX-License-Identifier: MIT
#include <array>

#include "reference_trainer/ops/op.h"

namespace headway::trainer {

std::span<const OpDefinition* const> all_ops() {
  using namespace ops;
#define HEADWAY_OP(op, host, cuda) &op,
  static constexpr std::array kAll = {HEADWAY_OPS(HEADWAY_OP)};
#undef HEADWAY_OP
  return kAll;
}

}  // namespace headway::trainer
