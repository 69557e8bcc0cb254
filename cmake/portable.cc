// SPDX-License-Identifier: MIT
// With HEADWAY_PORTABLE the programs run where the C library is 2.34 and the C++ library that of GCC 11. What newer
// ones offer in a new version is taken in its old one; the linker's --wrap leads here (HeadwayCompile.cmake).
#include <condition_variable>
#include <mutex>

// Since 2.35 hypot leaves errno alone.
__asm__(".symver headway_old_hypot, hypot@GLIBC_2.2.5");
extern "C" double headway_old_hypot(double x, double y);
extern "C" double __wrap_hypot(double x, double y) {
  return headway_old_hypot(x, y);
}

// Since GCC 12 it does not throw.
__asm__(
    ".symver headway_old_wait, "
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
extern "C" void headway_old_wait(std::condition_variable* self, std::unique_lock<std::mutex>* lock);
extern "C" void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
    std::condition_variable* self, std::unique_lock<std::mutex>* lock) {
  headway_old_wait(self, lock);
}
