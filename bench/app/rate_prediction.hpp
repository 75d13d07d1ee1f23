// SPDX-License-Identifier: Apache-2.0
// Published throughputs of MG-WFBP predicted from those of one group and of layer by layer.
#pragma once

#include "bench/app/fit_costs.hpp"
#include "bench/app/paper_config.hpp"
#include "bench/app/published_rates.hpp"
#include "bench/app/reproduction.hpp"
#include "bench/cost/profile.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mergewise {

/// One published case with what the model makes of it. Rates are samples/s of all GPUs.
struct RatePrediction {
  PublishedRates published;
  std::string refused{};  ///< why there is no prediction; "" when there is one
  std::optional<CostFit> fit{};
  std::optional<double> authors_plan{};  ///< nothing where the authors' code has no costs
  std::optional<double> fitted_plan{};
  std::optional<double> optimal{};
  std::size_t authors_groups = 0;
  std::size_t fitted_groups = 0;
};

/// The same backward shares at the rate of one GPU; the forward pass takes one third.
[[nodiscard]] Profile compute_at_rate(Profile shares, std::int64_t batch, double samples_per_s);

/// Fits a and b on `single` and `wfbp`, plans with `mg_wfbp` twice: as the authors' code would have
/// (their costs, groups below `min_elements` merge on), and by the paper's rule with the fitted
/// costs; both are timed under the fitted costs, and so is `optimal`.
[[nodiscard]] RatePrediction predict_rate(const PublishedRates& published, const Profile& shares,
                                          const std::optional<LinearCost>& authors,
                                          std::int64_t min_elements);

/// The cases of a table of the reference, at least one, or nothing with the reason why `part` is
/// not run added to `paper.not_run`. `paper.assumptions` gets a sentence each for the cases whose
/// rate of one GPU is not that of their own interconnect, or of a method that is not modelled.
[[nodiscard]] std::optional<PublishedTable> find_published_rates(const PaperInputs& inputs,
                                                                 const std::string& file,
                                                                 const std::string& part,
                                                                 Reproduction& paper);

/// "no solution" and why, for a case without predictions.
[[nodiscard]] RatePrediction refuse_rate(const PublishedRates& published, std::string reason);

/// One row for each case: the fit, then published and predicted rates with their errors. Without
/// the columns of the authors' plan where no case has one.
[[nodiscard]] std::vector<FigureTable> tables_of(const std::vector<RatePrediction>& predictions,
                                                 const std::string& title);

/// Of |predicted / published - 1| over the cases that have both.
struct ErrorSummary {
  std::size_t cases = 0;
  std::size_t published = 0;  ///< rows that were to be predicted
  std::size_t too_high = 0;
  double median = 0;
  double largest = 0;
};
enum class WhichPlan { kAuthors, kFitted };
[[nodiscard]] ErrorSummary errors_of(const std::vector<RatePrediction>& predictions,
                                     WhichPlan plan);
/// "absolute error median 1.2 %, largest 8.9 %, of 11 of 12 rows", or that there is none.
[[nodiscard]] std::string text_of(const ErrorSummary& errors);
/// Which way they are off: "9 of 11 predictions are too high".
[[nodiscard]] std::string direction_of(const ErrorSummary& errors);
/// The claim of the file beside both.
[[nodiscard]] Claim error_claim(const PaperConfig& config, const std::string& key,
                                const std::vector<RatePrediction>& predictions, WhichPlan plan);

}  // namespace mergewise
