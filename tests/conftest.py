"""Every call of the program in these tests is watched: see ``watched_calls``."""

from __future__ import annotations

import pagectl.app
from watched_calls import watched

pagectl.app.run = watched(pagectl.app.run)
