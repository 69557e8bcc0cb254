// SPDX-License-Identifier: MIT
#include "common/shell_word.h"

#include <doctest/doctest.h>

namespace headway {

TEST_CASE("a word for the shell runs nothing and keeps its spaces") {
  CHECK(shell_word("it's $(here)") == "'it'\\''s $(here)'");
  CHECK(shell_word("plain/path-1.sqlite") == "plain/path-1.sqlite");
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("") == "''");
}

}  // namespace headway
