// SPDX-License-Identifier: MIT
#include "common/text.h"

#include <doctest/doctest.h>

#include "tests/support/property.h"

namespace headway {

TEST_CASE("hostile names come out inert") {
  CHECK(escape_html("<script>alert('x')&\"") == "&lt;script&gt;alert(&#39;x&#39;)&amp;&quot;");
  CHECK(escape_terminal("a\x1b[2Jb\rc") == "a\uFFFD[2Jb\uFFFDc");
  CHECK(escape_terminal("\xc2\x9b"
                        "31m") == "\uFFFD31m");
  CHECK(escape_markdown("a|b`c*\n") == "a\\|b\\`c\\* ");
}

TEST_CASE("invalid UTF-8 becomes U+FFFD and valid text stays") {
  CHECK(to_valid_utf8("kölner Straße 東京 🚄") == "kölner Straße 東京 🚄");
  CHECK(to_valid_utf8("\xff\xfe") == "\uFFFD\uFFFD");
  CHECK(to_valid_utf8("\xc0\xaf") == "\uFFFD\uFFFD");            // overlong '/'
  CHECK(to_valid_utf8("\xed\xa0\x80") == "\uFFFD\uFFFD\uFFFD");  // surrogate
  CHECK(to_valid_utf8("abc\xe2\x82") == "abc\uFFFD\uFFFD");      // cut short
}

TEST_CASE("making text valid changes nothing the second time") {
  test::check_property("idempotent", [](const std::string& text) {
    std::string once = to_valid_utf8(text);
    RC_ASSERT(to_valid_utf8(once) == once);
  });
}

TEST_CASE("long names lose their middle") {
  CHECK(shorten("aten::convolution_backward", 11) == "aten:…kward");
  CHECK(shorten("short", 11) == "short");
  CHECK(count_columns(shorten("東京東京東京", 3)) == 3);
}

TEST_CASE("a typo finds its neighbours and nonsense finds nobody") {
  std::vector<std::string> commands = {"record", "report", "check", "stats"};
  CHECK(closest("reprot", commands).front() == "report");
  CHECK(closest("xyzzy", commands).empty());
}

}  // namespace headway
