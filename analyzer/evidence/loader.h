// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// All reads that say their size: ranges of that kind, else the calls on files of threads that make
/// batches (`headway record --io`).
struct Reads {
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  DurationNs time;
  double large_read_rate;  ///< bytes/s that reads of 64 KiB and more reach, at least 100 MB/s

  bool files =
      false;  ///< `count` is of files that were opened, not of reads: a range may cover many

  std::int64_t mean() const { return count ? bytes / count : 0; }
};
/// From `since` on, as all that follows: a page cache that filled before serves the rest (Steps::warm_from).
Reads sum_reads(const trace::Trace& trace, TimeNs since = TimeNs::min());

/// Those reads one by one, as the trace has them; opens among them bring no bytes.
void for_each_read(const trace::Trace& trace, TimeNs since,
                   const std::function<void(trace::ThreadId, Interval, std::int64_t bytes)>& visit);

/// Opens or reads of one file, or of several of a folder, by a thread that has ranges of a loader.
struct FileCalls {
  trace::ThreadId thread;
  Interval time;
  DurationNs busy;  ///< inside the calls
  std::int64_t bytes = 0;
  std::int64_t calls = 1;
  bool read = false;  ///< else opens
};
/// All that were recorded (`headway record --io`).
void for_each_call_on_file(const trace::Trace& trace, TimeNs since,
                           const std::function<void(const FileCalls&)>& visit);

/// Whether a request for a file is answered in less time than any disk takes: from memory, by a processor. False where calls on
/// files were not recorded.
bool reads_come_from_memory(const trace::Trace& trace, TimeNs since);

/// What the PyTorch hook calls all that a data set does for a batch: it reads, decodes and transforms, and only what
/// lies inside tells how much of it is decoding.
inline constexpr std::string_view kWholeSamples = "samples";

/// A data set of known length whose batches were seen: as large as its samples are when they reach the program.
struct DataSet {
  std::int64_t samples = 0;
  std::int64_t bytes = 0;
  std::int64_t batch = 0;  ///< samples of one
  std::int64_t batch_bytes = 0;
};
/// Of the program's first PyTorch loader; none where its length or its batches' size is not known.
std::optional<DataSet> data_set(const trace::Trace& trace);
/// Whether PyTorch's types say that its samples are made already: a TensorDataset, a list, parts of one.
bool is_in_memory(const trace::Trace& trace);
/// Whether making its samples drew from the process' generators of random numbers; none where nobody looked.
std::optional<bool> samples_are_random(const trace::Trace& trace);

/// Made ahead of the one that is asked for, as the program was told; 0 unknown.
std::int64_t batches_ahead(const trace::Trace& trace);

/// In a batch of it; 2, inputs and targets, where that is not known.
std::int64_t tensors_of_batch(const trace::Trace& trace);

/// All ranges of a stage, without those of whole samples.
struct StageTime {
  DurationNs time;
  std::int64_t ranges = 0;
};
StageTime time_of_stage(const trace::Trace& trace, trace::RangeKind stage);

/// True where what decodes takes its bytes faster than any picture can be decoded: samples are stored as numbers, and copied.
bool samples_are_numbers(const trace::Trace& trace);

/// Batches that were made from `since` on.
std::int64_t batches_made(const trace::Trace& trace, TimeNs since = TimeNs::min());

/// What the loader's workers do during the steady steps, from the ranges of their stages.
struct LoaderWork {
  std::vector<trace::ThreadId> workers;  ///< threads that make batches, not the training thread
  /// The most of them that worked side by side: each epoch may have started others.
  std::size_t at_once = 0;
  double making = 0;                ///< mean number of them that make a batch
  double computing = 0;             ///< mean number of them that decode, augment or collate
  DurationNs per_batch;             ///< mean time one worker takes for a batch; 0 unknown
  bool on_training_thread = false;  ///< batches are made by the training thread itself
};
LoaderWork loader_work(const RuleContext& context);

/// The most of these that have a moment in common.
std::size_t most_at_once(std::span<const Interval> lives);

/// Ranks of the job that the trace has, at least one: each trains and has a loader of its own.
std::int64_t trainers_in(const trace::Trace& trace);

/// Processors that those may use: of machines with other ranks, their part. 0 unknown.
std::int64_t processor_count(const trace::Trace& trace);

/// Processors that the process of this series took in the window, in the mean: of one that was there for a part of it only, that part
/// of what was sampled.
double processors_of(const trace::Trace& trace, const trace::CounterSeries& series,
                     Interval window);

/// How many processors these processes took in the mean; nothing where one of them trains, too, or was not sampled.
std::optional<double> processors_taken(const trace::Trace& trace, const Steps& steps,
                                       std::set<trace::ProcessId> processes, Interval window);

/// Of a processor, while a batch is made. Computing takes one; a read takes one as long as its bytes would take in large pieces, and
/// waits for the storage else. Of a read of unknown size a quarter counts: it is called so because its thread mostly waits.
/// Where the processor time of the workers' processes is sampled, that tells it.
double share_of_making(const RuleContext& context);
/// The same where processor time tells it, else nothing.
std::optional<double> sampled_share_of_making(const RuleContext& context);
/// How many workers of each loader the processors bear besides training threads that wait for nothing, by what makes the
/// batches now: workers, or those threads; 0 unknown.
std::int64_t workers_that_fit(const RuleContext& context);
/// The same where workers make the batches: a training thread that waits for one takes no processor, and waits less with more
/// of them.
struct WorkerRoom {
  std::int64_t workers = 0;  ///< of each loader; 0 unknown
  DurationNs step;           ///< it takes no less: what a step computes, on all processors
};
/// `step`: without waits for batches. `making`: of all batches of a step, on one worker.
WorkerRoom room_for_workers(const RuleContext& context, DurationNs step, DurationNs making);
/// How many hide `making`, that of all batches of a step on one worker, under steps that take `step`: a fifth more than the mean
/// asks for, as batches take unequally long.
std::int64_t workers_needed(DurationNs making, DurationNs step);

}  // namespace headway::analyzer
