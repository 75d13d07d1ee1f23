// SPDX-License-Identifier: Apache-2.0
#include "bench/app/rate_prediction.hpp"

#include "bench/core/median.hpp"
#include "bench/core/text.hpp"
#include "bench/plan/timeline.hpp"
#include "bench/strategies/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mergewise {
namespace {

const std::optional<double>& rate_of(const RatePrediction& prediction, WhichPlan plan) {
  return plan == WhichPlan::kAuthors ? prediction.authors_plan : prediction.fitted_plan;
}

std::optional<double> error_of(const RatePrediction& prediction, WhichPlan plan) {
  const auto& rate = rate_of(prediction, plan);
  if (!rate || !prediction.published.mg_wfbp) return std::nullopt;
  return *rate / prediction.published.mg_wfbp->samples_per_s - 1;
}

Cell cell(const std::optional<double>& value, double factor = 1) {
  return value ? Cell(*value * factor) : Cell();
}

std::vector<Cell> case_cells(const PublishedRates& published) {
  return {published.model, published.network, static_cast<double>(published.gpus)};
}

std::vector<Cell> fit_row(const RatePrediction& prediction) {
  std::vector<Cell> row = case_cells(prediction.published);
  if (!prediction.fit) {
    row.insert(row.end(), {Cell(), Cell(), Cell(), Cell(), Cell(), prediction.refused});
    return row;
  }
  const CostFit& fit = *prediction.fit;
  row.insert(row.end(), {fit.line.a_ns / 1e3, fit.line.b_ns_per_byte, 100 * fit.single_error,
                         100 * fit.wfbp_error, cell(fit.amplification),
                         fit.doubts.empty() ? "well posed" : join(fit.doubts, "; ")});
  return row;
}

// The authors' plan is shown where it is known of any case.
std::vector<Cell> rate_row(const RatePrediction& prediction, bool authors) {
  std::vector<Cell> row = case_cells(prediction.published);
  const auto& published = prediction.published.mg_wfbp;
  const auto groups = [](const std::optional<double>& rate, std::size_t count) {
    return rate ? Cell(static_cast<double>(count)) : Cell();
  };
  row.push_back(published ? Cell(published->samples_per_s) : Cell());
  if (authors) {
    row.insert(row.end(), {cell(prediction.authors_plan),
                           cell(error_of(prediction, WhichPlan::kAuthors), 100)});
  }
  row.insert(row.end(),
             {cell(prediction.fitted_plan), cell(error_of(prediction, WhichPlan::kFitted), 100),
              cell(prediction.optimal)});
  if (authors) row.push_back(groups(prediction.authors_plan, prediction.authors_groups));
  row.push_back(groups(prediction.fitted_plan, prediction.fitted_groups));
  return row;
}

const std::vector<Column>& case_columns() {
  static const std::vector<Column> kColumns{
      {"network", "", 0}, {"interconnect", "", 0}, {"GPUs", "", 0}};
  return kColumns;
}

std::vector<Column> rate_columns(bool authors) {
  std::vector<Column> columns = case_columns();
  columns.push_back({"published", "samples/s", 0});
  if (authors) {
    columns.insert(columns.end(), {{"authors' plan", "samples/s", 0}, {"error", "%", 1}});
  }
  columns.insert(columns.end(),
                 {{"fitted plan", "samples/s", 0}, {"error", "%", 1}, {"optimal", "samples/s", 0}});
  if (authors) columns.push_back({"authors' groups", "", 0});
  columns.push_back({"fitted groups", "", 0});
  return columns;
}

void add_borrowed_rates(const std::vector<PublishedRates>& cases,
                        std::vector<std::string>& sentences) {
  for (const PublishedRates& published : cases) {
    if (published.one_gpu_from.empty()) continue;
    std::string sentence = fmt::format(
        "One GPU does not communicate: for {} of batch {}{}{}, which has no row of one GPU of a "
        "modelled method, that of {} is taken.",
        published.model, published.batch, published.network.empty() ? "" : " on ",
        published.network, published.one_gpu_from);
    if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end()) {
      sentences.push_back(std::move(sentence));
    }
  }
}

}  // namespace

Profile compute_at_rate(Profile shares, std::int64_t batch, double samples_per_s) {
  const Nanoseconds compute = 1e9 * static_cast<double>(batch) / samples_per_s;
  Nanoseconds backward = 0;
  for (const ProfileTensor& tensor : shares.tensors) backward += tensor.backward_ns;
  for (ProfileTensor& tensor : shares.tensors) {
    tensor.backward_ns *= 2 * compute / 3 / backward;
    tensor.forward_ns.reset();
  }
  shares.forward_ns = compute / 3;
  return shares;
}

RatePrediction refuse_rate(const PublishedRates& published, std::string reason) {
  RatePrediction prediction;
  prediction.published = published;
  prediction.refused = std::move(reason);
  return prediction;
}

RatePrediction predict_rate(const PublishedRates& published, const Profile& shares,
                            const std::optional<LinearCost>& authors, std::int64_t min_elements) {
  if (published.one_gpu <= 0) return refuse_rate(published, "no row of one GPU");
  if (!published.single || !published.wfbp) {
    return refuse_rate(published, "no row of one group or of layer by layer to fit on");
  }
  const Profile compute = compute_at_rate(shares, published.batch, published.one_gpu);
  const double samples = static_cast<double>(published.batch) * published.gpus;
  const auto time_at = [&](double rate) { return 1e9 * samples / rate; };
  RatePrediction prediction;
  prediction.published = published;
  prediction.fit = fit_costs(compute, time_at(published.single->samples_per_s),
                             time_at(published.wfbp->samples_per_s));
  if (!prediction.fit) {
    return refuse_rate(published, "no solution: layer by layer beats one GPU");
  }
  const TimeModel fitted = model_with(compute, prediction.fit->line);
  const auto rate_under = [&](const TimeModel& model, const MergePlan& plan) {
    return 1e9 * samples / predict_iteration(model, plan);
  };
  const auto rule = make_strategy("mg_wfbp");
  if (authors) {
    Options options;
    options.set("min_elements", min_elements);
    const MergePlan plan = rule->plan(model_with(compute, *authors), options);
    prediction.authors_plan = rate_under(fitted, plan);
    prediction.authors_groups = plan.groups.size();
  }
  const MergePlan plan = rule->plan(fitted, {});
  prediction.fitted_plan = rate_under(fitted, plan);
  prediction.fitted_groups = plan.groups.size();
  prediction.optimal = rate_under(fitted, make_strategy("optimal")->plan(fitted, {}));
  return prediction;
}

std::optional<PublishedTable> find_published_rates(const PaperInputs& inputs,
                                                   const std::string& file, const std::string& part,
                                                   Reproduction& paper) {
  const auto path = inputs.find(file, part, paper);
  if (!path) return std::nullopt;
  PublishedTable table = load_published_rates(*path);
  if (table.cases.empty()) {
    paper.not_run.push_back(
        fmt::format("{}: {} has no row of several GPUs of a method that is modelled (single, wfbp, "
                    "mg_wfbp)",
                    part, path->string()));
    return std::nullopt;
  }
  add_borrowed_rates(table.cases, paper.assumptions);
  return table;
}

std::vector<FigureTable> tables_of(const std::vector<RatePrediction>& predictions,
                                   const std::string& title) {
  FigureTable fits{
      title + ": a and b fitted on one group and on layer by layer", case_columns(), {}};
  fits.columns.insert(fits.columns.end(), {{"a", "us", 0},
                                           {"b", "ns/B", 3},
                                           {"one group", "% in time", 1},
                                           {"layer by layer", "% in time", 1},
                                           {"amplification", "", 1},
                                           {"well posed?", "", 0}});
  fits.notes = {
      "Two equations, two unknowns: where both are met, that is no test of the model.",
      "Amplification: by how many times a relative error of the measurements grows in a and b."};
  const bool authors =
      std::any_of(predictions.begin(), predictions.end(),
                  [](const RatePrediction& p) { return p.authors_plan.has_value(); });
  FigureTable rates{title + ": MG-WFBP, published and predicted", rate_columns(authors), {}};
  for (const RatePrediction& prediction : predictions) {
    fits.rows.push_back(fit_row(prediction));
    rates.rows.push_back(rate_row(prediction, authors));
  }
  if (authors)
    rates.notes.push_back(
        fmt::format("Authors' plan: {}.", text_of(errors_of(predictions, WhichPlan::kAuthors))));
  if (authors) {
    double apart = 0;
    for (const RatePrediction& p : predictions) {
      if (p.authors_plan) apart = std::max(apart, std::abs(*p.authors_plan / *p.fitted_plan - 1));
    }
    rates.notes.push_back(
        fmt::format("The two plans' predictions differ by {:.1f} % at the most.", 100 * apart));
  }
  rates.notes.push_back(
      fmt::format("Fitted plan: {}.", text_of(errors_of(predictions, WhichPlan::kFitted))));
  return {std::move(fits), std::move(rates)};
}

ErrorSummary errors_of(const std::vector<RatePrediction>& predictions, WhichPlan plan) {
  std::vector<double> errors;
  ErrorSummary summary;
  for (const RatePrediction& prediction : predictions) {
    if (prediction.published.mg_wfbp) ++summary.published;
    const auto error = error_of(prediction, plan);
    if (!error) continue;
    errors.push_back(std::abs(*error));
    if (*error > 0) ++summary.too_high;
  }
  summary.cases = errors.size();
  if (errors.empty()) return summary;
  summary.median = median(errors);
  summary.largest = *std::max_element(errors.begin(), errors.end());
  return summary;
}

std::string text_of(const ErrorSummary& errors) {
  if (errors.cases == 0) return fmt::format("no prediction for any of {} rows", errors.published);
  return fmt::format("absolute error median {:.1f} %, largest {:.1f} %, of {} of {} rows",
                     100 * errors.median, 100 * errors.largest, errors.cases, errors.published);
}

std::string direction_of(const ErrorSummary& errors) {
  if (errors.cases == 0) return "none to compare";
  return fmt::format("{} of {} predictions are too high", errors.too_high, errors.cases);
}

Claim error_claim(const PaperConfig& config, const std::string& key,
                  const std::vector<RatePrediction>& predictions, WhichPlan plan) {
  const ErrorSummary errors = errors_of(predictions, plan);
  return config.claim(key, text_of(errors), direction_of(errors));
}

}  // namespace mergewise
