// SPDX-License-Identifier: MIT
#include "kernels/loops/lanes.h"
#include "kernels/loops/loops.h"

// Compiled once per instruction set (see lanes.h).
namespace headway::kernels::HEADWAY_ISA {

extern const Loops kTable;
#define HEADWAY_TEXT_(text) #text
#define HEADWAY_TEXT(text) HEADWAY_TEXT_(text)
#define HEADWAY_LOOP_ENTRY(name, parameters) name,
const Loops kTable = {HEADWAY_TEXT(HEADWAY_ISA),
                      HEADWAY_LOOPS(HEADWAY_LOOP_ENTRY) HEADWAY_SUM_LOOPS(HEADWAY_LOOP_ENTRY)};

}  // namespace headway::kernels::HEADWAY_ISA
