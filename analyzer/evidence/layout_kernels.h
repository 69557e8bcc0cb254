// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>

#include "analyzer/kernels/families.h"

namespace headway::analyzer {

/// Whether kernel `i` of a stream changes the layout of images for convolutions, in a run that has any: a transform of
/// a library, which makes them for its convolutions only, or a copy of the framework, which copies anywhere, beside one.
bool changes_image_layout(const KernelNames& kernels, std::span<const trace::DeviceOpId> ops,
                          std::size_t i);

}  // namespace headway::analyzer
