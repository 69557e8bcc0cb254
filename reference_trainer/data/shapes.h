// SPDX-License-Identifier: MIT
#pragma once

namespace headway::trainer {

/// Classes of generated pictures: disc, square, ring, cross, triangle, ...
inline constexpr int kShapes = 10;

/// True inside shape number `shape` of radius 1 about the origin.
bool inside_shape(int shape, double x, double y);

}  // namespace headway::trainer
