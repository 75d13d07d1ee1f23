// SPDX-License-Identifier: Apache-2.0
// A stream reader: keeps a few numbers of the events that matter and forgets the rest, since traces
// have hundreds of megabytes.
#include "workloads/torch_trace_events.hpp"

#include "bench/core/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

namespace mergewise::detail {
namespace {

constexpr std::string_view kGradient = "torch::autograd::AccumulateGrad";
constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function";
constexpr std::string_view kModule = "nn.Module: ";

/// The parts of an event that are kept.
enum class Field {
  kNone,
  kPhase,
  kCategory,
  kName,
  kThread,
  kStart,
  kDuration,
  kArguments,
  kSequence,
  kForwardThread,
  kShapes,
  kTypes,
  kCorrelation,
  kStream,
  kDevice
};

Field event_field(std::string_view key) {
  if (key == "ph") return Field::kPhase;
  if (key == "cat") return Field::kCategory;
  if (key == "name") return Field::kName;
  if (key == "tid") return Field::kThread;
  if (key == "ts") return Field::kStart;
  if (key == "dur") return Field::kDuration;
  return key == "args" ? Field::kArguments : Field::kNone;
}

Field argument_field(std::string_view key) {
  if (key == "Sequence number") return Field::kSequence;
  if (key == "Fwd thread id") return Field::kForwardThread;
  if (key == "Input Dims" || key == "Input dims") return Field::kShapes;
  if (key == "Input type") return Field::kTypes;
  if (key == "correlation") return Field::kCorrelation;
  if (key == "stream") return Field::kStream;
  return key == "device" ? Field::kDevice : Field::kNone;
}

struct Event {
  std::string phase;
  std::string category;
  std::string name;
  std::string type;
  std::int64_t thread = 0;
  double start_us = 0;
  double duration_us = 0;
  std::int64_t sequence = -1;
  std::int64_t forward_thread = 0;
  std::int64_t correlation = -1;
  std::int64_t stream = 0;
  std::int64_t device = 0;
  std::vector<std::int64_t> shapes;  // rank and sizes of each
  std::int64_t shape_count = 0;

  void clear() {
    phase.clear();
    category.clear();
    name.clear();
    type.clear();
    shapes.clear();
    thread = forward_thread = stream = device = shape_count = 0;
    start_us = duration_us = 0;
    sequence = correlation = -1;
  }
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// NCCL's, Gloo's and torch.distributed's operations, annotations and kernels.
bool is_collective(std::string_view name) {
  return contains(name, "nccl") || contains(name, "rccl") || contains(name, "gloo:") ||
         contains(name, "c10d::");
}

/// Sorts finished events into the lists.
class Collector {
 public:
  Collector() { static_cast<void>(index_of("")); }

  void add(const Event& event) {
    if (event.phase != "X") return;
    ++events_.complete_events;
    const std::string& category = event.category;
    const bool collective = is_collective(event.name);
    events_.collectives = events_.collectives || collective;
    if (category.empty() || category == "cpu_op" || category == "Operator") {
      add_operation(event);
    } else if (category == "python_function") {
      if (event.name.starts_with(kModule)) {
        events_.modules.push_back(
            op_of(event, std::string_view(event.name).substr(kModule.size())));
      }
    } else if (category == "Runtime" || category.ends_with("_runtime") ||
               category.ends_with("_driver")) {
      events_.launches.push_back({event.correlation, nanoseconds(event.start_us)});
    } else {
      const bool kernel = category == "kernel" || category == "Kernel";
      if (kernel || category == "gpu_memcpy" || category == "gpu_memset" || category == "Memcpy" ||
          category == "Memset") {
        const Nanoseconds start = nanoseconds(event.start_us);
        events_.work.push_back({start, start + 1e3 * event.duration_us, event.correlation,
                                event.device, event.stream, kernel, collective});
      }
    }
  }

  TraceEvents finish() {
    const auto earlier = [](const auto& a, const auto& b) { return a.start < b.start; };
    for (auto* list : {&events_.forward, &events_.nodes, &events_.gradients, &events_.modules}) {
      std::stable_sort(list->begin(), list->end(), earlier);
    }
    std::stable_sort(events_.work.begin(), events_.work.end(), earlier);
    std::stable_sort(events_.launches.begin(), events_.launches.end(),
                     [](const auto& a, const auto& b) { return a.correlation < b.correlation; });
    return std::move(events_);
  }

 private:
  void add_operation(const Event& event) {
    if (event.name == kGradient) {
      events_.gradients.push_back(op_of(event, event.name));
    } else if (event.name.starts_with(kEvaluate) || event.sequence < 0) {
      return;
    } else if (event.forward_thread > 0) {
      events_.nodes.push_back(op_of(event, event.name));
    } else {
      events_.forward.push_back(op_of(event, event.name));
    }
  }

  TraceOp op_of(const Event& event, std::string_view name) {
    const Nanoseconds start = nanoseconds(event.start_us);
    TraceOp op{start,
               start + 1e3 * event.duration_us,
               event.thread,
               event.sequence,
               index_of(name),
               index_of(event.type),
               events_.shapes.size()};
    events_.shapes.push_back(event.shape_count);
    events_.shapes.insert(events_.shapes.end(), event.shapes.begin(), event.shapes.end());
    return op;
  }

  // Microseconds since 1970 are too large for a double of nanoseconds.
  Nanoseconds nanoseconds(double start_us) {
    if (!origin_us_) origin_us_ = start_us;
    return 1e3 * (start_us - *origin_us_);
  }

  std::uint32_t index_of(std::string_view name) {
    const auto [entry, is_new] =
        indices_.try_emplace(std::string(name), static_cast<std::uint32_t>(indices_.size()));
    if (is_new) events_.names.emplace_back(name);
    return entry->second;
  }

  TraceEvents events_;
  std::unordered_map<std::string, std::uint32_t> indices_;
  std::optional<double> origin_us_;
};

/// nlohmann's SAX interface: the events are the objects in the list "traceEvents", or in the list
/// that is the whole file.
class TraceReader {
 public:
  bool null() { return true; }
  bool boolean(bool /*value*/) { return true; }
  bool number_integer(std::int64_t value) { return number(static_cast<double>(value), value); }
  bool number_unsigned(std::uint64_t value) {
    return number(static_cast<double>(value), static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string& /*text*/) {
    return number(value, std::abs(value) < 9e18 ? static_cast<std::int64_t>(value) : 0);
  }
  bool string(std::string& text);
  static bool binary(nlohmann::json::binary_t& /*value*/) { return true; }
  bool start_object(std::size_t /*size*/) { return open(false); }
  bool key(std::string& text);
  bool end_object();
  bool start_array(std::size_t /*size*/) { return open(true); }
  bool end_array();
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& error) {
    error_position_ = position;
    error_ = error.what();
    return false;
  }

  [[nodiscard]] bool found_events() const { return found_events_; }
  [[nodiscard]] std::size_t error_position() const { return error_position_; }
  [[nodiscard]] const std::string& error() const { return error_; }
  TraceEvents finish() { return collector_.finish(); }

 private:
  [[nodiscard]] bool in_event() const { return events_depth_ > 0 && depth_ == events_depth_ + 1; }
  [[nodiscard]] bool in_arguments() const {
    return events_depth_ > 0 && depth_ == events_depth_ + 2 && event_key_ == Field::kArguments;
  }
  // How many lists lie around what comes next, if it is part of this argument.
  [[nodiscard]] std::size_t lists_in(Field argument) const {
    const bool inside = events_depth_ > 0 && depth_ > events_depth_ + 2 &&
                        event_key_ == Field::kArguments && argument_key_ == argument;
    return inside ? depth_ - events_depth_ - 2 : 0;
  }

  bool open(bool list) {
    const bool events_list =
        events_depth_ == 0 && list && (depth_ == 0 || (depth_ == 1 && at_events_));
    if (events_depth_ > 0 && depth_ == events_depth_) event_.clear();
    if (in_event() && event_key_ == Field::kArguments) argument_key_ = Field::kNone;
    ++depth_;
    if (events_list) {
      events_depth_ = depth_;
      found_events_ = true;
    }
    if (list && lists_in(Field::kShapes) == 2) {
      ++event_.shape_count;
      rank_at_ = event_.shapes.size();
      event_.shapes.push_back(0);
    }
    return true;
  }

  bool number(double value, std::int64_t integer);

  Collector collector_;
  Event event_;
  std::size_t depth_ = 0;         // open lists and objects
  std::size_t events_depth_ = 0;  // what depth_ is between two events; 0 outside of their list
  bool at_events_ = false;
  bool found_events_ = false;
  Field event_key_ = Field::kNone;
  Field argument_key_ = Field::kNone;
  std::size_t rank_at_ = 0;
  std::size_t error_position_ = 0;
  std::string error_;
};

bool TraceReader::key(std::string& text) {
  if (in_event()) {
    event_key_ = event_field(text);
  } else if (in_arguments()) {
    argument_key_ = argument_field(text);
  } else if (depth_ == 1) {
    at_events_ = text == "traceEvents";
  }
  return true;
}

bool TraceReader::end_object() {
  --depth_;
  if (events_depth_ > 0 && depth_ == events_depth_) {
    collector_.add(event_);
    event_key_ = Field::kNone;
  }
  return true;
}

bool TraceReader::end_array() {
  if (depth_ == events_depth_) events_depth_ = 0;
  --depth_;
  return true;
}

bool TraceReader::number(double value, std::int64_t integer) {
  if (in_event()) {
    if (event_key_ == Field::kStart) event_.start_us = value;
    if (event_key_ == Field::kDuration) event_.duration_us = std::max(value, 0.0);
    if (event_key_ == Field::kThread) event_.thread = integer;
  } else if (in_arguments()) {
    if (argument_key_ == Field::kSequence) event_.sequence = integer;
    if (argument_key_ == Field::kForwardThread) event_.forward_thread = integer;
    if (argument_key_ == Field::kCorrelation) event_.correlation = integer;
    if (argument_key_ == Field::kStream) event_.stream = integer;
    if (argument_key_ == Field::kDevice) event_.device = integer;
  } else if (lists_in(Field::kShapes) == 2) {
    ++event_.shapes[rank_at_];
    event_.shapes.push_back(integer);
  }
  return true;
}

bool TraceReader::string(std::string& text) {
  const bool is_text =
      event_key_ == Field::kPhase || event_key_ == Field::kCategory || event_key_ == Field::kName;
  if (in_event() && is_text) {
    (event_key_ == Field::kPhase      ? event_.phase
     : event_key_ == Field::kCategory ? event_.category
                                      : event_.name) = std::move(text);
  } else if ((in_event() && event_key_ == Field::kThread) ||
             (in_arguments() && argument_key_ != Field::kNone)) {
    // Some versions write numbers as texts.
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size()) {
      return number_float(value, text);
    }
  } else if (lists_in(Field::kTypes) == 1 && event_.type.empty()) {
    event_.type = std::move(text);
  }
  return true;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

std::vector<std::vector<std::int64_t>> TraceEvents::inputs_of(const TraceOp& op) const {
  std::vector<std::vector<std::int64_t>> inputs(static_cast<std::size_t>(shapes[op.inputs]));
  std::size_t at = op.inputs + 1;
  for (auto& input : inputs) {
    for (std::int64_t rank = shapes[at++]; rank > 0; --rank) input.push_back(shapes[at++]);
  }
  return inputs;
}

TraceEvents read_trace_events(const std::filesystem::path& path) {
  const std::string file = path.string();
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  const std::unique_ptr<std::FILE, CloseFile> stream(std::fopen(file.c_str(), "rb"));
  if (failed || !stream) {
    throw InputError(file + ": cannot be read, expected a trace file (is the path right?)");
  }
  if (size == 0) throw InputError(file + ": is empty, expected a trace");
  const int first = std::fgetc(stream.get());
  const int second = std::fgetc(stream.get());
  if (first == 0x1f && second == 0x8b) {
    throw InputError(file + ": is compressed, decompress it first: gunzip -k " + file);
  }
  std::rewind(stream.get());
  TraceReader reader;
  if (!nlohmann::json::sax_parse(stream.get(), &reader)) {
    if (reader.error_position() >= size) {
      throw InputError(fmt::format(
          "{}: ends in the middle, at byte {}: the recording or its copy was cut off", file, size));
    }
    throw InputError(fmt::format(
        "{}: is no valid JSON (byte {}), expected a Chrome trace written by torch.profiler's "
        "export_chrome_trace()",
        file, reader.error_position()));
  }
  if (!reader.found_events()) {
    throw InputError(file +
                     ": has no list \"traceEvents\", expected a Chrome trace written by "
                     "torch.profiler's export_chrome_trace()");
  }
  return reader.finish();
}

}  // namespace mergewise::detail
