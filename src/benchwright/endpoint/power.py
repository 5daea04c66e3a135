"""Power draw of accelerators, as NVIDIA's DCGM exporter reports it in the Prometheus text format."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchwright.endpoint.prometheus import parse_samples
from benchwright.records import Record

POWER_METRIC = "DCGM_FI_DEV_POWER_USAGE"
ENERGY_METRIC = "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
"""`POWER_METRIC`: name of the metric for power, a gauge in W.

`ENERGY_METRIC`: name of the metric for energy, a counter in mJ that starts when the driver is loaded. Source:
fields 155 and 156 of https://docs.nvidia.com/datacenter/dcgm/latest/dcgm-api/dcgm-api-field-ids.html.
"""

_DEVICE = re.compile(r'\bUUID="([^"]+)"')


class PowerReading(Record, frozen=True):
    """Readings of all devices at one moment: the power in W (`watts`), and the energy used so far in J (`joules`).

    `at`: the time (wall clock, ns).
    """

    at: int
    watts: dict[str, float] = {}
    joules: dict[str, float] = {}


def read_power(text: str, at: int) -> PowerReading | None:
    """Return the power and energy of all devices, from a page of metrics. Return None if the page has neither.

    The parts of one device (MIG instances) all report the values of the whole board, so a board counts once.
    """
    watts = dict(_devices(text, POWER_METRIC))
    joules = {device: value / 1000 for device, value in _devices(text, ENERGY_METRIC)}
    return PowerReading(at, watts, joules) if watts or joules else None


def _devices(text: str, metric: str) -> Iterator[tuple[str, float]]:
    for name, labels, value in parse_samples(text):
        if name == metric:
            found = _DEVICE.search(labels)
            yield found[1] if found else labels, value
