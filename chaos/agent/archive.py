"""The agent as one file: a zip archive that Python runs."""

import io
import os
import zipfile

_LEFT_OUT = frozenset({"archive.py", "__init__.py", "__main__.py"})


def archive() -> bytes:
    """The archive: the package ``chaos_agent`` and its entry. The same files always give the same bytes."""
    here = os.path.dirname(os.path.abspath(__file__))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as bundle:
        _add(bundle, os.path.join(here, "__main__.py"), "__main__.py")
        _add(bundle, os.path.join(here, "__init__.py"), "chaos_agent/__init__.py")
        for name in sorted(os.listdir(here)):
            if name.endswith(".py") and name not in _LEFT_OUT:
                _add(bundle, os.path.join(here, name), "chaos_agent/" + name)
    return buffer.getvalue()


def _add(bundle: zipfile.ZipFile, source: str, name: str) -> None:
    with open(source, "rb") as file:
        bundle.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), file.read(), zipfile.ZIP_DEFLATED)
