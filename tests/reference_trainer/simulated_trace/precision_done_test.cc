// SPDX-License-Identifier: MIT
// Changes of number types, predicted from one simulated run and done in another. The machines are drawn.
#include <doctest/doctest.h>

#include "analyzer/whatif/predict_findings.h"
#include "tests/reference_trainer/simulated_trace/predicted.h"

namespace headway::trainer {
namespace {

using test::mean_step_ns;
using test::Predicted;
using test::Switches;

/// Products of which some write 32 bits, as the graph tells; kernels that memory bounds.
const Switches kMixed{{"device", "sim"},     {"eval", "off"},       {"model", "transformer"},
                      {"gpu", "a100-40gb"},  {"jitter", "0.00966"}, {"world", "323869696"},
                      {"layers", "8"},       {"sequence", "512"},   {"batch", "16"},
                      {"window", "256"},     {"dropout", "0"},      {"precision", "amp-o1"},
                      {"fused_loss", "off"}, {"launch_us", "7.28"}};

void check(const Switches& run, std::string_view fix, const Switches& change, double within) {
  const Predicted before(run);
  REQUIRE(before.applies(fix));
  CHECK(before.step_ns(fix) == doctest::Approx(mean_step_ns(run, change)).epsilon(within));
}

}  // namespace

TEST_CASE("products that write 32 bits already move less than twice as much without autocast") {
  check(kMixed, "leave-mixed-precision", {{"precision", "tf32"}}, 0.06);
}

TEST_CASE("products that write 32 bits under autocast move half of that in 16 bits") {
  check(kMixed, "half-throughout", {{"precision", "bf16"}}, 0.06);
}

TEST_CASE("small products in FP32 on other units take their arithmetic, or what they waited for") {
  check({{"device", "sim"},
         {"eval", "off"},
         {"gpu", "t4"},
         {"world", "223335365"},
         {"width", "8"},
         {"batch", "16"},
         {"precision", "amp-o2"},
         {"fused_optimizer", "parameter"},
         {"launch_us", "3.87"}},
        "leave-mixed-precision", {{"precision", "tf32"}}, 0.06);
}

TEST_CASE("sharded parameters that are gathered in 16 bits have twice the bytes in 32") {
  const Switches run = {{"device", "sim"},
                        {"eval", "off"},
                        {"gpu", "a100"},
                        {"model", "transformer"},
                        {"features", "512"},
                        {"heads", "8"},
                        {"layers", "4"},
                        {"sequence", "128"},
                        {"batch", "4"},
                        {"precision", "amp-o2"},
                        {"fused_optimizer", "off"},
                        {"ranks", "4"},
                        {"ranks_per_node", "1"},
                        {"network_gb_per_s", "5"},
                        {"shard_parameters", "on"}};
  const double done = mean_step_ns(run, {{"precision", "tf32"}});
  CHECK(done > 1.4 * mean_step_ns(run));
  check(run, "leave-mixed-precision", {{"precision", "tf32"}}, 0.08);
}

TEST_CASE("what large products would take for its arithmetic is no latency of a small product") {
  check({{"device", "sim"},
         {"eval", "off"},
         {"gpu", "a100-80gb"},
         {"world", "846455810"},
         {"depth", "14"},
         {"width", "64"},
         {"batch", "16"},
         {"source", "memory"}},
        "half-precision", {{"precision", "bf16"}}, 0.08);
}

TEST_CASE(
    "what compresses gradients has the parameters' number type, whatever the passes compute in") {
  check({{"device", "sim"},
         {"eval", "off"},
         {"gpu", "a10"},
         {"jitter", "0.0263"},
         {"world", "427738516"},
         {"model", "gnmt"},
         {"data", "generated"},
         {"features", "512"},
         {"layers", "1"},
         {"sequence", "8"},
         {"batch", "8"},
         {"dropout", "0"},
         {"optimizer", "adam"},
         {"launch_us", "4.87"},
         {"ranks", "4"},
         {"ranks_per_node", "4"},
         {"compress", "powersgd"},
         {"powersgd_rank", "1"},
         {"network_gb_per_s", "4.75"},
         {"network_us", "9.8"},
         {"node_gb_per_s", "83"}},
        "half-precision", {{"precision", "bf16"}}, 0.05);
}

TEST_CASE(
    "a product whose bytes take over reaches no more of the memory's rate than half way from its "
    "own") {
  check({{"device", "sim"},        {"eval", "off"},
         {"gpu", "a100-40gb"},     {"jitter", "0.11"},
         {"host_cores", "8"},      {"world", "181781927"},
         {"model", "transformer"}, {"data", "generated"},
         {"heads", "2"},           {"layers", "2"},
         {"sequence", "256"},      {"window", "64"},
         {"dropout", "0"},         {"fused_bias_act", "off"},
         {"optimizer", "sgd"},     {"run_ahead", "1"},
         {"ranks", "2"},           {"bucket_mb", "5"},
         {"compress", "powersgd"}, {"powersgd_rank", "4"}},
        "half-precision", {{"precision", "bf16"}}, 0.04);
}

}  // namespace headway::trainer
