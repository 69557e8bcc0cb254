// SPDX-License-Identifier: MIT
#include "tests/planted/dsl/expander.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headway::planted {

using trace::DeviceCallKind;
using trace::Phase;
using trace::RangeKind;
using Kind = Action::Kind;

namespace {

constexpr std::pair<std::string_view, RangeKind> kRangeKinds[] = {
    {"other", RangeKind::kOther},     {"step", RangeKind::kStep},
    {"phase", RangeKind::kPhase},     {"op", RangeKind::kOp},
    {"input", RangeKind::kInputWait}, {"batch", RangeKind::kBatch},
    {"read", RangeKind::kRead},       {"decode", RangeKind::kDecode},
    {"augment", RangeKind::kAugment}, {"collate", RangeKind::kCollate}};

}  // namespace

Expander::Expander(const Case& c, Plan& plan, int rank, int process, int thread, std::uint64_t salt)
    : case_(c),
      plan_(plan),
      rank_(rank),
      process_(process),
      thread_(thread),
      random_(c.seed * 1000 + static_cast<std::uint64_t>(rank) * 100 + salt) {}

void Expander::run(const std::vector<Statement>& body) {
  for (const Statement& s : body) one(s);
}

void Expander::one(const Statement& s) {
  using Handler = void (Expander::*)(const Statement&);
  static constexpr std::pair<std::string_view, Handler> kHandlers[] = {
      {"steps", &Expander::steps},   {"input", &Expander::input},
      {"read", &Expander::stage},    {"decode", &Expander::stage},
      {"augment", &Expander::stage}, {"collate", &Expander::stage},
      {"launch", &Expander::launch}, {"copy", &Expander::copy},
      {"memset", &Expander::memset}, {"collective", &Expander::collective},
      {"record", &Expander::event},  {"await", &Expander::event},
      {"sync", &Expander::sync},     {"allocate", &Expander::memory},
      {"free", &Expander::memory},   {"call", &Expander::other_call},
      {"graph", &Expander::graph},   {"range", &Expander::range},
      {"use", &Expander::use}};
  for (const auto& [name, handler] : kHandlers) {
    if (s.keyword == name) return (this->*handler)(s);
  }
  if (s.keyword == "repeat") {
    for (std::int64_t i = s.integer_argument(0); i > 0; --i) run(s.body);
  } else if (s.keyword == "on") {
    if (applies(s)) run(s.body);
  } else if (s.keyword == "as") {
    int before = std::exchange(thread_, thread_named(s.arguments.front()));
    run(s.body);
    thread_ = before;
  } else if (s.keyword == "host") {
    add(Kind::kHost, s).host = vary(s, s.duration_argument(0));
  } else if (s.keyword == "mark") {
    Action& action = add(Kind::kMark, s);
    action.range.name = s.arguments.front();
    action.range.domain = s.text("domain");
  } else if (s.keyword == "overhead") {
    static constexpr std::string_view kKinds[] = {"other", "module-load", "profiler", "queue-full",
                                                  "allocation"};
    auto kind = std::find(std::begin(kKinds), std::end(kKinds), s.arguments.front());
    if (kind == std::end(kKinds))
      s.fail("expected module-load, profiler, queue-full, allocation or other");
    Action& action = add(Kind::kOverhead, s);
    action.overhead = static_cast<trace::Overhead::Kind>(kind - std::begin(kKinds));
    action.name = s.text("name", s.arguments.front());
    action.host = vary(s, s.duration_argument(1));
  } else {
    s.fail(fmt::format("'{}' does not belong inside a program", s.keyword));
  }
}

bool Expander::applies(const Statement& on) const {
  if (on.has("rank") && !on.lists("rank", rank_)) return false;
  if (on.has("step") && !on.lists("step", step_)) return false;
  if (on.has("from") && step_ < on.integer("from", 0)) return false;
  if (on.has("to") && step_ > on.integer("to", 0)) return false;
  if (on.has("every")) {
    std::int64_t every = on.integer("every", 1);
    if (every < 1) on.fail("every=: expected 1 or more");
    if (step_ < 0 || step_ % every != on.integer("offset", 0)) return false;
  }
  return true;
}

void Expander::use(const Statement& s) {
  for (const Statement& define : case_.statements) {
    if (define.keyword != "define" || define.arguments.front() != s.arguments.front()) continue;
    if (++depth_ > 20) s.fail("uses itself");
    run(define.body);
    --depth_;
    return;
  }
  s.fail(fmt::format("nothing is defined as '{}'", s.arguments.front()));
}

void Expander::steps(const Statement& s) {
  bool named = s.has("named");
  for (std::int64_t i = 0, n = s.integer_argument(0); i < n; ++i) {
    ++step_;
    if (!s.has("unmarked")) {
      trace::RangeInfo info;
      info.kind = RangeKind::kStep;
      info.step = step_;
      begin(s, fill_in(s.text("name", "step")), info, !named);
      run(s.body);
      end(s);
    } else {
      run(s.body);
    }
  }
}

void Expander::range(const Statement& s) {
  trace::RangeInfo info;
  std::string kind = s.text("kind", "other");
  auto found = std::find_if(std::begin(kRangeKinds), std::end(kRangeKinds),
                            [&](const auto& entry) { return entry.first == kind; });
  if (found == std::end(kRangeKinds))
    s.fail("kind=: expected other, step, phase, op, input, batch, read, decode, augment, collate");
  info.kind = found->second;
  static constexpr std::string_view kPhases[] = {"none",   "input",         "forward",   "backward",
                                                 "update", "communication", "evaluation"};
  auto phase = std::find(std::begin(kPhases), std::end(kPhases), s.text("phase", "none"));
  if (phase == std::end(kPhases))
    s.fail("phase=: expected input, forward, backward, update, communication, evaluation");
  info.phase = static_cast<Phase>(phase - std::begin(kPhases));
  info.op = s.integer("op", -1);
  info.batch = s.text("batch") == "this" ? batch_ : s.integer("batch", -1);
  info.bytes = s.bytes("bytes", 0);
  info.flops = s.bytes("flops", 0);
  info.sequence = s.integer("sequence", -1);
  bool says = s.has("kind") || s.has("phase") || s.has("op") || s.has("batch") || s.has("bytes") ||
              s.has("flops") || s.has("sequence") || s.has("shapes") || s.has("dtypes");
  begin(s, fill_in(s.arguments.front()), info, says);
  run(s.body);
  end(s);
}

void Expander::input(const Statement& s) {
  if (plan_.loaders[static_cast<std::size_t>(rank_)].workers == 0)
    s.fail("'input' needs a 'loader'");
  batch_ = next_batch_++;
  trace::RangeInfo info;
  info.kind = RangeKind::kInputWait;
  info.phase = Phase::kInput;
  info.batch = batch_;
  if (!s.has("unmarked")) begin(s, s.text("name", "wait for batch"), info, !s.has("undeclared"));
  Action& action = add(Kind::kInput, s);
  action.batch = batch_;
  action.host = s.duration("call", {20'000});
  if (!s.has("unmarked")) end(s);
}

void Expander::stage(const Statement& s) {
  RangeKind kind = s.keyword == "read"      ? RangeKind::kRead
                   : s.keyword == "decode"  ? RangeKind::kDecode
                   : s.keyword == "augment" ? RangeKind::kAugment
                                            : RangeKind::kCollate;
  std::int64_t pieces = std::max<std::int64_t>(1, s.integer("pieces", 1));
  DurationNs each = s.duration_argument(0) / pieces;
  for (std::int64_t i = 0; i < pieces; ++i) {
    trace::RangeInfo info;
    info.kind = kind;
    info.batch = step_;
    info.bytes = s.bytes("bytes", 0) / pieces;
    begin(s, s.keyword, info, true);
    double stretch = kind == RangeKind::kRead ? 1 : stretch_;
    DurationNs time{static_cast<std::int64_t>(static_cast<double>(each.ns) * stretch)};
    add(Kind::kHost, s).host = vary(s, time);
    end(s);
  }
}

void Expander::run_worker(const Statement& loader, int worker, int workers, std::int64_t batches) {
  std::int64_t cores = loader.integer("cores", workers);
  stretch_ = std::max(
      1.0, static_cast<double>(workers) / static_cast<double>(std::max<std::int64_t>(1, cores)));
  add(Kind::kHost, loader).host =
      vary(loader, loader.duration("startup", {200'000}) + DurationNs{worker * 50'000});
  for (std::int64_t batch = worker; batch < batches; batch += workers) {
    step_ = batch;
    add(Kind::kBatchIssued, loader).batch = batch;
    trace::RangeInfo info;
    info.kind = RangeKind::kBatch;
    info.batch = batch;
    begin(loader, "batch", info, true);
    run(loader.body);
    end(loader);
    add(Kind::kBatchReady, loader).batch = batch;
  }
  if (!loader.has("hidden")) return;
  for (Action& action : actions_) action.visible = false;
}

Action& Expander::add(Kind kind, const Statement& s) {
  Action& action = actions_.emplace_back();
  action.kind = kind;
  action.source = &s;
  action.thread = thread_;
  action.host = {0};
  return action;
}

void Expander::begin(const Statement& s, std::string name, trace::RangeInfo info, bool has_info) {
  Action& action = add(Kind::kBeginRange, s);
  action.range.name = std::move(name);
  action.range.domain = s.text("domain");
  action.range.has_info = has_info;
  action.range.info = info;
  action.range.shapes = s.text("shapes");
  action.range.dtypes = s.text("dtypes");
}

void Expander::end(const Statement& s) {
  add(Kind::kEndRange, s);
}

DurationNs Expander::vary(const Statement& s, DurationNs value) {
  if (value.ns < 0) s.fail("a duration is negative");
  return random_.vary(value, s.share("jitter", case_.jitter));
}

int Expander::thread_named(const std::string& name) {
  std::vector<Recording::Thread>& threads = plan_.world.threads;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    if (threads[i].process == process_ && threads[i].name == name) return static_cast<int>(i);
  }
  threads.push_back({process_, name, 1000 + static_cast<int>(threads.size())});
  return static_cast<int>(threads.size()) - 1;
}

/// '%' in a name stands for the step.
std::string Expander::fill_in(std::string_view name) const {
  std::string text;
  for (char c : name) {
    if (c == '%') {
      text += std::to_string(step_);
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace headway::planted
