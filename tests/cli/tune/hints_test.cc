// SPDX-License-Identifier: MIT
#include "cli/tune/hints.h"

#include <doctest/doctest.h>

#include <cmath>

#include "analyzer/whatif/fix.h"
#include "tests/cli/tune/fake_runs.h"

namespace headway::tune {
namespace {

using test::predicted;
using Words = std::vector<std::string>;

TrainerSwitches knob(std::string name, std::string value, Words values) {
  TrainerSwitches knobs;
  TrainerSwitch& one = knobs.all.emplace_back();
  one.name = std::move(name);
  one.value = std::move(value);
  one.values = std::move(values);
  return knobs;
}

/// The values that are spoken for, when the argument has its start.
Words spoken_for(const TrainerSwitches& knobs, const Forecast& forecast) {
  Words values;
  for (const Hint& hint : hints_of(knobs, {0}, {{}, {forecast}}))
    if (!hint.is_bound) values.push_back(knobs.all[0].values.at(hint.value - 1));
  return values;
}

TEST_CASE("the name of an argument tells which fixes are about it") {
  CHECK(fixes_for_name("--num-workers").front() == "use-workers");
  CHECK(fixes_for_name("--dataloader_num_workers").front() == "use-workers");
  CHECK(fixes_for_name("numWorkers").front() == "use-workers");
  CHECK(fixes_for_name("--persistent-workers") == Words{"persistent-workers"});
  CHECK(fixes_for_name("--prefetch-factor") == Words{"deeper-prefetch"});
  CHECK(fixes_for_name("--pin-memory") == Words{"pinned-copies", "overlap-copies"});
  CHECK(fixes_for_name("trainer.batch_size=") == Words{"larger-batch"});
  CHECK(fixes_for_name("--torch-compile").front() == "fuse-chains");
  CHECK(fixes_for_name("--bucket_cap_mb") == Words{"larger-buckets", "smaller-buckets"});
  CHECK(fixes_for_name("--amp|--no-amp").front() == "half-precision");
  CHECK(fixes_for_name("--spin").empty());
  CHECK(fixes_for_name("--threads").empty());
}

TEST_CASE("every fix that a name stands for is known") {
  for (const char* name :
       {"--workers",  "--persist",   "--prefetch",  "--pin",  "--collate", "--cache", "--micro",
        "--batch",    "--bucket",    "--compress",  "--tf32", "--amp",     "--bf16",  "--precision",
        "--dtype",    "--compile",   "--graph",     "--sdpa", "--foreach", "--fused", "--optim",
        "--channels", "--benchmark", "--recompute", "--save", "--eval",    "--log",   "--sync"}) {
    CAPTURE(name);
    CHECK(!fixes_for_name(name).empty());
    for (const std::string& fix : fixes_for_name(name)) {
      CAPTURE(fix);
      CHECK(analyzer::find_fix(fix));
    }
  }
}

TEST_CASE(
    "a number is taken from the list where it is nearest, from above where more is asked for") {
  const TrainerSwitches workers = knob("--workers", "0", {"1", "2", "4", "8"});
  CHECK(spoken_for(workers, predicted("use-workers", "--workers 3", 0.4)) == Words{"4"});
  CHECK(spoken_for(workers, predicted("use-workers", "--workers 2 --prefetch 3", 0.4)) ==
        Words{"2"});
  CHECK(spoken_for(workers, predicted("use-workers", "--workers 16", 0.4)) == Words{"8"});
  const TrainerSwitches many = knob("--workers", "8", {"0", "2", "4"});
  CHECK(spoken_for(many, predicted("fewer-workers", "--workers 3", 0.4)) == Words{"2"});
  CHECK(spoken_for(many, predicted("no-workers", "--workers 0", 0.4)) == Words{"0"});
  CHECK(spoken_for(many, predicted("more-workers", "--workers 12", 0.4)).empty());
  CHECK(spoken_for(many, predicted("more-workers", "--workers 8", 0.4)).empty());  // so already
}

TEST_CASE("on is what does not mean off, more is the next larger, and a batch is doubled") {
  CHECK(spoken_for(knob("--amp", "off", {"on"}), predicted("half-precision", "", 0.3)) ==
        Words{"on"});
  CHECK(spoken_for(knob("--dtype", "float32", {"bfloat16"}),
                   predicted("half-precision", "", 0.3)) == Words{"bfloat16"});
  CHECK(spoken_for(knob("--compile", "", {"default", "max-autotune"}),
                   predicted("fuse-chains", "", 0.3)) == Words{"default", "max-autotune"});
  CHECK(spoken_for(knob("--pin", "on", {"off"}), predicted("pinned-copies", "", 0.3)).empty());
  CHECK(spoken_for(knob("--prefetch", "2", {"1", "8", "4"}),
                   predicted("deeper-prefetch", "", 0.1)) == Words{"4"});
  CHECK(spoken_for(knob("--batch-size", "32", {"48", "64", "256"}),
                   predicted("larger-batch", "", 0.1)) == Words{"64"});
  CHECK(spoken_for(knob("--collate", "numbers", {"arrays", "tensors"}),
                   predicted("tensor-collate", "", 0.1)) == Words{"tensors"});
  CHECK(spoken_for(knob("--optimizer", "loop", {"foreach", "fused"}),
                   predicted("fused-update", "", 0.1)) == Words{"fused"});
}

TEST_CASE(
    "a value other than the one in mind is believed less, as is a fix that may not be possible") {
  const TrainerSwitches workers = knob("--workers", "0", {"2", "4"});
  auto hint = [&](const Forecast& forecast) {
    return hints_of(workers, {0}, {{}, {forecast}}).front();
  };
  const Hint exact = hint(predicted("use-workers", "--workers 4", 0.5));
  const Hint other = hint(predicted("use-workers", "--workers 3", 0.5));
  CHECK(exact.log_change == doctest::Approx(std::log(0.5)));
  CHECK(other.sd > exact.sd + 0.1);
  Forecast doubtful = predicted("use-workers", "--workers 4", 0.5);
  doubtful.certainty = 0.5;
  CHECK(hint(doubtful).log_change > exact.log_change);
  CHECK(hint(doubtful).sd > exact.sd);
}

TEST_CASE("where nobody waits for input, a ceiling bounds what workers can gain") {
  const TrainerSwitches workers = knob("--workers", "2", {"0", "4"});
  Forecast more = predicted("more-workers", "--workers", 0);
  more.applies = false;
  Forecast ceiling = predicted("free-input", "--workers, --prefetch", 0.002, 0.002);
  const std::vector<Hint> hints = hints_of(workers, {0}, {{}, {more, ceiling}});
  REQUIRE(hints.size() == 2);
  for (const Hint& hint : hints) {
    CHECK(hint.is_bound);
    CHECK(hint.sd < 0.02);
  }
}

}  // namespace
}  // namespace headway::tune
