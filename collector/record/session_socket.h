// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "collector/record/messages/file_descriptor.h"
#include "collector/wire/hello.h"

namespace headway::record {

/// A process that has sent Hello and waits for `welcome`.
struct Arrival {
  pid_t pid = 0;  ///< from the kernel (SO_PEERCRED), in this process's namespace
  wire::Hello hello;
  FileDescriptor memory;       ///< empty when hello.problem says why
  bool no_descriptor = false;  ///< memory was sent, but this process may open no more files
  FileDescriptor connection;
};

/// The socket through which recorded processes hand over their shared memory. It lies in a new
/// folder of mode 0700 with an unpredictable name, in the first of XDG_RUNTIME_DIR, TMPDIR and /tmp
/// that is writable and short enough for a socket address. The destructor removes it. One thread.
class SessionSocket {
 public:
  /// Throws Error(kInternal) that lists the places that were tried.
  SessionSocket();
  ~SessionSocket();
  SessionSocket(const SessionSocket&) = delete;
  SessionSocket& operator=(const SessionSocket&) = delete;

  const std::string& path() const { return path_; }
  /// Readable when `receive` has something to do.
  int fd() const { return poll_.get(); }
  /// Accepts and reads connections; never blocks. Connections of other users, of other versions and
  /// with other content are closed and counted.
  std::vector<Arrival> receive();
  std::int64_t refused() const { return refused_; }

 private:
  void accept_all(std::vector<Arrival>& arrivals);
  void refuse_one(std::vector<Arrival>& arrivals);
  bool read_hello(FileDescriptor connection, std::vector<Arrival>& arrivals);

  std::filesystem::path folder_;
  std::string path_;
  FileDescriptor listener_;
  FileDescriptor poll_;
  FileDescriptor spare_;                   ///< freed to answer a process when no descriptor is left
  std::int64_t starved_ms_ = 0;            ///< since when no descriptor is left; 0: some are left
  std::map<int, FileDescriptor> pending_;  ///< connected, but no Hello yet
  std::int64_t refused_ = 0;
};

/// Answers an arrival and closes its connection. False when the process has given up waiting; it
/// then does not record.
bool welcome(Arrival& arrival, bool accepted, wire::Clock clock);

}  // namespace headway::record
