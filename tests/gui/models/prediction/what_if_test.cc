// SPDX-License-Identifier: MIT
#include "gui/models/prediction/what_if.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>

#include "analyzer/whatif/whatif.h"
#include "tests/analyzer/ranks/planted_job.h"
#include "tests/gui/support/sessions.h"
#include "trace/load/load.h"

namespace headway::gui {
namespace {

using analyzer::find_fix;
using analyzer::Fix;

const WhatIfStudy& waiting() {
  static const WhatIfStudy study(test::waiting_session());
  return study;
}

/// What `headway whatif` prints of the same file, from its own reading of it.
const analyzer::WhatIf& printed() {
  static const trace::Trace trace = trace::load(test::waiting_file());
  static const analyzer::Analysis analysis = analyzer::analyze(trace);
  static const analyzer::Predictor predictor(trace, analysis);
  static const analyzer::WhatIf result = analyzer::what_if(predictor);
  return result;
}

/// One that applies to the run, too, and can be made beside others.
const Fix* another() {
  for (const FixChoice& one : waiting().choices())
    if (one.group != FixGroup::kNotHere && one.fix->id != "remove-syncs" &&
        one.fix->id != "larger-batch")
      return one.fix;
  FAIL("only one fix applies");
  return nullptr;
}

void check_same(const analyzer::Prediction& a, const analyzer::Prediction& b) {
  CHECK(a.step == b.step);
  CHECK(a.gain == b.gain);
  CHECK(a.gain_ns.low == doctest::Approx(b.gain_ns.low));
  CHECK(a.gain_ns.high == doctest::Approx(b.gain_ns.high));
}

}  // namespace

TEST_CASE("the list has every known fix once, what the report suggests first") {
  const std::vector<FixChoice>& choices = waiting().choices();
  CHECK(choices.size() == analyzer::all_fixes().size());
  std::set<const Fix*> seen;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    CHECK(seen.insert(choices[i].fix).second);
    if (i > 0) CHECK(choices[i - 1].group <= choices[i].group);
    // What does not apply says why, all others how they are made.
    CHECK(choices[i].text.size() > 10);
    CHECK(choices[i].gain.empty() == (choices[i].group == FixGroup::kNotHere));
  }
  REQUIRE(!choices.empty());
  CHECK(choices.front().group == FixGroup::kSuggested);
  CHECK(choices.front().fix->id == "remove-syncs");
  CHECK(choices.front().text.find(std::string(choices.front().fix->cannot_know)) !=
        std::string::npos);
}

TEST_CASE("before any replay the list has the report's fixes with the report's gains") {
  const std::vector<FixChoice> before = suggested_fixes(test::waiting_session()->analysis);
  REQUIRE(!before.empty());
  for (const FixChoice& one : before) {
    const auto later = std::ranges::find(waiting().choices(), one.fix, &FixChoice::fix);
    CHECK(later->group == one.group);
    CHECK(later->gain == one.gain);
  }
}

TEST_CASE("every fix alone has the figures of headway whatif") {
  int compared = 0;
  for (const analyzer::FixPrediction& one : printed().fixes) {
    if (!one.applies) continue;
    CAPTURE(std::string(one.fix->id));
    const WhatIfAnswer answer = waiting().ask(one.fix->id);
    REQUIRE(answer.missing.empty());
    check_same(answer.prediction, one.prediction);
    CHECK(answer.recorded == printed().baseline.recorded);
    ++compared;
  }
  CHECK(compared >= 3);
}

TEST_CASE("of a job of ranks the figures are those of headway whatif over all ranks") {
  const std::string text = test::kEvenJob + "    on rank=2\n      host 3ms\n";
  const trace::Trace trace = test::planted_trace(text);
  const analyzer::Analysis analysis = analyzer::analyze(trace);
  const analyzer::Predictor predictor(trace, analysis);
  const analyzer::WhatIf told = analyzer::what_if(predictor);
  REQUIRE(told.missing.empty());
  const WhatIfStudy study(make_session(test::planted_trace(text)));
  REQUIRE(study.missing().empty());
  int compared = 0;
  for (const analyzer::FixPrediction& one : told.fixes) {
    if (!one.applies) continue;
    check_same(study.ask(one.fix->id).prediction, one.prediction);
    ++compared;
  }
  CHECK(compared >= 2);
}

TEST_CASE("fixes together have the figures of headway whatif, in whatever order they are ticked") {
  REQUIRE(printed().best.size() >= 1);
  std::vector<const Fix*> ticked;
  for (const analyzer::Combination& one : printed().best) {
    ticked.push_back(one.fix);
    check_same(waiting().ask(ticked).prediction, one.together);
  }
  std::vector<const Fix*> more = {find_fix("remove-syncs"), another()};
  const WhatIfAnswer both = waiting().ask(more);
  std::ranges::reverse(more);
  REQUIRE(both.missing.empty());
  check_same(waiting().ask(more).prediction, both.prediction);
  CHECK(!both.comparison().empty());
  WhatIfAnswer less = both;
  less.gained_alone = both.prediction.gain + both.recorded / 10;
  CHECK(less.comparison().find("gains do not add") != std::string::npos);
}

TEST_CASE("an answer tells the step, its interval and the timeline with all fixes") {
  const WhatIfAnswer one = waiting().ask("remove-syncs");
  CHECK(one.headline().starts_with("Step 2."));
  CHECK(one.headline().find(" → ") != std::string::npos);
  CHECK(one.headline().find("(−") != std::string::npos);
  CHECK(one.interval().starts_with("95 % interval: "));
  CHECK(one.comparison().empty());
  REQUIRE(one.timeline);
  CHECK(one.timeline->fixes == one.fixes);
  const std::array two = {find_fix("remove-syncs"), another()};
  const WhatIfAnswer both = waiting().ask(two);
  REQUIRE(both.timeline);
  CHECK(both.timeline->fixes == both.fixes);
  CHECK(both.fixes.size() == 2);
  CHECK(both.timeline->sentence().find("“Do not wait for the device” and “") != std::string::npos);
}

TEST_CASE("what cannot be answered says why") {
  CHECK(waiting().ask("no-such-fix").missing.find("'no-such-fix'") != std::string::npos);
  const WhatIfAnswer none = waiting().ask("free-input");
  CHECK(!none.timeline);
  CHECK(none.missing.find("free-input does not apply: ") == 0);
  const std::array batch = {find_fix("larger-batch"), find_fix("remove-syncs")};
  REQUIRE(waiting().ask("larger-batch").missing.empty());
  CHECK(waiting().ask(batch).missing.find("larger-batch changes the batch") == 0);
}

TEST_CASE("a question that is given up has no timeline") {
  const std::atomic<bool> cancelled = true;
  const std::array fix = {find_fix("remove-syncs")};
  CHECK(!waiting().ask(fix, &cancelled).timeline);
}

TEST_CASE("a trace without steps says what is missing instead of a list") {
  test::TraceBuilder builder;
  builder.range(1, "work", 0, 1000);
  const WhatIfStudy study(test::session_of(builder));
  CHECK(!study.missing().empty());
  CHECK(study.choices().empty());
  CHECK(study.ask("remove-syncs").missing == study.missing());
}

}  // namespace headway::gui
