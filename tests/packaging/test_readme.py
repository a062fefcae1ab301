"""README examples hold, and generated pages are fresh."""

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest

from health.catalog import CATALOG
from recall.cli.group import cli, run

FENCE = re.compile(r"^```\n(.*?)^```$", re.M | re.S)
EXAMPLE = re.compile(r"^\$ (recall .*)$", re.M)
# What stands for a value in a page, and a file that a reader has and this machine need not.
PLACEHOLDER = re.compile(
    r"'[A-Z-]*…?' is not one of|(File|Directory|Path) '[^']*' does not exist\.$|requires an argument\.$"
)
GENERATED = (
    "health-report.md", "operations.md", "incidents.md", "cli.md", "config.md", "schema.md", "adapter-tests.md",
    "evaluation.md", "recall.1", "layers.md", "../README.md",
)  # fmt: skip


def examples(root: Path) -> list[tuple[str, str]]:
    """Each command of the README that is shown with its output."""
    found = []
    for block in FENCE.findall((root / "README.md").read_text(encoding="utf-8")):
        for match in EXAMPLE.finditer(block):
            found.append((match[1], block[match.end() + 1 :]))
    return found


def command_lines(root: Path) -> list[str]:
    """Every `recall …` line of a fenced block and every `recall …` in the text between backticks."""
    lines = []
    for page in (root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for block in FENCE.findall(text):
            block = block.replace("\\\n", "")
            lines += [line.removeprefix("$ ") for line in block.splitlines() if re.match(r"(\$ )?recall [a-z]", line)]
        lines += re.findall(r"`(recall [a-z][^`\n]*)`", FENCE.sub("", text))
    return sorted({one for line in lines for one in spelled(line)})


def spelled(line: str) -> list[str]:
    """Each command of a line that gives a choice: `recall task start|done`, `recall sync [--full|--watch]`."""
    choice = re.search(r"\[?([\w-]+(?:\|[\w-]+)+)\]?", line)
    if choice is None or '"' in line[: choice.start()]:
        return [line]
    before, after = line[: choice.start()], line[choice.end() :]
    return [one for word in choice[1].split("|") for one in spelled(before + word + after)]


def pattern(output: str) -> str:
    """Turn shown output into a pattern: `...` stands for anything, scores and times may differ by machine."""
    text = re.escape(output.strip("\n"))
    text = re.sub(r"(?:\\\.){3}", ".*", text)
    text = re.sub(r"(R|cosine|bm25)\\ \d+\\\.\d+", r"\1 [0-9.]+", text)
    return re.sub(r"\[recall\\ [0-9a-f]{8}|\[/recall\\ [0-9a-f]{8}", lambda m: m[0][:-8] + "[0-9a-f]{8}", text)


@pytest.mark.model
def test_readme_examples_print_what_the_readme_says(root: Path, tmp_path, monkeypatch, capsys):
    """With the real model, in the order of the page."""
    monkeypatch.chdir(tmp_path)
    shown = examples(root)

    assert [command.split()[1] for command, _ in shown] == ["demo", "show", "query"]
    for command, output in shown:
        assert run(shlex.split(command)[1:]) == 0
        printed = capsys.readouterr().out
        assert re.match(pattern(output), printed.strip("\n"), re.S), f"{command}\n{printed}"


def test_the_comparison_notices_a_changed_word():
    assert re.match(pattern("a ... R 0.512 b\n"), "a x\ny R 0.498 b", re.S)
    assert not re.match(pattern("a ... R 0.512 b\n"), "a x\ny R 0.498 c", re.S)


def parse(words: list[str]) -> None:
    """Parse a command line as the command would, and run nothing."""
    command: click.Command = cli
    ctx = click.Context(cli, info_name="recall", help_option_names=["-h", "--help"])
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        below = command.get_command(ctx, words[0])
        if below is None and command.invoke_without_command:
            break
        assert below is not None, f"no command {words[0]!r}"
        command, words = below, words[1:]
        if isinstance(command, click.Group) and not words:
            return  # alone it prints its help
        if isinstance(command, click.Group) and words[0].startswith("-"):
            break
    command.make_context(command.name, list(words), parent=ctx)


def test_every_command_that_the_pages_name_exists_with_its_options(root: Path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = command_lines(root)

    assert len(lines) > 200
    for line in lines:
        words = shlex.split(line.replace("COMMAND", "query").replace("&& recall index", ""), comments=True)[1:]
        if "--help" in words:
            continue
        try:
            parse(words)
        except click.MissingParameter:
            pass  # the page names the command without its argument
        except click.UsageError as error:
            if not PLACEHOLDER.search(error.message):
                pytest.fail(f"{line}: {error.format_message()}")


@pytest.mark.parametrize("line", ["recall querry x", "recall query x --no-such-option", "recall sync --from"])
def test_the_check_notices_what_does_not_exist(line):
    with pytest.raises((click.UsageError, AssertionError)):
        parse(shlex.split(line)[1:])


def test_every_page_that_is_generated_is_looked_at(generator):
    assert sorted(generator.PAGES) == sorted(GENERATED)


@pytest.mark.parametrize("name", GENERATED)
def test_generated_page_is_fresh(root: Path, generator, name):
    made = generator.PAGES[name]()

    assert (root / "docs" / name).read_text(encoding="utf-8") == made, "run 'python docs/generate.py'"


def headings(page: Path) -> set[str]:
    """The fragments by which a page's headings are reached."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    plain = (re.sub(r"[^\w\- ]", "", head.lower()) for head in re.findall(r"^#+ (.*)$", text, re.M))
    return {head.replace(" ", "-") for head in plain}


def test_links_between_pages_lead_somewhere(root: Path):
    for page in [*root.glob("*.md"), *(root / "docs").rglob("*.md")]:
        for target, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
            there = page.parent / target if target else page
            assert there.exists(), f"{page.name}: {target}"
            assert not heading or heading in headings(there), f"{page.name}: {target}#{heading}"


def test_signals_that_pages_name_are_in_the_catalogue(root: Path):
    named = {
        (page.name, name)
        for page in (root / "docs").glob("*.md")
        for table in re.findall(r"^\| signals? .*\n(?:\|.*\n)+", page.read_text(encoding="utf-8"), re.M)
        for name in re.findall(r"^\| `([^`]+)`", table, re.M)
    }

    assert {page for page, _ in named} >= {"operations.md", "schedule.md", "service.md"}
    assert {name for _, name in named} - {row.id for row in CATALOG} == set()


def test_scoring_page_states_the_weights_and_constants_in_use(root: Path):
    from scoring.authority import AUTHORITY
    from scoring.risk import RISKS
    from scoring.weights import Scales, Weights

    text = (root / "docs" / "scoring.md").read_text(encoding="utf-8")
    weights, scales = Weights(), Scales()
    for letter, value in zip(
        "αβγδελ",
        (weights.alpha, weights.beta, weights.gamma, weights.delta, weights.epsilon, weights.lambda_),
        strict=True,
    ):
        assert f"| {letter} {value:.2f} |" in text
    assert f"m = {scales.similarity_half_at}, p = {scales.similarity_steepness:.0f}" in text
    assert f"h = {scales.half_life_days:.0f} days" in text
    for value in {*AUTHORITY.values()}:
        assert f"| {value:.2f} |" in text
    for value in {*RISKS.values()}:
        assert f"| {value} |" in text


def test_the_interpreter_of_this_suite_finds_git():
    """Several tests make work trees with it; without it they would be skipped in silence."""
    assert shutil.which("git")
