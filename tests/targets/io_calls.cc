// SPDX-License-Identifier: MIT
// io_calls KIND FOLDER: calls on files in FOLDER. Prints what each call returned, so that a run with
// hooks can be compared with one without.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern "C" ssize_t __read_chk(int, void*, size_t, size_t);
extern "C" ssize_t __pread_chk(int, void*, size_t, off_t, size_t);
extern "C" int __open_2(const char*, int);

namespace {

std::string g_out;
std::vector<char> g_data(1 << 20);

void say(const char* what, long long result) {
  int error = result < 0 ? errno : 0;
  char line[256];
  std::snprintf(line, sizeof line, "%s %lld %d %02x\n", what, result, error,
                static_cast<unsigned char>(g_data[0]));
  g_out += line;
}

std::string g_folder;
std::string in(const std::string& name) {
  return g_folder + "/" + name;
}

void make_file(const std::string& path, std::size_t bytes, char fill = 'a') {
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  std::vector<char> content(bytes, fill);
  if (fd < 0 || ::write(fd, content.data(), bytes) != static_cast<ssize_t>(bytes)) std::exit(9);
  ::close(fd);
}

/// Long reads, so that the process is recorded from here on.
void warm_up() {
  make_file(in("warm"), 100'000);
  int fd = ::open(in("warm").c_str(), O_RDONLY);
  if (::read(fd, g_data.data(), 100'000) != 100'000) std::exit(9);
  ::close(fd);
}

/// Every function once or more; descriptors, results and errors.
void calls() {
  make_file(in("big"), 200'000, 'b');
  int fd = ::open(in("big").c_str(), O_RDONLY);
  say("open", fd);
  say("read", ::read(fd, g_data.data(), 50'000));
  say("read small", ::read(fd, g_data.data(), 16));
  say("__read_chk", __read_chk(fd, g_data.data(), 8192, g_data.size()));
  say("pread", ::pread(fd, g_data.data(), 65'536, 100'000));
  say("pread64", ::pread64(fd, g_data.data(), 65'536, 190'000));
  say("pread end", ::pread(fd, g_data.data(), 100, 200'000));
  say("__pread_chk", __pread_chk(fd, g_data.data(), 5000, 0, g_data.size()));
  iovec parts[2] = {{g_data.data(), 5000}, {g_data.data() + 5000, 5000}};
  say("readv", ::readv(fd, parts, 2));
  say("preadv", ::preadv(fd, parts, 2, 4096));
  say("preadv2", ::preadv2(fd, parts, 2, 4096, 0));
  say("write to read-only", ::write(fd, "x", 1));
  say("pread negative", ::pread(fd, g_data.data(), 10, -1));
  void* map = ::mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
  say("mmap", map != MAP_FAILED && *static_cast<char*>(map) == 'b');
  ::munmap(map, 8192);
  say("lseek", ::lseek(fd, 0, SEEK_CUR));
  int copy = ::dup(fd);
  say("dup", copy);
  say("read dup", ::read(copy, g_data.data(), 6000));
  say("close", ::close(fd));
  say("read closed", ::read(fd, g_data.data(), 10));
  say("close closed", ::close(fd));
  say("close dup", ::close(copy));

  say("open missing", ::open(in("missing").c_str(), O_RDONLY));
  say("openat", fd = ::openat(AT_FDCWD, in("big").c_str(), O_RDONLY));
  say("dup2", ::dup2(fd, 77));
  say("read dup2", ::read(77, g_data.data(), 7000));
  say("close 77", ::close(77));
  ::close(fd);
  say("__open_2", fd = __open_2(in("big").c_str(), O_RDONLY));
  int out = ::creat(in("copy").c_str(), 0600);
  say("creat", out);
  say("sendfile", ::sendfile(out, fd, nullptr, 50'000));
  say("write", ::write(out, g_data.data(), 10'000));
  say("pwrite", ::pwrite(out, g_data.data(), 10'000, 5));
  say("writev", ::writev(out, parts, 2));
  say("fsync", ::fsync(out));
  say("fdatasync", ::fdatasync(out));
  off64_t from = 0;
  say("copy_file_range", ::copy_file_range(fd, &from, out, nullptr, 9000, 0));
  ::close(out);
  ::close(fd);
  struct stat info {};
  ::stat(in("copy").c_str(), &info);
  say("size of copy", info.st_size);
  say("fsync bad", ::fsync(-1));
  say("read bad", ::read(-1, g_data.data(), 1));
  say("read high", ::read(1'000'000, g_data.data(), 1));

  FILE* file = std::fopen(in("big").c_str(), "r");
  say("fread", static_cast<long long>(std::fread(g_data.data(), 1, 100'000, file)));
  say("fread 4", static_cast<long long>(std::fread(g_data.data(), 4, 1, file)));
  say("fread rest", static_cast<long long>(std::fread(g_data.data(), 1, 1'000'000, file)));
  say("feof", std::feof(file));
  say("fclose", std::fclose(file));
  file = std::fopen(in("lines").c_str(), "w");
  for (int i = 0; i < 3000; ++i) std::fprintf(file, "line number %d\n", i);
  say("fwrite", static_cast<long long>(std::fwrite(g_data.data(), 1, 20'000, file)));
  say("fclose", std::fclose(file));
  file = std::fopen(in("lines").c_str(), "r");
  int lines = 0;
  char text[64];
  for (int i = 0; i < 1500 && std::fgets(text, sizeof text, file); ++i) ++lines;
  say("fgets", lines);
  char* line = nullptr;
  std::size_t room = 0;
  for (int i = 0; i < 1500 && ::getline(&line, &room, file) > 0; ++i) ++lines;
  say("getline", lines);
  std::free(line);
  file = std::freopen(in("big").c_str(), "r", file);
  say("freopen", static_cast<long long>(std::fread(g_data.data(), 1, 10'000, file)));
  std::fclose(file);
}

/// Names and files that are not ordinary.
void strange() {
  warm_up();
  std::string odd = in("a\nb\033[31mc 'quoted' \xff");
  make_file(odd, 10'000);
  int fd = ::open(odd.c_str(), O_RDONLY);
  say("odd name", ::read(fd, g_data.data(), 10'000));
  ::close(fd);
  // A path of nearly 4096 bytes, which only exists piece by piece.
  std::string path = in("deep");
  ::mkdir(path.c_str(), 0700);
  while (path.size() + 201 < 4000) {
    path += "/" + std::string(200, 'd');
    ::mkdir(path.c_str(), 0700);
  }
  path += "/f";
  make_file(path, 10'000);
  fd = ::open(path.c_str(), O_RDONLY);
  say("long path", ::read(fd, g_data.data(), 10'000));
  ::close(fd);
  make_file(in("gone"), 10'000);
  fd = ::open(in("gone").c_str(), O_RDONLY);
  ::unlink(in("gone").c_str());
  say("deleted", ::read(fd, g_data.data(), 10'000));
  ::close(fd);
  // Relative, and a number that was used for something else before.
  if (::chdir(g_folder.c_str()) != 0) std::exit(9);
  int ends[2];
  if (::pipe(ends) != 0) std::exit(9);
  say("pipe write", ::write(ends[1], g_data.data(), 5000));
  say("pipe read", ::read(ends[0], g_data.data(), 5000));
  ::close(ends[0]);
  ::close(ends[1]);
  fd = ::open("warm", O_RDONLY);
  say("relative", ::read(fd, g_data.data(), 20'000));
  ::close(fd);
  fd = ::open(in("sparse").c_str(), O_RDWR | O_CREAT, 0600);
  say("ftruncate", ::ftruncate(fd, 12'000'000'000));
  say("pread at 10 GB", ::pread(fd, g_data.data(), 65'536, 10'000'000'000));
  say("pwrite at 11 GB", ::pwrite(fd, g_data.data(), 5000, 11'000'000'000));
  ::close(fd);
  ::unlink(in("sparse").c_str());
  fd = ::open("/proc/self/status", O_RDONLY);
  say("proc", ::read(fd, g_data.data(), 200) > 100);
  ::close(fd);
  fd = ::open(g_folder.c_str(), O_TMPFILE | O_RDWR, 0600);
  if (fd >= 0) say("tmpfile", ::write(fd, g_data.data(), 10'000));
  ::close(fd);
}

/// The file system refuses: a short write and an error stay what they are.
void full() {
  warm_up();
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{150'000, 150'000};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  int fd = ::open(in("limited").c_str(), O_WRONLY | O_CREAT, 0600);
  say("write", ::write(fd, g_data.data(), 100'000));
  say("short write", ::write(fd, g_data.data(), 100'000));
  say("no write", ::write(fd, g_data.data(), 100'000));
  ::close(fd);
}

volatile sig_atomic_t g_alarms = 0;
int g_handler_fd = -1;
void on_alarm(int) {
  char buffer[5000];
  g_alarms = g_alarms + 1;
  int saved = errno;
  if (::pread(g_handler_fd, buffer, sizeof buffer, 0) != sizeof buffer) ::_exit(8);
  errno = saved;
}

/// EINTR passes through, and a handler that reads files interrupts reads of files.
void signals() {
  warm_up();
  g_handler_fd = ::open(in("warm").c_str(), O_RDONLY);
  struct sigaction action {};
  action.sa_handler = on_alarm;
  ::sigaction(SIGALRM, &action, nullptr);
  int ends[2];
  if (::pipe(ends) != 0) std::exit(9);
  ::ualarm(20'000, 0);
  say("interrupted", ::read(ends[0], g_data.data(), 10));
  itimerval every{{0, 200}, {0, 200}};
  ::setitimer(ITIMER_REAL, &every, nullptr);
  int fd = ::open(in("warm").c_str(), O_RDONLY);
  int good = 0;
  for (int i = 0; i < 20'000; ++i) good += ::pread(fd, g_data.data(), 5000, i) == 5000;
  itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  say("reads between signals", good);
  say("signals came", g_alarms > 5);
}

/// The thread is unwound out of the hook; its cleanup must run.
void cancel() {
  warm_up();
  int ends[2];
  if (::pipe(ends) != 0) std::exit(9);
  static int cleaned = 0;
  pthread_t thread;
  ::pthread_create(
      &thread, nullptr,
      [](void* fd) -> void* {
        struct Cleanup {
          ~Cleanup() { ++cleaned; }
        } cleanup;
        char byte;
        [[maybe_unused]] ssize_t got = ::read(*static_cast<int*>(fd), &byte, 1);
        return nullptr;
      },
      &ends[0]);
  ::usleep(50'000);
  ::pthread_cancel(thread);
  void* result = nullptr;
  ::pthread_join(thread, &result);
  say("cancelled", result == PTHREAD_CANCELED);
  say("cleaned", cleaned);
}

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// Loader workers: each reads files of its own, half of them short, and ends without destructors.
void workers() {
  warm_up();
  for (int w = 0; w < 4; ++w) {
    make_file(in("worker" + std::to_string(w)), 300'000);
    make_file(in("tiny" + std::to_string(w)), 100);
  }
  std::vector<pid_t> children;
  for (int w = 0; w < 4; ++w) {
    pid_t child = ::fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    int fd = ::open(in("worker" + std::to_string(w)).c_str(), O_RDONLY);
    for (int i = 0; i < 10; ++i) (void)!::pread(fd, g_data.data(), 20'000, i * 20'000);
    int tiny = ::open(in("tiny" + std::to_string(w)).c_str(), O_RDONLY);
    for (int i = 0; i < 25; ++i) (void)!::pread(tiny, g_data.data(), 100, 0);
    ::_exit(0);
  }
  for (pid_t child : children) say("worker", wait_for(child));
}

/// The child has other files behind the same numbers, in the same memory.
void vfork_child() {
  warm_up();
  make_file(in("parent"), 50'000);
  make_file(in("child"), 50'000);
  int fd = ::open(in("parent").c_str(), O_RDONLY);
  std::string other = in("child");
  pid_t child = ::vfork();
  if (child == 0) {
    ::close(fd);
    int mine = ::open(other.c_str(), O_RDONLY);
    ::dup2(mine, fd);
    ::execl("/bin/true", "true", nullptr);
    ::_exit(1);
  }
  say("child", wait_for(child));
  say("parent", ::read(fd, g_data.data(), 30'000));
}

void close_all() {
  warm_up();
  int first = ::open(in("warm").c_str(), O_RDONLY);
  say("before", ::read(first, g_data.data(), 5000));
  say("close_range", ::close_range(3, ~0u, 0));
  say("closed", ::read(first, g_data.data(), 5000));
  make_file(in("later"), 5000);
  int fd = ::open(in("later").c_str(), O_RDONLY);
  say("after", ::read(fd, g_data.data(), 5000));
  ::closefrom(3);
  say("closed", ::read(fd, g_data.data(), 5000));
}

void threads() {
  warm_up();
  for (int i = 0; i < 100; ++i) make_file(in("t" + std::to_string(i)), 8000);
  std::vector<std::thread> all;
  std::vector<int> good(100);
  for (std::size_t i = 0; i < 100; ++i) {
    all.emplace_back([i, &good] {
      char data[8000];
      for (int k = 0; k < 20; ++k) {
        int fd = ::open(in("t" + std::to_string(i)).c_str(), O_RDONLY);
        good[i] += ::read(fd, data, sizeof data) == 8000;
        for (int j = 0; j < 5; ++j) good[i] += ::pread(fd, data, 100, j) == 100;
        ::close(fd);
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  int sum = 0;
  for (int count : good) sum += count;
  say("threads", sum);
}

/// Many files of a few bytes, and never a long read.
void tiny() {
  for (int i = 0; i < 1000; ++i) make_file(in("f" + std::to_string(i)), 100);
  long long bytes = 0;
  for (int i = 0; i < 1000; ++i) {
    int fd = ::open(in("f" + std::to_string(i)).c_str(), O_RDONLY);
    while (ssize_t got = ::read(fd, g_data.data(), 4096)) bytes += got;
    ::close(fd);
  }
  say("tiny", bytes);
}

/// Dies with sums that are in no record.
void killed() {
  warm_up();
  int fd = ::open(in("warm").c_str(), O_RDONLY);
  for (int i = 0; i < 40; ++i) (void)!::pread(fd, g_data.data(), 100, i);
  ::kill(::getpid(), SIGKILL);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::string kind = argv[1];
  g_folder = argv[2];
  struct {
    const char* kind;
    void (*run)();
  } const kinds[] = {{"calls", calls},       {"strange", strange},     {"full", full},
                     {"signals", signals},   {"cancel", cancel},       {"workers", workers},
                     {"vfork", vfork_child}, {"close-all", close_all}, {"threads", threads},
                     {"tiny", tiny},         {"killed", killed}};
  if (kind == "exec") {
    warm_up();
    ::execl(argv[0], argv[0], "threads", argv[2], nullptr);
    return 1;
  }
  for (const auto& one : kinds) {
    if (kind != one.kind) continue;
    one.run();
    std::fputs(g_out.c_str(), stdout);
    return 0;
  }
  return 2;
}
