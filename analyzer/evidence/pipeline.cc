// SPDX-License-Identifier: MIT
#include "analyzer/evidence/pipeline.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/partition/steady_ops.h"
#include "analyzer/ranks/job.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Largest relative difference of equal message counts: steps at the ends of a recording may be
/// cut.
constexpr double kSameCount = 0.1;

struct Messages {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  TimeNs first_sent =
      TimeNs::max();  ///< earliest in any step, counted from the launch of the step's first message
  TimeNs first_received = TimeNs::max();
};

DurationNs compute_of(const ClassTimes& times) {
  return times[TimeClass::kComputeTensor] + times[TimeClass::kComputeOther];
}

/// Total length of those intervals of `alone` in which a communication ends. `alone`: times with
/// communication alone, by time. `ends`: in any order.
DurationNs waited(const std::vector<Interval>& alone, std::vector<TimeNs> ends) {
  std::ranges::sort(ends);
  DurationNs sum;
  for (const Interval& one : alone) {
    const auto end = std::ranges::upper_bound(ends, one.begin);
    if (end != ends.end() && *end <= one.end) sum += one.length();
  }
  return sum;
}

void append(Interval time, std::vector<Interval>& alone) {
  if (!alone.empty() && alone.back().end >= time.begin)
    alone.back().end = std::max(alone.back().end, time.end);
  else
    alone.push_back(time);
}

DurationNs idle_of(const RankSummary& rank, const RankDevice& device) {
  std::vector<Interval> alone;
  for (const Exposure& one : device.exposures)
    if (device.steps[one.step].steady) append(one.time, alone);
  std::vector<TimeNs> ends;
  for (const RankCollective& row : rank.collectives.rows) ends.push_back(row.time.end);
  return waited(alone, std::move(ends)) / std::max<std::int64_t>(1, device.steady_steps);
}

DurationNs idle_of(const RuleContext& context, const DevicePartition& device,
                   std::vector<TimeNs> ends) {
  std::vector<Interval> alone;
  for (const DeviceStep& step : device.steps) {
    if (!counts(context.steps, step)) continue;
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = device.segments[step.first_segment + i];
      if (segment.time_class == TimeClass::kCommTransfer ||
          segment.time_class == TimeClass::kStragglerWait)
        append(segment.interval, alone);
    }
  }
  return waited(alone, std::move(ends)) / std::max<std::int64_t>(1, device.steady_steps);
}

/// Orders the stages from the first one on by following neighbours. If that does not reach a last
/// stage, all are kept in the given order.
Pipeline chain(std::vector<PipelineStage> ranks) {
  Pipeline result;
  std::map<std::int32_t, const PipelineStage*> of_rank;
  for (const PipelineStage& one : ranks) of_rank[one.rank] = &one;
  const auto first = std::ranges::find(ranks, -1, &PipelineStage::before);
  for (auto at = first != ranks.end() ? of_rank.find(first->rank) : of_rank.end();
       at != of_rank.end() && result.stages.size() < ranks.size();
       at = of_rank.find(result.stages.back().after)) {
    if (!result.stages.empty() && at->second->before != result.stages.back().rank) break;
    result.stages.push_back(*at->second);
  }
  result.whole = result.stages.size() > 1 && result.stages.back().after < 0;
  if (!result.whole) result.stages = std::move(ranks);
  for (const PipelineStage& one : result.stages)
    result.micro_batches = std::max(result.micro_batches, one.micro_batches);
  return result;
}

void add_message(const Collectives& all, const RankCollective& row, std::int64_t step,
                 std::vector<StepMessage>& messages) {
  const std::string& kind = all.groups[row.group].kind;
  if (is_point_to_point(kind) && row.peer >= 0)
    messages.push_back({step, row.launch, row.peer, kind == "send"});
}

std::vector<PipelineStage> stages_of_job(const JobAnalysis& job) {
  std::vector<PipelineStage> stages;
  for (const RankSummary& rank : job.ranks) {
    const RankDevice* device = main_device(rank);
    if (!device) continue;
    std::vector<std::int64_t> steady;
    for (const RankStep& step : device->steps)
      if (step.steady) steady.push_back(step.number);
    std::ranges::sort(steady);
    std::vector<StepMessage> messages;
    for (const RankCollective& row : rank.collectives.rows)
      if (std::ranges::binary_search(steady, row.step))
        add_message(rank.collectives, row, row.step, messages);
    PipelineStage stage = stage_of_messages(messages, std::ssize(steady), rank.identity.rank);
    if (stage.micro_batches <= 0) continue;
    stage.compute = compute_of(device->per_steady_step);
    stage.idle = idle_of(rank, *device);
    stages.push_back(stage);
  }
  return stages;
}

/// The stages of the ranks in one trace. Each rank has consecutive steps of its own.
std::vector<PipelineStage> stages_of_trace(const RuleContext& context) {
  const Trace& trace = context.trace;
  const Collectives all = collectives_of(trace, context.steps, context.attribution);
  std::vector<PipelineStage> stages;
  for (const DevicePartition& partition : context.partitions) {
    if (!partition.device.valid() || partition.steady_steps == 0) continue;
    std::vector<const Step*> steps;
    for (const DeviceStep& step : partition.steps)
      if (!context.steps.all.empty()) steps.push_back(&context.steps.all[step.step]);
    std::vector<StepMessage> messages;
    std::vector<TimeNs> ends;
    std::int32_t rank = -1;
    for (const RankCollective& row : all.rows) {
      if (row.on_host) continue;
      const Stream& stream = trace.streams[trace.device_ops.stream[row.op].value];
      if (stream.device != partition.device) continue;
      rank = trace.processes[stream.process.value].rank;
      ends.push_back(row.time.end);
      const auto after = std::ranges::upper_bound(
          steps, row.launch, {}, [](const Step* step) { return step->host.begin; });
      if (after == steps.begin() || !(*(after - 1))->steady) continue;
      add_message(all, row, (*(after - 1))->number, messages);
    }
    PipelineStage stage = stage_of_messages(messages, partition.steady_steps, rank);
    if (stage.micro_batches <= 0) continue;
    stage.compute = compute_of(partition.per_steady_step);
    stage.idle = idle_of(context, partition, std::move(ends));
    stages.push_back(stage);
  }
  return stages;
}

}  // namespace

const PipelineStage& Pipeline::busiest() const {
  return *std::ranges::max_element(stages, {}, &PipelineStage::compute);
}

DurationNs Pipeline::mean_compute() const {
  DurationNs sum;
  for (const PipelineStage& one : stages) sum += one.compute;
  return stages.empty() ? sum : sum / std::ssize(stages);
}

PipelineStage stage_of_messages(const std::vector<StepMessage>& messages, std::int64_t steps,
                                std::int32_t rank) {
  PipelineStage stage;
  stage.rank = rank;
  std::map<std::int32_t, Messages> of_peer;
  std::int64_t step = -1;
  TimeNs begin;
  std::map<std::int32_t, std::pair<bool, bool>> seen;  // by peer in this step: sent, received
  for (const StepMessage& one : messages) {
    if (one.peer == rank) continue;
    if (one.step != step) {
      step = one.step;
      begin = one.launch;
      seen.clear();
    }
    Messages& its = of_peer[one.peer];
    (one.sent ? its.sent : its.received) += 1;
    bool& known = one.sent ? seen[one.peer].first : seen[one.peer].second;
    if (known) continue;
    known = true;
    TimeNs& first = one.sent ? its.first_sent : its.first_received;
    first = std::min(first, TimeNs{(one.launch - begin).ns});
  }
  for (const auto& [peer, its] : of_peer) {
    const auto sent = static_cast<double>(its.sent);
    const auto received = static_cast<double>(its.received);
    if (sent == 0 || received == 0 ||
        std::abs(sent - received) > kSameCount * std::max(sent, received))
      return {};  // a ring, or something else
    const bool behind = its.first_sent < its.first_received;
    std::int32_t& place = behind ? stage.after : stage.before;
    if (place >= 0) return {};  // two on one side
    place = peer;
    stage.micro_batches = std::max(
        stage.micro_batches, std::round(std::max(sent, received) /
                                        static_cast<double>(std::max<std::int64_t>(1, steps))));
  }
  return stage;
}

std::string_view why_not_whole(const Pipeline& pipeline) {
  if (pipeline.stages.empty()) return "no rank passes micro batches to another";
  if (!pipeline.whole)
    return "the recording lacks the other stages: record all ranks into one file";
  return {};
}

Pipeline find_pipeline(const RuleContext& context) {
  std::vector<PipelineStage> stages =
      context.job ? stages_of_job(*context.job) : stages_of_trace(context);
  if (stages.empty()) return {};
  return chain(std::move(stages));
}

}  // namespace headway::analyzer
