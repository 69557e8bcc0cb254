// SPDX-License-Identifier: MIT
// Events of lttng_peer.cc, as LTTng-UST wants them declared: included several times.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER headway_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/bench/lttng_provider.h"

#if !defined(HEADWAY_BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define HEADWAY_BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(headway_bench, push, LTTNG_UST_TP_ARGS(const char*, name),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name)))
LTTNG_UST_TRACEPOINT_EVENT(headway_bench, pop, LTTNG_UST_TP_ARGS(int, level),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, level, level)))

#endif

#include <lttng/tracepoint-event.h>
