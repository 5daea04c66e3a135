"""Small projects for each test runner, and what the runner prints of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.environments import programs_of

PYTEST_BODIES = {
    "PASSED": "def {name}():\n    assert True\n",
    "FAILED": "def {name}():\n    assert 1 == 2, 'one - two'\n",
    "ERROR": "def {name}(broken):\n    pass\n",
    "XFAIL": "@pytest.mark.xfail\ndef {name}():\n    assert False\n",
    "SKIPPED": "@pytest.mark.skip(reason='not here')\ndef {name}():\n    pass\n",
}
PYTEST_START = "import pytest\n\n@pytest.fixture\ndef broken():\n    raise RuntimeError('no')\n\n"

DJANGO_BODIES = {
    "PASSED": "    def {name}(self):\n        pass\n",
    "FAILED": "    def {name}(self):\n        self.assertEqual(1, 2)\n",
    "ERROR": "    def {name}(self):\n        raise RuntimeError('no')\n",
    "SKIPPED": "    @unittest.skip('not here')\n    def {name}(self):\n        pass\n",
}
DJANGO_START = "import unittest\nfrom django.test import SimpleTestCase\n\nclass Cases(SimpleTestCase):\n"
DJANGO_SETTINGS = """\
SECRET_KEY = "for tests"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
INSTALLED_APPS = ["blog"]
USE_TZ = True
"""

SYMPY_BODIES = {
    "PASSED": "def {name}():\n    assert True\n",
    "FAILED": "def {name}():\n    assert 1 == 2\n",
    "ERROR": "def {name}():\n    raise RuntimeError('no')\n",
}
SYMPY_RUN = """\
from sympy.testing.runtests import PyTestReporter, SymPyTests

reporter = PyTestReporter(verbose=True, colors=False)
tests = SymPyTests(reporter, (), False, None)
tests._testfiles = ["test_it.py"]
tests.test(sort=True)
"""
"""What `bin/test -C --verbose` of a SymPy checkout does with a file."""


def pytest_source(endings: Mapping[str, str]) -> str:
    """Tests that end so."""
    return PYTEST_START + _bodies(PYTEST_BODIES, endings)


def django_source(endings: Mapping[str, str]) -> str:
    """Tests that end so."""
    return DJANGO_START + _bodies(DJANGO_BODIES, endings)


def sympy_source(endings: Mapping[str, str]) -> str:
    """Tests that end so."""
    return _bodies(SYMPY_BODIES, endings)


def pytest_log(folder: Path, source: str, *options: str) -> str:
    """What today's pytest prints of a file `test_it.py`."""
    (folder / "test_it.py").write_text(source)
    return _log("runners", folder, "-m", "pytest", "-rA", *options, "test_it.py")


def old_pytest_log(folder: Path, source: str, *options: str) -> str:
    """What pytest 4.6 prints; its assertions are plain, as it cannot rewrite those of this Python."""
    (folder / "test_it.py").write_text(source)
    arguments = ["-m", "pytest", "--assert=plain", *options, "test_it.py"]
    return _log("runners_old", folder, *arguments)


def django_log(folder: Path, source: str) -> str:
    """What Django's runner prints of the tests of an app `blog`, as `runtests.py --verbosity 2 --parallel 1` does."""
    (folder / "blog").mkdir()
    (folder / "blog" / "__init__.py").touch()
    (folder / "blog" / "tests.py").write_text(source)
    (folder / "settings.py").write_text(DJANGO_SETTINGS)
    arguments = ["-m", "django", "test", "--verbosity", "2", "--parallel", "1"]
    variables = {"PYTHONPATH": str(folder), "DJANGO_SETTINGS_MODULE": "settings"}
    return _log("runners", folder, *arguments, variables=variables)


def sympy_log(folder: Path, source: str) -> str:
    """What SymPy's runner prints of a file `test_it.py`."""
    (folder / "test_it.py").write_text(source)
    (folder / "run.py").write_text(SYMPY_RUN)
    return _log("runners", folder, "run.py")


def _log(environment: str, folder: Path, *arguments: str, variables: Mapping[str, str] | None = None) -> str:
    """What the environment's Python writes, stdout and stderr as they come; its exit code does not matter."""
    ended = subprocess.run(
        [str(programs_of(environment) / "python"), *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **(variables or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
    )
    return ended.stdout.decode("utf-8", "replace")


def _bodies(bodies: Mapping[str, str], endings: Mapping[str, str]) -> str:
    return "\n".join(bodies[ending].format(name=name) for name, ending in endings.items())
