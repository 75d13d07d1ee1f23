// SPDX-License-Identifier: Apache-2.0
// Shape inference and the bookkeeping of names, owners and orders.
#include "workloads/builder.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace mergewise {
namespace {

// Larger inputs than these are typing errors; below them no product of sizes overflows 64 bits.
constexpr std::int64_t kMaxImageSize = 16384;
constexpr std::int64_t kMaxSequenceLength = 1 << 16;

std::int64_t product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::int64_t checked_argument(const std::string& model, const char* argument, std::int64_t given,
                              std::int64_t default_value, std::int64_t maximum) {
  if (given == 0) {
    return default_value;
  }
  if (given < 0 || given > maximum) {
    throw InputError(
        fmt::format("model '{}': {} is {}, expected 1 to {}", model, argument, given, maximum));
  }
  return given;
}

void refuse_argument(const std::string& model, const char* argument, std::int64_t given,
                     const char* instead) {
  if (given != 0) {
    throw InputError(fmt::format("model '{}' has no {} (got {}); its input is set by {}", model,
                                 argument, given, instead));
  }
}

/// In which order the gradients of one layer's own tensors are complete: a linear layer's bias
/// before its weight, else as defined (weight, bias). That is the order in which autograd visits
/// the inputs of a node: addmm(bias, x, weight) against convolution(x, weight, bias).
std::vector<std::size_t> ready_tensors(const Layer& layer) {
  std::vector<std::size_t> tensors = layer.tensors;
  if (layer.kind == LayerKind::kLinear) {
    std::reverse(tensors.begin(), tensors.end());
  }
  return tensors;
}

/// Completes a layer that reads `inputs` elements `passes` times and writes `y` once.
Value put_out(Layer& layer, std::int64_t inputs, Value y, std::int64_t passes = 1) {
  layer.inputs = inputs;
  layer.output = y.shape;
  layer.activations = passes * inputs + y.elements();
  return y;
}

}  // namespace

std::int64_t Value::elements() const { return product(shape); }

Window square(std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  return {{kernel, kernel}, {stride, stride}, {padding, padding}, false};
}

Window same(std::int64_t height, std::int64_t width) {
  MERGEWISE_CHECK(height % 2 == 1 && width % 2 == 1, "only an odd window keeps the image's size");
  return {{height, width}, {1, 1}, {height / 2, width / 2}, false};
}

Builder::Scope::Scope(Builder& builder, std::string_view name)
    : builder_(builder), length_before_(builder.scope_.size()) {
  builder_.scope_.append(name).append(".");
}

Builder::Scope::~Scope() { builder_.scope_.resize(length_before_); }

Builder::Builder(std::string model, Shape input_shape) {
  model_.name = std::move(model);
  model_.input_shape = std::move(input_shape);
}

Value Builder::input() const { return {model_.input_shape, true}; }

std::string Builder::full_name(std::string_view name) const { return scope_ + std::string(name); }

Layer& Builder::add_layer(std::string_view name, LayerKind kind) {
  Layer layer;
  layer.name = full_name(name);
  layer.kind = kind;
  const int call = ++calls_[layer.name];
  if (call > 1) {
    layer.name += fmt::format(":{}", call);
  }
  model_.layers.push_back(std::move(layer));
  return model_.layers.back();
}

std::size_t Builder::add_tensor(std::string name, Shape shape) {
  model_.tensors.push_back({std::move(name), std::move(shape)});
  return model_.tensors.size() - 1;
}

std::size_t Builder::find_tensor(std::string_view name) const {
  const auto found = std::find_if(model_.tensors.begin(), model_.tensors.end(),
                                  [&](const TensorSpec& tensor) { return tensor.name == name; });
  MERGEWISE_CHECK(found != model_.tensors.end(), "no tensor named " + std::string(name));
  return static_cast<std::size_t>(found - model_.tensors.begin());
}

Shape Builder::slide(const std::string& layer, const Shape& image, const Window& window) const {
  MERGEWISE_CHECK(image.size() == 3, layer + " needs {channels, height, width}");
  Shape out = image;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t stride = window.stride[axis];
    const std::int64_t round_up = window.ceil ? stride - 1 : 0;
    const std::int64_t begin = window.padding[axis];  // where the image begins
    const std::int64_t needed = window.kernel[axis] - 2 * begin - round_up;
    if (image[axis + 1] < needed) {
      throw InputError(
          fmt::format("model '{}': layer '{}' needs at least {} pixels in {} but gets {}; give a "
                      "larger image_size than {}",
                      model_.name, layer, needed, axis == 0 ? "height" : "width", image[axis + 1],
                      model_.input_shape.back()));
    }
    out[axis + 1] = (image[axis + 1] - needed) / stride + 1;
    if (window.ceil && (out[axis + 1] - 1) * stride >= image[axis + 1] + begin) {
      --out[axis + 1];  // that window would hold nothing but padding
    }
  }
  return out;
}

Value Builder::conv2d(std::string_view name, const Value& x, std::int64_t out_channels,
                      const Window& window, const ConvOptions& options) {
  Layer& layer = add_layer(name, LayerKind::kConv);
  MERGEWISE_CHECK(!window.ceil, layer.name + ": only pooling rounds up");
  Value y{slide(layer.name, x.shape, window)};
  y.shape[0] = out_channels;
  MERGEWISE_CHECK(x.shape[0] % options.groups == 0 && out_channels % options.groups == 0,
                  layer.name + ": groups must divide the channels");
  const Shape weight{out_channels, x.shape[0] / options.groups, window.kernel[0], window.kernel[1]};
  layer.tensors.push_back(add_tensor(full_name(name) + ".weight", weight));
  if (options.bias) {
    layer.tensors.push_back(add_tensor(full_name(name) + ".bias", {out_channels}));
  }
  layer.gemms.push_back({.m = y.shape[1] * y.shape[2],
                         .n = out_channels / options.groups,
                         .k = weight[1] * weight[2] * weight[3],
                         .count = options.groups});
  layer.macs = layer.gemms.back().macs();
  layer.stride = std::max(window.stride[0], window.stride[1]);
  layer.first = x.is_input;
  return put_out(layer, x.elements(), y);
}

Value Builder::linear(std::string_view name, const Value& x, std::int64_t out_features,
                      const LinearOptions& options) {
  Layer& layer = add_layer(name, LayerKind::kLinear);
  const std::int64_t in_features = x.shape.back();
  const Shape weight{out_features, in_features};
  if (options.tied_weight.empty()) {
    layer.tensors.push_back(add_tensor(full_name(name) + ".weight", weight));
  } else {
    const std::size_t tied = find_tensor(options.tied_weight);
    MERGEWISE_CHECK(model_.tensors[tied].shape == weight, layer.name + ": tied to another shape");
    layer.shared.push_back(tied);
  }
  layer.tensors.push_back(add_tensor(
      options.bias_name.empty() ? full_name(name) + ".bias" : options.bias_name, {out_features}));
  Value y{x.shape};
  y.shape.back() = out_features;
  layer.gemms.push_back({.m = x.elements() / in_features, .n = out_features, .k = in_features});
  layer.macs = layer.gemms.back().macs();
  layer.first = x.is_input;
  return put_out(layer, x.elements(), y);
}

Value Builder::normalise(std::string_view name, const Value& x, std::int64_t width,
                         std::int64_t passes) {
  Layer& layer = add_layer(name, LayerKind::kNorm);
  layer.tensors.push_back(add_tensor(full_name(name) + ".weight", {width}));
  layer.tensors.push_back(add_tensor(full_name(name) + ".bias", {width}));
  layer.first = x.is_input;
  return put_out(layer, x.elements(), {x.shape}, passes);
}

Value Builder::batch_norm(std::string_view name, const Value& x) {
  // Read for the statistics and read again: a channel of a batch does not fit into a cache.
  return normalise(name, x, x.shape.front(), 2);
}

Value Builder::layer_norm(std::string_view name, const Value& x) {
  // A row stays in registers.
  return normalise(name, x, x.shape.back(), 1);
}

Value Builder::activation(std::string_view name, const Value& x) {
  return put_out(add_layer(name, LayerKind::kActivation), x.elements(), {x.shape});
}

Value Builder::pool(std::string_view name, const Value& x, const Window& window) {
  Layer& layer = add_layer(name, LayerKind::kPool);
  return put_out(layer, x.elements(), {slide(layer.name, x.shape, window)});
}

Value Builder::adaptive_pool(std::string_view name, const Value& x, std::int64_t size) {
  return put_out(add_layer(name, LayerKind::kPool), x.elements(), {{x.shape[0], size, size}});
}

Value Builder::add(std::string_view name, const std::vector<Value>& terms) {
  Layer& layer = add_layer(name, LayerKind::kAdd);
  std::int64_t inputs = 0;
  for (const Value& term : terms) {
    MERGEWISE_CHECK(term.shape == terms.front().shape, layer.name + " adds different shapes");
    inputs += term.elements();
  }
  return put_out(layer, inputs, {terms.front().shape});
}

Value Builder::concat(std::string_view name, const std::vector<Value>& parts) {
  Layer& layer = add_layer(name, LayerKind::kConcat);
  Value y{parts.front().shape};
  y.shape[0] = 0;
  for (const Value& part : parts) {
    MERGEWISE_CHECK(
        std::equal(part.shape.begin() + 1, part.shape.end(), y.shape.begin() + 1, y.shape.end()),
        layer.name + " joins different images");
    y.shape[0] += part.shape[0];
  }
  return put_out(layer, y.elements(), y);
}

Value Builder::embedding(std::string_view name, const Value& ids, std::int64_t rows,
                         std::int64_t width) {
  Layer& layer = add_layer(name, LayerKind::kEmbedding);
  layer.tensors.push_back(add_tensor(full_name(name) + ".weight", {rows, width}));
  Value y{ids.shape};
  y.shape.push_back(width);
  layer.first = ids.is_input;
  return put_out(layer, y.elements(), y);  // the rows it gathers
}

Value Builder::attention(std::string_view name, const Value& query, const Value& key,
                         const Value& value, std::int64_t heads) {
  MERGEWISE_CHECK(query.shape.size() == 2 && query.shape.back() % heads == 0 &&
                      key.shape == value.shape && key.shape.back() == query.shape.back(),
                  full_name(name) + " needs matching {positions, width}");
  const auto scope = this->scope(name);
  const std::int64_t width = query.shape.back() / heads;
  const std::int64_t positions = query.shape.front();
  const std::int64_t keys = key.shape.front();
  Layer& scores = add_layer("scores", LayerKind::kAttention);
  scores.gemms.push_back(
      {.m = positions, .n = keys, .k = width, .count = heads, .batch_in_count = true});
  Value x = put_out(scores, query.elements() + key.elements(), {{heads, positions, keys}});
  x = activation("dropout", activation("softmax", x));
  Layer& context = add_layer("context", LayerKind::kAttention);
  context.gemms.push_back(
      {.m = positions, .n = width, .k = keys, .count = heads, .batch_in_count = true});
  return put_out(context, x.elements() + value.elements(), {query.shape});
}

void Builder::define_before(std::string_view prefix, std::string_view anchor) {
  std::vector<std::size_t> moved;
  std::vector<std::size_t> order;
  std::size_t place = model_.tensors.size();
  for (std::size_t index = 0; index < model_.tensors.size(); ++index) {
    if (starts_with(model_.tensors[index].name, prefix)) {
      moved.push_back(index);
      continue;
    }
    if (place == model_.tensors.size() && starts_with(model_.tensors[index].name, anchor)) {
      place = order.size();
    }
    order.push_back(index);
  }
  MERGEWISE_CHECK(!moved.empty() && place < model_.tensors.size(),
                  "define_before needs tensors under both names");
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(place), moved.begin(), moved.end());

  std::vector<TensorSpec> tensors;
  std::vector<std::size_t> new_index(order.size());
  for (const std::size_t old_index : order) {
    new_index[old_index] = tensors.size();
    tensors.push_back(std::move(model_.tensors[old_index]));
  }
  model_.tensors = std::move(tensors);
  for (Layer& layer : model_.layers) {
    for (std::vector<std::size_t>* indices : {&layer.tensors, &layer.shared}) {
      for (std::size_t& index : *indices) {
        index = new_index[index];
      }
    }
  }
}

Model Builder::build() {
  // The backward pass runs the layers in reverse. A shared tensor belongs to the first layer that
  // uses it, which is the last to add to its gradient.
  for (auto layer = model_.layers.rbegin(); layer != model_.layers.rend(); ++layer) {
    const std::vector<std::size_t> tensors = ready_tensors(*layer);
    model_.ready_order.insert(model_.ready_order.end(), tensors.begin(), tensors.end());
  }
  MERGEWISE_CHECK(model_.ready_order.size() == model_.tensors.size(),
                  model_.name + ": every tensor needs one owner");
  return std::exchange(model_, {});
}

Value conv_blocks(Builder& net, const Value& x, const std::vector<ConvBlock>& blocks) {
  Value y = x;
  for (const ConvBlock& block : blocks) {
    const auto scope = net.scope(block.name);
    y = net.conv2d("conv", y, block.out_channels, block.window, {.bias = false});
    y = net.activation("relu", net.batch_norm("bn", y));
  }
  return y;
}

Value flatten(const Value& x) { return {{x.elements()}, x.is_input}; }

Value first_position(const Value& x) {
  return {Shape(x.shape.begin() + 1, x.shape.end()), x.is_input};
}

std::int64_t image_size_for(const std::string& model, const ModelArguments& arguments,
                            std::int64_t default_size) {
  refuse_argument(model, "sequence_length", arguments.sequence_length, "image_size");
  return checked_argument(model, "image_size", arguments.image_size, default_size, kMaxImageSize);
}

std::int64_t sequence_length_for(const std::string& model, const ModelArguments& arguments,
                                 std::int64_t default_length) {
  refuse_argument(model, "image_size", arguments.image_size, "sequence_length");
  return checked_argument(model, "sequence_length", arguments.sequence_length, default_length,
                          kMaxSequenceLength);
}

}  // namespace mergewise
