// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

/// Ops of a layer of experts besides products. Each token goes to `choices` experts, those with the
/// highest router probabilities (Shazeer et al. 2017; Fedus et al. 2021).
namespace headway::kernels {

struct RouteShape {
  std::int64_t tokens = 0;
  std::int64_t experts = 0;
  std::int64_t choices = 1;   ///< experts of a token
  std::int64_t capacity = 0;  ///< places per expert; tokens that find no place are dropped

  std::int64_t places() const { return experts * capacity; }
};

/// From probabilities [tokens, experts], computes for each token and choice the place
/// expert·capacity + number, or -1 where the token is dropped, and the expert's probability. Tokens
/// are served in order. `favour`, by expert, multiplies the probabilities for the choice but not
/// the result; may be null.
void route_tokens(const RouteShape& shape, const float* favour, const float* probabilities,
                  std::int32_t* places, float* gates);
/// Converts the gradient of `gates` to the gradient of the probabilities.
void route_tokens_backward(const RouteShape& shape, const std::int32_t* places,
                           const float* d_gates, float* d_probabilities);

/// x [tokens, columns] -> [places, columns]: every row at its token's places; the other places are zero.
void dispatch_tokens(const RouteShape& shape, std::int64_t columns, const std::int32_t* places,
                     const float* x, float* table);
/// d_table -> dx: the sum over a token's places, times `scale`.
void dispatch_tokens_backward(const RouteShape& shape, std::int64_t columns,
                              const std::int32_t* places, float scale, const float* d_table,
                              float* dx);

/// table [places, columns] -> y [tokens, columns]: the sum over a token's places, each times its gate.
void combine_tokens(const RouteShape& shape, std::int64_t columns, const std::int32_t* places,
                    const float* gates, const float* table, float* y);
/// d_table is multiplied by `scale`, d_gates is not.
void combine_tokens_backward(const RouteShape& shape, std::int64_t columns,
                             const std::int32_t* places, const float* gates, const float* table,
                             float scale, const float* dy, float* d_table, float* d_gates);

}  // namespace headway::kernels
