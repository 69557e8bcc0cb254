// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include "analyzer/kernels/families.h"

namespace headway::analyzer {

/// True if kernel `ops[i]` of a stream changes the layout of images for convolutions, in a run that
/// has convolutions. It is either a library's transform, which only convolutions need, or a
/// framework's copy next to a convolution (elsewhere, copies have other reasons).
bool changes_image_layout(const KernelNames& kernels, std::span<const trace::DeviceOpId> ops,
                          std::size_t i);

}  // namespace headway::analyzer
