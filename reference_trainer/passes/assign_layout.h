// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Makes every convolution read and write images as NCHW, as with a library that has no other kernels, while all other
/// ops keep NHWC. Where one kind reads what the other has made, the images are transposed, once for all readers of an
/// order; a convolution that reads another's result needs none. Runs on a forward graph after the fusions: the
/// gradients' transposes follow from these. Returns how many it added.
int assign_channels_first(Graph& graph);

}  // namespace headway::trainer
