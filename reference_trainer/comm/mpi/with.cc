// SPDX-License-Identifier: MIT
// Ranks over MPI: non-blocking operations, completed by testing, so that the stream's thread sleeps
// instead of spinning on cores that other ranks need. Messages are under way on several threads at
// once, so each call of MPI holds a lock (MPI_THREAD_SERIALIZED), but no wait does.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "common/error.h"
#include "kernels/half.h"
#include "reference_trainer/comm/ranks.h"

namespace headway::trainer {
namespace {

constexpr std::chrono::microseconds kPoll{50};
/// MPI counts in 32 bits.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;

void check(int code, const char* doing) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail_internal("MPI could not {}: {}.", doing, text);
}

void add_halves(void* from, void* to, int* count, MPI_Datatype*) {
  const auto* terms = static_cast<const std::uint16_t*>(from);
  auto* sums = static_cast<std::uint16_t*>(to);
  for (int i = 0; i < *count; ++i)
    sums[i] = kernels::to_half(kernels::from_half(sums[i]) + kernels::from_half(terms[i]));
}

int as_int(std::size_t count) {
  return static_cast<int>(count);  // buckets are far below 2^31 values
}

class MpiBackend final : public CommBackend {
 public:
  MpiBackend(int per_node, std::chrono::nanoseconds timeout) : timeout_(timeout) {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "start");
    if (provided < MPI_THREAD_SERIALIZED)
      fail_internal("This MPI does not allow calls from a stream's thread (it offers level {}).",
                    provided);
    world_ = MPI_COMM_WORLD;
    // MPI returns errors, so that we can report them; by default it would end the process without
    // our message.
    MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(world_, &rank_);
    MPI_Comm_size(world_, &size_);
    check(MPI_Comm_split(world_, rank_ / per_node, rank_, &node_), "make the node's communicator");
    check(MPI_Comm_split(world_, rank_ % per_node, rank_, &across_), "make a communicator across");
    check(MPI_Op_create(add_halves, 1, &half_sum_), "make an operation");
  }
  ~MpiBackend() override {
    MPI_Op_free(&half_sum_);
    MPI_Comm_free(&node_);
    MPI_Comm_free(&across_);
    MPI_Finalize();
  }

  std::string_view name() const override { return "mpi"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void abandon(const std::string& why) override {
    // MPI has no other way to wake waiting ranks; mpirun ends them.
    fmt::print(stderr, "headway-train: rank {}: {}\n", rank_, why);
    MPI_Abort(world_, static_cast<int>(ExitCode::kInternal));
  }

  void check_others() override {}  // mpirun ends the others
  std::int64_t stop_before(std::int64_t step) override { return step; }
  void barrier() override {
    run("wait for all ranks", [&](MPI_Request* request) { return MPI_Ibarrier(world_, request); });
  }
  void all_reduce(Scope scope, std::span<float> values) override {
    run("sum up", [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, values.data(), as_int(values.size()), MPI_FLOAT, MPI_SUM,
                            communicator(scope), request);
    });
  }
  void all_reduce_half(Scope scope, std::span<std::uint16_t> values) override {
    run("sum up halves", [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, values.data(), as_int(values.size()), MPI_UINT16_T,
                            half_sum_, communicator(scope), request);
    });
  }
  void all_gather(std::span<std::byte> all) override {
    const int each = as_int(all.size() / static_cast<std::size_t>(size_));
    run("gather", [&](MPI_Request* request) {
      return MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, all.data(), each, MPI_BYTE, world_, request);
    });
  }
  void all_to_all(std::span<std::byte> parts) override {
    const int each = as_int(parts.size() / static_cast<std::size_t>(size_));
    run("exchange parts", [&](MPI_Request* request) {
      return MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_BYTE, parts.data(), each, MPI_BYTE, world_,
                           request);
    });
  }
  void reduce_scatter(Scope scope, std::span<float> values) override {
    scatter_sums(scope, values, MPI_FLOAT, MPI_SUM);
  }
  void reduce_scatter_half(Scope scope, std::span<std::uint16_t> values) override {
    scatter_sums(scope, values, MPI_UINT16_T, half_sum_);
  }
  void all_gather_parts(Scope scope, std::span<float> values) override {
    gather_parts(scope, values, MPI_FLOAT);
  }
  void all_gather_parts_half(Scope scope, std::span<std::uint16_t> values) override {
    gather_parts(scope, values, MPI_UINT16_T);
  }
  void reduce_through_server(std::span<float> values) override {
    const int count = as_int(values.size());
    auto send_to = [&](int rank, int tag, const char* doing) {
      run(doing, [&](MPI_Request* request) {
        return MPI_Isend(values.data(), count, MPI_FLOAT, rank, tag, world_, request);
      });
    };
    auto hear = [&](int rank, int tag, float* to, const char* doing) {
      run(doing, [&](MPI_Request* request) {
        return MPI_Irecv(to, count, MPI_FLOAT, rank, tag, world_, request);
      });
    };
    if (rank_ != 0) {
      send_to(0, kToServer, "send to the server");
      return hear(0, kFromServer, values.data(), "hear the server");
    }
    std::vector<float> term(values.size());
    for (int from = 1; from < size_; ++from) {
      hear(from, kToServer, term.data(), "hear a rank");
      for (std::size_t i = 0; i < term.size(); ++i) values[i] += term[i];
    }
    for (int to = 1; to < size_; ++to) send_to(to, kFromServer, "answer a rank");
  }
  Clock::time_point send(int to, std::span<const std::byte> bytes) override {
    const std::uint64_t own = bytes.size();
    std::uint64_t ignored = 0;
    const Clock::time_point met = meet(to, {kSenderCame, own}, {kReceiverCame, &ignored});
    for (std::size_t first = 0; first < bytes.size(); first += kMostAtOnce) {
      const auto part = bytes.subspan(first, std::min(kMostAtOnce, bytes.size() - first));
      run("send a message", [&](MPI_Request* request) {
        return MPI_Isend(part.data(), as_int(part.size()), MPI_BYTE, to, kMessage, world_, request);
      });
    }
    return met;
  }
  Clock::time_point receive(int from, std::span<std::byte> bytes) override {
    std::uint64_t sent = 0;
    const Clock::time_point met = meet(from, {kReceiverCame, bytes.size()}, {kSenderCame, &sent});
    if (sent != bytes.size()) fail_size(rank_, from, sent, bytes.size());
    for (std::size_t first = 0; first < bytes.size(); first += kMostAtOnce) {
      const auto part = bytes.subspan(first, std::min(kMostAtOnce, bytes.size() - first));
      run("receive a message", [&](MPI_Request* request) {
        return MPI_Irecv(part.data(), as_int(part.size()), MPI_BYTE, from, kMessage, world_,
                         request);
      });
    }
    return met;
  }

 private:
  /// A message has one tag for each part of it, so that messages in both directions between two
  /// ranks stay apart.
  enum Tag { kToServer, kFromServer, kSenderCame, kReceiverCame, kMessage };
  struct Told {
    Tag tag;
    std::uint64_t bytes;
  };
  struct Heard {
    Tag tag;
    std::uint64_t* bytes;
  };
  using Post = std::function<int(MPI_Request*)>;

  MPI_Request start(const char* doing, const Post& post) {
    const std::scoped_lock lock(mutex_);
    MPI_Request request = MPI_REQUEST_NULL;
    check(post(&request), doing);
    return request;
  }
  bool done(MPI_Request& request, const char* doing) {
    const std::scoped_lock lock(mutex_);
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), doing);
    return done != 0;
  }
  /// Starts an operation and waits until it is complete.
  void run(const char* doing, const Post& post) {
    MPI_Request request = start(doing, post);
    while (!done(request, doing)) std::this_thread::sleep_for(kPoll);
  }
  /// Tells the other end of a message that this one has come, and waits until it has come, too.
  Clock::time_point meet(int peer, Told own, Heard other) {
    const char* const doing = "wait for the other end of a message";
    MPI_Request heard = start(doing, [&](MPI_Request* request) {
      return MPI_Irecv(other.bytes, 1, MPI_UINT64_T, peer, other.tag, world_, request);
    });
    run(doing, [&](MPI_Request* request) {
      return MPI_Isend(&own.bytes, 1, MPI_UINT64_T, peer, own.tag, world_, request);
    });
    const Clock::time_point deadline = Clock::now() + timeout_;
    while (!done(heard, doing)) {
      if (Clock::now() > deadline)
        fail_internal(
            "Rank {} stops: rank {} has not come {} a message in {} s. Change the limit with "
            "--comm-timeout-s.",
            rank_, peer, other.tag == kSenderCame ? "with" : "for",
            std::chrono::duration_cast<std::chrono::seconds>(timeout_).count());
      std::this_thread::sleep_for(kPoll);
    }
    return Clock::now();
  }
  template <class T>
  void scatter_sums(Scope scope, std::span<T> values, MPI_Datatype type, MPI_Op sum_up) {
    const MPI_Comm group = communicator(scope);
    const std::vector<int> counts = part_counts(group, values.size());
    int place = 0;
    MPI_Comm_rank(group, &place);
    const Part own = part_of(values.size(), place, static_cast<int>(counts.size()));
    std::vector<T> sum(own.end - own.begin);
    run("reduce and scatter", [&](MPI_Request* request) {
      return MPI_Ireduce_scatter(values.data(), sum.data(), counts.data(), type, sum_up, group,
                                 request);
    });
    std::memcpy(values.data() + own.begin, sum.data(), sum.size() * sizeof(T));
  }
  template <class T>
  void gather_parts(Scope scope, std::span<T> values, MPI_Datatype type) {
    const MPI_Comm group = communicator(scope);
    const std::vector<int> counts = part_counts(group, values.size());
    std::vector<int> offsets(counts.size(), 0);
    for (std::size_t i = 1; i < counts.size(); ++i) offsets[i] = offsets[i - 1] + counts[i - 1];
    run("gather parts", [&](MPI_Request* request) {
      return MPI_Iallgatherv(MPI_IN_PLACE, 0, type, values.data(), counts.data(), offsets.data(),
                             type, group, request);
    });
  }

  MPI_Comm communicator(Scope scope) const {
    return scope == Scope::kWorld ? world_ : scope == Scope::kNode ? node_ : across_;
  }
  static std::vector<int> part_counts(MPI_Comm group, std::size_t count) {
    int places = 0;
    MPI_Comm_size(group, &places);
    std::vector<int> counts;
    for (int place = 0; place < places; ++place) {
      const Part part = part_of(count, place, places);
      counts.push_back(as_int(part.end - part.begin));
    }
    return counts;
  }

  const std::chrono::nanoseconds timeout_;
  std::mutex mutex_;
  MPI_Comm world_ = MPI_COMM_NULL;
  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Comm across_ = MPI_COMM_NULL;
  MPI_Op half_sum_ = MPI_OP_NULL;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

std::unique_ptr<CommBackend> connect_mpi(int ranks_per_node, std::chrono::nanoseconds timeout) {
  return std::make_unique<MpiBackend>(ranks_per_node, timeout);
}

}  // namespace headway::trainer
