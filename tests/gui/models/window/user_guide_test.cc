// SPDX-License-Identifier: MIT
#include "gui/models/window/user_guide.h"

#include <doctest/doctest.h>

namespace headway::gui {

TEST_CASE("the guide is here, its links lead to its own pages, and it needs no pictures") {
  REQUIRE(user_guide().size() > 10);
  for (const GuidePage& page : user_guide()) {
    CAPTURE(std::string(page.file));
    const std::string text = guide_text(page.file);
    CHECK(text.starts_with("# "));
    CHECK(text.find("![") == std::string::npos);
    CHECK(text.find("](../") == std::string::npos);
    CHECK(text.find("](https:") == std::string::npos);
  }
  CHECK(guide_text("view.md").find("](three-clicks.md)") != std::string::npos);
  CHECK(guide_text("/etc/passwd").empty());
}

}  // namespace headway::gui
