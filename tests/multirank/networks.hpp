// SPDX-License-Identifier: Apache-2.0
// Two small networks that learn to tell two classes of made-up points apart: the loss and its exact
// gradient, in plain loops.
#pragma once

#include "bench/stats/random.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace mergewise::test {

using Weights = std::vector<float>;

/// Points of a rank: `inputs` numbers each, and the class, 0 or 1.
struct Points {
  std::vector<float> x;
  std::vector<float> label;
  [[nodiscard]] std::size_t count() const { return label.size(); }
};

inline double unit(SplitMix64& random) {
  return static_cast<double>(random.next() >> 11) * 0x1p-53;
}
inline double about_normal(SplitMix64& random) {
  return 2 * (unit(random) + unit(random) + unit(random) - 1.5);
}

/// Classes that a bent surface parts, some of the points on the wrong side.
inline Points make_points(std::size_t count, std::size_t inputs, std::uint64_t seed) {
  SplitMix64 random(seed);
  Points points;
  for (std::size_t n = 0; n < count; ++n) {
    double score = 0;
    for (std::size_t i = 0; i < inputs; ++i) {
      const double x = about_normal(random);
      points.x.push_back(static_cast<float>(x));
      score += (i % 3 == 0 ? 1.0 : -0.5) * x + (i % 4 == 0 ? 0.8 * (x * x - 1) : 0.0);
    }
    const double noise = 0.7 * about_normal(random);
    points.label.push_back(score + noise > 0 ? 1.0F : 0.0F);
  }
  return points;
}

/// The mean cross entropy of logistic outputs, and its gradient by the weights of each tensor.
class Network {
 public:
  virtual ~Network() = default;
  [[nodiscard]] const std::vector<std::size_t>& tensors() const { return tensors_; }
  [[nodiscard]] std::size_t weights() const {
    return std::accumulate(tensors_.begin(), tensors_.end(), std::size_t{0});
  }
  [[nodiscard]] Weights initial() const {
    SplitMix64 random(1);
    Weights weights(this->weights());
    for (float& weight : weights) weight = static_cast<float>(0.3 * about_normal(random));
    return weights;
  }
  /// Returns the loss; `gradient`, unless null, gets as many numbers as there are weights.
  double evaluate(const Weights& weights, const Points& points, Weights* gradient) const {
    if (gradient != nullptr) gradient->assign(weights.size(), 0.0F);
    double loss = 0;
    for (std::size_t n = 0; n < points.count(); ++n) {
      const float* const x = points.x.data() + n * inputs_;
      const double label = static_cast<double>(points.label[n]);
      const double score = forward(weights, x);
      loss += std::log1p(std::exp(-std::fabs(score))) + std::fmax(score, 0) - label * score;
      const double off = 1 / (1 + std::exp(-score)) - label;
      if (gradient != nullptr) {
        backward(weights, x, off / static_cast<double>(points.count()), *gradient);
      }
    }
    return loss / static_cast<double>(points.count());
  }

 protected:
  Network(std::size_t inputs, std::vector<std::size_t> tensors)
      : inputs_(inputs), tensors_(std::move(tensors)) {}
  [[nodiscard]] virtual double forward(const Weights& weights, const float* x) const = 0;
  virtual void backward(const Weights& weights, const float* x, double off,
                        Weights& gradient) const = 0;

  std::size_t inputs_;

 private:
  std::vector<std::size_t> tensors_;
};

/// Tensors: the weights of the first half of the inputs, of the second half, a bias.
class LogisticRegression : public Network {
 public:
  explicit LogisticRegression(std::size_t inputs)
      : Network(inputs, {inputs / 2, inputs - inputs / 2, 1}) {}

 private:
  [[nodiscard]] double forward(const Weights& weights, const float* x) const override {
    double score = static_cast<double>(weights[inputs_]);
    for (std::size_t i = 0; i < inputs_; ++i) score += static_cast<double>(weights[i] * x[i]);
    return score;
  }
  void backward(const Weights&, const float* x, double off, Weights& gradient) const override {
    for (std::size_t i = 0; i < inputs_; ++i) gradient[i] += static_cast<float>(off) * x[i];
    gradient[inputs_] += static_cast<float>(off);
  }
};

/// Tensors: weights and biases of the hidden layer, then those of the output.
class Perceptron : public Network {
 public:
  Perceptron(std::size_t inputs, std::size_t hidden)
      : Network(inputs, {inputs * hidden, hidden, hidden, 1}), hidden_(hidden) {}

 private:
  [[nodiscard]] double activation(const Weights& weights, const float* x, std::size_t unit) const {
    double sum = static_cast<double>(weights[inputs_ * hidden_ + unit]);
    for (std::size_t i = 0; i < inputs_; ++i) {
      sum += static_cast<double>(weights[unit * inputs_ + i] * x[i]);
    }
    return std::tanh(sum);
  }
  [[nodiscard]] std::size_t output(std::size_t unit) const {
    return inputs_ * hidden_ + hidden_ + unit;
  }
  [[nodiscard]] double forward(const Weights& weights, const float* x) const override {
    double score = static_cast<double>(weights[output(hidden_)]);
    for (std::size_t unit = 0; unit < hidden_; ++unit) {
      score += static_cast<double>(weights[output(unit)]) * activation(weights, x, unit);
    }
    return score;
  }
  void backward(const Weights& weights, const float* x, double off,
                Weights& gradient) const override {
    gradient[output(hidden_)] += static_cast<float>(off);
    for (std::size_t unit = 0; unit < hidden_; ++unit) {
      const double value = activation(weights, x, unit);
      gradient[output(unit)] += static_cast<float>(off * value);
      const double inner = off * static_cast<double>(weights[output(unit)]) * (1 - value * value);
      gradient[inputs_ * hidden_ + unit] += static_cast<float>(inner);
      for (std::size_t i = 0; i < inputs_; ++i) {
        gradient[unit * inputs_ + i] += static_cast<float>(inner) * x[i];
      }
    }
  }

  std::size_t hidden_;
};

}  // namespace mergewise::test
