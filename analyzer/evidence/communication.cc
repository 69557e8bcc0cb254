// SPDX-License-Identifier: MIT
#include "analyzer/evidence/communication.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "analyzer/evidence/support.h"
#include "common/format.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {

std::string communication_note(const RuleContext& context, const Segment& segment) {
  if (segment.cause.kind != EventRef::Kind::kDeviceOp) return "communication";
  std::string_view name = context.trace.strings[context.trace.device_ops.name[segment.cause.index]];
  for (const trace::Collective& collective : context.trace.collectives) {
    if (!collective.op.valid() || collective.op.value != segment.cause.index) continue;
    std::string note(context.trace.strings[collective.kind]);
    if (collective.bytes > 0) note += fmt::format(" of {}", format_bytes(collective.bytes));
    return note;
  }
  return std::string(name.substr(0, name.find('(')));
}

Finding needs_all_ranks(const Rule& rule, const RuleContext& context) {
  std::int32_t world = context.trace.world_size;
  const bool alone = world <= 1 && context.trace.collectives.empty() &&
                     worst_share_with_hosts(context, {TimeClass::kCommTransfer}).time.ns == 0;
  if (alone) return fine(rule, "The recorded program exchanges nothing with other ranks.");
  return cannot_tell(
      rule, fmt::format("Needs the traces of all ranks of the job{}: `headway report FOLDER`.",
                        world > 1 ? fmt::format(" (this is one of {})", world) : ""));
}

int ranks_per_node(const trace::Trace& trace) {
  auto number = [](std::string_view text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  if (const int said = number(trace.setting("ranks_per_node")); said > 0) return said;
  using namespace std::string_view_literals;
  for (const std::string_view key :
       {trace::meta::kLocalWorldSize, "env.LOCAL_WORLD_SIZE"sv, "env.OMPI_COMM_WORLD_LOCAL_SIZE"sv,
        "env.MV2_COMM_WORLD_LOCAL_SIZE"sv})
    if (const int said = number(trace.meta_value(key)); said > 0) return said;
  return 0;
}

SteadyCollectives steady_collectives(const RuleContext& context) {
  SteadyCollectives result;
  result.all = collectives_of(context.trace, context.steps, context.attribution);
  result.steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(context.steps.steady.size()));
  std::vector<std::int64_t> steady;
  for (std::uint32_t s : context.steps.steady) steady.push_back(context.steps.all[s].number);
  std::sort(steady.begin(), steady.end());
  for (std::uint32_t i = 0; i < result.all.rows.size(); ++i) {
    if (context.steps.all.empty() ||
        std::binary_search(steady.begin(), steady.end(), result.all.rows[i].step))
      result.rows.push_back(i);
  }
  return result;
}

bool fit_latency_and_rate(const std::vector<const CollectiveFigures*>& sizes, LatencyAndRate& out) {
  double w = 0;
  double wx = 0;
  double wy = 0;
  for (const CollectiveFigures* f : sizes) {
    auto y = static_cast<double>(f->transfer.ns);
    double weight = static_cast<double>(f->count) / std::max(1.0, y * y);
    w += weight;
    wx += weight * static_cast<double>(f->bytes);
    wy += weight * y;
  }
  if (sizes.size() < 2 || w <= 0) return false;
  double xx = 0;
  double xy = 0;
  for (const CollectiveFigures* f : sizes) {
    auto y = static_cast<double>(f->transfer.ns);
    double weight = static_cast<double>(f->count) / std::max(1.0, y * y);
    double x = static_cast<double>(f->bytes) - wx / w;
    xx += weight * x * x;
    xy += weight * x * (y - wy / w);
  }
  if (xx <= 0 || xy <= 0) return false;
  double slope = xy / xx;
  out.bytes_per_ns = 1 / slope;
  out.latency_ns = std::max(0.0, (wy - slope * wx) / w);
  return true;
}

std::int64_t best_bucket(const LatencyAndRate& link, double bytes, double ready_ns) {
  double best_end = INFINITY;
  std::int64_t best = std::int64_t{1} << 20;
  for (int power = 20; power <= 29; ++power) {
    double cap = std::ldexp(1.0, power);
    double done = 0;
    for (double sent = 0; sent < bytes;) {
      double size = std::min(cap, bytes - sent);
      sent += size;
      done = std::max(done, ready_ns * sent / bytes) + link.latency_ns + size / link.bytes_per_ns;
    }
    // A larger bucket must earn its memory.
    if (done < best_end * 0.99) {
      best_end = done;
      best = std::int64_t{1} << power;
    }
  }
  return best;
}

}  // namespace headway::analyzer
