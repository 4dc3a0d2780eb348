"""Random cases of the registered statistics with what SciPy and scikit-learn say, one JSON document a line."""

import json
import random
import sys
import warnings

import numpy
from scipy import stats
from sklearn import metrics

warnings.simplefilter("ignore")
seed, count = int(sys.argv[1]), int(sys.argv[2])
random.seed(seed)


def say(name, inputs, expected):
    if isinstance(expected, (list, tuple, numpy.ndarray)):
        expected = [float(one) for one in expected]
    elif expected is not None:
        expected = float(expected)
        expected = None if numpy.isnan(expected) else expected
    print(json.dumps({"name": name, "inputs": inputs, "expected": expected}))


def wilson(hits, trials, level):
    interval = stats.binomtest(hits, trials).proportion_ci(level, "wilson")
    return [interval.low, interval.high]


for _ in range(count):
    size = random.randint(2, 60)
    # Few different values, so that many are equal.
    steps = random.choice([3, 10, 1000])
    predicted = [random.randint(0, steps) / steps for _ in range(size)]
    observed = [random.randint(0, 1) for _ in range(size)]
    other = [random.randint(0, steps) / steps for _ in range(size)]
    say("brier", [predicted, observed], metrics.mean_squared_error(observed, predicted))
    auc = metrics.roc_auc_score(observed, predicted) if len(set(observed)) == 2 else None
    say("auc", [predicted, observed], auc)
    constant = len(set(predicted)) == 1 or len(set(other)) == 1
    say("spearman", [predicted, other], None if constant else stats.spearmanr(predicted, other).statistic)
    threshold = random.randint(0, 10) / 10
    called = [int(one >= threshold) for one in predicted]
    tn, fp, fn, tp = metrics.confusion_matrix(observed, called, labels=[0, 1]).ravel()
    say("confusion", [predicted, observed, threshold], [tp, fp, tn, fn])
    part = random.random()
    say("quantile", [predicted, part], numpy.quantile(predicted, part))
    trials = random.randint(1, 300)
    hits = random.randint(0, trials)
    level = random.choice([0.8, 0.9, 0.95, 0.99])
    say("wilson", [hits, trials, level], wilson(hits, trials, level))
    tail = (1 - level) / 2
    say("beta_interval", [hits, trials, level], stats.beta.ppf([tail, 1 - tail], 1 + hits, 1 + trials - hits))
