"""`--concurrency auto`: the number of trials in flight (the level) adapts itself during the run.

concurrency_controller  derives the level from events of trials and requests, without clock or asyncio
executor                keeps as many workers busy as the level allows, and flags requests made before
                        the level settled
"""
