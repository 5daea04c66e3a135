"""Pure functions on numbers and arrays: no files, no clock, no records, and no randomness without a seed.

    histogram      counts of durations in logarithmic buckets (no numpy: it runs once per token)
    distributions  normal, t and binomial: probabilities and quantiles
    intervals      Wilson, t, and the documented normal approximation
    repeats        `estimate`: the mean of scores with the interval that suits them
    clusters       means of values that come in groups: robust error, design effect
    passk          pass@k and pass^k
    paired         is A better than B on the same samples: differences, McNemar
    unpaired       the fallback on different samples: Welch, Newcombe
    families       many p-values or e-values at once: Holm
    power          how small a difference could have been seen
    noise          how much a model differs from itself, and what comparisons need therefore
    sequential/    tests that may be looked at after every sample, and stop when the answer is certain
    latency        percentiles with intervals
    ratios         right answers per second or token; time shared out among what was under way
    association    are slow answers more often wrong? buckets, and tests by ranks
    trend          does a score rise or fall with a setting, over the same samples?
    arrivals       when requests are sent in an open loop: constant, Poisson, recorded
    windows        steady state: which requests of a load test count, and rates without edge effects
    saturation     the least load that serves as much as any, and where to measure next
    arrays         what all of them do with their arguments first

Import from the modules (`from benchwright.stats.repeats import estimate`): nothing is loaded here, so
that the hot path, which needs `histogram` only, does not pay for numpy.

Common rules: values are one-dimensional and finite (NaN or infinity: ValueError); `confidence` is
two-sided and defaults to 0.95; an interval that the data cannot support is None, never a point, and an
end of a percentile's interval that they cannot support is infinite.
"""
