// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/whatif/editor.h"

/// The kernels that ranks run on gradients before and after they exchange them.
namespace headway::analyzer {

/// Bytes of a gradient's value before it is compressed.
inline constexpr double kGradientBytes = 4;

/// Rate in bytes/ns of kernels that stream gradients through the device's memory; 0: not known. On a
/// device that consists of threads, one thread does this at its copy rate: a byte in, a byte out.
double gradient_bytes_per_ns(const Predictor& predictor, trace::DeviceId device);

/// Adds the launches of `launches` more ops to the op's call.
void launch_more(const Predictor& predictor, trace::DeviceOpId op, int launches, Editor& editor);

}  // namespace headway::analyzer
