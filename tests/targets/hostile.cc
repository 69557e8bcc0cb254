// SPDX-License-Identifier: MIT
// hostile KIND: programs that treat the library badly, or live in narrow conditions, and must not
// notice it.
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

namespace {

void ranges(const char* name, int count) {
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

/// Closes every descriptor and uses their numbers for a file of its own, which must stay its own.
int close_all(const char* path) {
  ranges("before", 10);
  for (int fd = 3; fd < 256; ++fd) ::close(fd);
  std::vector<int> files;
  for (int i = 0; i < 32; ++i) files.push_back(::open(path, O_RDWR | O_CREAT | O_TRUNC, 0600));
  ranges("after", 10);
  ::usleep(50'000);
  off_t size = ::lseek(files[0], 0, SEEK_END);
  return size == 0 ? 0 : 3;
}

int no_standard_streams() {
  ::close(0);
  ::close(1);
  ranges("without stdin", 10);
  return ::write(1, "x", 1) == -1 ? 0 : 3;  // the number was not taken by anything of ours
}

/// Little address space left: the program's own allocations must still succeed.
int address_space() {
  rlimit limit{64u << 20, 64u << 20};
  ::setrlimit(RLIMIT_AS, &limit);
  ranges("narrow", 10);
  std::vector<void*> blocks;
  for (int i = 0; i < 40; ++i) {
    void* block = std::malloc(1u << 20);
    if (!block) return 3;
    std::memset(block, 1, 1u << 20);
    blocks.push_back(block);
  }
  ranges("full", 10);
  return 0;
}

/// A forked child with less room than its parent's registered texts take.
int narrow_child() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("wide");
  std::string text(60'000, 'z');
  for (int i = 0; i < 20; ++i)
    nvtxDomainRegisterStringA(domain, (text + std::to_string(i)).c_str());
  ranges("parent", 10);
  pid_t child = ::fork();
  if (child == 0) {
    rlimit limit{4u << 20, 4u << 20};  // room for the smallest memory only
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ranges("child", 10);
    nvtxDomainRegisterStringA(domain, "one more");
    ranges("child", 10);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ranges("parent", 10);
  return status;
}

int file_size() {
  rlimit limit{4096, 4096};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ranges("no files", 10);  // a larger memfd would raise SIGXFSZ
  return 0;
}

void on_alarm(int) {
  nvtxRangePushA("in the handler");
  nvtxRangePop();
}

/// Events from a signal handler that interrupts others, and registering from there too.
int handler() {
  ranges("interrupted",
         10);  // NVTX itself cannot be initialised from a handler that interrupts that
  struct sigaction action {};
  action.sa_handler = on_alarm;
  ::sigaction(SIGALRM, &action, nullptr);
  itimerval often{{0, 50}, {0, 50}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  for (int i = 1; i < 2000; ++i) {
    ranges("interrupted", 10);
    nvtxDomainCreateA(("domain " + std::to_string(i % 50)).c_str());
    ::usleep(100);
  }
  itimerval off{};
  ::setitimer(ITIMER_REAL, &off, nullptr);
  return 0;
}

int keeps_errno() {
  errno = 4711;
  ranges("first", 1);  // connects
  nvtxDomainCreateA("domain");
  return errno == 4711 ? 0 : 3;
}

int many_definitions() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("many");
  std::string long_text(60'000, 'z');
  for (int i = 0; i < 300; ++i) {  // 18 MB: more than the log holds
    std::string text = long_text + std::to_string(i);
    nvtxDomainRegisterStringA(domain, text.c_str());
  }
  nvtxDomainHandle_t late = nvtxDomainCreateA("late");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  for (int i = 0; i < 100; ++i) {
    event.message.registered =
        nvtxDomainRegisterStringA(late, ("late step " + std::to_string(i)).c_str());
    if (event.message.registered !=
        nvtxDomainRegisterStringA(late, ("late step " + std::to_string(i)).c_str()))
      return 3;
    nvtxDomainRangePushEx(late, &event);
    nvtxDomainRangePop(late);
  }
  event.message.registered = nvtxDomainRegisterStringW(late, L"late \u00e4 wide");
  if (::fork() == 0) {
    nvtxDomainRangePushEx(late, &event);
    nvtxDomainRangePop(late);
    ::_exit(0);
  }
  ::wait(nullptr);
  ranges("after", 10);
  return 0;
}

int many_domains() {
  for (int i = 0; i < 5000; ++i) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA(("domain " + std::to_string(i)).c_str());
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = "in a domain";
    if (nvtxDomainRangePushEx(domain, &event) < 0) return 3;
    if (nvtxDomainRangePop(domain) < 0) return 3;
    if (i % 100 == 0) ::usleep(5'000);
  }
  return 0;
}

/// With the time-stamp counter switched off, reading a clock is fatal too (the vDSO reads it).
int without_counter() {
  if (::prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0) return 0;
  ranges("without a counter", 10);
  return 0;
}

/// Pushes from a handler on an alternate stack of so many bytes, a page that may not be touched at
/// either end.
void on_stack_of(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  bytes = (bytes + kPage - 1) / kPage * kPage;
  void* memory = ::mmap(nullptr, bytes + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* stack = static_cast<char*>(memory) + kPage;
  ::mprotect(stack, bytes, PROT_READ | PROT_WRITE);
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = bytes;
  ::sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_handler = [](int) { ranges("on a small stack", 10); };
  action.sa_flags = SA_ONSTACK;
  ::sigaction(SIGUSR1, &action, nullptr);
  ::raise(SIGUSR1);
}

/// The first push on 16 KiB: NVTX loads a library for it. Later ones on little more than what the
/// processor's registers take.
int small_stack() {
  on_stack_of(16 * 1024);
  on_stack_of(::getauxval(AT_MINSIGSTKSZ) + 1536);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string kind = argc > 1 ? argv[1] : "";
  if (kind == "close-all" && argc == 3) return close_all(argv[2]);
  if (kind == "no-standard-streams") return no_standard_streams();
  if (kind == "address-space") return address_space();
  if (kind == "file-size") return file_size();
  if (kind == "narrow-child") return narrow_child();
  if (kind == "handler") return handler();
  if (kind == "small-stack") return small_stack();
  if (kind == "no-counter") return without_counter();
  if (kind == "errno") return keeps_errno();
  if (kind == "definitions") return many_definitions();
  if (kind == "domains") return many_domains();
  return 2;
}
