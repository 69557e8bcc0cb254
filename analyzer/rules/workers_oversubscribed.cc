// SPDX-License-Identifier: MIT
// workers-oversubscribed: loader workers compete with the training thread for processors.
//
// Symptom: launches are late although the framework's work per launch is small; all processors are
//   busy.
// Mechanism: with more runnable threads than processors, each gets a share. The training thread is
//   descheduled like any worker, and the device waits for its launches.
// Formula: d = mean number of workers that decode, augment or collate, plus one for the trainer; c
//   = processors. Fires if d > c. Recoverable = (launch_gap + host_other + between_steps +
//   unknown) x (1 - c/d): the share of host gaps in which the training thread had no processor.
// Falsified by: machine.cpu below 90 % (no thread waits for a processor), or a training thread
//   with higher priority or reserved processors.
// Known false positives: a program that is launch-bound for other reasons on a machine full of
//   workers.
// Source: oversubscription of processors by loader and math threads is the frameworks' own warning
//   ("this DataLoader will create more worker processes than …").
#include <fmt/format.h>

#include "analyzer/evidence/counters.h"
#include "analyzer/evidence/loader.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr double kSaturated = 90;  // %
constexpr std::initializer_list<TimeClass> kHostGaps = {
    TimeClass::kLaunchGap, TimeClass::kHostOther, TimeClass::kBetweenSteps, TimeClass::kUnknown};

std::string note(const RuleContext& context, const Segment& segment) {
  if (segment.cause.kind == EventRef::Kind::kNone) return "the training thread is not running";
  return fmt::format("the training thread is slow in '{}'", name_of(context.trace, segment.cause));
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare host = worst_share(context, kHostGaps);
  if (!host.device) return cannot_tell(rule, "No steady step has work on a device.");
  if (host.share() < kFindingShare) {
    return fine(rule,
                fmt::format("Idle because of the host: {}; its threads have enough processors.",
                            of_step(context, host.time, host.step)));
  }
  auto cpu = counters::steady(context, counters::kMachineCpu);
  if (cpu && cpu->mean < kSaturated) {
    return fine(
        rule, fmt::format("The processors are {:.0f} % busy: no thread waits for one.", cpu->mean));
  }
  LoaderWork work = loader_work(context);
  std::int64_t processors = processor_count(context.trace);
  if (work.workers.empty() || processors == 0) {
    return cannot_tell(
        rule,
        "The host is slow, but the number of workers or processors is unknown. Record with "
        "`headway record` and mark the loader stages (docs/reference/nvtx-conventions.md).");
  }
  double demand = work.computing + static_cast<double>(trainers_in(context.trace));
  double available = static_cast<double>(processors);
  if (demand <= available) {
    return fine(rule, fmt::format("{:.1f} threads want {} processors.", demand, processors));
  }
  DurationNs recoverable{
      static_cast<std::int64_t>(static_cast<double>(host.time.ns) * (1 - available / demand))};
  if (ratio(recoverable, host.step) < kFindingShare) {
    return fine(rule, fmt::format("{:.1f} threads want {} processors; launch delay: {}.", demand,
                                  processors, of_step(context, recoverable, host.step)));
  }
  Finding finding = found(rule, recoverable, context);
  finding.claim = fmt::format(
      "{} workers and the trainer want {:.1f} processors; {} exist. The device waits for the host "
      "{}, up to {} of it because the training thread has no processor.",
      work.at_once, demand, processors, of_step(context, host.time, host.step),
      format_duration(recoverable));
  finding.confidence = cpu ? 0.75 : 0.55;
  finding.evidence = longest_segments(context, *host.device, kHostGaps, note);
  finding.advice = {
      {"headway-train", "Use fewer workers than processors; the trainer needs one.", "--workers N",
       settings(context.trace, {"workers"})},
      {"PyTorch",
       "Use at most one worker per processor, minus one for the trainer, and one math thread per "
       "worker.",
       "DataLoader(num_workers=…), torch.set_num_threads(1) in worker_init_fn, OMP_NUM_THREADS=1",
       settings(context.trace, {"num_workers"})},
      {"TensorFlow/JAX", "Give the input pipeline a private thread pool smaller than the machine.",
       "options.threading.private_threadpool_size = cores - 1, TF_GPU_THREAD_MODE=gpu_private",
       ""}};
  return finding;
}

}  // namespace

extern const Rule kWorkersOversubscribed = {"workers-oversubscribed", "Too many workers",
                                            "Busy workers outnumber processors, and the device "
                                            "waits for the host for over 5 % of the step.",
                                            check};

}  // namespace headway::analyzer
