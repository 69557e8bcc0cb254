// SPDX-License-Identifier: MIT
// Built with MPI (HEADWAY_MPI=ON). Uses the C interface: the C++ one was removed from the standard.
#include "cli/mpi/exchange.h"

#define OMPI_SKIP_MPICXX 1  // the C++ bindings: removed from the standard, not warning-free
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>

#include "cli/mpi/launched.h"
#include "common/error.h"

namespace headway::cli {
namespace {

void check(int code, const char* what) {
  if (code != MPI_SUCCESS) fail_internal("MPI: {} failed with code {}", what, code);
}

/// MPI counts are int, so longer messages are sent in pieces.
constexpr std::size_t kPiece = std::size_t{1} << 30;
constexpr int kTag = 7;

class MpiExchange final : public analyzer::Exchange {
 public:
  MpiExchange() {
    check(MPI_Init(nullptr, nullptr), "MPI_Init");
    check(MPI_Comm_rank(MPI_COMM_WORLD, &index_), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &count_), "MPI_Comm_size");
  }
  ~MpiExchange() override { MPI_Finalize(); }
  MpiExchange(const MpiExchange&) = delete;
  MpiExchange& operator=(const MpiExchange&) = delete;

  int index() const override { return index_; }
  int count() const override { return count_; }

  std::vector<std::string> gather(std::string bytes) override {
    if (index_ != 0) {
      send(bytes, 0);
      return {};
    }
    std::vector<std::string> all = {std::move(bytes)};
    for (int from = 1; from < count_; ++from) all.push_back(receive(from));
    return all;
  }

 private:
  void send(const std::string& bytes, int to) const {
    unsigned long long size = bytes.size();
    check(MPI_Send(&size, 1, MPI_UNSIGNED_LONG_LONG, to, kTag, MPI_COMM_WORLD), "MPI_Send");
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
      auto length = static_cast<int>(std::min(kPiece, bytes.size() - at));
      check(MPI_Send(bytes.data() + at, length, MPI_BYTE, to, kTag, MPI_COMM_WORLD), "MPI_Send");
    }
  }

  std::string receive(int from) const {
    unsigned long long size = 0;
    check(MPI_Recv(&size, 1, MPI_UNSIGNED_LONG_LONG, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
          "MPI_Recv");
    std::string bytes(size, '\0');
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
      auto length = static_cast<int>(std::min(kPiece, bytes.size() - at));
      check(MPI_Recv(bytes.data() + at, length, MPI_BYTE, from, kTag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE),
            "MPI_Recv");
    }
    return bytes;
  }

  int index_ = 0;
  int count_ = 1;
};

}  // namespace

std::unique_ptr<analyzer::Exchange> make_exchange() {
  // MPI_Init without a launcher costs a tenth of a second and may open sockets, so a single process
  // skips it.
  if (launched().count == 1) return std::make_unique<analyzer::Alone>();
  return std::make_unique<MpiExchange>();
}

}  // namespace headway::cli
