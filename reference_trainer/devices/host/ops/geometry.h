// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/devices/host/compile.h"

namespace headway::trainer::host {

/// Strides and paddings of a convolution in oneDNN's form.
struct Geometry {
  dnnl::memory::dims strides;
  dnnl::memory::dims padding_left;
  dnnl::memory::dims padding_right;
};

/// oneDNN needs the right padding that the output size implies, not the nominal one.
inline Geometry geometry_of(const HostGraph& graph, const ConvolutionAttributes& attributes,
                            ValueId x, ValueId w, ValueId y) {
  const Shape& in = graph.graph().value(x).shape;
  const Shape& out = graph.graph().value(y).shape;
  const std::int64_t kernel = graph.graph().value(w).shape[2];
  const std::int64_t s = attributes.stride;
  const std::int64_t p = attributes.padding;
  auto right = [&](std::size_t axis) { return (out[axis] - 1) * s + kernel - in[axis] - p; };
  const std::size_t height = attributes.channels_first ? 2 : 1;
  return {{s, s}, {p, p}, {right(height), right(height + 1)}};
}

}  // namespace headway::trainer::host
