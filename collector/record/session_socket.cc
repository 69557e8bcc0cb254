// SPDX-License-Identifier: MIT
#include "collector/record/session_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "common/error.h"

namespace headway::record {
namespace {

constexpr int kBacklog = 1024;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

/// Makes a private folder in `parent`. Empty when that fails; then the reason is appended to
/// `why_not`.
std::filesystem::path make_folder(const std::filesystem::path& parent, std::string& why_not) {
  std::string pattern = (parent / "headway-XXXXXX").string();
  std::string problem;
  if (pattern.size() + std::strlen("/s") >= sizeof(sockaddr_un::sun_path)) {
    problem = "too long for a socket address";
  } else if (::mkdtemp(pattern.data())) {  // mode 0700
    return pattern;
  } else {
    problem = system_error_text(errno);
  }
  why_not += fmt::format("{}{}: {}", why_not.empty() ? "" : "; ", parent.string(), problem);
  return {};
}

/// True when no process listens on the socket: the recorder that made it was killed.
bool is_deserted(const std::filesystem::path& socket) {
  const std::string path = socket.string();
  if (path.size() >= sizeof(sockaddr_un::sun_path)) return false;
  FileDescriptor fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = address_of(path);
  return fd &&
         ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
         errno == ECONNREFUSED;
}

/// Removes the folders of make_folder() that killed recorders of this user left in `parent`: those
/// with a socket on which no process listens, or without a socket. Young folders stay: their socket
/// may be about to be made.
void remove_leftovers(const std::filesystem::path& parent) {
  constexpr std::time_t kYoung = 60;
  constexpr std::string_view kPrefix = "headway-";
  std::error_code error;
  for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kPrefix) || name.size() != kPrefix.size() + 6) continue;
    const std::filesystem::path socket = entry->path() / "s";
    struct stat folder {};
    struct stat info {};
    if (::lstat(entry->path().c_str(), &folder) != 0 || !S_ISDIR(folder.st_mode) ||
        folder.st_uid != ::geteuid() || (folder.st_mode & 0777) != 0700 ||
        folder.st_mtime + kYoung > std::time(nullptr))
      continue;
    if (::lstat(socket.c_str(), &info) == 0) {
      if (!S_ISSOCK(info.st_mode) || !is_deserted(socket)) continue;
      std::error_code ignored;
      std::filesystem::remove(socket, ignored);
      // The link of --io, where the library's path had a space.
      for (const char* library : {"libheadway_inject.so", "libheadway_io.so"})
        std::filesystem::remove(entry->path() / library, ignored);
    }
    ::rmdir(entry->path().c_str());  // fails if the folder has other files
  }
}

bool same_user(int connection, pid_t& pid) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  pid = peer.pid;
  return peer.uid == ::geteuid() && peer.pid > 0;
}

std::int64_t now_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

/// The first descriptor that came with the message; all others are closed.
FileDescriptor attached_descriptor(msghdr& message) {
  FileDescriptor result;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      FileDescriptor owned(fd);
      if (!result) result = std::move(owned);
    }
  }
  return result;
}

}  // namespace

SessionSocket::SessionSocket() {
  std::string tried;
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const char* value = std::getenv(variable);
    if (folder_.empty() && value && *value == '/') folder_ = make_folder(value, tried);
  }
  if (folder_.empty()) folder_ = make_folder("/tmp", tried);
  if (folder_.empty())
    fail_internal("no folder for the recorder's socket ({}). Set TMPDIR to a writable folder.",
                  tried);
  path_ = (folder_ / "s").string();
  listener_ = FileDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  poll_ = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  sockaddr_un address = address_of(path_);
  epoll_event event{EPOLLIN, {.fd = listener_.get()}};
  if (!listener_ || !poll_ ||
      ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), kBacklog) != 0 ||
      ::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, listener_.get(), &event) != 0) {
    int code = errno;
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    fail_internal("{}: cannot listen on the recorder's socket: {}. Set TMPDIR to another folder.",
                  path_, system_error_text(code));
  }
  remove_leftovers(folder_.parent_path());
}

SessionSocket::~SessionSocket() {
  ::unlink(path_.c_str());
  ::rmdir(folder_.c_str());
}

void SessionSocket::accept_all(std::vector<Arrival>& arrivals) {
  for (;;) {
    FileDescriptor connection(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) starved_ms_ = 0;
      if (errno == EMFILE || errno == ENFILE) refuse_one(arrivals);
      return;  // EAGAIN: all are accepted
    }
    starved_ms_ = 0;
    int fd = connection.get();
    epoll_event event{EPOLLIN, {.fd = fd}};
    if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) == 0)
      pending_[fd] = std::move(connection);
  }
}

/// For when no descriptor is left for a process that waits. One may become free at any moment, so
/// for kPatienceMs this only sleeps: the socket stays readable, and the caller comes back. After that
/// it uses the spare descriptor to answer one process.
void SessionSocket::refuse_one(std::vector<Arrival>& arrivals) {
  constexpr std::int64_t kPatienceMs = 200;
  if (starved_ms_ == 0) starved_ms_ = now_ms();
  const bool wait = now_ms() - starved_ms_ < kPatienceMs;
  ::poll(nullptr, 0, 5);
  if (wait || !spare_) return;
  spare_.reset();
  FileDescriptor connection(
      ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  pollfd item{connection.get(), POLLIN, 0};
  const bool came = connection && ::poll(&item, 1, kPatienceMs) > 0;
  if (came && read_hello(std::move(connection), arrivals)) {
    arrivals.back().no_descriptor = true;
    arrivals.back().memory.reset();
    // The caller answers it and so closes the connection; until then there is no spare.
  } else {
    ++refused_;
  }
}

bool SessionSocket::read_hello(FileDescriptor connection, std::vector<Arrival>& arrivals) {
  Arrival arrival;
  iovec part{&arrival.hello, sizeof arrival.hello};
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got = ::recvmsg(connection.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0) return false;
  arrival.memory = attached_descriptor(message);
  arrival.no_descriptor = !arrival.memory && (message.msg_flags & MSG_CTRUNC) != 0;
  if (got != sizeof arrival.hello || !same_user(connection.get(), arrival.pid) ||
      arrival.hello.magic != wire::kMagic || arrival.hello.version != wire::kVersion) {
    return false;
  }
  arrival.connection = std::move(connection);
  arrivals.push_back(std::move(arrival));
  return true;
}

std::vector<Arrival> SessionSocket::receive() {
  std::vector<Arrival> arrivals;
  // Made here, not before the launch, because the launch needs two descriptors for a moment.
  if (!spare_) spare_ = FileDescriptor(::fcntl(listener_.get(), F_DUPFD_CLOEXEC, 0));
  epoll_event events[64];
  int count = ::epoll_wait(poll_.get(), events, std::size(events), 0);
  for (int i = 0; i < count; ++i) {
    if (events[i].data.fd == listener_.get()) {
      accept_all(arrivals);
      continue;
    }
    auto found = pending_.find(events[i].data.fd);
    if (found == pending_.end()) continue;
    FileDescriptor connection = std::move(found->second);
    pending_.erase(found);
    ::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, connection.get(), nullptr);
    if (!read_hello(std::move(connection), arrivals)) ++refused_;
  }
  return arrivals;
}

bool welcome(Arrival& arrival, bool accepted, wire::Clock clock) {
  wire::Welcome answer;
  answer.accepted = accepted ? 1 : 0;
  answer.clock = static_cast<std::uint32_t>(clock);
  ssize_t sent =
      ::send(arrival.connection.get(), &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT);
  arrival.connection.reset();
  return sent == sizeof answer;
}

}  // namespace headway::record
