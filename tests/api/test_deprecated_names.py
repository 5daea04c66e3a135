"""Names that the pages for authors had in version 0.1 work for one more version, with a warning."""

from __future__ import annotations

import pytest

from benchwright.data import dataset_spec, declared
from benchwright.scorers import shared


def test_the_module_of_datasets_has_its_former_name() -> None:
    with pytest.warns(DeprecationWarning, match="dataset_spec"):
        assert declared.Dataset is dataset_spec.Dataset


def test_the_function_that_shortens_answers_has_its_former_name() -> None:
    with pytest.warns(DeprecationWarning, match="shorten"):
        assert shared.quoted is shared.shorten


def test_a_name_that_never_was_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        shared.no_such_name  # noqa: B018
