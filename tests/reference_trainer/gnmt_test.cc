// SPDX-License-Identifier: MIT
// The recurrent translator: gradients, one kernel a layer or two a time step, padding, pairs.
#include "reference_trainer/models/gnmt.h"

#include <doctest/doctest.h>

#include "common/error.h"
#include "reference_trainer/data/pair_loader.h"
#include "reference_trainer/passes/fuse_bias.h"
#include "reference_trainer/passes/fuse_loss.h"
#include "tests/reference_trainer/checked_graph.h"
#include "tests/reference_trainer/recorded_curve.h"
#include "tests/reference_trainer/tiny_training.h"
#include "tests/support/temporary_folder.h"

namespace headway::trainer {
namespace {

GnmtOptions tiny_options(bool persistent) {
  GnmtOptions options;
  options.batch = 3;
  options.length = 4;
  options.features = 8;
  options.vocabulary = 5;
  options.persistent = persistent;
  return options;
}

Settings tiny_translation() {
  Settings settings;
  settings.model = ModelKind::kGnmt;
  settings.data = DataKind::kGenerated;
  settings.layers = 2;
  settings.features = 32;
  settings.sequence = 24;
  settings.batch = 16;
  settings.steps = 20;
  settings.dropout = 0;
  settings.threads = 1;
  settings.eval = false;
  return settings;
}

}  // namespace

TEST_CASE("a whole translator's gradients agree with differences, persistent and step by step") {
  for (bool persistent : {true, false}) {
    Model model = build_gnmt(tiny_options(persistent));
    CHECK(fuse_linear_bias(model.graph) == 5);
    CHECK(fuse_loss(model.graph) == 1);
    Checked(std::move(model.graph), model.figures, model.labels, 5).check_along_gradients();
  }
}

TEST_CASE("moves of rows and the mask have the gradients of what they move") {
  Graph graph;
  const ValueId x = parameter(graph, "x", {12, 5});
  const auto [a, b] = ops::split_rows(graph, "split", x, 6);
  const ValueId swapped = ops::swap_major(graph, "swap", a, 2, 3);
  const ValueId y = ops::mul(graph, "mul", ops::tanh(graph, "tanh", swapped), b);
  const ValueId labels = labels_of(graph, 6);
  const ValueId figures = ops::cross_entropy(graph, "loss", y, labels);
  Checked(std::move(graph), figures, labels, 3).check();
}

TEST_CASE("a persistent layer has one kernel, a standard one two for every time step") {
  HostDevice device({1, 0, 0});
  for (bool persistent : {true, false}) {
    const Model model = build_gnmt(tiny_options(persistent));
    const auto compiled = device.compile(model.graph, {});
    for (std::size_t i = 0; i < model.graph.node_count(); ++i)
      if (model.graph.nodes()[i].op == &ops::kLstm)
        CHECK(compiled->kernels(NodeId::from(i)).size() == (persistent ? 1U : 8U));
  }
}

TEST_CASE("both kinds of recurrent layers train to the same falling loss") {
  Settings settings = tiny_translation();
  settings.steps = 60;
  const RunResult persistent = test::train(settings);
  settings.persistent_rnn = false;
  const RunResult standard = test::train(settings);
  for (std::size_t i = 0; i < persistent.steps.size(); ++i)
    CHECK(std::abs(*persistent.steps[i].loss - *standard.steps[i].loss) < 5e-3);
  CHECK(*persistent.final_loss() < 0.75 * *persistent.steps.front().loss);
}

TEST_CASE("the translator's loss curve on generated sentences is the recorded one") {
  Settings settings = tiny_translation();
  settings.steps = 120;
  test::check_curve(test::train(settings), "gnmt");
}

TEST_CASE("sorted batches pad less than random ones and hold the same sentences") {
  const TrainAndTestPairs pairs = generate_pairs(1, 400, 24);
  HostDevice device({1, 0, 0});
  std::int64_t padding[2] = {0, 0};
  std::int64_t tokens[2] = {0, 0};
  for (Balance balance : {Balance::kSorted, Balance::kRandom}) {
    PairLoaderOptions options;
    options.length = 24;
    options.balance = balance;
    options.batches = static_cast<std::int64_t>(pairs.train.pairs.size()) / options.batch;
    PairLoader loader(pairs.train, device, options);
    const auto which = static_cast<std::size_t>(balance);
    while (Batch* batch = loader.next()) {
      const auto* source = batch->images.as<std::int32_t>();
      const auto* labels = batch->labels.as<std::int32_t>();
      std::int64_t longest = 0;
      std::int64_t used = 0;
      for (std::int64_t i = 0; i < options.length * options.batch; ++i) {
        if (source[i] < 0) continue;
        longest = i / options.batch + 1;
        ++used;
      }
      padding[which] += longest * options.batch - used;
      tokens[which] += used;
      // The target after its start is what the labels are before their end.
      const auto* target = source + options.length * options.batch;
      for (std::int64_t row = 0; row < batch->rows; ++row) {
        CHECK(target[row] == 0);
        for (std::int64_t t = 0; t + 1 < options.length; ++t)
          if (target[(t + 1) * options.batch + row] >= 0)
            REQUIRE(target[(t + 1) * options.batch + row] == labels[row * options.length + t]);
      }
      loader.give_back(batch);
    }
  }
  CHECK(padding[0] * 3 < padding[1]);
  CHECK(std::abs(tokens[0] - tokens[1]) < tokens[1] / 10);
}

TEST_CASE("catalogues in either byte order are read, damaged ones are named") {
  test::TemporaryFolder folder;
  auto write = [&](const std::string& name, bool swapped, std::uint32_t pairs, std::size_t cut) {
    std::string texts;
    std::string tables[2];
    auto number = [&](std::string& to, std::uint32_t value) {
      if (swapped) value = __builtin_bswap32(value);
      to.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    for (int side = 0; side < 2; ++side) {
      for (std::uint32_t i = 0; i < pairs; ++i) {
        const std::string text = (side == 0 ? "menu\x04open " : "oeffne ") + std::to_string(i);
        number(tables[side], static_cast<std::uint32_t>(text.size()));
        number(tables[side], static_cast<std::uint32_t>(20 + 16 * pairs + texts.size()));
        texts += text + '\0';
      }
    }
    std::string file;
    for (std::uint32_t value : {0x950412DEU, 0U, pairs, 20U, 20 + 8 * pairs}) number(file, value);
    file += tables[0] + tables[1] + texts;
    std::ofstream(folder.path() / name, std::ios::binary) << file.substr(0, file.size() - cut);
  };
  write("a.mo", false, 300, 0);
  write("b.mo", true, 300, 0);
  const TrainAndTestPairs loaded = load_pairs(folder.path(), 24);
  CHECK(loaded.train.pairs.size() + loaded.test.pairs.size() == 600);
  CHECK(loaded.train.pairs.front().source == "open 0");
  CHECK(loaded.train.pairs.front().target == "oeffne 0");
  CHECK_THROWS_WITH_AS(load_pairs(folder.path(), 5), doctest::Contains("--sequence"), Error);
  write("c.mo", false, 300, 700);
  CHECK_THROWS_WITH_AS(load_pairs(folder.path(), 24), doctest::Contains("c.mo"), Error);
  std::ofstream(folder.path() / "c.mo") << "this is no catalogue, only a text of some length";
  CHECK_THROWS_WITH_AS(load_pairs(folder.path(), 24), doctest::Contains("message catalogue"),
                       Error);
}

}  // namespace headway::trainer
