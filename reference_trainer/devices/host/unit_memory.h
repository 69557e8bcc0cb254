// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "reference_trainer/devices/device.h"

namespace headway::trainer {

/// Memory of parameters that ranks share by units (UnitPlan). Of every unit, this rank keeps its
/// part of the parameters, of the gradients' sums and of the optimizer's state. Whole parameters
/// and whole gradients of a unit have a place that they share with units that are not needed at
/// the same time. A unit's parameters lie one after the other, each in its layout, in the same
/// order and at the same offsets as their gradients; a part may begin and end inside a parameter.
class UnitMemory {
 public:
  UnitMemory() = default;  ///< ranks share no parameters
  /// `bytes_of`: the size of a value in its layout. The plan and the device must outlive it.
  UnitMemory(Device& device, const Graph& graph, const UnitPlan& plan,
             const std::function<std::int64_t(ValueId)>& bytes_of);

  /// Whether the value is a parameter of a unit, its gradient, or state of the optimizer like it.
  bool holds(ValueId value) const { return places_.contains(value); }
  /// Of a parameter or gradient: its place while the unit is gathered. Of state: this rank's part.
  MemoryView view(ValueId value) const { return {places_.at(value).whole, MemoryKind::kDevice}; }
  /// This rank's part of the value; empty where all of it belongs to other ranks.
  std::span<float> own(ValueId value) const { return places_.at(value).own; }
  /// Whether all of a value can be read at view().
  bool has_whole(ValueId value) const { return places_.at(value).is_whole; }
  /// Copies this rank's part of a value, which is complete in `whole`.
  void write_own(ValueId value, const float* whole) const;
  UnitBuffers buffers(std::size_t unit) const { return buffers_[unit]; }
  std::int64_t bytes() const;

 private:
  struct Place {
    float* whole = nullptr;
    bool is_whole = true;
    std::span<float> own;
    std::int64_t own_begin = 0;  ///< the own part's first element, counted in the value
  };
  float* allocate(std::int64_t bytes);
  void place_units(const UnitPlan& plan, const std::vector<std::int64_t>& counts);
  void place_state(const Graph& graph);

  Device* device_ = nullptr;
  std::vector<Memory> owned_;
  std::vector<UnitBuffers> buffers_;  ///< by unit
  std::map<ValueId, Place> places_;
};

}  // namespace headway::trainer
