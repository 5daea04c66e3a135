"""Language detection for IFEval's rules by langdetect, as in the official code, but with a fixed seed.

The official code sets no seed, so that its verdicts on short texts differ from run to run.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any


@lru_cache(maxsize=32)
def detect_language(text: str) -> str | None:
    """Return the code of the text's language (such as `en`, `zh-cn`).

    Return None if no language can be detected, for example because the text has no letters.
    """
    from langdetect.lang_detect_exception import LangDetectException

    detector = _factory().create()
    detector.append(text)
    try:
        found: str = detector.detect()
    except LangDetectException:
        return None
    return found


@cache
def _factory() -> Any:
    """Return langdetect's detector factory with the profiles of all languages.

    The profiles are read once per process, which takes about 0.4 s of CPU time.
    """
    from langdetect.detector_factory import PROFILES_DIRECTORY, DetectorFactory

    factory = DetectorFactory()
    factory.load_profile(PROFILES_DIRECTORY)
    factory.set_seed(0)
    return factory
