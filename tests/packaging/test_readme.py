"""README examples hold, and generated pages are fresh."""

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest

from recall.cli.group import cli, run

FENCE = re.compile(r"^```\n(.*?)^```$", re.M | re.S)
EXAMPLE = re.compile(r"^\$ (recall .*)$", re.M)
PAGES = ["README.md", "CONTRIBUTING.md"] + [
    f"docs/{name}.md"
    for name in ("approval", "architecture", "memories", "operations", "roles", "standing-context", "window")
]


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
    for page in PAGES:
        text = (root / page).read_text(encoding="utf-8")
        for block in FENCE.findall(text):
            block = block.replace("\\\n", "")
            lines += [line.removeprefix("$ ") for line in block.splitlines() if re.match(r"(\$ )?recall [a-z]", line)]
        lines += re.findall(r"`(recall [a-z][^`\n]*)`", FENCE.sub("", text))
    return sorted(set(lines))


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
    (tmp_path / "FILE").touch()
    for name in ("DIR", "FOLDER"):
        (tmp_path / name).mkdir()
    lines = command_lines(root)

    assert len(lines) > 20
    for line in lines:
        words = shlex.split(line.replace("COMMAND", "query").replace("&& recall index", ""), comments=True)[1:]
        if "--help" in words:
            continue
        try:
            parse(words)
        except click.MissingParameter:
            pass  # the page names the command without its argument
        except click.UsageError as error:
            if not error.message.endswith("requires an argument."):  # the page names the option without its value
                pytest.fail(f"{line}: {error.format_message()}")


@pytest.mark.parametrize("line", ["recall querry x", "recall query x --no-such-option", "recall sync --from"])
def test_the_check_notices_what_does_not_exist(line):
    with pytest.raises((click.UsageError, AssertionError)):
        parse(shlex.split(line)[1:])


@pytest.mark.parametrize("name", ["cli.md", "config.md", "schema.md", "adapter-tests.md", "evaluation.md"])
def test_generated_page_is_fresh(root: Path, generator, name):
    made = generator.PAGES[name]()

    assert (root / "docs" / name).read_text(encoding="utf-8") == made, "run 'python docs/generate.py'"


def test_links_between_pages_lead_somewhere(root: Path):
    for page in [*root.glob("*.md"), *(root / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


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
