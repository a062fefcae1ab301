"""The launcher that installed hooks name for ever: `<data>/bin/recall-hook`.

The line in a harness's settings never changes; upgrades and moves of the program rewrite this file. It checks that
interpreter and client are there and ends with 0 whatever they do, also after `pip uninstall`. A child process and a
last `exit 0` cost half a millisecond more than `exec` and hold when the interpreter is killed or cannot start
(a harness may block the prompt on any other exit code).
"""

import os
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from transcript.paths import read_file, write_atomic

POWERSHELL = ("copilot-cli", "gemini-cli")  # these run hooks by it on Windows
_SH = """\
#!/bin/sh
# Written by recall {version}; rewritten by upgrades. The line in the harness's settings never changes.
exec 2>/dev/null
py={python}
client={client}
if [ -x "$py" ] && [ -f "$client" ]; then
    "$py" -I -S "$client" {data} "$1" {site} || :
fi
exit 0
"""

_CMD = """\
@echo off\r
rem Written by recall {version}; rewritten by upgrades. The line in the harness's settings never changes.\r
if exist "{python}" if exist "{client}" "{python}" -I -S "{client}" "{data}" "%~1" "{site}" 2>nul\r
exit /b 0\r
"""


def site_folder() -> Path:
    """Return the folder that holds `recall`."""
    return Path(__file__).resolve().parent.parent


def launcher_path(data: Path, *, windows: bool = os.name == "nt") -> Path:
    """Return where the launcher stands."""
    return data / "bin" / ("recall-hook.cmd" if windows else "recall-hook")


def hook_command(data: Path, harness: str, *, windows: bool = os.name == "nt") -> str:
    """Return the line that is written into a harness's settings, the same for ever: some trust it by its hash.

    It ends with 0 and says nothing when the launcher is gone too: Gemini CLI throws the prompt away on any other end.
    """
    path = str(launcher_path(data, windows=windows))
    if windows:
        if harness in POWERSHELL:
            quoted = path.replace("'", "''")
            return f"if (Test-Path -LiteralPath '{quoted}') {{ & '{quoted}' {harness} }}; exit 0"
        return f'if exist "{path}" "{path}" {harness}'
    quoted = shlex.quote(path) if set(path) & set('"\\$`!') else f'"{path}"'
    return f"[ -x {quoted} ] && {quoted} {harness} || exit 0"


def shell_key(*, windows: bool = os.name == "nt") -> str:
    """Return the key under which Copilot CLI looks for the line of this system's shell."""
    return "powershell" if windows else "bash"


def render(data: Path, *, python: str, site: Path, version: str, windows: bool = os.name == "nt") -> str:
    """Return the launcher's text."""
    client = site / "recall" / "client.py"
    if windows:
        doubled = {name: str(value).replace("%", "%%") for name, value in _parts(data, python, site, client).items()}
        return _CMD.format(version=version, **doubled)
    quoted = {name: shlex.quote(str(value)) for name, value in _parts(data, python, site, client).items()}
    return _SH.format(version=version, **quoted)


def _parts(data: Path, python: str, site: Path, client: Path) -> dict[str, object]:
    return {"data": data, "python": python, "site": site, "client": client}


def write(data: Path, *, python: str = sys.executable) -> Path:
    """Write the launcher for this interpreter and this copy of the program; return its path."""
    from recall.version import VERSION

    path = launcher_path(data)
    text = render(data, python=python, site=site_folder(), version=VERSION)
    if not path.exists() or _read(path) != text:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomic(path, text.encode("utf-8", "surrogateescape"))
    path.chmod(0o700)
    return path


def refresh(data: Path) -> bool:
    """Rewrite an installed launcher that names a program which is gone, or an older version of this one."""
    path = launcher_path(data)
    try:
        before = _read(path)
    except OSError:
        return False
    ours = str(site_folder()) in before
    if not ours and not problem(data):
        return False
    write(data)
    return _read(path) != before


def problem(data: Path) -> str:
    """Return in one line why the launcher cannot start the client, or ""."""
    path = launcher_path(data)
    try:
        text = _read(path)
    except OSError:
        return f"the launcher {path} is missing; run 'recall enable-hooks' again"
    found = _stated(text)
    for what, named in (("interpreter", found.python), ("client", found.client)):
        if named and not Path(named).exists():
            return f"the launcher's {what} {named} is gone; run 'recall enable-hooks' again"
    if os.name != "nt" and not os.access(path, os.X_OK):
        return f"the launcher {path} may not be run; run 'recall enable-hooks' again"
    return ""


def _read(path: Path) -> str:
    """The text of a launcher: bytes of a path need be no text, and a damaged one is to be seen as that."""
    return read_file(path).decode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class Stated:
    """What a launcher says of itself: the version that wrote it, and what it starts; "" for what is not in it."""

    version: str = ""
    python: str = ""
    client: str = ""
    edited: bool = False  # it is not what this version writes for these; another version's text is not judged

    @property
    def site(self) -> str:
        """The folder that holds the packages."""
        return str(Path(self.client).parent.parent) if self.client else ""


def stated(data: Path) -> Stated | None:
    """Return what the installed launcher says; None where there is none."""
    from dataclasses import replace

    from recall.version import VERSION

    try:
        text = _read(launcher_path(data))
    except OSError:
        return None
    found = _stated(text)
    if found.version != VERSION:
        return found
    ours = render(data, python=found.python, site=Path(found.site), version=found.version)
    return replace(found, edited=text != ours)


def _stated(text: str) -> Stated:
    written = re.search(r"Written by recall (\S+);", text)
    version = written[1] if written else ""
    if (windows := re.search(r'if exist "([^"]*)" if exist "([^"]*)"', text)) is not None:
        return Stated(version, windows[1].replace("%%", "%"), windows[2].replace("%%", "%"))
    named = dict(line.split("=", 1) for line in text.splitlines() if line.startswith(("py=", "client=")))
    return Stated(version, _word(named.get("py", "")), _word(named.get("client", "")))


def _word(quoted: str) -> str:
    """The one word that a shell reads in quoted; "" for none, or for quotes that do not end."""
    try:
        return next(iter(shlex.split(quoted)), "")
    except ValueError:
        return ""
