// SPDX-License-Identifier: MIT
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace headway::record {

/// Finds the user's command as a shell would. Throws Error with kCommandNotFound or kCannotExecute;
/// the message names the command and a similar one.
std::filesystem::path find_command(const std::string& command);

/// The library that is loaded into the recorded processes; `with_io`: the one that also hooks the file
/// functions. Looked for beside this program, then in ../lib/headway. Throws Error(kInternal) that names
/// both places.
std::filesystem::path find_inject_library(bool with_io = false);

/// The folder that PYTHONPATH needs for --pytorch. Looked for beside this program, then in
/// ../lib/headway. Throws Error(kUsage) when this build has no binding for Python.
std::filesystem::path find_pytorch_folder();

/// The signal mask and handlers at the start of the recorder. The recorded program gets the same,
/// whatever the recorder changes for itself (`nohup` and shells rely on it).
class SignalState {
 public:
  SignalState();
  /// To be called in the child, between fork and exec.
  void restore() const;

 private:
  sigset_t mask_;
  struct sigaction pipe_;
  struct sigaction file_size_;
};

/// Environment of the recorded program: this process's, with `changes` ("NAME=value") replacing the
/// variables of the same names.
std::vector<std::string> environment_with(const std::vector<std::string>& changes);

/// Starts the command with the working directory, the standard streams and the process group of the
/// recorder. Throws Error(kCannotExecute) when the system refuses the file. Call it before making
/// threads.
pid_t launch(const std::filesystem::path& program, const std::vector<std::string>& command,
             const std::vector<std::string>& environment, const SignalState& signals);

/// Replaces this process by the command. Throws as `launch` does.
[[noreturn]] void become(const std::filesystem::path& program,
                         const std::vector<std::string>& command);

}  // namespace headway::record
