// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace headway::record {

/// Where the command of the user is, found as a shell would. Throws Error with kCommandNotFound or
/// kCannotExecute, naming the command and a near miss.
std::filesystem::path find_command(const std::string& command);

/// The library that is loaded into the recorded processes, `with_io` the one that also hooks the file
/// functions: beside this program, else in ../lib/headway. Throws Error(kInternal) that names both places.
std::filesystem::path find_inject_library(bool with_io = false);

/// The folder that PYTHONPATH needs for --pytorch: beside this program, else in ../lib/headway. Throws
/// Error(kUsage) when this build has no binding for Python.
std::filesystem::path find_pytorch_folder();

/// How signals were treated when the recorder started: the recorded program gets the same, whatever
/// the recorder changes for itself (`nohup` and shells rely on it).
class SignalState {
 public:
  SignalState();
  /// In the child, between fork and exec.
  void restore() const;

 private:
  sigset_t mask_;
  struct sigaction pipe_;
  struct sigaction file_size_;
};

/// Environment of the recorded program: ours, with `changes` ("NAME=value") in place of what it
/// had.
std::vector<std::string> environment_with(const std::vector<std::string>& changes);

/// Starts the command. The working directory, the standard streams and the process group are those
/// of the recorder. Throws Error(kCannotExecute) when the system refuses the file. Call it before
/// making threads.
pid_t launch(const std::filesystem::path& program, const std::vector<std::string>& command,
             const std::vector<std::string>& environment, const SignalState& signals);

/// Replaces this process by the command. Throws as `launch` does.
[[noreturn]] void become(const std::filesystem::path& program,
                         const std::vector<std::string>& command);

}  // namespace headway::record
