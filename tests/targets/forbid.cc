// SPDX-License-Identifier: MIT
// forbid memfd|populate COMMAND...: runs the command where the kernel refuses memfd_create, or does not
// know MADV_POPULATE_WRITE (as before Linux 5.14).
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

namespace {

/// Answers `error` to system call `number`, when `argument` is -1 or equals its third argument.
bool refuse(unsigned number, long argument, unsigned error) {
  auto load = [](std::size_t offset) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
  };
  unsigned answer = SECCOMP_RET_ERRNO | error;
  unsigned value = static_cast<unsigned>(argument);
  sock_filter any[] = {
      load(offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_filter with_argument[] = {load(offsetof(seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
                                 load(offsetof(seccomp_data, args) + 2 * sizeof(std::uint64_t)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, answer),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog program =
      argument < 0
          ? sock_fprog{static_cast<unsigned short>(std::size(any)), any}
          : sock_fprog{static_cast<unsigned short>(std::size(with_argument)), with_argument};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::string what = argv[1];
  constexpr long kPopulateWrite = 23;
  bool done = false;
  if (what == "memfd") done = refuse(SYS_memfd_create, -1, EPERM);
  if (what == "populate") done = refuse(SYS_madvise, kPopulateWrite, EINVAL);
  if (!done) return 77;
  ::execv(argv[2], argv + 2);
  return 3;
}
