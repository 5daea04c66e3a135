"""What devices draw, read from the text of a DCGM exporter."""

from __future__ import annotations

from benchwright.endpoint.power import PowerReading, read_power

PAGE = """\
# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",device="nvidia0",Hostname="h"} 301.5
DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-b",device="nvidia1",Hostname="h"} 298.5
# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-a",GPU_I_ID="3"} 2000
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-a",GPU_I_ID="4"} 2000
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="1",UUID="GPU-b"} 5500
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-a"} 50
"""


def test_each_device_counts_once_though_its_parts_report_it() -> None:
    assert read_power(PAGE, 7) == PowerReading(
        7, watts={"GPU-a": 301.5, "GPU-b": 298.5}, joules={"GPU-a": 2.0, "GPU-b": 5.5}
    )


def test_a_device_without_an_id_is_known_by_its_labels() -> None:
    reading = read_power('DCGM_FI_DEV_POWER_USAGE{gpu="0"} 1\nDCGM_FI_DEV_POWER_USAGE{gpu="1"} 2\n', 7)
    assert reading is not None
    assert sorted(reading.watts.values()) == [1, 2]


def test_other_metrics_have_no_devices() -> None:
    assert read_power("vllm:num_requests_running 3\n", 7) is None
