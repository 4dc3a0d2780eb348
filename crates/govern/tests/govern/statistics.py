"""Random cases of the registered statistics with what SciPy and scikit-learn say, one JSON document a line.

A case names one of our functions, or a registered formula with its inputs by name."""

import json
import random
import sys
import warnings

import numpy
from scipy import stats
from sklearn import calibration, metrics

warnings.simplefilter("ignore")
seed, count = int(sys.argv[1]), int(sys.argv[2])
random.seed(seed)
LEVELS = [0.8, 0.9, 0.95, 0.99]
WINDOW = {"start": "2026-03-02T08:00:00Z", "end": "2026-03-02T12:00:00Z"}


def plain(value):
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, numpy.ndarray)):
        return [plain(one) for one in value]
    if value is None or isinstance(value, str):
        return value
    return None if numpy.isnan(value) else float(value)


def say(name, inputs, expected, near=1e-9):
    print(json.dumps({"name": name, "inputs": inputs, "expected": plain(expected), "near": near}))


def ends(interval):
    return [interval.low, interval.high]


def both(tail, of):
    return [of(tail), of(1 - tail)]


def of_one_width(predicted, observed, bins):
    """By the bins of scikit-learn, which puts what is on an edge into the lower one: there must be none."""
    came, said = calibration.calibration_curve(observed, predicted, n_bins=bins, strategy="uniform")
    held = numpy.histogram(predicted, bins=bins, range=(0, 1))[0]
    return numpy.sum(held[held > 0] * numpy.abs(came - said)) / len(predicted)


def of_one_size(predicted, observed, bins):
    """By rank: what is predicted alike stays together in the lower bin."""
    ranks = stats.rankdata(predicted, method="min") - 1
    held = (ranks * bins // len(predicted)).astype(int)
    off = numpy.array(predicted) - numpy.array(observed)
    return sum(abs(off[held == one].sum()) for one in set(held)) / len(predicted)


def ratios():
    trials = random.randint(1, 300)
    hits = random.randint(0, trials)
    level = random.choice(LEVELS)
    tail, ratio = (1 - level) / 2, hits / trials
    say("wilson", [hits, trials, level], ends(stats.binomtest(hits, trials).proportion_ci(level, "wilson")))
    say("beta_interval", [hits, trials, level], both(tail, lambda part: stats.beta.ppf(part, 1 + hits, 1 + trials - hits)))
    off = stats.norm.ppf(1 - tail) * (ratio * (1 - ratio) / trials) ** 0.5
    say("normal_interval", [hits, trials, level], [max(0, ratio - off), min(1, ratio + off)])
    say("bootstrap_ratio", [hits, trials, level], both(tail, lambda part: stats.binom.ppf(part, trials, ratio) / trials))


def large_ratio():
    level = random.choice(LEVELS)
    tail = (1 - level) / 2
    large = random.randint(10_000, 100_000_000)
    few = random.choice([0, 1, large // 7, large // 2, large])
    say("beta_interval", [few, large, level], both(tail, lambda part: stats.beta.ppf(part, 1 + few, 1 + large - few)))


def predictions(steps):
    size = random.randint(30, 80)
    # Few different values, so that many are equal; none of them on the edge of a bin.
    predicted = [(2 * random.randint(0, steps - 1) + 1) / (2 * steps) for _ in range(size)]
    observed = [random.randint(0, 1) for _ in range(size)]
    given = {"predicted": predicted, "observed": observed}
    two = len(set(observed)) == 2
    say("planner_confidence_brier_score", given, {"metric_value": metrics.brier_score_loss(observed, predicted)}, 1e-6)
    auc = metrics.roc_auc_score(observed, predicted) if two else None
    say("novelty_threshold_auc", given, {"metric_value": auc}, 1e-6)
    for method, error in [("equal_width", of_one_width), ("equal_frequency", of_one_size)]:
        bins = steps if method == "equal_width" else random.randint(1, 20)
        binned = given | {"bin_count": bins, "binning_method": method}
        value = {"metric_value": error(predicted, observed, bins)}
        say("planner_confidence_expected_calibration_error", binned, value, 1e-6)
    threshold = random.randint(0, 10) / 10
    called = [int(one >= threshold) for one in predicted]
    found = {
        "metric_value": metrics.f1_score(observed, called),
        "precision": metrics.precision_score(observed, called, zero_division=numpy.nan),
        "recall": metrics.recall_score(observed, called),
    }
    nothing = {"metric_value": None, "precision": None, "recall": None}
    say("novelty_threshold_precision_recall", given | {"threshold": threshold}, found if two else nothing, 1e-6)
    other = [random.randint(0, steps) for _ in range(size)]
    constant = len(set(predicted)) == 1 or len(set(other)) == 1
    ranked = None if constant else stats.spearmanr(predicted, other).statistic
    say("confidence_convergence_spearman", {"predicted": predicted, "observed": other}, {"metric_value": ranked}, 1e-6)


def measured():
    values = [random.randint(0, 1000) for _ in range(random.randint(1, 150))]
    part = random.random()
    say("quantile", [values, part], numpy.quantile(values, part))
    expected = {name: numpy.quantile(values, at) for name, at in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)]}
    say("latency_distribution_v1", {"values": values, "window": WINDOW}, expected, 1e-6)


def drawn():
    """Two ways of drawing give two intervals: they are as near as chance lets them be."""
    level = random.choice(LEVELS)
    values = [random.gauss(50, 10) for _ in range(random.randint(20, 60))]
    settings = {"confidence_level": level, "method": "percentile", "n_resamples": 20_000, "rng": seed}
    interval = stats.bootstrap((values,), numpy.mean, **settings).confidence_interval
    near = 0.05 * (interval.high - interval.low)
    say("bootstrap_mean", [values, level, 20_000, seed], ends(interval), near)
    observed = [random.randint(0, 1) for _ in values]
    predicted = [min(1, max(0, came + random.gauss(0, 0.4))) for came in observed]
    squares = [(one - came) ** 2 for one, came in zip(predicted, observed)]
    interval = stats.bootstrap((squares,), numpy.mean, **settings).confidence_interval
    near = 0.05 * (interval.high - interval.low)
    say("bootstrap_brier", [predicted, observed, level, 20_000, seed], ends(interval), near)


for at in range(count):
    ratios()
    predictions(random.choice([3, 10, 1000]))
    measured()
    if at % 20 == 0:
        drawn()
        large_ratio()
