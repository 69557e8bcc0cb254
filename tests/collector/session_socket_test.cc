// SPDX-License-Identifier: MIT
#include "collector/record/session_socket.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <thread>

#include "collector/inject/handover.h"
#include "tests/collector/run_recorder.h"

namespace headway::record {
namespace {

FileDescriptor connect_to(const std::string& path) {
  FileDescriptor connection(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  REQUIRE(::connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return connection;
}

/// Polls until an arrival is there or the attempt was refused.
std::vector<Arrival> receive(SessionSocket& socket) {
  std::vector<Arrival> arrivals;
  std::int64_t refused = socket.refused();
  test::eventually([&] {
    for (Arrival& arrival : socket.receive()) arrivals.push_back(std::move(arrival));
    return !arrivals.empty() || socket.refused() > refused;
  });
  return arrivals;
}

}  // namespace

TEST_CASE("a process hands over its memory and is told the clock") {
  SessionSocket socket;
  wire::Welcome answer;
  bool accepted = false;
  std::thread process([&] {
    FileDescriptor memory(::memfd_create("test", MFD_CLOEXEC));
    wire::Hello hello;
    hello.layout = 1;
    accepted = inject::hand_over(socket.path().c_str(), hello, memory.get(), answer);
  });
  std::vector<Arrival> arrivals = receive(socket);
  REQUIRE(arrivals.size() == 1);
  CHECK(arrivals[0].pid == ::getpid());
  CHECK(arrivals[0].hello.layout == 1);
  CHECK(arrivals[0].memory);
  CHECK(welcome(arrivals[0], true, wire::Clock::kTsc));
  process.join();
  CHECK(accepted);
  CHECK(answer.clock == static_cast<std::uint32_t>(wire::Clock::kTsc));
}

TEST_CASE("a process that is refused, or finds nobody, gives up and does not hang") {
  wire::Hello hello;
  wire::Welcome answer;
  std::string path;
  {
    SessionSocket socket;
    path = socket.path();
    std::thread process([&] { CHECK(!inject::hand_over(path.c_str(), hello, -1, answer)); });
    std::vector<Arrival> arrivals = receive(socket);
    REQUIRE(arrivals.size() == 1);
    welcome(arrivals[0], false, wire::Clock::kRealtime);
    process.join();
    // Nobody answers: the time is bounded.
    auto start = std::chrono::steady_clock::now();
    CHECK(!inject::hand_over(path.c_str(), hello, -1, answer));
    CHECK(std::chrono::steady_clock::now() - start <
          std::chrono::milliseconds(wire::kHelloTimeoutMs + 10'000));
    // And the recorder notices that the process has gone.
    arrivals = receive(socket);
    REQUIRE(arrivals.size() == 1);
    CHECK(!welcome(arrivals[0], true, wire::Clock::kRealtime));
  }
  CHECK(!inject::hand_over(path.c_str(), hello, -1, answer));
  CHECK(!inject::hand_over("", hello, -1, answer));
  CHECK(!inject::hand_over(std::string(200, 'x').c_str(), hello, -1, answer));
}

TEST_CASE("strangers on the socket are closed and counted") {
  SessionSocket socket;
  FileDescriptor silent = connect_to(socket.path());
  FileDescriptor stranger = connect_to(socket.path());
  REQUIRE(::send(stranger.get(), "GET / HTTP/1.1", 14, MSG_NOSIGNAL) == 14);
  CHECK(receive(socket).empty());
  CHECK(socket.refused() == 1);
  FileDescriptor old_version = connect_to(socket.path());
  wire::Hello hello;
  hello.version = 999;
  ::send(old_version.get(), &hello, sizeof hello, MSG_NOSIGNAL);
  CHECK(receive(socket).empty());
  CHECK(socket.refused() == 2);
  { FileDescriptor gone = connect_to(socket.path()); }
  CHECK(receive(socket).empty());
  CHECK(socket.refused() == 3);
}

TEST_CASE("the socket's folder belongs to the user alone and is removed") {
  std::string path;
  {
    SessionSocket socket;
    path = socket.path();
    struct stat info {};
    REQUIRE(::stat(std::filesystem::path(path).parent_path().c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0700);
    SessionSocket other;
    CHECK(other.path() != path);
  }
  CHECK(!std::filesystem::exists(std::filesystem::path(path).parent_path()));
}

}  // namespace headway::record
