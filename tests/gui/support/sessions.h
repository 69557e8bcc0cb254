// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string_view>

#include "gui/models/opening/session.h"
#include "tests/support/trace_builder.h"

namespace headway::test {

/// The run of TrainingTrace with its defaults (input-bound), made once per program.
std::shared_ptr<const gui::Session> training_session();
/// Its file.
std::filesystem::path training_file();

/// The same run with loaders that are fast enough, a block less and faster convolutions: what the
/// first is compared with.
std::shared_ptr<const gui::Session> faster_session();
std::filesystem::path faster_file();

/// A run whose host waits for the device after every kernel, with a small copy stream beside it: the
/// fix of its finding gains a good part of the step.
std::shared_ptr<const gui::Session> waiting_session();
std::filesystem::path waiting_file();

std::shared_ptr<const gui::Session> session_of(TraceBuilder& builder);

/// The first event with that name.
analyzer::EventRef event_named(const trace::Trace& trace, std::string_view name);

/// A training run of tens of thousands of events, made once per program, that takes long enough
/// to load for something to happen meanwhile.
std::filesystem::path long_file();

/// A step of two ranks on a GPU each, in memory: an all-reduce for which rank 0 waits 300 ns, an event
/// that stream 8 waits for, a forward op with its backward op on another thread, a synchronisation.
trace::Trace two_rank_trace();
std::shared_ptr<const gui::Session> two_rank_session();

/// A trace with everything a hostile program could do: names of a megabyte, control characters and
/// markup, events without length and at the ends of what is admitted, deep and wide nesting,
/// thousands of threads, values that are no numbers.
void build_hostile(TraceBuilder& builder, int threads);

}  // namespace headway::test
