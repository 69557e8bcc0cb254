// SPDX-License-Identifier: MIT
// Ranks over MPI: non-blocking collectives, completed by testing, so that the stream's thread sleeps
// instead of spinning on cores that other ranks need.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "common/error.h"
#include "kernels/half.h"
#include "reference_trainer/comm/ranks.h"

namespace headway::trainer {
namespace {

void check(int code, const char* doing) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail_internal("MPI could not {}: {}.", doing, text);
}

void finish(MPI_Request& request, const char* doing) {
  for (int done = 0; done == 0;) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), doing);
    if (!done) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
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
  explicit MpiBackend(int per_node) {
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
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(world_, &request), "wait for all ranks");
    finish(request, "wait for all ranks");
  }
  void all_reduce(Scope scope, std::span<float> values) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), as_int(values.size()), MPI_FLOAT, MPI_SUM,
                         communicator(scope), &request),
          "sum up");
    finish(request, "sum up");
  }
  void all_reduce_half(Scope scope, std::span<std::uint16_t> values) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), as_int(values.size()), MPI_UINT16_T,
                         half_sum_, communicator(scope), &request),
          "sum up halves");
    finish(request, "sum up halves");
  }
  void all_gather(std::span<std::byte> all) override {
    MPI_Request request = MPI_REQUEST_NULL;
    const int each = as_int(all.size() / static_cast<std::size_t>(size_));
    check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, all.data(), each, MPI_BYTE, world_, &request),
          "gather");
    finish(request, "gather");
  }
  void all_to_all(std::span<std::byte> parts) override {
    MPI_Request request = MPI_REQUEST_NULL;
    const int each = as_int(parts.size() / static_cast<std::size_t>(size_));
    check(MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_BYTE, parts.data(), each, MPI_BYTE, world_, &request),
          "exchange parts");
    finish(request, "exchange parts");
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
    if (rank_ != 0) {
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Isend(values.data(), count, MPI_FLOAT, 0, 0, world_, &request),
            "send to the server");
      finish(request, "send to the server");
      check(MPI_Irecv(values.data(), count, MPI_FLOAT, 0, 1, world_, &request), "hear the server");
      return finish(request, "hear the server");
    }
    std::vector<float> term(values.size());
    for (int from = 1; from < size_; ++from) {
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Irecv(term.data(), count, MPI_FLOAT, from, 0, world_, &request), "hear a rank");
      finish(request, "hear a rank");
      for (std::size_t i = 0; i < term.size(); ++i) values[i] += term[i];
    }
    for (int to = 1; to < size_; ++to) {
      MPI_Request request = MPI_REQUEST_NULL;
      check(MPI_Isend(values.data(), count, MPI_FLOAT, to, 1, world_, &request), "answer a rank");
      finish(request, "answer a rank");
    }
  }

 private:
  template <class T>
  void scatter_sums(Scope scope, std::span<T> values, MPI_Datatype type, MPI_Op sum_up) {
    const MPI_Comm group = communicator(scope);
    const std::vector<int> counts = part_counts(group, values.size());
    int place = 0;
    MPI_Comm_rank(group, &place);
    const Part own = part_of(values.size(), place, static_cast<int>(counts.size()));
    std::vector<T> sum(own.end - own.begin);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ireduce_scatter(values.data(), sum.data(), counts.data(), type, sum_up, group,
                              &request),
          "reduce and scatter");
    finish(request, "reduce and scatter");
    std::memcpy(values.data() + own.begin, sum.data(), sum.size() * sizeof(T));
  }
  template <class T>
  void gather_parts(Scope scope, std::span<T> values, MPI_Datatype type) {
    const MPI_Comm group = communicator(scope);
    const std::vector<int> counts = part_counts(group, values.size());
    std::vector<int> offsets(counts.size(), 0);
    for (std::size_t i = 1; i < counts.size(); ++i) offsets[i] = offsets[i - 1] + counts[i - 1];
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallgatherv(MPI_IN_PLACE, 0, type, values.data(), counts.data(), offsets.data(), type,
                          group, &request),
          "gather parts");
    finish(request, "gather parts");
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

  MPI_Comm world_ = MPI_COMM_NULL;
  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Comm across_ = MPI_COMM_NULL;
  MPI_Op half_sum_ = MPI_OP_NULL;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

std::unique_ptr<CommBackend> connect_mpi(int ranks_per_node) {
  return std::make_unique<MpiBackend>(ranks_per_node);
}

}  // namespace headway::trainer
