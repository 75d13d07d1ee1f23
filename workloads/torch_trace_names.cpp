// SPDX-License-Identifier: Apache-2.0
#include "workloads/torch_trace_names.hpp"

#include <cctype>
#include <map>
#include <set>
#include <string_view>

namespace mergewise::detail {
namespace {

/// "void at::SomeFunctionBackward0" -> "SomeFunction".
std::string_view bare_name(std::string_view function) {
  if (const auto scope = function.rfind("::"); scope != std::string_view::npos) {
    function.remove_prefix(scope + 2);
  }
  const auto last_letter = function.find_last_not_of("0123456789");
  const std::string_view text = function.substr(0, last_letter + 1);
  constexpr std::string_view kBackward = "Backward";
  return text.ends_with(kBackward) && text.size() > kBackward.size()
             ? text.substr(0, text.size() - kBackward.size())
             : function;
}

/// Only passes a gradient on in another form: a linear layer's weight is transposed.
bool passes_on(std::string_view function) {
  static const std::set<std::string_view> kForms{
      "T",      "Transpose", "Permute",      "View",  "UnsafeView", "Reshape",
      "Expand", "ToCopy",    "ReshapeAlias", "Clone", "Slice"};
  return kForms.contains(bare_name(function));
}

std::string snake_case(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto letter = static_cast<unsigned char>(name[i]);
    if (std::isalnum(letter) == 0) {
      if (!text.empty() && text.back() != '_') text += '_';
      continue;
    }
    const bool starts_word = std::isupper(letter) != 0 && i > 0 &&
                             std::isupper(static_cast<unsigned char>(name[i - 1])) == 0;
    if (starts_word && !text.empty() && text.back() != '_') text += '_';
    text += static_cast<char>(std::tolower(letter));
  }
  return text.empty() ? "function" : text;
}

std::string operation_of(std::string_view function) {
  std::string_view name = bare_name(function);
  for (const std::string_view maker : {"Native", "Cudnn", "Miopen", "Mkldnn", "Thnn", "Slow"}) {
    if (name.starts_with(maker)) name.remove_prefix(maker.size());
  }
  if (name.starts_with("Conv") && !name.starts_with("Convert")) return "conv";
  if (name == "Addmm" || name == "Mm" || name == "Linear") return "linear";
  return name.starts_with("Embedding") ? "embedding" : snake_case(name);
}

/// The function whose work the gradient is: the last one before it that is more than a view.
const TraceOp* producer_of(const TraceEvents& events, const TracePass& pass,
                           const TraceOp& gradient) {
  const TraceOp* producer = nullptr;
  const TraceOp* last = nullptr;
  for (const TraceOp* node : pass.nodes) {
    if (node->start > gradient.start) break;
    if (node->thread != gradient.thread) continue;
    last = node;
    if (!passes_on(events.name_of(*node))) producer = node;
  }
  return producer != nullptr ? producer : last;
}

const TraceOp* module_around(const TraceEvents& events, const TracePass& pass,
                             const TraceOp& producer) {
  if (events.modules.empty()) return nullptr;
  const TraceOp* maker = maker_of(pass, producer.sequence);
  if (maker == nullptr) return nullptr;
  const TraceOp* innermost = nullptr;
  for (const TraceOp& module : events.modules) {
    if (module.start > maker->start) break;
    if (module.contains(*maker)) innermost = &module;
  }
  return innermost;
}

/// A norm's weight comes before its bias; others with one dimension are biases where the operation
/// has any.
const char* role_of(const std::string& operation, std::size_t rank, bool first) {
  if (rank > 1) return "weight";
  if (operation.ends_with("norm")) return first ? "weight" : "bias";
  return operation == "conv" || operation == "linear" || operation == "add" ? "bias" : "weight";
}

}  // namespace

std::vector<ParameterName> parameter_names(const TraceEvents& events, const TracePass& pass) {
  std::map<const TraceOp*, std::string> layers;  // by producer
  std::map<std::string, int> counts;
  std::vector<const TraceOp*> producers;
  for (const TraceOp* gradient : pass.gradients) {
    producers.push_back(producer_of(events, pass, *gradient));
  }
  // The backward pass meets the operations in reverse forward order.
  for (auto producer = producers.rbegin(); producer != producers.rend(); ++producer) {
    if (*producer == nullptr || layers.contains(*producer)) continue;
    const TraceOp* module = module_around(events, pass, **producer);
    const std::string operation = operation_of(events.name_of(**producer));
    layers[*producer] = module != nullptr ? events.name_of(*module)
                                          : operation + "_" + std::to_string(++counts[operation]);
  }
  std::vector<ParameterName> names;
  std::set<std::string> used;
  const TraceOp* before = nullptr;
  for (std::size_t i = 0; i < producers.size(); ++i) {
    const TraceOp* producer = producers[i];
    const std::string layer = producer != nullptr ? layers[producer] : "parameter";
    const std::string operation =
        producer != nullptr ? operation_of(events.name_of(*producer)) : "";
    const std::size_t rank = events.inputs_of(*pass.gradients[i]).front().size();
    const std::string base = layer + "." + role_of(operation, rank, producer != before);
    std::string name = base;
    for (int copy = 2; !used.insert(name).second; ++copy) name = base + "_" + std::to_string(copy);
    names.push_back({name, layer});
    before = producer;
  }
  return names;
}

}  // namespace mergewise::detail
