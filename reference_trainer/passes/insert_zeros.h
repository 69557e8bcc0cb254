// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Data gradients of strided convolutions the slow way, as libraries without a kernel for them do it: zeros are inserted
/// between the gradients of the results, and a convolution without a stride computes all places, stride² as many products.
/// Returns how many.
int insert_zeros(Graph& graph);

}  // namespace headway::trainer
