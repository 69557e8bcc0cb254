// SPDX-License-Identifier: MIT
#include "analyzer/evidence/stream_chains.h"

#include <fmt/format.h>

#include <unordered_map>

#include "common/format.h"

namespace headway::analyzer {
namespace {

using Ops = std::span<const trace::DeviceOpId>;

constexpr std::size_t kLongestChain = 8;

/// A kind of chain: its families, at most eight, packed into one number.
using Kind = std::uint64_t;

std::string text_of(Kind kind) {
  constexpr int kShown = 5;
  std::string text;
  for (int shown = 0; kind != 0; kind >>= 8, ++shown) {
    text += text.empty() ? "" : " → ";
    if (shown == kShown) return text + "…";
    std::string family(family_id(static_cast<KernelFamily>(kind & 0xff)));
    std::replace(family.begin(), family.end(), '_', ' ');
    text += family;
  }
  return text;
}

class Collector {
 public:
  explicit Collector(const RuleContext& context) : context_(context) {}

  void stream(Ops ops) {
    begin_ = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      KernelTraits traits = context_.kernels.of(ops[i]);
      KernelFamily family = traits.family;
      trace::Phase phase = context_.attribution.phase_of[ops[i].value];
      if (!can_fuse(traits) || phase == trace::Phase::kUpdate) {
        close(ops, i);
        begin_ = i + 1;
        continue;
      }
      bool full = i - begin_ == kLongestChain || (reduces(family) && has_reduction_) ||
                  (i > begin_ && phase != phase_);
      if (full) {
        close(ops, i);
        begin_ = i;
      }
      if (i == begin_) {
        has_reduction_ = false;
        longest_ = time_ = DurationNs{};
        kind_ = 0;
        phase_ = phase;
      }
      DurationNs time = duration(context_, ops[i]);
      has_reduction_ |= reduces(family);
      longest_ = std::max(longest_, time);
      time_ += time;
      kind_ |= static_cast<Kind>(family) << (8 * (i - begin_));
    }
    close(ops, ops.size());
  }

  StreamChains finish(std::int64_t steps) {
    if (steps == 0) return {};
    result_.recoverable = result_.recoverable / steps;
    result_.time = result_.time / steps;
    result_.chains /= static_cast<double>(steps);
    result_.kernels /= static_cast<double>(steps);
    std::pair<Kind, DurationNs> worst{};
    for (const auto& [kind, saved] : saved_) {
      if (saved > worst.second || (saved == worst.second && kind < worst.first))
        worst = {kind, saved};
    }
    result_.costliest = text_of(worst.first);
    result_.evidence = evidence_.take();
    return std::move(result_);
  }

 private:
  void close(Ops ops, std::size_t end) {
    if (end < begin_ + 2) return;
    DurationNs saved = time_ - longest_;
    result_.recoverable += saved;
    result_.time += time_;
    result_.chains += 1;
    result_.kernels += static_cast<double>(end - begin_);
    saved_[kind_] += saved;
    const trace::DeviceOps& all = context_.trace.device_ops;
    Interval where{all.start[ops[begin_].value], all.end[ops[end - 1].value]};
    if (evidence_.wants(where.length()))
      evidence_.add(where, ops[begin_],
                    fmt::format("{}: {}, {} recoverable", text_of(kind_), format_duration(time_),
                                format_duration(saved)));
  }

  const RuleContext& context_;
  StreamChains result_;
  LongestEvidence evidence_;
  std::unordered_map<Kind, DurationNs> saved_;
  // The open chain: ops[begin_ .. here).
  std::size_t begin_ = 0;
  bool has_reduction_ = false;
  DurationNs longest_;
  DurationNs time_;
  Kind kind_ = 0;
  trace::Phase phase_ = trace::Phase::kNone;
};

}  // namespace

StreamChains stream_chains(const RuleContext& context, const DevicePartition& device) {
  Collector collector(context);
  std::int64_t steps =
      for_each_stream(context, device, [&](const DeviceStep&, Ops ops) { collector.stream(ops); });
  return collector.finish(steps);
}

}  // namespace headway::analyzer
