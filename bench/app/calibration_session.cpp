// SPDX-License-Identifier: Apache-2.0
#include "bench/app/calibration_session.hpp"

#include "bench/app/calibration_facts.hpp"
#include "bench/app/case_set.hpp"
#include "bench/app/compressors.hpp"
#include "bench/app/ending.hpp"
#include "bench/app/progress.hpp"
#include "bench/app/rank_group.hpp"
#include "bench/app/stop_signals.hpp"
#include "bench/app/utc_now.hpp"
#include "bench/app/workload_compute.hpp"
#include "bench/core/text.hpp"
#include "bench/device/host/host_device.hpp"
#include "bench/replay/compute_load.hpp"
#include "bench/replay/exchange.hpp"
#include "bench/result/environment.hpp"
#include "kernels/compute/gemm_compute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

namespace mergewise {
namespace {

constexpr int kRounds = 7;
constexpr int kMostRepetitions = 50;
constexpr int kMostPasses = 5;
// Parts of the budget; compressors and collectives share what is left.
constexpr double kLayersPart = 0.2;
constexpr double kCopiesPart = 0.05;

std::string seconds(Nanoseconds time) { return fmt::format("{:.3g} s", time / 1e9); }

// What one calibration does on this rank. Collective over the control plane.
class CalibrationSession {
 public:
  CalibrationSession(const CalibrationRequest& request, ControlPlane& control);

  void connect(const NetworkOptions& network);
  // Measures; false when a stop was requested. What is finished is in the record.
  [[nodiscard]] bool measure();
  // Rank 0: the profile, where there is one, and the record.
  void write(bool complete);
  [[nodiscard]] const CalibrationRecord& record() const { return record_; }

 private:
  [[nodiscard]] bool find_layer_times();
  [[nodiscard]] int measure_layer_times(Workload& workload);
  [[nodiscard]] bool measure_copies();
  [[nodiscard]] bool measure_compressors(double parts);
  [[nodiscard]] bool measure_collective(Collective collective, Nanoseconds budget);
  void keep_calibrations();
  [[nodiscard]] CalibrationSettings settings(const std::string& what, Bytes largest,
                                             Nanoseconds budget);
  void note_left_out(const std::string& what, const MeasuredCosts& measured);
  void announce(const std::string& phase);
  [[nodiscard]] bool stopped();
  [[nodiscard]] Nanoseconds left() const {
    return std::max(request_.budget_ns - static_cast<double>(now() - started_), 1e6);
  }

  const CalibrationRequest& request_;
  ControlPlane& control_;
  std::unique_ptr<Device> device_;
  Progress progress_;
  Stamp started_;
  RankGroup group_;
  std::optional<Workload> workload_;  // once its times are known
  CostModel copies_;
  CalibrationRecord record_;
};

CalibrationSession::CalibrationSession(const CalibrationRequest& request, ControlPlane& control)
    : request_(request),
      control_(control),
      device_(make_host_device()),
      progress_(control.rank() == 0),
      started_(now()) {
  record_.name = request.workload ? request.workload->name : "collectives";
  record_.started = utc_now();
  record_.environment = capture_environment();
  record_.ranks = control.size();
  record_.seed = request.seed;
  record_.budget_ns = request.budget_ns;
  record_.largest = request.largest;
  record_.device = device_->description();
  record_.link = request.link;
}

void CalibrationSession::connect(const NetworkOptions& network) {
  announce(fmt::format("connecting {}", counted(control_.size(), "rank")));
  group_ = connect_group(control_, control_.size(), network, request_.link);
  record_.communicator = group_.communicator()->description();
  record_.link_gbps = group_.link_gbps;
}

bool CalibrationSession::measure() {
  auto ahead = static_cast<double>(request_.collectives.size());
  const auto compressors = static_cast<double>(request_.compressors.size());
  if (!find_layer_times() || !measure_copies() || !measure_compressors(ahead + compressors)) {
    return false;
  }
  if (control_.size() == 1) {
    record_.notes.emplace_back("a single rank communicates nothing: start more with --ranks");
    return true;
  }
  const auto& variants = request_.variants;
  if (std::find(variants.begin(), variants.end(), CostVariant::kBesideCompute) != variants.end()) {
    record_.load = ComputeLoad::description();
    if (request_.workload && !request_.measure_layers) {
      record_.notes.push_back(fmt::format(
          "a replay with these layer times would only hold them, which is no load: beside_compute "
          "was measured beside real work all the same ({})",
          record_.load));
    }
  }
  for (const Collective collective : request_.collectives) {
    if (!measure_collective(collective, left() / ahead)) return false;
    ahead -= 1;
    write(false);
  }
  return true;
}

bool CalibrationSession::find_layer_times() {
  if (!request_.workload) return true;
  Workload workload = *request_.workload;
  int passes = 0;
  if (request_.measure_layers) {
    passes = measure_layer_times(workload);
    if (stopped()) return false;
  }
  record_.layers = LayerRecord{name_of(workload.times), workload.times_from, workload.forward_ns,
                               workload.backward_ns(), passes};
  workload_ = std::move(workload);
  return true;
}

// Returns how many passes counted. One shows what a pass takes; then as many as fit.
int CalibrationSession::measure_layer_times(Workload& workload) {
  announce(fmt::format("{}: measuring its layers on {}", workload.name,
                       counted(control_.size(), "rank")));
  std::vector<Bytes> bytes;
  Bytes gradients = 0;
  for (const WorkloadTensor& tensor : workload.tensors) {
    bytes.push_back(tensor.bytes);
    gradients += tensor.bytes;
  }
  check_gemm_memory(workload.layers, gradients, control_.single_host() ? control_.size() : 1);
  control_.barrier();  // all have looked at the free memory before one takes it
  const auto compute = make_compute(workload, false);
  Replayer replayer(*device_, *group_.communicator(), *compute, bytes, Buffers::kSlice, {},
                    make_iteration(workload, false, 1));
  use_measured_times(workload, measure_layers(control_, &replayer, 1));
  const Nanoseconds pass = workload.forward_ns + workload.backward_ns();
  const Nanoseconds budget = request_.budget_ns * kLayersPart - 2 * pass;
  const int passes = static_cast<int>(std::clamp(budget / pass - 1, 0.0, double{kMostPasses}));
  if (passes < 2) {
    record_.notes.push_back(fmt::format(
        "a pass of {} takes {} here, so its layer times are those of a single one: give more "
        "time with --budget or a smaller --batch",
        workload.name, human_time(pass)));
    return 1;
  }
  use_measured_times(workload, measure_layers(control_, &replayer, passes));
  return passes;
}

bool CalibrationSession::measure_copies() {
  announce(fmt::format("measuring copies on {}", counted(control_.size(), "rank")));
  const MeasuredCosts measured =
      calibrate_copy(control_, device_.get(),
                     settings("copies", request_.largest, request_.budget_ns * kCopiesPart));
  note_left_out("copies", measured);
  if (!measured.variants.front().points.empty()) {
    auto [copies, cost] = describe_local("copy", measured.variants.front());
    copies.profile = record_.name;
    record_.copies = std::move(copies);
    copies_ = std::move(cost);
  }
  return !measured.stopped;
}

// `parts` share what is left of the budget.
bool CalibrationSession::measure_compressors(double parts) {
  for (const ChoiceConfig& choice : request_.compressors) {
    const std::string label = label_of(choice);
    announce(fmt::format("calibrating {} on {}", label, counted(control_.size(), "rank")));
    const CompressorCosts measured = calibrate_group_compressor(
        group_, control_, *device_, settings(label, request_.largest, left() / parts), choice,
        request_.seed);
    keep_calibrations();
    note_left_out("compress " + label, measured.compress);
    note_left_out("decompress " + label, measured.decompress);
    if (measured.compress.stopped || measured.decompress.stopped) return false;
    parts -= 1;
    write(false);
  }
  return true;
}

void CalibrationSession::keep_calibrations() {
  record_.calibrations = group_.calibrations;
  for (Calibration& calibration : record_.calibrations) calibration.profile = record_.name;
}

bool CalibrationSession::measure_collective(Collective collective, Nanoseconds budget) {
  const std::string name = name_of(collective);
  announce(fmt::format("calibrating {} on {}", name, counted(control_.size(), "rank")));
  const Bytes largest =
      collective == Collective::kAllGather ? request_.largest / control_.size() : request_.largest;
  const MeasuredCosts measured =
      calibrate_group(group_, control_, *device_, settings(name, largest, budget), collective);
  keep_calibrations();
  note_left_out(name, measured);
  return !measured.stopped;
}

CalibrationSettings CalibrationSession::settings(const std::string& what, Bytes largest,
                                                 Nanoseconds budget) {
  CalibrationSettings settings;
  settings.sizes = dense_calibration_sizes(largest);
  settings.variants = request_.variants;
  settings.rounds = kRounds;
  settings.most_repetitions = kMostRepetitions;
  settings.budget_ns = budget;
  settings.seed = request_.seed;
  settings.stop_requested = stop_requested;
  settings.observe = [this, what](Bytes bytes, CostVariant variant, int round) {
    const std::string stage =
        round < 0 ? "estimating" : fmt::format("round {} of {}", round + 1, kRounds);
    progress_.show(fmt::format("measuring {}, {}", what, stage),
                   fmt::format("{}, {}", human_bytes(bytes), name_of(variant)), left());
  };
  return settings;
}

void CalibrationSession::note_left_out(const std::string& what, const MeasuredCosts& measured) {
  for (const MeasuredVariant& variant : measured.variants) {
    if (!variant.left_out.empty()) {
      record_.notes.push_back(fmt::format(
          "{} {}: sizes from {} to {} were left out, the budget of {} has no time for them: give "
          "more with --budget",
          what, name_of(variant.variant), human_bytes(variant.left_out.front()),
          human_bytes(variant.left_out.back()), seconds(request_.budget_ns)));
    } else if (variant.points.empty() && !measured.stopped) {
      record_.notes.push_back(fmt::format("{} {}: the budget of {} had no time to measure it", what,
                                          name_of(variant.variant), seconds(request_.budget_ns)));
    }
  }
}

void CalibrationSession::announce(const std::string& phase) {
  control_.set_phase(phase);
  progress_.show(phase, "", left());
}

bool CalibrationSession::stopped() {
  const std::vector<char> mine{static_cast<char>(stop_requested() ? 1 : 0)};
  const auto all = control_.all_gather(to_bytes(mine));
  return std::any_of(all.begin(), all.end(),
                     [](const std::string& rank) { return from_bytes<char>(rank)[0] != 0; });
}

void CalibrationSession::write(bool complete) {
  record_.complete = complete;
  if (control_.rank() != 0) return;
  if (workload_) {
    Profile profile = make_profile(*workload_, control_.size(), group_.costs);
    if (request_.copies_in_profile) profile.pack = profile.unpack = copies_;
    for (const ChoiceConfig& choice : request_.compressors) {
      const auto found = group_.compressors.find(label_of(choice));
      if (found != group_.compressors.end()) profile.compressors[choice.id] = found->second;
    }
    write_file(request_.out, to_json(profile).dump(2) + "\n");
    record_.profile = request_.out.string();
  }
  write_file(record_file(request_.out), to_json(record_).dump(2) + "\n");
  progress_.end_line();
}

void print(const CalibrationRequest& request, const CalibrationRecord& record) {
  if (request.format == "json") {
    fmt::print("{}\n", to_json(record).dump(2));
    return;
  }
  fmt::print("{}\n", calibration_text(record));
  if (!record.profile.empty()) {
    fmt::print("Profile: {} (mergewise plan --profile reads it)\n", record.profile);
  } else {
    fmt::print("Profile: none, it needs a network: --model ID --batch N, or --file MODEL\n");
  }
  fmt::print("Record:  {}\n", record_file(request.out).string());
}

}  // namespace

std::filesystem::path record_file(const std::filesystem::path& profile) {
  std::filesystem::path file = profile;
  return file.replace_filename(profile.stem().string() + ".calibration.json");
}

ExitCode run_calibration(const CalibrationRequest& request, const RankIdentity& identity,
                         const Rendezvous& rendezvous, const NetworkOptions& network,
                         bool local_launch) {
  Ending ending(identity.rank, local_launch);
  const auto control = ControlPlane::connect(
      identity, rendezvous, network, [&](const std::string& verdict) { ending.fail(verdict); });
  CalibrationRecord record;
  bool finished = false;
  try {
    // The session ends before the control plane says goodbye.
    CalibrationSession session(request, *control);
    session.connect(network);
    finished = session.measure();
    session.write(finished);
    record = session.record();
  } catch (const std::exception& error) {
    ending.fail(control->report_failure(error.what()));
  }
  if (identity.rank != 0) return finished ? ExitCode::kOk : ExitCode::kRunFailed;
  if (!finished) {
    fmt::print(stderr, "mergewise: stopped by a signal; what was measured is in {}\n",
               record_file(request.out).string());
    return ExitCode::kRunFailed;
  }
  print(request, record);
  return ExitCode::kOk;
}

}  // namespace mergewise
