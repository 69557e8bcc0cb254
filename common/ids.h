// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace headway {

/// An index that cannot be mixed up with another kind of index: `Id<struct ThreadTag>`.
/// A default-constructed id is `none()`; `value` indexes a column otherwise.
template <class Tag, class Rep = std::uint32_t>
struct Id {
  Rep value = std::numeric_limits<Rep>::max();

  static constexpr Id none() { return {}; }
  static constexpr Id from(std::size_t index) { return {static_cast<Rep>(index)}; }
  constexpr bool valid() const { return value != std::numeric_limits<Rep>::max(); }
  constexpr auto operator<=>(const Id&) const = default;
};

}  // namespace headway

template <class Tag, class Rep>
struct std::hash<headway::Id<Tag, Rep>> {
  std::size_t operator()(headway::Id<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value);
  }
};
