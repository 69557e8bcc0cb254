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
  std::optional<int> exit_code;  ///< of the command; nullopt while it runs, or with a signal
  std::optional<int> signal;
  bool left_running = false;            ///< a second Ctrl-C ended the recording, not the command
  bool interrupted = false;             ///< a signal asked the recorder to end
  bool scope_over = false;              ///< the recording ended before the command, as requested
  std::int64_t ended_monotonic_ns = 0;  ///< when the awaited processes had ended
  /// The exit status of `headway record`, as a shell would give it for the command.
  int exit_status() const;
};

/// Prepares this process: blocks the signals that Supervisor handles, also for all threads made
/// afterwards; ignores SIGPIPE and SIGXFSZ, so that writing cannot kill the recorder; makes it the
/// parent of orphaned descendants. Returns the descriptor from which the signals are read. Call it
/// before `launch`; throws Error(kInternal).
FileDescriptor prepare_to_supervise();

/// Watches the recorded processes: lets them connect, passes signals on, notices which process ends
/// and how. The thread that calls `run` does nothing else, so none of this waits for the disk.
class Supervisor {
 public:
  struct Options {
    WaitFor wait = WaitFor::kAll;
    wire::Clock clock = wire::Clock::kRealtime;
    std::string name;  ///< of the command, for messages
    bool quiet = false;
  };
  /// Which part of the run is wanted.
  struct Wanted {
    /// Whether this process may be recorded.
    std::function<bool(pid_t, const std::optional<int>& rank)> process;
    std::function<bool()> nothing_more;  ///< true when the scope is over: the recording may end
  };
  /// `on_tick` is called about four times a second.
  Supervisor(pid_t primary, Options options, Wanted wanted, const FileDescriptor& signals,
             SessionSocket& socket, Drain& drain, MessageQueue& queue,
             std::function<void()> on_tick);

  /// Returns when the awaited processes have ended, when the user does not want to wait any longer,
  /// or when nothing more is wanted.
  Outcome run();
  /// To be called after `run` ended with scope_over. First sends `signal` to the command (0: none),
  /// then supervises without recording until the processes have ended.
  Outcome outlive(int signal);

 private:
  /// One process image that has handed over memory.
  struct Image {
    std::shared_ptr<LiveSegment> segment;
    FileDescriptor pidfd;  ///< empty on kernels before 5.3
    pid_t pid = 0;
  };
  void poll_until_finished();
  void accept_arrivals();
  /// Accepts the memory that a process hands over, or refuses it with the reason.
  void admit(Arrival& arrival);
  /// Marks the images of `pid` as ended: their memory is drained once more, then released.
  void end_images_of(pid_t pid);
  void check_image_ends();
  /// Collects the status of every child that has ended.
  void reap();
  void handle_signals();
  void handle_signal(int number, bool from_terminal, pid_t sender);
  /// Sends the signal to the command.
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
  bool told_waiting_ = false;  ///< the user has been told which processes are awaited
  bool leave_ = false;         ///< the user does not want to wait any longer
  bool closed_ = false;        ///< no process is recorded any more
  std::int64_t ended_ns_ = 0;
  std::int64_t asked_to_end_ms_ = 0;  ///< when the first signal that asks to end came
  SegmentId next_segment_ = 1;        ///< ids are never used twice
  std::map<SegmentId, Image> images_;
};

}  // namespace headway::record
