// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/model.h"

namespace headway::trainer {

/// Removes values that no node reads or writes: parameters from which others were derived. Keeps
/// the model's own inputs and results.
void drop_unused(Model& model);

}  // namespace headway::trainer
