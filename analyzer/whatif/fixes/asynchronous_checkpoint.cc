// SPDX-License-Identifier: MIT
// Checkpoints are copied while training waits, and written while it continues.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "analyzer/evidence/optimizer_calls.h"
#include "analyzer/whatif/between_parts.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// Rate at which a thread copies into memory that it touches for the first time. Measured: 1.4 to
/// 2.6 GB/s with state_dict() of small and large models and tensor.clone(), on a virtual EPYC.
constexpr double kCopyBytesPerNs = 1.5;
/// Time of packing per tensor; with its optimizer state (Adam), a parameter has four tensors.
/// Python does the packing, and only one Python thread runs at a time. Measured: 18 parameters of
/// 57 kB took 6.6 ms; writing them on another thread gained nothing.
constexpr double kPackNsPerTensor = 100'000;
constexpr double kTensorsOfParameter = 4;
/// Remaining share of a checkpoint of unknown size: likely, and at most.
constexpr double kUnknown = 0.15;
constexpr double kUnknownMost = 0.4;
constexpr double kAllOfIt = 0.8;  ///< with this share left, nothing is gained
/// Certainty: a checkpoint must be written before the next one begins, and its thread needs a
/// processor.
constexpr double kMayBeDone = 0.9;

/// Bytes of the largest checkpoint, as the hook reports them; 0: not known.
double checkpoint_bytes(const trace::Trace& trace) {
  std::int64_t most = 0;
  for (const auto& [name, value] : trace.settings) {
    std::int64_t bytes = 0;
    if (name == "checkpoint.bytes")
      std::from_chars(value.data(), value.data() + value.size(), bytes);
    most = std::max(most, bytes);
  }
  return static_cast<double>(most);
}

Proposal propose(const Predictor& predictor) {
  const BetweenEditor between(predictor, BetweenCause::kCheckpoint);
  const std::int64_t times = between.occasions();
  if (between.per_step().ns == 0 || times == 0) return not_here("no checkpoint between steps");
  const double all = static_cast<double>(between.per_step().ns) *
                     static_cast<double>(predictor.steps().steps.size());
  const double bytes = checkpoint_bytes(predictor.trace());
  const double packing = kPackNsPerTensor * kTensorsOfParameter *
                         static_cast<double>(find_optimizer_calls(rule_context(predictor)).tensors);
  const double copying = bytes / kCopyBytesPerNs;
  auto share = [&](double each) { return std::min(1.0, each * static_cast<double>(times) / all); };
  const bool known = bytes > 0;
  const double left = known ? share(copying + packing) : kUnknown;
  if (left >= kAllOfIt)
    return not_here(
        "packing takes most of the checkpoint time, and Python threads cannot run in parallel");
  const double least = known ? share((copying + packing) / 2) : 0;
  const double most = known ? share(2 * (copying + packing)) : kUnknownMost;
  Proposal proposal{
      true,
      fmt::format("{} checkpoints take {:.0f} % of their time: they copy the state{} and write it "
                  "in the background",
                  times, left * 100,
                  bytes > 0 ? fmt::format(", {} each", format_bytes(std::llround(bytes))) : ""),
      between.scaled(left)};
  proposal.otherwise = {between.scaled(least), between.scaled(most)};
  proposal.certainty = kMayBeDone;
  return proposal;
}

}  // namespace

const Fix kAsynchronousCheckpoint{
    "asynchronous-checkpoint",
    "Write checkpoints asynchronously",
    "checkpoint-time",
    FixKind::kModelled,
    0.1,
    "",
    "A checkpoint takes the time to copy its bytes, at 1.5 GB/s (0.75 to 3). If its size is "
    "unknown, it takes 15 % (0 to 40 %) of its time.",
    "whether a processor is free to write it, and the write ends before the next one",
    propose};

}  // namespace headway::analyzer
