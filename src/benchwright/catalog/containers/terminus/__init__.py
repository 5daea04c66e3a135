"""Terminus: an agent after the protocol of Terminus 2, the reference agent of Terminal-Bench.

The model types keys into a terminal (tmux, 160 × 40) and sees its screen. It answers in JSON and calls no
tools. The protocol is that of Harbor 0.25, harbor/agents/terminus_2 (Apache-2.0). The prompts' wording and
the code are Benchwright's. `DEPARTURES` lists the differences.
"""

from benchwright.catalog.containers.terminus.agent import DEPARTURES, Terminus

__all__ = ["DEPARTURES", "Terminus"]
