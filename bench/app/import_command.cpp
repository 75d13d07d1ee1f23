// SPDX-License-Identifier: Apache-2.0
// `mergewise import`: a user's model from times that were measured elsewhere.
#include "bench/app/commands.hpp"
#include "bench/app/output.hpp"
#include "bench/result/result.hpp"
#include "workloads/timings.hpp"
#include "workloads/torch_trace.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

namespace mergewise {
namespace {

constexpr const char* kTraceFooter =
    "Record the trace in your training, some steps after its start:\n"
    "  from torch.profiler import ProfilerActivity, profile, schedule\n"
    "  with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,\n"
    "               schedule=schedule(wait=1, warmup=2, active=5),\n"
    "               on_trace_ready=lambda p: p.export_chrome_trace(\"trace.json\")) as p:\n"
    "      for batch in ...:\n"
    "          ...  # one training step\n"
    "          p.step()\n"
    "and then: mergewise import torch-trace trace.json -o my_model.yaml\n"
    "The model serves in a run config as {file: my_model.yaml}. with_stack=True names tensors\n"
    "after their modules. Ready times are those of the device where there is one. One rank alone,\n"
    "without DistributedDataParallel, gives the best times: nothing interferes with them.";

constexpr const char* kTimingsFooter =
    "Two kinds of file, with name, batch_size, forward_us (or _ms, _ns) and\n"
    "  \"layers\": [{\"parameters\": 9472, \"backward_us\": 15143.7}, ...]  in definition order, "
    "or\n"
    "  \"model\": \"resnet50\", \"ready_ms\": {\"fc.bias\": 1.69, ...}  from the start of the "
    "backward pass\n"
    "                 until each gradient was complete, for every tensor of a built-in model.";

struct Arguments {
  std::string file;
  std::string name;        // of the model; torch-trace only
  std::int64_t batch = 0;  // torch-trace only
  std::string model;       // id of a built-in network; timings only
  std::string out;
};

void print_summary(const ImportedModel& imported) {
  const Workload& workload = imported.user_model.workload;
  fmt::print(stderr, "{}: {} tensors, {} parameters, batch {}, forward {}, backward {}\nfrom: {}\n",
             workload.name, workload.tensors.size(), imported.user_model.model.total_parameters(),
             workload.batch, human_time(workload.forward_ns), human_time(workload.backward_ns()),
             workload.times_from);
  for (const std::string& note : imported.notes) fmt::print(stderr, "note: {}\n", note);
}

// Before minutes of reading, not after.
void check_output(const Arguments& arguments) {
  std::error_code ignored;
  if (std::filesystem::equivalent(arguments.file, arguments.out, ignored)) {
    throw InputError(
        fmt::format("--output {} is the file to read, expected another", arguments.out));
  }
  if (arguments.out != "-") check_output_file(arguments.out, "--output");
}

ExitCode deliver(const ImportedModel& imported, const std::string& out) {
  const std::string yaml = user_model_yaml(imported.user_model);
  if (out.empty() || out == "-") {
    fmt::print("{}", yaml);
  } else {
    write_file(out, yaml);
  }
  print_summary(imported);
  return ExitCode::kOk;
}

CLI::App* add_kind(CLI::App& import, const std::string& name, const std::string& description,
                   const std::shared_ptr<Arguments>& arguments) {
  auto* command = import.add_subcommand(name, description);
  command->add_option("FILE", arguments->file, "The file to read")->required();
  command->add_option("-o,--output", arguments->out,
                      "Where to write the model (YAML); default, and -: to standard output");
  return command;
}

}  // namespace

void add_import_command(CLI::App& app, Action& action) {
  auto* import = app.add_subcommand(
      "import", "Make a model file from measured times: a PyTorch trace, or published timings");
  import->require_subcommand(1);
  const auto arguments = std::make_shared<Arguments>();
  auto* trace = add_kind(*import, "torch-trace",
                         "From a Chrome trace that torch.profiler wrote, with shapes", arguments);
  trace->add_option("--name", arguments->name, "The model's name (default: the file's)");
  trace->add_option("--batch", arguments->batch, "Samples in a step, where the trace does not tell")
      ->check(CLI::Range(std::int64_t{1}, kMaxBatch));
  trace->footer(kTraceFooter);
  trace->callback([&action, arguments] {
    action = [arguments] {
      check_output(*arguments);
      return deliver(import_torch_trace(arguments->file, {arguments->name, arguments->batch}),
                     arguments->out);
    };
  });
  auto* timings = add_kind(*import, "timings",
                           "From JSON with the backward time of each layer or tensor", arguments);
  timings->add_option("--model", arguments->model,
                      "The built-in model whose tensors became ready (default: the file's)");
  timings->footer(kTimingsFooter);
  timings->callback([&action, arguments] {
    action = [arguments] {
      check_output(*arguments);
      return deliver(import_timings(arguments->file, arguments->model), arguments->out);
    };
  });
}

}  // namespace mergewise
