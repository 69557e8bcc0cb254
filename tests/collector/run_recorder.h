// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace headway::test {

/// A program that was started, and what it left behind.
struct Finished {
  int status = -1;  ///< exit code, or 128 + signal
  std::string out;
  std::string err;
};

/// False in a container without /dev/pts.
bool has_terminals();

/// `headway record`, as a user starts it: a process of its own.
class Recorder {
 public:
  explicit Recorder(std::vector<std::string> arguments);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// These words in place of `headway record`: a command that calls it in its turn.
  Recorder& instead(std::vector<std::string> words);
  Recorder& in(const std::filesystem::path& folder);
  Recorder& with(const std::string& name_and_value);  ///< environment
  /// The signal is ignored when it starts, as under nohup.
  Recorder& ignoring(int signal);
  /// In a session of its own with a terminal for the three standard streams.
  Recorder& on_terminal();
  void start();
  pid_t pid() const { return pid_; }
  /// Types into the terminal, e.g. "\x03" for Ctrl-C.
  void type(const std::string& keys);
  Finished wait();

 private:
  std::vector<std::string> arguments_;
  std::vector<std::string> environment_;
  std::filesystem::path folder_;
  TemporaryFolder files_;
  bool terminal_ = false;
  int ignored_signal_ = 0;
  int master_ = -1;
  pid_t pid_ = 0;
};

/// Path of a program of tests/targets.
std::string target(const std::string& name);
/// Path of a built program, e.g. "headway".
std::string program(const std::string& name);

/// Runs `headway record --quiet -o FOLDER/run.sqlite OPTIONS -- COMMAND` to its end.
struct Recorded {
  Finished finished;
  std::filesystem::path trace;
};
Recorded record(const TemporaryFolder& folder, const std::vector<std::string>& command,
                const std::vector<std::string>& options = {});

/// The rows of a query, columns as text, NULL as "NULL". `?1` … are `values`.
using Rows = std::vector<std::vector<std::string>>;
Rows query(const std::filesystem::path& trace, const std::string& sql,
           const std::vector<std::string>& values = {});
/// The single number of a query; 0 when there is none or the table does not exist.
std::int64_t number(const std::filesystem::path& trace, const std::string& sql,
                    const std::vector<std::string>& values = {});
std::int64_t loss(const std::filesystem::path& trace, const std::string& counter);
std::string meta(const std::filesystem::path& trace, const std::string& key);
/// Ranges with this name that ended.
std::int64_t ranges(const std::filesystem::path& trace, const std::string& name);
bool intact(const std::filesystem::path& trace);

/// Waits until `condition` holds, at most ten seconds.
template <class Condition>
bool eventually(Condition condition);
void sleep_ms(int ms);

template <class Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    sleep_ms(10);
  }
  return false;
}

}  // namespace headway::test
