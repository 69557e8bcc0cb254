// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace headway::kernels {

/// Rows numbered o·inner + i become rows i·outer + o: time-major to batch-major and back.
void swap_major(std::int64_t outer, std::int64_t inner, std::int64_t columns, const float* from,
                float* to);

/// scores [batch·rows][length], sequence by sequence: -1e30 is set in column s where token s of
/// the sequence (time-major: tokens[s·batch + b]) is negative, that is, padding.
void padding_mask(std::int64_t batch, std::int64_t rows, std::int64_t length,
                  const std::int32_t* tokens, const float* scores, float* masked);

}  // namespace headway::kernels
