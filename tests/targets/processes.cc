// SPDX-License-Identifier: MIT
// processes KIND: ways in which a process makes another, each of which records under its name.
#include <nvtx3/nvToolsExt.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

void range(const char* name) {
  nvtxRangePushA(name);
  nvtxRangePop();
}

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// What a fork inherits: a domain, a string, an open range, a thread that records all the time.
int fork_without_exec() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("inherited");
  nvtxStringHandle_t text = nvtxDomainRegisterStringA(domain, "registered before");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = text;
  std::thread busy([] {
    for (int i = 0; i < 200; ++i) {
      range("busy");
      ::usleep(100);
    }
  });
  nvtxRangePushA("around the fork");
  pid_t child = ::fork();
  const char* name = child == 0 ? "child" : "parent";
  range(name);
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
  event.message.registered =
      nvtxDomainRegisterStringA(domain, child == 0 ? "child's own" : "parent's own");
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
  if (child == 0) {
    // A second generation, which inherits from one that is itself a child.
    pid_t grandchild = ::fork();
    if (grandchild == 0) {
      nvtxDomainRangePushEx(domain, &event);
      nvtxDomainRangePop(domain);
      range("grandchild");
      ::_exit(0);
    }
    ::_exit(wait_for(grandchild));
  }
  int status = wait_for(child);
  nvtxRangePop();
  busy.join();
  return status;
}

/// fork that no library hears of.
int raw_clone() {
  range("parent");
  long child = ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) {
    range("child");
    ::_exit(0);
  }
  range("parent");
  return wait_for(static_cast<pid_t>(child));
}

int vfork_child() {
  range("parent");
  pid_t child = ::vfork();
  if (child == 0) {
    nvtxMarkA("in the vfork child");
    ::execl("/bin/true", "true", nullptr);
    ::_exit(1);
  }
  range("parent");
  return wait_for(child);
}

int exec_self(const char* self) {
  range("before exec");
  nvtxRangePushA("open at exec");
  ::execl(self, self, "after-exec", nullptr);
  return 1;
}

/// A daemon outlives its parent, which ends at once.
int daemon() {
  range("parent");
  if (::fork() == 0) {
    ::setsid();
    if (::fork() == 0) {
      ::usleep(400'000);
      range("daemon");
      ::_exit(0);
    }
    ::_exit(0);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::string kind = argv[1];
  if (kind == "fork") return fork_without_exec();
  if (kind == "clone") return raw_clone();
  if (kind == "vfork") return vfork_child();
  if (kind == "exec") return exec_self(argv[0]);
  if (kind == "daemon") return daemon();
  if (kind == "after-exec") {
    range("after exec");
    return 0;
  }
  return 2;
}
