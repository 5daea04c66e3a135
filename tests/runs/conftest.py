"""What the tests of this room share: a user's project."""

from __future__ import annotations

from tests.agents.conftest import own_imports as own_imports
from tests.agents.conftest import project as project
