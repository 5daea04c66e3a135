"""Recipes for each repository and version: commands that run its tests, and the parser of their log.

Source: swebench 4.1, constants/python.py.
"""

from __future__ import annotations

import msgspec

from benchwright.records import Record

PYTEST_COMMAND = "pytest -rA"
DJANGO_COMMAND = "./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1"
EDITABLE_INSTALL_COMMAND = "python -m pip install -e ."
SETUP_INSTALL_COMMAND = "python setup.py install"


class RepositoryRecipe(Record, frozen=True):
    """How to test a version of a repository.

    `install`: the command that installs the project again after the patch. `tests`: the test command, to
    which the files to test are appended. `before`: commands that set the locale. `parser`: name of the log
    parser.
    """

    parser: str
    tests: str = PYTEST_COMMAND
    install: str = EDITABLE_INSTALL_COMMAND
    before: tuple[str, ...] = ()


REPOSITORY_RECIPES = {
    "astropy/astropy": RepositoryRecipe("pytest_v2", install="python -m pip install -e .[test] --verbose"),
    "django/django": RepositoryRecipe("django", DJANGO_COMMAND),
    "matplotlib/matplotlib": RepositoryRecipe("matplotlib"),
    "mwaskom/seaborn": RepositoryRecipe(
        "seaborn", "pytest --no-header -rA", "python -m pip install -e .[dev]"
    ),
    "pallets/flask": RepositoryRecipe("pytest"),
    "psf/requests": RepositoryRecipe("pytest_options", install="python -m pip install ."),
    "pydata/xarray": RepositoryRecipe("pytest"),
    "pylint-dev/pylint": RepositoryRecipe("pytest_options"),
    "pytest-dev/pytest": RepositoryRecipe("pytest"),
    "scikit-learn/scikit-learn": RepositoryRecipe(
        "pytest_v2", install="python -m pip install -v --no-use-pep517 --no-build-isolation -e ."
    ),
    "sphinx-doc/sphinx": RepositoryRecipe(
        "pytest_v2", "tox --current-env -epy39 -v --", "python -m pip install -e .[test]"
    ),
    "sympy/sympy": RepositoryRecipe(
        "sympy", "PYTHONWARNINGS='ignore::UserWarning,ignore::SyntaxWarning' bin/test -C --verbose"
    ),
}
"""Mapping from a repository to the recipe for its versions. Some versions have changes in `VERSION_EXCEPTIONS`."""

_LOCALE_1 = (
    "export LANG=en_US.UTF-8",
    "export LC_ALL=en_US.UTF-8",
    "export PYTHONIOENCODING=utf8",
    "export LANGUAGE=en_US:en",
)
_LOCALE_3 = (
    "sed -i '/en_US.UTF-8/s/^# //g' /etc/locale.gen && locale-gen",
    "export LANG=en_US.UTF-8",
    "export LANGUAGE=en_US:en",
    "export LC_ALL=en_US.UTF-8",
)

VERSION_EXCEPTIONS: dict[str, dict[str, dict[str, object]]] = {
    "astropy/astropy": {
        "0.1 0.2 0.3 0.4 1.1 1.2 1.3": {"tests": "pytest -rA -vv -o console_output_style=classic --tb=no"},
    },
    "django/django": {
        "1.4 1.5 1.6": {"install": SETUP_INSTALL_COMMAND},
        "1.7 1.8 1.10 1.11 2.0 2.1 2.2": {"install": SETUP_INSTALL_COMMAND, "before": _LOCALE_1},
        "1.9": {
            "install": SETUP_INSTALL_COMMAND,
            "before": _LOCALE_1,
            "tests": "./tests/runtests.py --verbosity 2",
        },
        "3.0 3.1 3.2": {"before": _LOCALE_3},
    },
    "matplotlib/matplotlib": {
        "1.0 1.1 1.2 1.3 1.4 1.5 2.0 2.1 2.2": {"install": "python setup.py build; python setup.py install"},
        "3.8 3.9": {"install": 'python -m pip install --no-build-isolation -e ".[dev]"'},
    },
    "mwaskom/seaborn": {"0.11": {"install": EDITABLE_INSTALL_COMMAND}},
}


def find_recipe(repo: str, version: str) -> RepositoryRecipe:
    """Return the recipe for a version of a repository: that in `REPOSITORY_RECIPES`, "
    "with the changes in `VERSION_EXCEPTIONS`."""
    for versions, changes in VERSION_EXCEPTIONS.get(repo, {}).items():
        if version in versions.split():
            return msgspec.structs.replace(REPOSITORY_RECIPES[repo], **changes)
    return REPOSITORY_RECIPES[repo]
