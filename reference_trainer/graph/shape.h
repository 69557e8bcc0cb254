// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace headway::trainer {

/// Extents of a tensor, outermost first. Images are NHWC, or NCHW where their value says so; convolution weights are
/// OIHW (their layout in memory is the device's business).
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents) : extents_(extents) {}
  /// The same shape with another innermost extent.
  Shape with_last(std::int64_t extent) const {
    Shape result = *this;
    result.extents_.back() = extent;
    return result;
  }

  std::size_t rank() const { return extents_.size(); }
  std::int64_t operator[](std::size_t axis) const { return extents_[axis]; }
  std::int64_t last() const { return extents_.back(); }
  /// Product of the extents; 1 for a scalar.
  std::int64_t elements() const {
    std::int64_t product = 1;
    for (std::int64_t extent : extents_) product *= extent;
    return product;
  }
  /// "32x28x28x16"; "1" for a scalar.
  std::string text() const {
    std::string result;
    for (std::int64_t extent : extents_)
      result += (result.empty() ? "" : "x") + std::to_string(extent);
    return result.empty() ? "1" : result;
  }
  bool operator==(const Shape&) const = default;

 private:
  std::vector<std::int64_t> extents_;
};

}  // namespace headway::trainer
