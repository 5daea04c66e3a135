"""Pure functions on numbers and arrays: no files, no clock, no records, and no randomness without a seed.

    histogram      counts of durations in logarithmic buckets (no numpy: it runs once per token)
    distributions  normal, t, binomial, beta and hypergeometric: probabilities and quantiles
    intervals      Wilson, Jeffreys, t, and the documented normal approximation
    score_means    `estimate_mean`: the mean of scores with the interval that suits them
    clusters       means of clustered values: robust error, design effect
    passk          pass@k and pass^k
    paired_tests   is A better than B on the same samples: differences, McNemar
    unpaired_tests  the fallback on different samples: Welch, Newcombe
    multiple_testing  many p-values at once: Holm
    power          the smallest difference that could have been detected
    noise_floor    how much a model differs from itself, and how many samples comparisons need as a result
    sequential/    tests that may be read after every sample and stop when the answer is certain
    percentiles    percentiles with intervals
    ratios         right answers per second or token; shared time of overlapping intervals
    rank_tests     are slow answers more often wrong? buckets, and rank tests
    trend          does a score rise or fall with a setting, over the same samples?
    arrivals       when requests are sent in an open loop: constant, Poisson, recorded
    windows        steady state: which requests of a load test count, and rates without edge effects
    saturation     the lowest load at which the server reaches its highest rate, and where to measure next
    arrays         argument checks and exact sums that the other modules share

Import from the modules (`from benchwright.stats.score_means import estimate_mean`). This package loads none of
them, so that the hot path, which needs only `histogram`, does not pay for numpy.

Common rules: Values are one-dimensional and finite; NaN or infinity raises ValueError. `groups` has the cluster
of each value, such as the passage of a question; None stands for a value that is a cluster by itself.
`confidence` is two-sided and defaults to 0.95. An interval that the data cannot support is None, never a point.
An end of a percentile interval that the data cannot support is infinite.
"""
