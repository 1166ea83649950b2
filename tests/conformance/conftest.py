"""Makes the package ``conformance`` importable: the goldens and what records them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
