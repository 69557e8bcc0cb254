// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/batch_norm/op.h"

namespace headway::kernels::reference {
namespace {

struct Statistics {
  std::vector<double> mean;
  std::vector<double> variance;
};

Statistics statistics(BatchNormShape shape, const float* x) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  Statistics result{std::vector<double>(channels), std::vector<double>(channels)};
  for (std::int64_t i = 0; i < shape.elements(); ++i)
    result.mean[static_cast<std::size_t>(i % shape.channels)] += x[i];
  for (double& mean : result.mean) mean /= static_cast<double>(shape.rows);
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const auto c = static_cast<std::size_t>(i % shape.channels);
    result.variance[c] += (x[i] - result.mean[c]) * (x[i] - result.mean[c]);
  }
  for (double& variance : result.variance) variance /= static_cast<double>(shape.rows);
  return result;
}

void normalise(BatchNormShape shape, Epilogue epilogue, float epsilon, const Statistics& of,
               const BatchNormForward& a) {
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const std::int64_t c = i % shape.channels;
    const auto index = static_cast<std::size_t>(c);
    double z = (a.x[i] - of.mean[index]) / std::sqrt(of.variance[index] + epsilon) * a.gamma[c] +
               a.beta[c];
    if (epilogue == Epilogue::kAddRelu) z += a.residual[i];
    if (epilogue != Epilogue::kNone) z = std::max(z, 0.0);
    a.y[i] = static_cast<float>(z);
    if (a.mask) a.mask[i] = a.y[i] > 0;
  }
}

}  // namespace

void batch_norm_forward(BatchNormShape shape, Epilogue epilogue, float epsilon, float momentum,
                        const BatchNormForward& a) {
  Statistics of = statistics(shape, a.x);
  normalise(shape, epilogue, epsilon, of, a);
  const double rows = static_cast<double>(shape.rows);
  for (int c = 0; c < shape.channels; ++c) {
    const auto index = static_cast<std::size_t>(c);
    const double unbiased = of.variance[index] * rows / std::max(1.0, rows - 1);
    a.saved_mean[c] = static_cast<float>(of.mean[index]);
    a.saved_rstd[c] = static_cast<float>(1 / std::sqrt(of.variance[index] + epsilon));
    a.running_mean[c] += static_cast<float>(momentum * (of.mean[index] - a.running_mean[c]));
    a.running_variance[c] += static_cast<float>(momentum * (unbiased - a.running_variance[c]));
  }
}

void batch_norm_inference(BatchNormShape shape, Epilogue epilogue, float epsilon,
                          const BatchNormForward& a) {
  Statistics of{{a.running_mean, a.running_mean + shape.channels},
                {a.running_variance, a.running_variance + shape.channels}};
  BatchNormForward without_mask = a;
  without_mask.mask = nullptr;
  normalise(shape, epilogue, epsilon, of, without_mask);
}

void batch_norm_backward(BatchNormShape shape, Epilogue epilogue, const BatchNormBackward& a) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  std::vector<double> dbeta(channels);
  std::vector<double> dgamma(channels);
  auto normalised = [&](std::int64_t i) {
    const std::int64_t c = i % shape.channels;
    return (static_cast<double>(a.x[i]) - a.saved_mean[c]) * a.saved_rstd[c];
  };
  auto masked = [&](std::int64_t i) {
    const std::int64_t c = i % shape.channels;
    bool keep = true;
    if (epilogue == Epilogue::kRelu) keep = normalised(i) * a.gamma[c] + a.beta[c] > 0;
    if (epilogue == Epilogue::kAddRelu) keep = a.mask[i] != 0;
    return keep ? static_cast<double>(a.dy[i]) : 0.0;
  };
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const auto c = static_cast<std::size_t>(i % shape.channels);
    dbeta[c] += masked(i);
    dgamma[c] += masked(i) * normalised(i);
    if (epilogue == Epilogue::kAddRelu) a.dresidual[i] = static_cast<float>(masked(i));
  }
  const double rows = static_cast<double>(shape.rows);
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const std::int64_t c = i % shape.channels;
    const auto index = static_cast<std::size_t>(c);
    a.dx[i] = static_cast<float>(
        a.gamma[c] * a.saved_rstd[c] *
        (masked(i) - dbeta[index] / rows - normalised(i) * dgamma[index] / rows));
  }
  for (int c = 0; c < shape.channels; ++c) {
    a.dbeta[c] = static_cast<float>(dbeta[static_cast<std::size_t>(c)]);
    a.dgamma[c] = static_cast<float>(dgamma[static_cast<std::size_t>(c)]);
  }
}

}  // namespace headway::kernels::reference
