// SPDX-License-Identifier: Apache-2.0
#include "workloads/timings.hpp"

#include "bench/config/node.hpp"
#include "bench/core/error.hpp"
#include "bench/core/text.hpp"
#include "workloads/model_file.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

namespace mergewise {
namespace {

MeasuredIteration head_from(const Node& root, const std::filesystem::path& file) {
  MeasuredIteration iteration;
  iteration.name = detail::name_from(root.at("name"));
  iteration.batch = root.at("batch_size").as_integer(1, kMaxBatch);
  iteration.forward_ns = detail::time_from(root, "forward");
  iteration.source = "timings " + file.filename().string();
  for (const char* key : {"source", "device", "forward_note"}) {
    const auto text = root.find(key);
    if (text && text->is_scalar()) {
      iteration.source +=
          std::string(key == std::string_view("forward_note") ? "; forward time " : "; ") +
          text->as_string();
    }
  }
  return iteration;
}

void read_layers(const Node& list, MeasuredIteration& iteration) {
  const std::vector<Node>& entries = list.as_list();
  std::map<std::string, std::string> seen;  // name -> where
  std::vector<std::string> names;
  for (const Node& entry : entries) {
    entry.allow_keys({"name", "parameters", "backward_ns", "backward_us", "backward_ms"});
    const auto name = entry.find("name");
    names.push_back(name ? detail::name_from(*name) : fmt::format("layer_{}", names.size() + 1));
    const auto [earlier, is_new] = seen.emplace(names.back(), entry.where());
    if (!is_new) {
      (name ? *name : entry)
          .fail(fmt::format("'{}' is a layer already ({}), expected unique names", names.back(),
                            earlier->second));
    }
  }
  Nanoseconds ready = 0;
  for (std::size_t i = entries.size(); i-- > 0;) {
    const std::int64_t parameters = entries[i].at("parameters").as_integer(0, detail::kMaxElements);
    ready += detail::time_from(entries[i], "backward");
    iteration.tensors.push_back({names[i], names[i], {parameters}, ready});
  }
}

/// Entries are in definition order, as far as a file says.
void check_order(const Node& root) {
  const auto order = root.find("order");
  if (!order) return;
  const std::string text = order->as_string();
  if (!text.starts_with("definition") && !text.starts_with("forward")) {
    order->fail(
        fmt::format("'{}' is no known order, expected layers in definition order", excerpt(text)));
  }
}

void check_input_shape(const Node& root, std::int64_t batch) {
  const auto shape = root.find("input_shape");
  if (!shape) return;
  const std::vector<Node>& sizes = shape->as_list();
  if (sizes.empty() || sizes.front().as_integer(1, kMaxBatch) != batch) {
    (sizes.empty() ? *shape : sizes.front())
        .fail(fmt::format("the input's first size is not batch_size, expected {}", batch));
  }
}

struct OwnedTensor {
  const TensorSpec* tensor;
  const Layer* owner;
};

std::map<std::string, OwnedTensor> tensors_by_name(const Model& model) {
  std::map<std::string, OwnedTensor> tensors;
  for (const Layer& layer : model.layers) {
    for (const std::size_t index : layer.tensors) {
      tensors.emplace(model.tensors[index].name, OwnedTensor{&model.tensors[index], &layer});
    }
  }
  return tensors;
}

void read_ready(const Node& map, double unit_ns, const Model& model, MeasuredIteration& iteration) {
  const auto tensors = tensors_by_name(model);
  std::set<std::string> missing;
  std::vector<std::string> names;
  for (const TensorSpec& tensor : model.tensors) {
    missing.insert(tensor.name);
    names.push_back(tensor.name);
  }
  Nanoseconds before = 0;
  for (const auto& [key, value] : map.as_map()) {
    const auto tensor = tensors.find(key.text());
    if (tensor == tensors.end()) {
      const std::string near = nearest(key.text(), names);
      key.fail(fmt::format("'{}' is no tensor of {}, expected one of its {}{}", excerpt(key.text()),
                           model.name, names.size(),
                           near.empty() ? "" : ": did you mean '" + near + "'?"));
    }
    const Nanoseconds ready = detail::time_of(value, unit_ns);
    if (ready < before) {
      value.fail(
          fmt::format("'{}' is less than the time before, expected tensors in the order in "
                      "which they became ready",
                      value.text()));
    }
    before = ready;
    missing.erase(key.text());
    iteration.tensors.push_back(
        {key.text(), tensor->second.owner->name, tensor->second.tensor->shape, ready});
  }
  if (!missing.empty()) {
    map.fail(fmt::format("lacks {} of the {} tensors of {}, expected each once: '{}'{}",
                         missing.size(), names.size(), model.name, *missing.begin(),
                         missing.size() > 1 ? ", .." : ""));
  }
}

/// What the pass takes after its last gradient belongs to that one.
void add_remainder(const Node& root, MeasuredIteration& iteration) {
  const auto whole = detail::find_timed(root, "backward");
  if (!whole) return;
  const Nanoseconds total = detail::time_of(whole->value, whole->unit_ns);
  Nanoseconds& last = iteration.tensors.back().ready_ns;
  if (total < last) {
    whole->value.fail(fmt::format(
        "'{}' is less than the time until the last tensor was ready, expected the whole pass",
        whole->value.text()));
  }
  last = total;
}

std::vector<std::string> order_notes(const Model& model, const MeasuredIteration& iteration) {
  for (std::size_t i = 0; i < model.ready_order.size(); ++i) {
    const std::string& built = model.tensors[model.ready_order[i]].name;
    if (iteration.tensors[i].name != built) {
      return {fmt::format("tensor {} to become ready is '{}', in the built-in {} it is '{}'", i + 1,
                          iteration.tensors[i].name, model.name, built)};
    }
  }
  return {};
}

}  // namespace

ImportedModel import_timings(const std::filesystem::path& file, const std::string& model_id) {
  const Node root = parse_file(file, kDataLimits);
  if (!root.is_map()) {
    root.fail("is no map, expected a JSON object with layers or ready_ms");
  }
  const auto layers = root.find("layers");
  const auto ready = detail::find_timed(root, "ready");
  if (layers.has_value() == ready.has_value()) {
    root.fail(layers ? "has both layers and ready times, expected one of them"
                     : "has neither layers nor ready_ms (or ready_us, ready_ns), expected one");
  }
  MeasuredIteration iteration = head_from(root, file);
  check_input_shape(root, iteration.batch);
  ImportedModel imported;
  if (layers) {
    if (!model_id.empty()) {
      layers->fail("layers have their own sizes: leave out the model " + model_id);
    }
    check_order(root);
    read_layers(*layers, iteration);
  } else {
    const auto named = root.find("model");
    if (model_id.empty() && !named) {
      root.fail("does not name its model, expected the key model, or say it: --model ID");
    }
    const Model model = build_model(model_id.empty() ? named->as_string() : model_id);
    read_ready(ready->value, ready->unit_ns, model, iteration);
    add_remainder(root, iteration);
    imported.notes = order_notes(model, iteration);
  }
  imported.user_model = measured_model(iteration, root.where());
  return imported;
}

}  // namespace mergewise
