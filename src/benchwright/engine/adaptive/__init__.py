"""`--concurrency auto`: the number of trials in flight adapts itself during the run.

pace.py       Pace              events of trials and requests -> concurrency level; without clock or asyncio
executor.py   AdaptiveExecutor  keeps `level` workers busy, flags requests made before the level settled
"""
