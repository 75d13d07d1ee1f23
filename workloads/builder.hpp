// SPDX-License-Identifier: Apache-2.0
// The kit networks are written with: layers in forward order, shapes inferred, tensors named and
// ordered as the framework does.
#pragma once

#include "workloads/model.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mergewise {

using Shape = std::vector<std::int64_t>;

/// The activations of one sample between two layers: {channels, height, width}, {positions, width}
/// or {features}.
struct Value {
  Shape shape;
  bool is_input = false;  ///< the network's input: nobody needs a gradient for it
  [[nodiscard]] std::int64_t elements() const;
};

/// A sliding window, {height, width}. Output size as in PyTorch: floor((in + 2 padding - kernel) /
/// stride) + 1; with `ceil`, of pooling only, rounded up as long as the last window begins inside
/// the image or its padding before it.
struct Window {
  std::array<std::int64_t, 2> kernel{1, 1};
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> padding{0, 0};
  bool ceil = false;
};
[[nodiscard]] Window square(std::int64_t kernel, std::int64_t stride = 1, std::int64_t padding = 0);
/// Moves by 1 and is padded so that the image keeps its size; odd height and width.
[[nodiscard]] Window same(std::int64_t height, std::int64_t width);

struct ConvOptions {
  std::int64_t groups = 1;
  bool bias = true;
};

struct LinearOptions {
  std::string tied_weight{};  ///< full name of an earlier layer's tensor that serves as the weight
  std::string bias_name{};    ///< full name of the bias where it is not "<layer>.bias"
};

/// Builds a Model by running its forward pass over shapes. Each call adds one layer and gives what
/// it puts out; names are relative to the open scopes; a module that is called again ("relu") gets
/// the name "relu:2". Tensors are defined in the order of the calls; define_before() corrects that
/// where a framework's definition order is another.
///
/// Throws InputError naming the layer when the input does not fit (too small an image, too long a
/// sequence); a mistake of the network's own description is a std::logic_error.
class Builder {
 public:
  Builder(std::string model, Shape input_shape);

  /// Prefixes the names of what is added while it lives: "layer1.0" + "." + name.
  class Scope {
   public:
    Scope(Builder& builder, std::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Builder& builder_;
    std::size_t length_before_;
  };
  [[nodiscard]] Scope scope(std::string_view name) { return {*this, name}; }

  [[nodiscard]] Value input() const;

  Value conv2d(std::string_view name, const Value& x, std::int64_t out_channels,
               const Window& window, const ConvOptions& options = {});
  /// Acts on the last dimension.
  Value linear(std::string_view name, const Value& x, std::int64_t out_features,
               const LinearOptions& options = {});
  Value batch_norm(std::string_view name, const Value& x);
  Value layer_norm(std::string_view name, const Value& x);
  /// Any function of each element: relu, gelu, tanh, dropout.
  Value activation(std::string_view name, const Value& x);
  Value pool(std::string_view name, const Value& x, const Window& window);
  /// Average pooling to a given size, whatever comes in.
  Value adaptive_pool(std::string_view name, const Value& x, std::int64_t size);
  Value add(std::string_view name, const std::vector<Value>& terms);
  /// Joins images along their channels, by copying.
  Value concat(std::string_view name, const std::vector<Value>& parts);
  /// Rows of a table of [rows, width], one for each of the input's positions.
  Value embedding(std::string_view name, const Value& ids, std::int64_t rows, std::int64_t width);
  /// softmax(Q K^T) V for each head, with dropout of the probabilities, each a layer of its own
  /// ("<name>.scores", ".softmax", ".dropout", ".context"); query, key and value are {positions,
  /// width}.
  Value attention(std::string_view name, const Value& query, const Value& key, const Value& value,
                  std::int64_t heads);

  /// Moves the tensors whose full names begin with `prefix` to directly before the first one that
  /// begins with `anchor`.
  void define_before(std::string_view prefix, std::string_view anchor);

  /// The finished network, its ready order included (see model.hpp). The builder is empty
  /// afterwards.
  [[nodiscard]] Model build();

 private:
  [[nodiscard]] std::string full_name(std::string_view name) const;
  Layer& add_layer(std::string_view name, LayerKind kind);
  std::size_t add_tensor(std::string name, Shape shape);
  [[nodiscard]] std::size_t find_tensor(std::string_view name) const;
  Value normalise(std::string_view name, const Value& x, std::int64_t width, std::int64_t passes);
  [[nodiscard]] Shape slide(const std::string& layer, const Shape& image,
                            const Window& window) const;

  Model model_;
  std::string scope_;  // "" or ending in '.'
  std::map<std::string, int, std::less<>> calls_;
};

/// A convolution without bias, its batch normalisation and a relu: the layers "<name>.conv",
/// "<name>.bn" and "<name>.relu".
struct ConvBlock {
  const char* name;
  std::int64_t out_channels;
  Window window;
};
/// Adds the blocks one after the other.
Value conv_blocks(Builder& net, const Value& x, const std::vector<ConvBlock>& blocks);

/// All elements as one dimension; no layer, no work.
[[nodiscard]] Value flatten(const Value& x);
/// The first position of a sequence; no layer, no work.
[[nodiscard]] Value first_position(const Value& x);

/// The image size that a network of images is to be built for. Throws InputError for arguments it
/// cannot take.
[[nodiscard]] std::int64_t image_size_for(const std::string& model, const ModelArguments& arguments,
                                          std::int64_t default_size);
/// The same for the length of a network of sequences.
[[nodiscard]] std::int64_t sequence_length_for(const std::string& model,
                                               const ModelArguments& arguments,
                                               std::int64_t default_length);

}  // namespace mergewise
