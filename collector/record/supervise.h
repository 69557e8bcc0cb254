// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "collector/record/drain.h"
#include "collector/record/messages/file_descriptor.h"
#include "collector/record/messages/messages.h"
#include "collector/record/session_socket.h"

namespace headway::record {

enum class WaitFor : std::uint8_t {
  kAll,      ///< every process of the tree
  kPrimary,  ///< only the command itself
};

/// How the recorded command ended.
struct Outcome {
  std::optional<int> exit_code;  ///< of the command; none while it runs, or with a signal
  std::optional<int> signal;
  bool left_running = false;            ///< a second Ctrl-C ended the recording, not the command
  bool interrupted = false;             ///< a signal asked to end
  bool scope_over = false;              ///< the recording ended before the command, as was asked
  std::int64_t ended_monotonic_ns = 0;  ///< when what was waited for was over
  /// What `headway record` exits with: as a shell would.
  int exit_status() const;
};

/// Blocks the signals that Supervisor handles, for all threads made afterwards, and those that would
/// end the recorder for what it writes; becomes the parent of orphaned descendants. The result is
/// where the signals arrive. Call before `launch`; throws Error(kInternal).
FileDescriptor prepare_to_supervise();

/// Watches over the recorded processes: lets them connect, passes signals on, notices who ends and
/// how. The thread that calls `run` does nothing else, so none of this waits for the disk.
class Supervisor {
 public:
  struct Options {
    WaitFor wait = WaitFor::kAll;
    wire::Clock clock = wire::Clock::kRealtime;
    std::string name;  ///< of the command, for messages
    bool quiet = false;
  };
  /// What of the run is wanted.
  struct Wanted {
    /// May this one be recorded?
    std::function<bool(pid_t, const std::optional<int>& rank)> process;
    std::function<bool()> nothing_more;  ///< the scope is over: the recording may end
  };
  /// `on_tick` is called about four times a second.
  Supervisor(pid_t primary, Options options, Wanted wanted, const FileDescriptor& signals,
             SessionSocket& socket, Drain& drain, MessageQueue& queue,
             std::function<void()> on_tick);

  /// Until the processes to wait for have ended, the user does not want to wait for them, or nothing
  /// more is wanted.
  Outcome run();
  /// After `run` ended with scope_over: the same until the processes have ended, with nothing
  /// recorded; first sends `signal` to the command, 0: none.
  Outcome outlive(int signal);

 private:
  /// One process image that has handed over memory.
  struct Image {
    std::shared_ptr<LiveSegment> segment;
    FileDescriptor pidfd;  ///< none on kernels before 5.3
    pid_t pid = 0;
  };
  void poll_until_finished();
  void accept_arrivals();
  /// Takes what a process hands over, or refuses it with the reason.
  void admit(Arrival& arrival);
  /// Their memory is drained once more, then let go.
  void end_images_of(pid_t pid);
  void check_image_ends();
  /// Collects the status of every child that has ended.
  void reap();
  void handle_signals();
  void handle_signal(int number, bool from_terminal, pid_t sender);
  /// The signal, to the command.
  void forward(int number);
  bool all_ended() const;
  bool finished();

  pid_t primary_;
  Options options_;
  Wanted wanted_;
  const FileDescriptor& signals_;
  SessionSocket& socket_;
  Drain& drain_;
  MessageQueue& queue_;
  std::function<void()> on_tick_;
  Outcome outcome_;
  bool primary_ended_ = false;
  bool no_children_ = false;
  bool told_waiting_ = false;  ///< the user knows what is being waited for
  bool leave_ = false;         ///< the user does not want to wait any longer
  bool closed_ = false;        ///< nobody is recorded any more
  std::int64_t ended_ns_ = 0;
  std::int64_t asked_to_end_ms_ = 0;  ///< when the first signal that asks to end came
  SegmentId next_segment_ = 1;        ///< ids are never used twice
  std::map<SegmentId, Image> images_;
};

}  // namespace headway::record
