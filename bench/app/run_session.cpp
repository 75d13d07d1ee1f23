// SPDX-License-Identifier: Apache-2.0
#include "bench/app/run_session.hpp"

#include "bench/app/ending.hpp"
#include "bench/app/ranking.hpp"
#include "bench/app/result_book.hpp"
#include "bench/app/session.hpp"
#include "bench/app/utc_now.hpp"
#include "bench/collective/control_plane.hpp"
#include "bench/result/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

namespace mergewise {
namespace {

Result base_result(const RunConfig& config) {
  Result result;
  result.name = config.name;
  result.environment = capture_environment();
  result.config = to_json(config);
  result.started = utc_now();
  result.seed = config.seed;
  return result;
}

ExitCode conclude(const ResultBook& book, const std::string& format) {
  const Result result = book.snapshot();
  if (format == "json") {
    fmt::print("{}\n", to_json(result).dump(2));
  } else {
    fmt::print("\n{}Result: {}\nTrace:  {} (open it in https://ui.perfetto.dev)\n",
               ranking(result.cases), book.result_file().string(), book.trace_file().string());
  }
  return exit_code_of(result.cases);
}

[[noreturn]] void end_interrupted(ResultBook* book) {
  if (book != nullptr) {
    const bool saved = book->abandon("stopped by a signal");
    std::fprintf(stderr, "\nmergewise: stopped by a signal; what %s is in %s\n",
                 saved ? "was measured" : "was finished (the rest could not be written)",
                 book->result_file().c_str());
  }
  end_process(ExitCode::kRunFailed);
}

}  // namespace

ExitCode exit_code_of(const std::vector<CaseRecord>& cases) {
  const bool fine = std::all_of(cases.begin(), cases.end(), [](const CaseRecord& record) {
    return record.status == CaseStatus::kOk || record.status == CaseStatus::kSkipped;
  });
  return fine ? ExitCode::kOk : ExitCode::kRunFailed;
}

ExitCode run_session(const RunConfig& config, const std::vector<LoadedWorkload>& workloads,
                     const RankIdentity& identity, const Rendezvous& rendezvous,
                     const NetworkOptions& network, const SessionOptions& options) {
  Ending ending(identity.rank, options.local_launch);
  std::unique_ptr<ResultBook> book;
  if (identity.rank == 0) {
    book = std::make_unique<ResultBook>(options.out, base_result(config));
    ending.use_book(book.get());
  }
  const auto control = ControlPlane::connect(
      identity, rendezvous, network, [&](const std::string& verdict) { ending.fail(verdict); });
  bool finished = false;
  try {
    // The session ends before the control plane says goodbye.
    finished = Session(config, workloads, *control, network, book.get(), options.shortlist).run();
  } catch (const std::exception& error) {
    ending.fail(control->report_failure(error.what()));
  }
  if (!finished) end_interrupted(book.get());
  if (!book) return ExitCode::kOk;
  book->complete();
  return options.conclude ? options.conclude(*book) : conclude(*book, options.format);
}

}  // namespace mergewise
