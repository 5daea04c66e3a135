"""`--concurrency auto`: how many trials are in flight is found while they run.

pace.py       Pace              when trials begin and end  ->  the level; no clock and no asyncio in it
executor.py   AdaptiveExecutor  keeps `level` workers over the work, flags requests made before it settled
"""
