// SPDX-License-Identifier: Apache-2.0
#include "kernels/compute/gemm_plan.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace mergewise {
namespace {

constexpr Bytes kFloat = static_cast<Bytes>(sizeof(float));
// Half of it is read and half of it written.
constexpr Bytes kSweptTraffic = 2 * kFloat;
// More than any machine has, and far from overflow when some of them are added and made bytes.
constexpr std::int64_t kAbsurdFloats = std::int64_t{1} << 57;
// Operands begin at multiples of a cache line.
constexpr std::int64_t kAlignment = 16;
// A convolution over few activations has blocks of so many rows all the same: with fewer BLAS
// reads the weight more often than it computes.
constexpr std::int64_t kFewestRows = 256;

std::int64_t floats(std::int64_t each, std::int64_t count = 1) {
  return each > kAbsurdFloats / std::max<std::int64_t>(count, 1) ? kAbsurdFloats : each * count;
}

std::int64_t aligned(std::int64_t place) {
  return (place + kAlignment - 1) / kAlignment * kAlignment;
}

// Where an operand of all `count` products ends.
struct Ends {
  std::int64_t x = 0;
  std::int64_t w = 0;
  std::int64_t y = 0;
};

Ends ends_of(const ProductCall& call) {
  return {floats(call.x_floats(), call.count), call.w_begin + floats(call.w_floats(), call.count),
          call.y_begin + floats(call.y_floats(), call.count)};
}

ProductCall make_product(const LayerWork& work, const Gemm& gemm) {
  constexpr std::int64_t kLargest = std::numeric_limits<int>::max();
  if (gemm.m > kLargest || gemm.n > kLargest || gemm.k > kLargest) {
    throw UnsupportedError(fmt::format(
        "layer {}: its product of {} x {} x {} is beyond what BLAS can take (2^31 - 1 in each "
        "dimension); use a smaller batch, or compute mode timed",
        work.layer, gemm.m, gemm.n, gemm.k));
  }
  ProductCall call;
  call.m = static_cast<int>(gemm.m);
  call.n = static_cast<int>(gemm.n);
  call.k = static_cast<int>(gemm.k);
  call.count = gemm.count;
  const std::int64_t held = work.input_elements / gemm.count / gemm.k;
  call.block_rows = static_cast<int>(std::min(gemm.m, std::max(held, kFewestRows)));
  return call;
}

// All products of a layer begin at the same places, one after the other in time.
struct Places {
  std::int64_t w = 0;   // in the inputs, after X
  std::int64_t dy = 0;  // in the inputs, after W
  std::int64_t dw = 0;  // in the outputs, after dX
};

Places places_for(const std::vector<ProductCall>& products) {
  Ends longest;
  for (const ProductCall& call : products) {
    const Ends ends = ends_of(call);
    longest.x = std::max(longest.x, ends.x);
    longest.w = std::max(longest.w, ends.w);
  }
  Places places;
  places.w = aligned(longest.x);
  places.dy = places.w + aligned(longest.w);
  places.dw = places.w;
  return places;
}

// The gradients by weight and by input, in the order in which LayerWork has them.
std::vector<ProductCall> backward_products(const std::vector<ProductCall>& forward,
                                           const Places& places, bool input_gradient) {
  std::vector<ProductCall> backward;
  for (auto product = forward.rbegin(); product != forward.rend(); ++product) {
    ProductCall call = *product;
    call.y_begin = places.dy;
    call.role = ProductRole::kWeightGradient;
    call.w_begin = input_gradient ? places.dw : 0;
    backward.push_back(call);
    if (!input_gradient) continue;
    call.role = ProductRole::kInputGradient;
    call.w_begin = places.w;
    backward.push_back(call);
  }
  return backward;
}

void add_products(const LayerWork& work, GemmPass& forward, GemmPass& backward) {
  for (const Gemm& gemm : work.forward) {
    if (gemm.m <= 0 || gemm.n <= 0 || gemm.k <= 0 || gemm.count <= 0) continue;
    forward.products.push_back(make_product(work, gemm));
  }
  const Places places = places_for(forward.products);
  for (ProductCall& call : forward.products) call.w_begin = places.w;
  backward.products = backward_products(forward.products, places, work.input_gradient);
}

void add_lookups(const LayerWork& work, GemmPass& forward, GemmPass& backward) {
  TableLookup lookup;
  lookup.width = work.row_elements;
  lookup.rows = work.parameters / lookup.width;
  lookup.positions = work.output_elements / lookup.width;
  forward.lookup = lookup;
  lookup.scatter = true;
  backward.lookup = lookup;
}

// Activations that nobody counted are taken to be as many as are moved.
MemorySweep make_sweep(Bytes traffic, std::int64_t read, std::int64_t written) {
  const std::int64_t moved = traffic / kSweptTraffic;
  return {moved, read > 0 ? std::min(moved, read) : moved,
          written > 0 ? std::min(moved, written) : moved};
}

void add_sweeps(const LayerWork& work, GemmPass& forward, GemmPass& backward) {
  const std::int64_t inputs = work.input_elements;
  const std::int64_t outputs = work.output_elements;
  forward.sweep = make_sweep(work.forward_bytes, inputs, outputs);
  backward.sweep = make_sweep(work.backward_bytes, inputs + outputs, inputs);
}

void add_layer(const LayerWork& work, GemmPlan& plan) {
  GemmPass& forward = plan.forward.emplace_back();
  GemmPass& backward = plan.backward.emplace_back();
  add_products(work, forward, backward);
  // Products already move their layer's bytes.
  if (!forward.products.empty()) return;
  const std::int64_t row = work.row_elements;
  if (row > 0 && work.parameters >= row && work.output_elements >= row) {
    add_lookups(work, forward, backward);
  } else {
    add_sweeps(work, forward, backward);
  }
}

}  // namespace

double ProductCall::flops() const {
  return 2.0 * static_cast<double>(m) * n * k * static_cast<double>(count);
}

double GemmPass::flops() const {
  double sum = 0;
  for (const ProductCall& call : products) sum += call.flops();
  return sum;
}

std::int64_t GemmPass::input_floats() const {
  const std::int64_t rows = lookup.scatter ? lookup.positions : lookup.rows;
  std::int64_t most = std::max(floats(lookup.width, rows), floats(sweep.read_period));
  for (const ProductCall& call : products) {
    const Ends ends = ends_of(call);  // X first, then W, then Y
    most = std::max(most, call.role == ProductRole::kForward ? ends.w : ends.y);
  }
  return most;
}

std::int64_t GemmPass::output_floats() const {
  const std::int64_t rows = lookup.scatter ? lookup.rows : lookup.positions;
  std::int64_t most = std::max(floats(lookup.width, rows), floats(sweep.written_period));
  for (const ProductCall& call : products) {
    const Ends ends = ends_of(call);
    if (call.role == ProductRole::kForward) most = std::max(most, ends.y);
    if (call.role == ProductRole::kInputGradient) most = std::max(most, ends.x);
    if (call.role == ProductRole::kWeightGradient) most = std::max(most, ends.w);
  }
  return most;
}

Bytes GemmPlan::memory() const { return (input_floats + output_floats) * kFloat; }

GemmPlan make_gemm_plan(const std::vector<LayerWork>& layers) {
  GemmPlan plan;
  std::int64_t largest = 0;
  for (const LayerWork& work : layers) {
    add_layer(work, plan);
    const GemmPass& forward = plan.forward.back();
    const GemmPass& backward = plan.backward.back();
    const std::int64_t inputs = std::max(forward.input_floats(), backward.input_floats());
    const std::int64_t outputs = std::max(forward.output_floats(), backward.output_floats());
    plan.input_floats = std::max(plan.input_floats, inputs);
    plan.output_floats = std::max(plan.output_floats, outputs);
    if (inputs + outputs > largest) {
      largest = inputs + outputs;
      plan.largest_layer = work.layer;
    }
  }
  return plan;
}

}  // namespace mergewise
