// SPDX-License-Identifier: MIT
// What is tunable is declared with the trainer's switches, what a fix needs with the fix: they must fit.
#include <doctest/doctest.h>

#include <algorithm>

#include "analyzer/whatif/fix.h"
#include "cli/tune/trainer_switches.h"
#include "common/error.h"
#include "reference_trainer/switches/switches.h"

namespace headway::tune {
namespace {

const trainer::Switch* find(const std::string& name) {
  for (const trainer::Switch& one : trainer::all_switches())
    if (one.name == name) return &one;
  return nullptr;
}

TEST_CASE("what tune may try is legal") {
  for (const trainer::Switch& one : trainer::all_switches()) {
    CAPTURE(one.name);
    trainer::Settings settings;
    for (const std::string& value : one.tune.values) one.set(settings, value);
    if (one.tune.how != trainer::Tuning::How::kDoubling) continue;
    CHECK(one.tune.least < one.tune.most);
    one.set(settings, std::to_string(one.tune.least));
    one.set(settings, std::to_string(one.tune.most));
  }
}

TEST_CASE("what changes the training, or emulates a machine, is not tunable") {
  for (const char* name : {"steps",
                           "epochs",
                           "batch",
                           "seed",
                           "model",
                           "depth",
                           "width",
                           "layers",
                           "features",
                           "sequence",
                           "window",
                           "matching",
                           "dropout",
                           "optimizer",
                           "learning_rate",
                           "momentum",
                           "data",
                           "samples",
                           "shuffle",
                           "augment",
                           "balance",
                           "compress",
                           "accumulate",
                           "loss_every",
                           "ranks",
                           "ranks_per_node",
                           "launch_us",
                           "link_mb_per_s",
                           "storage_latency_ms",
                           "storage_mb_per_s",
                           "network_gb_per_s",
                           "slow_rank_ms",
                           "memory_gb_per_s",
                           "device",
                           "gpu",
                           "worker_start_ms"}) {
    CAPTURE(name);
    REQUIRE(find(name));
    CHECK(find(name)->tune.how == trainer::Tuning::How::kNever);
  }
  CHECK(find("precision")->tune.when_allowed);
}

TEST_CASE("tune may set what each fix names, where the trainer has such a switch") {
  for (const analyzer::Fix* fix : analyzer::all_fixes()) {
    CAPTURE(fix->id);
    const NamedSwitches named = parse_named_switches(fix->trainer_switch);
    for (const Change& change : named.alternatives) {
      for (const auto& [name, value] : change) {
        CAPTURE(name);
        const trainer::Switch* one = find(name);
        REQUIRE(one);
        // Sends other numbers, or puts other samples into one batch: tune says so and leaves it.
        if (name == "compress" || name == "balance") {
          CHECK(one->tune.how == trainer::Tuning::How::kNever);
          continue;
        }
        if (one->tune.how == trainer::Tuning::How::kDoubling) {
          CHECK(std::stoll(value) >= one->tune.least);
          CHECK(std::stoll(value) <= one->tune.most);
        } else {
          CHECK(std::ranges::find(one->tune.values, value) != one->tune.values.end());
        }
      }
    }
    for (const std::string& name : named.bare) {
      CAPTURE(name);
      REQUIRE(find(name));
      CHECK(find(name)->tune.how != trainer::Tuning::How::kNever);
    }
  }
}

TEST_CASE("headway-train --switches is read back as it was written") {
  trainer::EffectiveSettings settings;
  settings.apply("sync", "op");
  settings.apply("device", "sim");
  const TrainerSwitches read = parse_switches(trainer::switches_json(settings));
  REQUIRE(read.all.size() == trainer::all_switches().size());
  CHECK(read.exact());
  const TrainerSwitch* sync = read.find("sync");
  REQUIRE(sync);
  CHECK(sync->value == "op");
  CHECK(sync->values == std::vector<std::string>{"never"});
  CHECK(!read.find("batch")->tunable);
  CHECK(!read.find("bucket_mb")->matters);  // one rank
  CHECK(!read.find("threads")->matters);    // simulated
  CHECK(read.find("precision")->when_allowed);
  CHECK(read.find("nothing") == nullptr);
  settings.apply("jitter", "0.1");
  CHECK(!parse_switches(trainer::switches_json(settings)).exact());
}

TEST_CASE("only values that fit the other switches are tried") {
  trainer::EffectiveSettings settings;
  settings.apply("model", "ssd");
  using Values = std::vector<std::string>;
  auto tried = [&] {
    return parse_switches(trainer::switches_json(settings)).find("assign")->values;
  };
  CHECK(tried() == Values{"loader", "batched"});
  settings.apply("matching", "simota");
  settings.apply("assign", "per-sample");
  CHECK(tried() == Values{"batched"});
}

TEST_CASE("what is not a list of switches is refused with what to do") {
  CHECK_THROWS_WITH_AS(parse_switches("usage: …"), doctest::Contains("--explain"), Error);
  CHECK_THROWS_WITH_AS(parse_switches(R"({"schema":"headway-train.switches","version":2})"),
                       doctest::Contains("same build"), Error);
  CHECK_THROWS_AS(
      parse_switches(R"({"schema":"headway-train.switches","version":1,"switches":[{"name":1}]})"),
      Error);
}

TEST_CASE("numbers double and halve within their bounds") {
  TrainerSwitch one;
  one.least = 1;
  one.most = 64;
  CHECK(next_value(one, "2", true) == "4");
  CHECK(next_value(one, "48", true) == "64");
  CHECK(next_value(one, "64", true) == "");
  CHECK(next_value(one, "0", true) == "1");
  CHECK(next_value(one, "0", false) == "");
  CHECK(next_value(one, "0.1", true) == "1");
  CHECK(next_value(one, "5", false) == "2");
  CHECK(next_value(one, "1", false) == "");
  CHECK(next_value(one, "auto", true) == "");
  one.least = 0;
  CHECK(next_value(one, "0", true) == "1");
  CHECK(next_value(one, "1", false) == "0");
}

}  // namespace
}  // namespace headway::tune
