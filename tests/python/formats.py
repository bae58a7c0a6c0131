"""What docs/formats.md says, as text."""

import re


def section(path, name):
    """The section with this name."""
    text = open(path, encoding="utf-8").read()
    return re.search(rf"^## {name}\n(.*?)^## ", text, re.MULTILINE | re.DOTALL).group(1)


def example(text):
    """The one Python example of a section."""
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return code


def columns(text):
    """Name and type of each column that a section's table lists."""
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+?) \|", text, re.MULTILINE)
    return [(name, kind.replace("&lt;", "<").replace("&gt;", ">")) for name, kind in rows]
