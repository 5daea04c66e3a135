"""`pack test`: checks that a pack keeps its contract with hosts. Canned answers take the place of a model."""

from benchwright.packs.contract.answers import CannedAnswer, read_answers
from benchwright.packs.contract.canned_model import CannedModel
from benchwright.packs.contract.canned_trial import AttemptOutcome, CannedTrial
from benchwright.packs.contract.contract_checks import ContractFinding, check_contract

__all__ = [
    "AttemptOutcome",
    "CannedAnswer",
    "CannedModel",
    "CannedTrial",
    "ContractFinding",
    "check_contract",
    "read_answers",
]
