"""The `recall` command: a clean interpreter first, then the command, then one line for what went wrong.

Only the standard library is imported before the process is known to be isolated: a project that carries
an `eval.py` or a `click.py` of its own must not get into this process.
"""

import os
import stat
import sys
from pathlib import Path

PACKAGES = ("transcript", "indexer", "scoring", "recall", "consolidation", "health", "eval")
HOME = Path(__file__).resolve().parents[2]
START = "import sys; sys.path.append(sys.argv.pop(1)); from recall.cli.main import main; sys.exit(main())"


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 expected failure, 2 wrong usage, 130 interrupted."""
    args = sys.argv[1:] if argv is None else argv
    completing = "_RECALL_COMPLETE" in os.environ  # a shell asks what may follow; its standard input is anything
    quiet = args[:1] == ["hook"] or (not args and not completing and stdin_is_payload())
    if not quiet and not in_a_folder():
        print("recall: the folder you are in is gone, or may not be entered; go to another one", file=sys.stderr)
        return 1
    if argv is None and needs_isolation():
        return restart_isolated(args)
    problem = intruder()
    if problem:
        if not quiet:
            print(f"recall: {problem}", file=sys.stderr)
        return 0 if quiet else 1
    if quiet:
        from recall.cli.hook import run as run_hook

        return run_hook(args[1:])
    try:
        from recall.cli.group import run
    except KeyboardInterrupt:  # Ctrl-C while the program loads: nothing was begun
        print("interrupted; nothing is lost", file=sys.stderr)
        return 130
    return run(args)


def stdin_is_payload() -> bool:
    """True when standard input is a pipe, a socket or a file: bare `recall` is then the hook."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode)


def in_a_folder() -> bool:
    """False when the folder of this process was removed: no module and no project lies in it."""
    try:
        os.getcwd()  # noqa: PTH109 - what Path.cwd calls, without a path
    except OSError:
        return False
    return True


def needs_isolation() -> bool:
    """True when PYTHONPATH or the current folder could put somebody else's module in front of ours."""
    if sys.flags.isolated or sys.flags.ignore_environment:
        return False
    if os.environ.get("PYTHONPATH"):
        return True
    if not in_a_folder():
        return False
    here = os.path.realpath(os.curdir)
    return any(os.path.realpath(entry or os.curdir) == here for entry in sys.path[:1]) and here != str(HOME)


def restart_isolated(args: list[str]) -> int:
    """Start the same command under `python -I` (`-E -P` where we are installed in the user's own site)."""
    command = [sys.executable, *isolation_flags(), "-c", START, str(HOME), *args]
    if os.name != "nt":
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(sys.executable, command)
    import subprocess

    return subprocess.call(command)


def isolation_flags() -> list[str]:
    """Interpreter flags that keep foreign modules out and ours in."""
    import site

    in_user_site = str(HOME) == os.path.realpath(site.getusersitepackages())
    flags = ["-E", "-P"] if in_user_site else ["-I"]
    return [*flags, "-X", "utf8"] if sys.flags.utf8_mode else flags


def intruder() -> str:
    """One line that names the first of our packages that is not ours, "" when all lie beside `recall`.

    Our top-level `__init__.py` files are empty: one with content was written by another distribution
    that ships a package of the same name.
    """
    from importlib.machinery import PathFinder

    for name in PACKAGES:
        spec = PathFinder.find_spec(name)
        found = Path(spec.origin) if spec is not None and spec.origin else None
        if found is None:
            return f"the package '{name}' is missing from {HOME}; install lca-recall again"
        if found.resolve() != HOME / name / "__init__.py":
            return f"'{name}' comes from {found}, not from {HOME}; {_ALONE}"
        if found.stat().st_size:
            return f"{found} was written by another distribution that ships '{name}'; {_ALONE}"
    return ""


_ALONE = "install recall in an environment of its own: 'pipx install' or 'uv tool install'"

if __name__ == "__main__":
    sys.exit(main())
