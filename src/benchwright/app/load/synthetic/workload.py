"""Workload of synthetic requests, created from the settings."""

from __future__ import annotations

from benchwright.app.load.sections import SyntheticSettings
from benchwright.app.load.settings import LoadSettings
from benchwright.app.load.synthetic.calibration import Calibration
from benchwright.app.load.synthetic.lengths import LengthDistribution
from benchwright.app.load.synthetic.message_parts import parse_image_size
from benchwright.app.load.synthetic.model_mix import describe_model_mix, parse_model_mix
from benchwright.app.load.synthetic.task import (
    CONTINUE_INSTRUCTION,
    ConversationShape,
    SyntheticTask,
    synthetic_prompt,
)
from benchwright.app.load.workload import CalibrationSteps, Workload, unscored_request
from benchwright.errors import UserError
from benchwright.formats import count_with_noun
from benchwright.text import Say

ASSUMED_CALIBRATION = Calibration(fixed=float(len(CONTINUE_INSTRUCTION.split())))
"""Calibration that is assumed before the server was asked: one token per word, and the words of the instruction."""

SYNTHETIC_OPTIONS = (
    "synthetic_output",
    "turns",
    "shared_prefix",
    "think",
    "images",
    "image_size",
    "tool_definitions",
)


def check_synthetic_options(synthetic: SyntheticSettings) -> None:
    """Check that options for synthetic requests are given only if synthetic requests are wanted.

    Raises:
        UserError: If such an option is given without `--synthetic-input`.
    """
    if synthetic.synthetic_input is not None:
        return
    said = [name for name in SYNTHETIC_OPTIONS if getattr(synthetic, name) is not None]
    if said:
        raise UserError(f"--{said[0].replace('_', '-')} needs --synthetic-input.")


def find_shape(synthetic: SyntheticSettings) -> ConversationShape:
    """Return the shape of the conversations that the settings describe.

    Raises:
        UserError: If an option is invalid.
    """
    assert synthetic.synthetic_input is not None
    output = synthetic.synthetic_output
    if synthetic.think is not None and (synthetic.turns or 1) < 2:
        raise UserError("--think is the time between turns: it needs --turns 2 or more.")
    if synthetic.image_size is not None and not synthetic.images:
        raise UserError("--image-size needs --images.")
    return ConversationShape(
        input=LengthDistribution.parse(synthetic.synthetic_input, "--synthetic-input"),
        output=None if output is None else LengthDistribution.parse(output, "--synthetic-output"),
        turns=synthetic.turns or 1,
        think=synthetic.think or 0.0,
        prefix=synthetic.shared_prefix or 0,
        images=synthetic.images or 0,
        image_size=parse_image_size(synthetic.image_size or "512x512"),
        tools=synthetic.tool_definitions or 0,
        mix={} if synthetic.model_mix is None else parse_model_mix(synthetic.model_mix),
    )


def synthetic_workload(
    settings: LoadSettings, prompt_seed: int, say: Say, calibration: Calibration = ASSUMED_CALIBRATION
) -> Workload:
    """Return a workload of synthetic requests, with different prompts at each level.

    `calibration`: converts the wanted lengths in tokens to numbers of words.

    Raises:
        UserError: If an option is invalid.
    """
    shape = find_shape(settings.synthetic)

    def task_of(level: int) -> SyntheticTask:
        return SyntheticTask(shape, calibration, f"{prompt_seed}:{level}")

    def calibrated(found: Calibration) -> Workload:
        return synthetic_workload(settings, prompt_seed, say, found)

    name = f"synthetic-{shape.input.mean:.0f}"
    return Workload(
        unscored_request(settings, task_of(0), 1, name, "load", say, aborts=shape.turns > 1),
        task_of,
        None,
        describe_shape(shape, calibration),
        prompt_seed,
        CalibrationSteps(synthetic_prompt, calibrated) if calibration.measured is None else None,
    )


def describe_shape(shape: ConversationShape, calibration: Calibration) -> str:
    """Return a description of the conversations that are sent, for messages."""
    if shape.input.kind == "constant":
        length = calibration.describe_length(round(shape.input.mean))
    else:
        length = f"{shape.input.description} tokens"
    parts = [
        f"answers of at most {shape.output.description}" if shape.output is not None else "",
        f"a system prompt of {shape.prefix:,} tokens" if shape.prefix else "",
        f"{count_with_noun(shape.images, 'image')} of {shape.image_size[0]}x{shape.image_size[1]}"
        if shape.images
        else "",
        count_with_noun(shape.tools, "tool") if shape.tools else "",
        f"{shape.turns} turns" if shape.turns > 1 else "",
        f"models mixed ({describe_model_mix(shape.mix)})" if shape.mix else "",
    ]
    return " and ".join([f"synthetic prompts of {length}", *(part for part in parts if part)])
