"""One setting for all laws: no clock, and on CI the same examples every time."""

import os

from hypothesis import settings

settings.register_profile("truerisk", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("truerisk")
