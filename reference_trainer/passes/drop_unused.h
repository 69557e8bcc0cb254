// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/model.h"

namespace headway::trainer {

/// Takes out values that no node reads or writes: parameters that others were made of. The model's own stay.
void drop_unused(Model& model);

}  // namespace headway::trainer
