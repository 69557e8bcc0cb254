// SPDX-License-Identifier: MIT
// The data set is read and decoded once and then stays in memory: batches are gathered from there.
#include <fmt/format.h>

#include <cstdint>

#include "analyzer/evidence/counters.h"
#include "analyzer/evidence/loader.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// Largest share of the free memory that a data set may take.
constexpr double kShareOfMemory = 0.5;
/// Certainty that samples are the same each time: often they are changed at random. If the
/// process's random number generators were not used, only a generator of the data set's own could
/// change them.
constexpr double kSameEachTime = 0.5;
constexpr double kDrawsNothing = 0.9;

/// The run without parts that make or read whole samples.
Scenario without_samples(const Predictor& predictor) {
  const trace::Trace& trace = predictor.trace();
  Scenario scenario;
  for (std::size_t p = 0; p < predictor.parts().size(); ++p) {
    const auto made = made_by(predictor.parts()[p]);
    if (made && made->name.valid() && trace.strings[made->name] == kWholeSamples)
      scenario.scale(PartId::from(p), 0);
  }
  return scenario;
}

/// The proposal for a PyTorch data set whose length and batches are known, but not its reads.
Proposal keep_whole(const Predictor& predictor) {
  const trace::Trace& trace = predictor.trace();
  const std::optional<DataSet> data = data_set(trace);
  if (!data) return not_here("the reads have no sizes");
  const auto left = counters::steady(rule_context(predictor), "machine.memory_available");
  if (!left) return not_here("free memory was not sampled");
  const double bytes = static_cast<double>(data->bytes) * static_cast<double>(trainers_in(trace));
  if (bytes > kShareOfMemory * left->low)
    return not_here(fmt::format("{} samples take {}; only {} of memory are free", data->samples,
                                format_bytes(data->bytes),
                                format_bytes(static_cast<std::int64_t>(left->low))));
  const std::optional<bool> random = samples_are_random(trace);
  // If samples are changed at random each time, only reading and decoding are removed.
  Scenario stored;
  for (trace::RangeKind stage : {trace::RangeKind::kRead, trace::RangeKind::kDecode})
    scale_stage(predictor, stage, 0, stored);
  if (random.value_or(false)) {
    if (time_of_stage(trace, trace::RangeKind::kDecode).ranges == 0)
      return not_here("samples are augmented randomly, and no range separates decoding");
    Proposal decoded{
        true,
        fmt::format("the {} samples stay decoded in memory and are augmented each time",
                    data->samples),
        std::move(stored)};
    decoded.certainty = kSameEachTime;
    return decoded;
  }
  Proposal proposal{
      true,
      fmt::format("the {} samples, {}, stay in memory{}", data->samples, format_bytes(data->bytes),
                  random ? "; making them uses no random numbers" : ""),
      without_samples(predictor)};
  scale_stage(predictor, trace::RangeKind::kDecode, 0, proposal.scenario);
  if (random) {
    proposal.certainty = kDrawsNothing;
  } else {
    proposal.certainty = kSameEachTime;
    proposal.otherwise.push_back(std::move(stored));
  }
  return proposal;
}

Proposal propose(const Predictor& predictor) {
  if (is_in_memory(predictor.trace())) return not_here("the samples are in memory already");
  const Reads reads = sum_reads(predictor.trace(), predictor.analysis().steps.warm_from());
  if (reads.count == 0) return keep_whole(predictor);
  Proposal proposal{true,
                    fmt::format("{} that took {} come from memory", format_bytes(reads.bytes),
                                format_duration(reads.time)),
                    {}};
  for (trace::RangeKind stage : {trace::RangeKind::kRead, trace::RangeKind::kDecode})
    scale_stage(predictor, stage, 0, proposal.scenario);
  // Decoded samples are several times as large as their files, and it is not known whether they
  // fit.
  if (time_of_stage(predictor.trace(), trace::RangeKind::kDecode).time > reads.time)
    proposal.certainty = kSameEachTime;
  return proposal;
}

}  // namespace

const Fix kSamplesInMemory{"samples-in-memory",
                           "Keep decoded samples in memory",
                           "slow-storage, small-files, input-bound",
                           FixKind::kModelled,
                           0.1,
                           "--source memory",
                           "Read and decode ranges take no time: samples were read and decoded "
                           "before training or in its first epoch.",
                           "whether the data set fits into memory, whether its samples repeat "
                           "exactly, and the time of a copy from memory",
                           propose};

}  // namespace headway::analyzer
