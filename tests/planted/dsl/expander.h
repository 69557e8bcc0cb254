// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/planted/dsl/expand.h"

namespace headway::planted {

/// Unrolls the statements of one thread of one rank.
class Expander {
 public:
  Expander(const Case& c, Plan& plan, int rank, int process, int thread, std::uint64_t salt);

  void run(const std::vector<Statement>& body);
  /// The worker's part of the batches 0 … batches-1.
  void run_worker(const Statement& loader, int worker, int workers, std::int64_t batches);
  std::vector<Action> take() { return std::move(actions_); }
  std::int64_t inputs() const { return next_batch_; }

 private:
  void one(const Statement& s);
  void steps(const Statement& s);
  void input(const Statement& s);
  void stage(const Statement& s);
  void launch(const Statement& s);
  void copy(const Statement& s);
  void memset(const Statement& s);
  void collective(const Statement& s);
  void event(const Statement& s);
  void sync(const Statement& s);
  void memory(const Statement& s);
  void other_call(const Statement& s);
  void graph(const Statement& s);
  void range(const Statement& s);
  bool applies(const Statement& on) const;
  void use(const Statement& s);

  Action& add(Action::Kind kind, const Statement& s);
  Action& work(const Statement& s, DurationNs device);
  void begin(const Statement& s, std::string name, trace::RangeInfo info, bool has_info);
  void end(const Statement& s);
  DurationNs vary(const Statement& s, DurationNs value);
  int thread_named(const std::string& name);
  int stream_named(const Statement& s, std::string_view fallback);
  bool on_cuda(int stream) const;
  std::string fill_in(std::string_view name) const;

  const Case& case_;
  Plan& plan_;
  int rank_;
  int process_;
  int thread_;
  Random random_;
  std::vector<Action> actions_;
  std::int64_t step_ = -1;   ///< or the batch, in a loader
  std::int64_t batch_ = -1;  ///< taken last
  std::int64_t next_batch_ = 0;
  bool in_graph_ = false;
  double stretch_ = 1;  ///< of processor work: more workers than cores
  int depth_ = 0;
};

/// Finds or makes things by name in `world`.
int device_of(const Case& c, Recording& world, int rank, int index);
int stream_of(const Case& c, Recording& world, int rank, const std::string& name);

}  // namespace headway::planted
