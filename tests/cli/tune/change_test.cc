// SPDX-License-Identifier: MIT
#include "cli/tune/change.h"

#include <doctest/doctest.h>

namespace headway::tune {
namespace {

using Words = std::vector<std::string>;

TEST_CASE("a changed switch replaces every spelling of it on the command line") {
  const Words given = {"headway-train",       "--sync",     "op",       "--fused-bn=off", "--set",
                       "fused_optimizer=off", "--fused_bn", "off",      "--batch",        "4",
                       "--set=sync=8",        "--quiet",    "--preset", "host-sync"};
  const Change change = {{"sync", "never"}, {"fused_bn", "on"}, {"fused_optimizer", "parameter"}};
  CHECK(apply(given, change) == Words{"headway-train", "--batch", "4", "--quiet", "--preset",
                                      "host-sync", "--sync", "never", "--fused-bn", "on",
                                      "--fused-optimizer", "parameter"});
}

TEST_CASE("no change leaves the command line as it is") {
  const Words given = {"./headway-train", "--sync", "op"};
  CHECK(apply(given, {}) == given);
}

TEST_CASE("an option without its value at the end of the line goes alone") {
  CHECK(without_options({"headway-train", "--metrics"}, {"metrics"}) == Words{"headway-train"});
  CHECK(without_options({"--metrics", "--batch"}, {"metrics"}) == Words{"--metrics", "--batch"});
}

TEST_CASE("a later change of a switch wins") {
  const Change first = {{"h2d", "async"}, {"pinned", "on"}};
  CHECK(with(first, {{"h2d", "prefetch"}, {"sync", "never"}}) ==
        Change{{"h2d", "prefetch"}, {"pinned", "on"}, {"sync", "never"}});
}

TEST_CASE("the text of a fix has alternatives, pairs, and names without a value") {
  CHECK(parse_named_switches("--h2d prefetch --pinned on").alternatives ==
        std::vector<Change>{{{"h2d", "prefetch"}, {"pinned", "on"}}});
  CHECK(parse_named_switches("--fused-bn on, --graph-compiler on").alternatives ==
        std::vector<Change>{{{"fused_bn", "on"}}, {{"graph_compiler", "on"}}});
  const NamedSwitches bare = parse_named_switches("--workers, --prefetch");
  CHECK(bare.alternatives.empty());
  CHECK(bare.bare == Words{"workers", "prefetch"});
  CHECK(parse_named_switches("").alternatives.empty());
}

TEST_CASE("a command line can be pasted into a shell") {
  CHECK(shell_line({"headway-train", "--text-dir", "my text", "--data-dir", "it's", ""}) ==
        "headway-train --text-dir 'my text' --data-dir 'it'\\''s' ''");
}

}  // namespace
}  // namespace headway::tune
