// SPDX-License-Identifier: MIT
#include "collector/inject/handover.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace headway::inject {
namespace {

std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

/// Waits until the socket is ready or the deadline has passed; a signal handler of the program may
/// interrupt it any number of times.
bool wait_for(int fd, short events, std::int64_t deadline) {
  for (;;) {
    std::int64_t left = deadline - now_ms();
    if (left <= 0) return false;
    pollfd item{fd, events, 0};
    int ready = ::poll(&item, 1, static_cast<int>(left));
    if (ready > 0) return (item.revents & events) != 0;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool connect_to(int fd, const char* path, std::int64_t deadline) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::size_t length = ::strnlen(path, sizeof address.sun_path);
  if (length == 0 || length == sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path, length);
  for (;;) {
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return true;
    // A full queue of connections gives EAGAIN at once: the processes of many ranks may start
    // together.
    if ((errno != EAGAIN && errno != EINTR) || now_ms() >= deadline) return false;
    timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

bool send_hello(int fd, const wire::Hello& hello, int attached) {
  iovec part{const_cast<wire::Hello*>(&hello), sizeof hello};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (attached >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &attached, sizeof(int));
  }
  ssize_t sent;
  do {
    sent = ::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent == sizeof hello;
}

bool receive_welcome(int fd, wire::Welcome& welcome, std::int64_t deadline) {
  if (!wait_for(fd, POLLIN, deadline)) return false;
  ssize_t got;
  do {
    got = ::recv(fd, &welcome, sizeof welcome, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  return got == sizeof welcome && welcome.magic == wire::kMagic && welcome.accepted == 1;
}

}  // namespace

int above_standard_streams(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::close(fd);
  return moved;
}

bool hand_over(const char* socket_path, const wire::Hello& hello, int fd, wire::Welcome& welcome) {
  std::int64_t deadline = now_ms() + wire::kHelloTimeoutMs;
  int connection =
      above_standard_streams(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (connection < 0) return false;
  bool accepted = connect_to(connection, socket_path, deadline) &&
                  send_hello(connection, hello, fd) &&
                  receive_welcome(connection, welcome, deadline);
  ::close(connection);
  return accepted;
}

}  // namespace headway::inject
