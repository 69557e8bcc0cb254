// SPDX-License-Identifier: MIT
#pragma once

/// HEADWAY_CLONES before a function definition compiles it for several instruction sets and picks
/// the best one at load time, so that one binary runs anywhere and is fast where it can be. Off for
/// sanitizers (the choice happens before their run time is up) and for compilers or processors
/// without the feature.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HEADWAY_CLONES __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define HEADWAY_CLONES
#endif
