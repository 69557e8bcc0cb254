// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Makes every convolution read and write images as NCHW, as with a library that has no other
/// kernels, while all other ops keep NHWC. Where an op reads an image that was made in the other
/// order, the image is transposed, once for all readers of that order; between two convolutions no
/// transpose is needed. Run it on a forward graph after the fusions; the transposes of gradients
/// follow from these. Returns the number of transposes added.
int assign_channels_first(Graph& graph);

}  // namespace headway::trainer
