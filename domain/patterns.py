"""Which characters texts may have, in the syntax that JSON Schema, Python and Rust share.

Apart from the models of manifests, which take long to load: what checks a single text needs none of them.
"""

from typing import Final

# Control characters, and the ones that reorder the text after them (U+202A to U+202E, U+2066 to U+2069).
NOT_ON_A_LINE: Final = r"\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069"
LINE_PATTERN: Final = f"^[^{NOT_ON_A_LINE}]*$"
PROSE_PATTERN: Final = r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]*$"
SLUG_PATTERN: Final = "^[a-z0-9][a-z0-9-]*$"
MOST_SLUG: Final = 100
