// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "reference_trainer/devices/sim/drawn_world.h"
#include "reference_trainer/devices/sim/recording.h"
#include "reference_trainer/devices/sim/sim_world.h"

namespace headway::trainer::sim {

/// A piece of work in a stream's queue.
struct Work {
  Op op;
  std::int64_t called = 0;    ///< start of its call
  std::int64_t gap = 0;       ///< from the end of what is before it on the stream to its start
  std::int64_t duration = 0;  ///< alone on the device; not of collectives
  double occupancy = 0;       ///< kernels: of the device, alone, 0..1
  bool matrix = false;        ///< kernels: limited by arithmetic
  int engine = -1;            ///< copies: 0 to the device, 1 to the host, 2 on the device
  bool waits = false;         ///< for `event`; does nothing else
  Event event;
  SimGroup* group = nullptr;
  std::int64_t transfer_bytes = 0;   ///< of a collective: what its time depends on
  std::uint64_t group_sequence = 0;  ///< which collective of the group it is
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Scope scope = Scope::kWorld;
};

/// The work of one simulated device in the order of its clock. Streams run in order, there is one
/// copy engine per direction, collectives end with their last member, and concurrent work slows
/// each other down as the world says.
///
/// The clock advances only as far as the host asks, and the host asks only for times that it then
/// waits for. So work that the host enqueues later cannot begin earlier. Not thread safe. Asking
/// for a collective blocks the thread until all ranks have arrived.
class Timeline {
 public:
  struct Options {
    int rank = 0;
    bool record_events = true;
    bool record_edges = false;
  };
  Timeline(const Options& options, const DrawnWorld& drawn, SimWorld& world, Recording& recording);

  void add_stream() { streams_.emplace_back(); }
  std::size_t stream_count() const { return streams_.size(); }
  /// Number of pieces of work submitted so far.
  std::uint64_t submitted(StreamId on) const;
  void submit(StreamId on, Work work);
  /// The sequence number, in `group`, of the next collective on this stream.
  std::uint64_t next_collective(StreamId on, SimGroup* group);

  /// The end of piece `sequence` (1, 2, ...) of the stream.
  std::int64_t end_of(StreamId on, std::uint64_t sequence);
  /// Correlation of the last op up to piece `sequence`, which must have ended; 0: none.
  std::uint64_t op_of(StreamId on, std::uint64_t sequence) const;
  /// Whether that piece has ended at `time`. Advances the clock as far as needed.
  bool ended_by(StreamId on, std::uint64_t sequence, std::int64_t time);
  void add_edge(EdgeKind kind, std::uint64_t from, std::uint64_t to, std::int64_t lag,
                int rank = -1);

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  struct Running {
    Work work;
    std::int64_t end = 0;
    bool known = true;       ///< false: a collective that may end later when a rank is late
    double remaining = 0;    ///< of its duration when alone
    double rate = 1;         ///< of `remaining` per nanosecond
    std::int64_t since = 0;  ///< start of the present rate
  };
  struct Stream {
    std::deque<Work> queue;
    std::optional<Running> running;
    std::vector<std::int64_t> ends;       ///< by sequence - 1
    std::vector<std::uint64_t> last_ops;  ///< by sequence - 1: correlation of the last op so far
    std::int64_t waited_until = 0;        ///< time of the events awaited since the last op
    std::uint64_t waited_for = 0;
    std::vector<std::uint64_t> awaited;
    std::map<SimGroup*, std::uint64_t> collectives;
  };
  /// A copy engine: one direction.
  struct Engine {
    std::int64_t free_at = 0;  ///< when its last copy ends
    std::uint64_t last = 0;    ///< correlation of its last copy
    bool busy = false;
  };
  /// When the head of a queue can begin, and what holds it back.
  struct Start {
    std::int64_t time = kNever;
    Binding binding = Binding::kLaunch;
    std::uint64_t by = 0;  ///< correlation of the op that holds it back; 0: its own call
  };

  /// Carries out the next event, if it is not after `limit`.
  bool step(std::int64_t limit);
  void pass_waits();
  bool pass_wait(Stream& stream);
  Start start_of(const Stream& stream, const Work& work) const;
  /// Starts the head of that stream's queue.
  void begin(std::size_t index);
  void ask(Running& collective);
  void finish(std::size_t index);
  /// Computes new rates for all running work, after something began or ended.
  void share_device();
  /// Factor by which `one` takes longer than alone, with the work that runs beside it now.
  double slowdown(const Running& one) const;
  std::int64_t transfer_ns(const Work& work) const;

  const Options options_;
  const DrawnWorld& drawn_;
  SimWorld& world_;
  Recording& recording_;
  std::vector<Stream> streams_;
  std::array<Engine, 3> engines_;
  std::int64_t clock_ = 0;  ///< ns: all times before it are final
  // The work that is running now.
  int comms_ = 0;
  int copies_[3] = {};
  double occupied_ = 0;  ///< of the device by all kernels, each as if alone; over 1 they share
};

}  // namespace headway::trainer::sim
