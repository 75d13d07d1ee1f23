// SPDX-License-Identifier: Apache-2.0
// One rank for the fault tests: meets the others, reduces over Gloo until something fails, says
// what, and exits as the real program would.
//   collective_rank RANK SIZE RENDEZVOUS DEADLINE_SECONDS reduce|idle|finish
#include "bench/collective/communicator.hpp"
#include "bench/collective/control_plane.hpp"
#include "bench/collective/gloo/gloo_communicator.hpp"
#include "bench/core/error.hpp"
#include "bench/device/host/host_device.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace mergewise {
namespace {

/// One write, so that nothing is left in a buffer when the process ends at once.
void say(const std::string& line) {
  const std::string text = line + "\n";
  if (write(STDOUT_FILENO, text.data(), text.size()) < 0) std::abort();
}

/// All-reduces, each a group, until one fails; says "ready" once the first is done.
void reduce_for_ever(ControlPlane& control, const NetworkOptions& network) {
  const auto device = make_host_device();
  const auto communicator = make_gloo_communicator(control, control.size(), network);
  const auto stream = device->create_stream(StreamRole::kCommunication);
  std::vector<float> data(100'000, 0.0F);
  for (std::int64_t group = 0;; group = (group + 1) % 50) {
    control.set_group(group);
    communicator->all_reduce(data.data(), data.size(), *stream);
    stream->synchronize();
    if (group == 0) say("ready");
  }
}

void act(ControlPlane& control, const std::string& mode, const NetworkOptions& network) {
  control.set_phase("test / " + mode);
  control.barrier();
  if (mode == "reduce") reduce_for_ever(control, network);
  say("ready");
  if (mode == "finish") return;
  // Idle: in no collective at all, until a verdict or the end of the input.
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

int run(int argc, char** argv) {
  if (argc != 6) return 2;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const RankIdentity identity{std::stoi(words[0]), std::stoi(words[1]), 0, "flags"};
  const NetworkOptions network{"", "127.0.0.1", std::stod(words[3]) * 1e9};
  const auto control = ControlPlane::connect(identity, parse_rendezvous(words[2]), network,
                                             [](const std::string& verdict) {
                                               say("verdict: " + verdict);
                                               _exit(3);
                                             });
  try {
    act(*control, words[4], network);
  } catch (const std::exception& error) {
    say("verdict: " + control->report_failure(error.what()));
    _exit(3);
  }
  say("finished");
  return 0;
}

}  // namespace
}  // namespace mergewise

int main(int argc, char** argv) {
  try {
    return mergewise::run(argc, argv);
  } catch (const mergewise::Error& error) {
    mergewise::say(std::string("error: ") + error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    mergewise::say(std::string("error: ") + error.what());
    return 1;
  }
}
