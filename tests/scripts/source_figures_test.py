#!/usr/bin/env python3
"""What scripts/source_figures.py counts as documentation: source_figures_test.py SCRIPTS_FOLDER. Exit status 0: passed."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(sys.argv[1]).resolve()))
sys.dont_write_bytecode = True
import source_figures  # noqa: E402

HEADER = """\
#include "trace/schema/table.h"

/// A comment, which comments() counts.
struct Kernel : TableDefaults {
  static constexpr std::string_view name = "CUPTI_ACTIVITY_KIND_KERNEL";
  static constexpr std::string_view doc = "Kernels that ran on CUDA devices.";
  static constexpr std::array<std::string_view, 2> indexes = {"start, end",
                                                              "globalPid, start"};
  static constexpr auto columns = std::tuple{
      Column{"start", &Row::start, Unit::kNs, "Start."},  // counted as a comment
      Column{"end", &Row::end, Unit::kNs, "End."},
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 "
             "| pid << 24."},
  };
};
""".splitlines()

assert source_figures.comments(HEADER) == (15, 2), source_figures.comments(HEADER)
assert source_figures.declared(HEADER) == 4, source_figures.declared(HEADER)
