// SPDX-License-Identifier: MIT
// A libnccl.so.2 for the fake driver: ranks are processes of this host, sums are made by rank 0 of a group, in double, and sent
// back. Communicators do not wait: init is under way until all ranks have come, and work runs as functions of the host in the
// stream's order. Arguments are checked as NCCL documents them. FAKE_NCCL_FAILS=ncclAllReduce fails that call on rank 1 (at its
// third time); FAKE_NCCL_STUCK=1: rank 1 never comes to a collective's end.
#include <cuda.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/half.h"
#include "tests/targets/fake_nccl/mailboxes.h"

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

using fake_nccl::Mailboxes;
enum Result { kSuccess = 0, kSystemError = 2, kInvalidArgument = 4, kInProgress = 7 };
enum Type { kUint8 = 1, kHalf = 6, kFloat = 7 };

struct Communicator {
  std::unique_ptr<Mailboxes> boxes;
  std::atomic<bool> aborted = false;
  std::atomic<int> error = kSuccess;
};
struct UniqueId {
  char bytes[128];
};
struct Config {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
};

std::string g_last_error;

int refuse(const char* what) {
  g_last_error = what;
  return kInvalidArgument;
}

/// The call is to fail: on one rank, when the others are already at work.
bool fails(const Communicator& communicator, const char* call) {
  static int calls = 0;
  const char* wanted = std::getenv("FAKE_NCCL_FAILS");
  if (!wanted || std::strcmp(wanted, call) != 0 || communicator.boxes->rank() != 1) return false;
  return ++calls == 3;
}

std::size_t bytes_of(int type) {
  return type == kFloat ? 4 : type == kHalf ? 2 : 1;
}

double value_at(const std::vector<std::byte>& data, int type, std::size_t i) {
  if (type == kHalf) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, data.data() + 2 * i, 2);
    return headway::kernels::from_half(bits);
  }
  float value = 0;
  std::memcpy(&value, data.data() + 4 * i, 4);
  return value;
}

void put_at(std::vector<std::byte>& data, int type, std::size_t i, double value) {
  const auto narrow = static_cast<float>(value);
  if (type == kHalf) {
    const std::uint16_t bits = headway::kernels::to_half(narrow);
    std::memcpy(data.data() + 2 * i, &bits, 2);
  } else {
    std::memcpy(data.data() + 4 * i, &narrow, 4);
  }
}

/// What every rank of a group does at the same time: all messages go to rank 0, whose `make` turns them into one, and back.
using Messages = std::vector<std::vector<std::byte>>;
bool through_first(Communicator& c, std::vector<std::byte> mine, std::vector<std::byte>& result,
                   const std::function<std::vector<std::byte>(const Messages&)>& make) {
  Mailboxes& boxes = *c.boxes;
  if (boxes.rank() != 0) {
    std::uint64_t sizes[2] = {mine.size(), result.size()};
    return boxes.send(0, sizes, sizeof sizes, c.aborted) &&
           boxes.send(0, mine.data(), mine.size(), c.aborted) &&
           boxes.receive(0, result.data(), result.size(), c.aborted);
  }
  Messages all{std::move(mine)};
  for (int from = 1; from < boxes.ranks(); ++from) {
    std::uint64_t sizes[2] = {};
    if (!boxes.receive(from, sizes, sizeof sizes, c.aborted)) return false;
    if (sizes[0] != all[0].size() || sizes[1] != result.size()) {
      std::fprintf(stderr, "fake NCCL: ranks 0 and %d have come with different messages\n", from);
      std::abort();
    }
    all.emplace_back(sizes[0]);
    if (!boxes.receive(from, all.back().data(), sizes[0], c.aborted)) return false;
  }
  result = make(all);
  for (int to = 1; to < boxes.ranks(); ++to)
    if (!boxes.send(to, result.data(), result.size(), c.aborted)) return false;
  return true;
}

std::vector<std::byte> sum_of(const Messages& all, int type) {
  std::vector<std::byte> sums(all[0].size());
  for (std::size_t i = 0; i < sums.size() / bytes_of(type); ++i) {
    double sum = 0;
    for (const auto& each : all) sum += value_at(each, type, i);
    put_at(sums, type, i, sum);
  }
  return sums;
}

std::vector<std::byte> copy_of(const void* data, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(data);
  return {first, first + bytes};
}

/// In the stream's order, without the driver's lock.
int queue(CUstream stream, std::function<void()> work) {
  auto run = [](void* data) {
    const std::unique_ptr<std::function<void()>> kept(static_cast<std::function<void()>*>(data));
    (*kept)();
  };
  auto* kept = new std::function<void()>(std::move(work));
  return cuLaunchHostFunc(stream, run, kept) == CUDA_SUCCESS ? kSuccess : kSystemError;
}

// The messages of the group that is open, which are carried out at the same time.
bool g_in_group = false;
CUstream g_group_stream = nullptr;
std::vector<std::function<void()>> g_group;

int queue_message(CUstream stream, std::function<void()> message) {
  if (!g_in_group) return queue(stream, std::move(message));
  g_group_stream = stream;
  g_group.push_back(std::move(message));
  return kSuccess;
}

/// Queues an exchange of `bytes` from `from` whose `result_bytes` result is cut for this rank by `take`.
int exchange(Communicator& c, const char* call, CUstream stream, const void* from,
             std::size_t bytes, std::size_t result_bytes,
             std::function<std::vector<std::byte>(const Messages&)> make,
             std::function<void(const std::vector<std::byte>&)> take) {
  if (fails(c, call)) {
    g_last_error = "a network cable was pulled out";
    c.error = kSystemError;
    return kSystemError;
  }
  return queue(stream, [=, &c] {
    while (std::getenv("FAKE_NCCL_STUCK") && c.boxes->rank() == 1 && !c.aborted) ::usleep(1000);
    std::vector<std::byte> result(result_bytes);
    if (through_first(c, copy_of(from, bytes), result, make)) take(result);
  });
}

}  // namespace

FAKE int ncclGetVersion(int* version) {
  *version = 22809;
  return kSuccess;
}
FAKE const char* ncclGetErrorString(int result) {
  return result == kSuccess       ? "no error"
         : result == kSystemError ? "unhandled system error (run with NCCL_DEBUG=INFO for details)"
         : result == kInvalidArgument ? "invalid argument (run with NCCL_DEBUG=WARN for details)"
                                      : "unknown result code";
}
FAKE const char* ncclGetLastError(Communicator*) {
  return g_last_error.c_str();
}
FAKE int ncclGetUniqueId(UniqueId* id) {
  static int count = 0;
  std::snprintf(id->bytes, sizeof id->bytes, "/headway-fake-nccl-%d-%d", ::getpid(), ++count);
  return kSuccess;
}
FAKE int ncclCommInitRankConfig(Communicator** communicator, int ranks, UniqueId id, int rank,
                                Config* config) {
  if (config->magic != 0xcafebeef || config->size != sizeof(Config) || config->blocking != 0)
    return refuse("config was not initialised");
  if (rank < 0 || rank >= ranks || std::strncmp(id.bytes, "/headway-fake-nccl-", 19) != 0)
    return refuse("no such rank, or no unique id");
  *communicator = new Communicator;
  (*communicator)->boxes = std::make_unique<Mailboxes>(id.bytes, ranks, rank);
  return kInProgress;
}
FAKE int ncclCommGetAsyncError(Communicator* c, int* result) {
  *result = c->error != kSuccess       ? c->error.load()
            : c->boxes->all_are_here() ? kSuccess
                                       : kInProgress;
  return kSuccess;
}
/// Its work may still look at it.
FAKE int ncclCommAbort(Communicator* c) {
  c->aborted = true;
  return kSuccess;
}
FAKE int ncclCommFinalize(Communicator*) {
  return kSuccess;
}
FAKE int ncclCommDestroy(Communicator* c) {
  delete c;
  return kSuccess;
}
FAKE int ncclAllReduce(const void* from, void* to, std::size_t count, int type, int operation,
                       Communicator* c, CUstream stream) {
  if (operation != 0 || type == kUint8) return refuse("only sums of numbers");
  const std::size_t bytes = count * bytes_of(type);
  return exchange(
      *c, "ncclAllReduce", stream, from, bytes, bytes,
      [=](const Messages& all) { return sum_of(all, type); },
      [=](const std::vector<std::byte>& sums) { std::memcpy(to, sums.data(), bytes); });
}
FAKE int ncclReduceScatter(const void* from, void* to, std::size_t each, int type, int operation,
                           Communicator* c, CUstream stream) {
  const std::size_t part = each * bytes_of(type);
  const std::size_t mine = part * static_cast<std::size_t>(c->boxes->rank());
  if (operation != 0 || type == kUint8) return refuse("only sums of numbers");
  if (to != static_cast<const std::byte*>(from) + mine) return refuse("not in place");
  const std::size_t bytes = part * static_cast<std::size_t>(c->boxes->ranks());
  return exchange(
      *c, "ncclReduceScatter", stream, from, bytes, bytes,
      [=](const Messages& all) { return sum_of(all, type); },
      [=](const std::vector<std::byte>& sums) {
        // What is not this rank's part is left in a state that nobody may use.
        std::memset(const_cast<void*>(from), 0xFF, bytes);
        std::memcpy(to, sums.data() + mine, part);
      });
}
FAKE int ncclAllGather(const void* from, void* to, std::size_t each, int type, Communicator* c,
                       CUstream stream) {
  const std::size_t part = each * bytes_of(type);
  if (from != static_cast<std::byte*>(to) + part * static_cast<std::size_t>(c->boxes->rank()))
    return refuse("not in place");
  const std::size_t bytes = part * static_cast<std::size_t>(c->boxes->ranks());
  return exchange(
      *c, "ncclAllGather", stream, from, part, bytes,
      [](const Messages& all) {
        std::vector<std::byte> joined;
        for (const auto& message : all) joined.insert(joined.end(), message.begin(), message.end());
        return joined;
      },
      [=](const std::vector<std::byte>& joined) { std::memcpy(to, joined.data(), bytes); });
}
FAKE int ncclGroupStart() {
  g_in_group = true;
  return kSuccess;
}
FAKE int ncclGroupEnd() {
  g_in_group = false;
  if (g_group.empty()) return kSuccess;
  return queue(g_group_stream, [messages = std::exchange(g_group, {})] {
    std::vector<std::thread> threads;
    for (const auto& message : messages) threads.emplace_back(message);
    for (std::thread& thread : threads) thread.join();
  });
}
FAKE int ncclSend(const void* from, std::size_t count, int type, int to, Communicator* c,
                  CUstream stream) {
  if (to == c->boxes->rank() || to >= c->boxes->ranks()) return refuse("no such peer");
  return queue_message(stream,
                       [=] { c->boxes->send(to, from, count * bytes_of(type), c->aborted); });
}
FAKE int ncclRecv(void* to, std::size_t count, int type, int from, Communicator* c,
                  CUstream stream) {
  if (from == c->boxes->rank() || from >= c->boxes->ranks()) return refuse("no such peer");
  return queue_message(stream,
                       [=] { c->boxes->receive(from, to, count * bytes_of(type), c->aborted); });
}
