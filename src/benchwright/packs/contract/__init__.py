"""`pack test`: checks that a pack keeps its contract with hosts. Canned answers take the place of a model."""

from benchwright.packs.contract.answers import CannedAnswer, read_answers
from benchwright.packs.contract.canned_model import CannedModel
from benchwright.packs.contract.checks import ContractFinding, check_contract
from benchwright.packs.contract.trial import AttemptOutcome, CannedTrial

__all__ = [
    "AttemptOutcome",
    "CannedAnswer",
    "CannedModel",
    "CannedTrial",
    "ContractFinding",
    "check_contract",
    "read_answers",
]
