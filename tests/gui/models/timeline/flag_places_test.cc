// SPDX-License-Identifier: MIT
#include "gui/models/timeline/flag_places.h"

#include <doctest/doctest.h>

namespace headway::gui {
namespace {

using Places = std::vector<std::optional<double>>;

Places places(const std::vector<Flag>& flags) {
  return place_flags(flags, 100, 500);
}

}  // namespace

TEST_CASE("flags stand on their side of their line and inside the borders") {
  CHECK(places({{300, 80, true}, {300, 80, false}}) == Places{220, 300});
  CHECK(places({{110, 80, true}}) == Places{100});
  CHECK(places({{490, 80, false}}) == Places{420});
  CHECK(places({}).empty());
}

TEST_CASE("a flag whose place is taken goes to the other side, or has no word") {
  // The predicted end stands before its line, close behind the begin of the step.
  CHECK(places({{250, 80, true}, {200, 70, false}}) == Places{170, std::nullopt});
  CHECK(places({{250, 40, true}, {200, 70, false}}) == Places{210, 130});
  // Neighbours that only touch do not overlap.
  CHECK(places({{300, 80, false}, {380, 50, false}}) == Places{300, 380});
}

TEST_CASE("no two flags ever overlap") {
  for (int a = 100; a <= 500; a += 7) {
    for (int b = 100; b <= 500; b += 11) {
      const std::vector<Flag> flags = {
          {double(a), 90, true}, {double(b), 90, false}, {300, 70, false}};
      const Places at = places(flags);
      REQUIRE(at.front());
      for (std::size_t i = 0; i < flags.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          if (!at[i] || !at[j]) continue;
          const bool apart = *at[i] >= *at[j] + flags[j].width || *at[j] >= *at[i] + flags[i].width;
          CHECK(apart);
        }
      }
    }
  }
}

}  // namespace headway::gui
