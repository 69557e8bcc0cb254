// SPDX-License-Identifier: MIT
// How often the best of 27 settings is found in six runs, with and without predictions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>

#include "tests/cli/tune/surfaces.h"

namespace headway::tune {
namespace {

using test::Surface;
using test::SurfaceRuns;

constexpr int kSurfaces = 50;

struct Score {
  int best = 0;       ///< searches that ended with a setting within 2 % of the best
  double excess = 0;  ///< what the found setting takes more than the best one, mean
  double runs = 0;    ///< mean
};

Score score_of(Surface::Shape shape, std::size_t predicted, int max_runs) {
  Score score;
  for (int seed = 1; seed <= kSurfaces; ++seed) {
    SurfaceRuns runs(Surface(shape, static_cast<std::uint64_t>(seed)), predicted);
    Options options;
    options.grid = true;
    options.budget_s = 0;
    options.repeat = 1;
    options.max_runs = max_runs;
    const Result result = search(runs.knobs, options, runs);
    REQUIRE(runs.count <= max_runs);
    const double excess = runs.step_s(result.kept) / runs.surface().best_s() - 1;
    score.best += excess < 0.02;
    score.excess += excess / kSurfaces;
    score.runs += 1.0 * runs.count / kSurfaces;
  }
  score.best = score.best * 100 / kSurfaces;
  return score;
}

/// One argument after the other, each value once, the best of each kept: what one does by hand.
double excess_by_hand(Surface::Shape shape, std::uint64_t seed, int max_runs) {
  SurfaceRuns runs(Surface(shape, seed), 0);
  Change best;
  double least = runs.measure(best, 0).steps.front();
  for (const TrainerSwitch& knob : runs.knobs.all) {
    for (const std::string& value : knob.values) {
      if (runs.count >= max_runs) break;
      const Change next = with(best, {{knob.name, value}});
      const double step = typical(runs.measure(next, 0).steps, Typical::kMean);
      if (step >= least) continue;
      least = step;
      best = next;
    }
  }
  return runs.step_s(best) / runs.surface().best_s() - 1;
}

TEST_CASE("six runs find the best of 27 settings mostly, and more so where predictions speak") {
  struct Row {
    Surface::Shape shape;
    const char* name;
    int least[4];  ///< % found with predictions for so many arguments
  };
  const Row rows[] = {{Surface::Shape::kSum, "sum", {65, 85, 90, 90}},
                      {Surface::Shape::kTogether, "together", {40, 60, 80, 88}},
                      {Surface::Shape::kPipeline, "pipeline", {75, 75, 90, 93}}};
  for (const Row& row : rows) {
    int by_hand = 0;
    for (std::uint64_t seed = 1; seed <= kSurfaces; ++seed)
      by_hand += excess_by_hand(row.shape, seed, 6) < 0.02;
    std::printf("%-8s by hand %d %%;", row.name, by_hand * 100 / kSurfaces);
    Score none;
    for (std::size_t predicted = 0; predicted <= 3; ++predicted) {
      const Score score = score_of(row.shape, predicted, 6);
      if (predicted == 0) none = score;
      std::printf("%s %zu predicted: %d %%, %.1f %% above the best, %.1f runs",
                  predicted > 0 ? ";" : "", predicted, score.best, 100 * score.excess, score.runs);
      CAPTURE(row.name);
      CAPTURE(predicted);
      CHECK(score.best >= row.least[predicted]);
    }
    std::printf("\n");
    CHECK(score_of(row.shape, 2, 6).excess < none.excess);
  }
}

TEST_CASE("a search without a limit ends by itself, near the best, far from all 27") {
  const Score score = score_of(Surface::Shape::kTogether, 1, 27);
  CHECK(score.best >= 75);
  CHECK(score.runs < 10);
}

}  // namespace
}  // namespace headway::tune
