// SPDX-License-Identifier: MIT
#include "analyzer/whatif/exchange_rounds.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <utility>

namespace headway::analyzer {

using namespace trace;

namespace {

constexpr std::size_t kMostRounds = 3;
/// Least share of transfers that repeat the rounds: a recording may begin and end inside one, and
/// steps may end in other work.
constexpr double kNearlyAll = 0.9;

/// Names of the kernels right before a transfer on its stream, back to the transfer before.
using Names = std::vector<std::string_view>;

/// `transfers`: of one stream, in their order.
std::vector<Names> kernels_before(const Trace& trace, std::span<const Transfer> transfers) {
  const DeviceOps& ops = trace.device_ops;
  const auto all = trace.ops_of_stream[ops.stream[transfers.front().op.value]];
  std::vector<Names> result;
  auto op = all.begin();
  for (const Transfer& one : transfers) {
    Names before;
    for (; op != all.end() && *op != one.op; ++op) {
      if (ops.kind[op->value] == DeviceOpKind::kCommunication) {
        before.clear();
      } else if (ops.kind[op->value] == DeviceOpKind::kKernel) {
        before.push_back(name_without_number(trace, *op));
      }
    }
    if (op != all.end()) ++op;
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
    result.push_back(std::move(before));
  }
  return result;
}

bool share_one(const Names& a, const Names& b) {
  return std::ranges::any_of(
      a, [&](std::string_view name) { return std::ranges::binary_search(b, name); });
}

/// The number of rounds in the sums of a stream; 1 if the kernels do not show more.
std::size_t rounds_of(const std::vector<Names>& before) {
  for (std::size_t rounds = 2; rounds <= kMostRounds; ++rounds) {
    if (before.size() < 4 * rounds) break;
    // From the last transfers, because no kernel unpacks before the very first one.
    const std::span<const Names> last = std::span(before).last(rounds);
    bool apart = true;
    for (std::size_t i = 0; i < rounds; ++i) {
      apart &= !last[i].empty();
      for (std::size_t k = 0; k < i; ++k) apart &= !share_one(last[i], last[k]);
    }
    if (!apart) continue;
    std::size_t same = 0;
    for (std::size_t i = rounds; i < before.size(); ++i) same += before[i] == before[i - rounds];
    if (static_cast<double>(same) >= kNearlyAll * static_cast<double>(before.size() - rounds))
      return rounds;
  }
  return 1;
}

/// Sets the gradients' bytes of each transfer. A packing kernel reads and writes them, so they are
/// half of its bytes. `packing`: the kernels before the very first transfer; later ones also unpack
/// the previous bucket.
void add_gradients(const Trace& trace, const Names& packing, std::vector<Transfer>& transfers) {
  const DeviceOps& ops = trace.device_ops;
  const auto all = trace.ops_of_stream[ops.stream[transfers.front().op.value]];
  auto op = all.begin();
  for (Transfer& one : transfers) {
    std::int64_t most = 0;
    for (; op != all.end() && *op != one.op; ++op)
      if (std::ranges::binary_search(packing, name_without_number(trace, *op)))
        most = ops.kind[op->value] == DeviceOpKind::kCommunication
                   ? 0
                   : std::max(most, ops.bytes[op->value]);
    one.gradients = static_cast<double>(most) / 2;
  }
}

}  // namespace

std::vector<std::vector<Transfer>> in_rounds(const Trace& trace, std::vector<Transfer> all) {
  std::map<StreamId, std::vector<Transfer>> of_stream;
  for (const Transfer& one : all) of_stream[trace.device_ops.stream[one.op.value]].push_back(one);
  std::size_t rounds = 0;  // the same on every stream
  std::map<StreamId, Names> packing;
  for (const auto& [stream, its] : of_stream) {
    const std::vector<Names> before = kernels_before(trace, its);
    const std::size_t here = rounds_of(before);
    if (here == 1 || (rounds != 0 && here != rounds)) return {std::move(all)};
    rounds = here;
    packing[stream] = before.front();
  }
  if (rounds < 2) return {std::move(all)};
  std::vector<std::vector<Transfer>> result(rounds);
  for (auto& [stream, its] : of_stream) {
    for (std::size_t round = 0; round < rounds; ++round) {
      std::vector<Transfer> stage;
      for (std::size_t i = round; i < its.size(); i += rounds) stage.push_back(its[i]);
      if (round == 0) add_gradients(trace, packing[stream], stage);
      result[round].insert(result[round].end(), stage.begin(), stage.end());
    }
  }
  for (std::vector<Transfer>& stage : result)
    std::ranges::stable_sort(
        stage, {}, [&](const Transfer& one) { return trace.device_ops.start[one.op.value]; });
  return result;
}

}  // namespace headway::analyzer
