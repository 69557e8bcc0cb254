// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/cuda/nccl_communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace headway::trainer {
namespace {

namespace nccl = cuda::nccl;
using namespace std::chrono_literals;

struct Prepared final : PreparedCollective {
  Collective what;
  // For a parameter server: what a rank has sent, and the kernel that adds it. For an all-to-all:
  // the other ranks' parts, each at its place.
  Memory received;
  std::unique_ptr<Kernel> add;
};

int type_of(ElementType type) {
  return type == ElementType::kFloat  ? nccl::kFloat32
         : type == ElementType::kHalf ? nccl::kFloat16
                                      : nccl::kUint8;
}

}  // namespace

NcclCommunicator::NcclCommunicator(CudaDevice& device, CommBackend& backend, const LinkModel& links,
                                   std::chrono::nanoseconds timeout)
    : BackendCommunicator(backend, links), device_(device), timeout_(timeout) {
  try {
    connect(Scope::kWorld);
    if (size() > links.ranks_per_node) {
      connect(Scope::kNode);
      connect(Scope::kAcross);
    }
  } catch (...) {
    give_up();
    throw;
  }
  watcher_ = std::thread([this] { watch(); });
}

/// After give_up() there is nothing to finalise. The watcher thread is joined first.
NcclCommunicator::~NcclCommunicator() {
  device_.driver().cuCtxSynchronize_();
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  watcher_.join();
  if (given_up_) return;
  try {
    for (nccl::Communicator* each : groups_)
      if (each) call("ncclCommFinalize", each, [&] { return library_.finalize(each); });
    for (nccl::Communicator* each : groups_)
      if (each) library_.destroy(each);
  } catch (const Error&) {
    give_up();
  }
}

/// The first rank of each group makes the group's id, and every rank receives all ids.
void NcclCommunicator::connect(Scope scope) {
  constexpr std::size_t kBytes = sizeof(nccl::UniqueId);
  std::vector<std::byte> names(kBytes * static_cast<std::size_t>(size()));
  nccl::UniqueId name{};
  if (place(scope) == 0) {
    if (const int result = library_.get_unique_id(&name); result != nccl::kSuccess)
      fail_internal("NCCL cannot start: {}", library_.text_of(result, nullptr));
  }
  std::memcpy(names.data() + kBytes * static_cast<std::size_t>(rank()), &name, kBytes);
  backend().all_gather(names);
  const int per_node = links().ranks_per_node;
  const int first = scope == Scope::kWorld  ? 0
                    : scope == Scope::kNode ? rank() / per_node * per_node
                                            : rank() % per_node;
  std::memcpy(&name, names.data() + kBytes * static_cast<std::size_t>(first), kBytes);
  nccl::Config config;
  nccl::Communicator*& made = groups_[static_cast<std::size_t>(scope)];
  int result = library_.init_rank(&made, members(scope), name, place(scope), &config);
  call("ncclCommInitRankConfig", made, [&] { return result; });
}

void NcclCommunicator::call(const char* name, nccl::Communicator* group,
                            const std::function<int()>& make) {
  auto locked = [&](const std::function<int()>& call) {
    const std::scoped_lock lock(library_mutex_);
    if (given_up_) device_.check_sticky();  // throws the reason
    return call();
  };
  int result = locked(make);
  for (std::chrono::microseconds pause = 10us; result == nccl::kInProgress;
       pause = std::min<std::chrono::microseconds>(2 * pause, 10ms)) {
    std::this_thread::sleep_for(pause);
    if (pause == 10ms) backend().check_others();
    const int asked = locked([&] { return library_.async_error(group, &result); });
    if (asked != nccl::kSuccess) result = asked;
  }
  if (result != nccl::kSuccess)
    fail_internal("Rank {}: {} failed: {}. NCCL_DEBUG=WARN shows more.", rank(), name,
                  library_.text_of(result, group));
}

std::unique_ptr<PreparedCollective> NcclCommunicator::prepare(Collective collective) {
  auto prepared = std::make_unique<Prepared>();
  prepared->what = std::move(collective);
  const Collective& what = prepared->what;
  if (what.kind == CollectiveKind::kParameterServer && rank() == 0) {
    prepared->received = device_.allocate(what.bytes(), MemoryKind::kDevice);
    Kernel::Tag tag;
    tag.text = fmt::format("add {}", what.text);
    tag.name = nvtx::intern(tag.text);
    tag.phase = Phase::kCommunication;
    const kernels::AddVector op{what.count, prepared->received.as<float>(),
                                static_cast<float*>(what.data)};
    tag.work = kernels::work_of(op);
    prepared->add = device_.make_kernel(std::move(tag), op);
  }
  if (what.kind == CollectiveKind::kAllToAll)
    prepared->received = device_.allocate(what.bytes(), MemoryKind::kDevice);
  return prepared;
}

void NcclCommunicator::enqueue(StreamId stream, const PreparedCollective& collective,
                               std::int64_t) {
  const Collective& what = static_cast<const Prepared&>(collective).what;
  const CUstream on = device_.handle(stream);
  nccl::Communicator* const by = group(what.scope);
  const int type = type_of(what.type);
  const auto count = static_cast<std::size_t>(what.count);
  const auto each = count / static_cast<std::size_t>(members(what.scope));
  auto* const data = static_cast<std::byte*>(what.data);
  std::byte* const own = data + static_cast<std::size_t>(what.bytes()) / count * each *
                                    static_cast<std::size_t>(place(what.scope));
  switch (what.kind) {
    case CollectiveKind::kAllReduce:
      call("ncclAllReduce", by,
           [&] { return library_.all_reduce(data, data, count, type, nccl::kSum, by, on); });
      break;
    case CollectiveKind::kReduceScatter:
      call("ncclReduceScatter", by,
           [&] { return library_.reduce_scatter(data, own, each, type, nccl::kSum, by, on); });
      break;
    case CollectiveKind::kAllGather:
      call("ncclAllGather", by, [&] { return library_.all_gather(own, data, each, type, by, on); });
      break;
    case CollectiveKind::kParameterServer:
      enqueue_server(on, stream, collective);
      break;
    case CollectiveKind::kAllToAll:
      enqueue_all_to_all(on, stream, collective);
      break;
    case CollectiveKind::kSend:
    case CollectiveKind::kReceive:
      fail_internal("{}: GPUs exchange gradients only.", name_of(what));
  }
  const Event end = device_.record(stream);
  const std::scoped_lock lock(mutex_);
  newest_ = end;
  enqueued_ = std::chrono::steady_clock::now();
}

/// Rank 0 receives from and answers the other ranks one after another; this does not scale.
void NcclCommunicator::enqueue_server(CUstream stream, StreamId id,
                                      const PreparedCollective& collective) {
  const auto& prepared = static_cast<const Prepared&>(collective);
  nccl::Communicator* const all = group(Scope::kWorld);
  void* const data = prepared.what.data;
  const auto count = static_cast<std::size_t>(prepared.what.count);
  auto send = [&](int to) {
    call("ncclSend", all,
         [&] { return library_.send(data, count, nccl::kFloat32, to, all, stream); });
  };
  auto receive = [&](void* place, int from) {
    call("ncclRecv", all,
         [&] { return library_.receive(place, count, nccl::kFloat32, from, all, stream); });
  };
  if (rank() != 0) {
    send(0);
    return receive(data, 0);
  }
  for (int from = 1; from < size(); ++from) {
    receive(prepared.received.as<void>(), from);
    device_.launch(id, *prepared.add, {});
  }
  for (int to = 1; to < size(); ++to) send(to);
}

/// NCCL's own call is newer than the oldest library that is supported, and not in place either.
void NcclCommunicator::enqueue_all_to_all(CUstream stream, StreamId id,
                                          const PreparedCollective& collective) {
  const auto& prepared = static_cast<const Prepared&>(collective);
  nccl::Communicator* const by = group(prepared.what.scope);
  const int ranks = members(prepared.what.scope);
  const int own = place(prepared.what.scope);
  const std::int64_t each = prepared.what.bytes() / ranks;
  auto* const data = static_cast<std::byte*>(prepared.what.data);
  auto* const received = prepared.received.as<std::byte>();
  const auto count = static_cast<std::size_t>(each);
  call("ncclGroupStart", by, [&] { return library_.group_start(); });
  for (int other = 0; other < ranks; ++other) {
    if (other == own) continue;
    call("ncclSend", by, [&] {
      return library_.send(data + each * other, count, nccl::kUint8, other, by, stream);
    });
    call("ncclRecv", by, [&] {
      return library_.receive(received + each * other, count, nccl::kUint8, other, by, stream);
    });
  }
  call("ncclGroupEnd", by, [&] { return library_.group_end(); });
  auto copy = [&](std::int64_t first, std::int64_t bytes) {
    if (bytes > 0)
      device_.copy(id, {data + first, MemoryKind::kDevice}, {received + first, MemoryKind::kDevice},
                   bytes, conventions::kAbsent);
  };
  copy(0, each * own);
  copy(each * (own + 1), each * (ranks - own - 1));
}

void NcclCommunicator::watch() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, 100ms, [&] { return over_; })) {
    lock.unlock();
    try {
      check_work();
    } catch (const Error& error) {
      device_.fail(error.what());
      return give_up();
    }
    lock.lock();
  }
}

void NcclCommunicator::check_work() {
  backend().check_others();
  for (nccl::Communicator* each : groups_) {
    int result = nccl::kSuccess;
    if (each && library_.async_error(each, &result) == nccl::kSuccess && result != nccl::kSuccess &&
        result != nccl::kInProgress)
      fail_internal("Rank {}: NCCL failed: {}.", rank(), library_.text_of(result, each));
  }
  Event newest;
  std::chrono::steady_clock::time_point since;
  {
    const std::scoped_lock lock(mutex_);
    newest = newest_;
    since = enqueued_;
  }
  if (std::chrono::steady_clock::now() - since > timeout_ && !device_.done(newest))
    fail_internal(
        "Rank {}: a collective has not ended after {:.0f} s (--comm-timeout-s): another rank has "
        "not "
        "joined it.",
        rank(), std::chrono::duration<double>(timeout_).count());
}

/// A failure here follows an earlier one and is ignored.
void NcclCommunicator::give_up() {
  const std::scoped_lock lock(library_mutex_);
  given_up_ = true;
  for (nccl::Communicator* each : groups_)
    if (each) library_.abort(each);
}

}  // namespace headway::trainer
