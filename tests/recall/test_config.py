"""Where a setting comes from."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.command import runner

from recall.config import defaults, load
from recall.setting_docs import shown, variable
from recall.settings import Settings
from transcript.errors import ConfigError


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    data, project = tmp_path / "data", tmp_path / "project"
    data.mkdir()
    (project / ".recall").mkdir(parents=True)
    return data, project


def test_defaults_are_the_dataclasses(places: tuple[Path, Path]) -> None:
    config = load(*places, {})

    assert config.settings() == Settings()
    assert config.get("gate.similarity_floor").value == 0.5
    assert {v.origin for v in config.values} == {"default"}


def test_a_flag_wins_over_variable_project_and_user_file(places: tuple[Path, Path]) -> None:
    data, project = places
    layers: list[tuple[Any, str]] = []
    (data / "config.toml").write_text("[budget]\nitems = 2\n")
    layers.append((load(data, project, {}).get("budget.items"), "user file"))
    (project / ".recall" / "config.toml").write_text("[budget]\nitems = 3\n")
    layers.append((load(data, project, {}).get("budget.items"), "project file"))
    env = {"RECALL_BUDGET_ITEMS": "4"}
    layers.append((load(data, project, env).get("budget.items"), "variable"))
    layers.append((load(data, project, env, {"budget.items": 5}).get("budget.items"), "flag"))

    assert [(v.value, v.origin) for v, _ in layers] == [
        (2, "user file"), (3, "project file"), (4, "variable"), (5, "flag"),
    ]  # fmt: skip
    assert load(data, project, env).settings().budget.items == 4


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[budget]\nitemz = 3\n", "budget.itemz"),
        ("[budgets]\nitems = 3\n", "budgets.items"),
        ("items = 3\n", "items"),
        ("[budget]\nitems = '3'\n", "budget.items"),
        ("[gate]\nrare = 1\n", "gate.rare"),
        ("[budget\n", "config.toml"),
        ("[weights]\nalpha = -1\n", "alpha"),
        ("a = " + "[" * 10_000, "config.toml is no valid TOML: it nests too deep"),
        ("[index]\nchunk_chars = 3\n", "chunk_chars"),
        ("[index]\nembed_batch = 0\n", "embed_batch"),
        ("[index]\nprompt_head_chars = -1\n", "prompt_head_chars"),
        ("[retrieval]\nk = 0\n", "retrieval.k"),
        ("[retrieval]\narm = -5\n", "retrieval.arm"),
        ("[retrieval]\nvector_limit = 4097\n", "retrieval.vector_limit is 4097, must be at most 4096"),
        ("[retrieval]\nlexical_limit = -1\n", "lexical_limit"),
        ("[retrieval]\nwords_half_at = 0\n", "words_half_at"),
        ("[retrieval]\nlink = nan\n", "retrieval.link is nan, must be finite"),
        ("[selection]\ntranscript_items = -1\n", "transcript_items"),
        ("[gate]\nthreshold = inf\n", "gate.threshold is inf, must be finite"),
        (
            f"[window]\nkeep_exchanges = {'9' * 400}\n",
            "window.keep_exchanges is a number of many digits, must be finite",
        ),
        ("[budget]\nitems = -1\n", "budget.items"),
        ("[hook]\ndeadline_ms = -1\n", "deadline_ms"),
        ("[service]\nidle_minutes = 0\n", "idle_minutes"),
        ("[consolidation]\npressure = 1.5\n", "pressure"),
        ("[reviewer]\nkind = 'oracle'\n", "none, command, openai or peer"),
        ("[reviewer]\nkind = 'command'\n", "command must name the program"),
        ("[reviewer]\nkind = 'openai'\nurl = 'http://localhost:1/v1'\n", "url and model"),
        ("[reviewer]\nkind = 'peer'\ncommand = 'review'\n", "id and either"),
        ("[memory]\nprivacy = 'public'\n", "privacy"),
        ("[experience]\ncited = -1.0\n", "cited"),
    ],
)
def test_a_wrong_file_is_an_error_that_names_what(places: tuple[Path, Path], text: str, named: str) -> None:
    data, project = places
    (project / ".recall" / "config.toml").write_text(text)

    with pytest.raises(ConfigError, match=named):
        load(data, project, {})


NOT_FINITE = [
    ("experience", "cited", "nan"), ("weights", "beta", "inf"), ("weights", "lambda_", "-inf"),
    ("scales", "stretch", "nan"), ("gate", "threshold", "inf"), ("consolidation", "pressure", "nan"),
    ("service", "idle_minutes", "1e999"), ("reviewer", "timeout_s", "nan"), ("retrieval", "link", "1" + 400 * "0"),
]  # fmt: skip


@pytest.mark.parametrize(("section", "name", "number"), NOT_FINITE, ids=[one[1] for one in NOT_FINITE])
def test_a_number_that_is_none_is_named_with_the_key_and_the_file_or_variable(
    places: tuple[Path, Path], section: str, name: str, number: str
) -> None:
    data, project = places
    user, own = data / "config.toml", project / ".recall" / "config.toml"
    variable = f"RECALL_{section}_{name}".upper().rstrip("_")
    for whose, path in (("user", user), ("project", own)):
        path.write_text(f"[{section}]\n{name} = {number}\n")
        with pytest.raises(ConfigError, match=rf"^{section}\.{name} is .*\({whose} file {path}\)$"):
            load(data, project, {})
        path.unlink()
    with pytest.raises(ConfigError, match=rf"^{section}\.{name} is .*\(variable {variable}\)$"):
        load(data, project, {variable: number})


def test_a_near_name_is_suggested(places: tuple[Path, Path]) -> None:
    (places[0] / "config.toml").write_text("[budget]\nitemz = 3\n")

    with pytest.raises(ConfigError, match=r"did you mean budget\.items\?"):
        load(*places, {})


@pytest.mark.parametrize("name", ["RECALL_BUDGET_ITEMZ", "RECALL_GATE_NOTHING"])
def test_a_variable_of_our_sections_that_names_no_setting_is_an_error(places: tuple[Path, Path], name: str) -> None:
    with pytest.raises(ConfigError, match=name):
        load(*places, {name: "3"})


def test_variables_of_others_are_left_alone(places: tuple[Path, Path]) -> None:
    env = {"RECALL_HOME": "/x", "RECALL_OFF": "0", "RECALL_API_KEY": "other product", "PATH": "/bin"}

    assert load(*places, env).settings() == Settings()


def test_switches_and_numbers_are_read_from_variables(places: tuple[Path, Path]) -> None:
    env = {
        "RECALL_GATE_RARE": "off",
        "RECALL_GATE_THRESHOLD": "0.25",
        "RECALL_CAPTURE_NATIVE": "no",
        "RECALL_WEIGHTS_LAMBDA": "0.2",
        "RECALL_INDEX_MODEL": "onnx:other",
    }

    config = load(*places, env)

    assert config.settings().gate.rare is False
    assert config.settings().gate.threshold == 0.25
    assert config.capture().native is False
    assert config.settings().weights.lambda_ == 0.2
    assert config.index().model == "onnx:other"
    with pytest.raises(ConfigError, match=r"gate\.rare"):
        load(*places, {"RECALL_GATE_RARE": "perhaps"})


def test_the_workspace_id_in_the_project_file_is_no_setting(places: tuple[Path, Path]) -> None:
    (places[1] / ".recall" / "config.toml").write_text('id = "0f4c"\n\n[budget]\nitems = 3\n')

    assert load(*places, {}).get("budget.items").value == 3


def test_a_setting_that_does_not_exist_cannot_be_asked_for(places: tuple[Path, Path]) -> None:
    with pytest.raises(ConfigError, match=r"budget\.gone"):
        load(*places, {}).get("budget.gone")


def as_file(values: dict[str, Any]) -> str:
    """Return a config.toml that gives every one of these settings."""
    sections: dict[str, list[str]] = {}
    for key, value in values.items():
        section, _, name = key.partition(".")
        sections.setdefault(section, []).append(f"{name} = {shown(value)}")
    return "\n".join(f"[{section}]\n" + "\n".join(lines) for section, lines in sections.items())


def test_every_setting_names_the_place_that_gives_it(places: tuple[Path, Path]) -> None:
    """Even one that is given the value that it has anyway."""
    data, project = places
    every = defaults()
    seen = [{value.origin for value in load(data, project, {}).values}]
    (data / "config.toml").write_text(as_file(every))
    seen.append({value.where for value in load(data, project, {}).values})
    (project / ".recall" / "config.toml").write_text(as_file(every))
    seen.append({value.where for value in load(data, project, {}).values})
    env = {variable(key): str(shown(value)).strip('"') for key, value in every.items()}
    by_variable = load(data, project, env).values
    seen.append({value.origin for value in load(data, project, env, every).values})

    assert len(env) == len(every)  # no two settings share a variable
    assert {value.key: value.where for value in by_variable} == {key: f"variable {variable(key)}" for key in every}
    assert {value.key: value.value for value in by_variable} == every
    assert seen == [
        {"default"},
        {f"user file {data / 'config.toml'}"},
        {f"project file {project / '.recall' / 'config.toml'}"},
        {"flag"},
    ]


def test_the_command_prints_every_setting_with_its_origin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECALL_GATE_THRESHOLD", "0.25")
    recall = runner(capsys)
    told = [json.loads(line) for line in recall("config", "--json").out.splitlines()]
    origins = {one["key"]: one["origin"] for one in told}

    assert origins == dict.fromkeys(defaults(), "default") | {"gate.threshold": "variable"}
    assert all(one["meaning"] and one["range"] for one in told)
    lines = {line.split()[0]: line for line in recall("config").out.split("\n\n")[0].splitlines()}
    assert lines.keys() == origins.keys()
    assert all(line.endswith(origins[key]) for key, line in lines.items())


def test_a_setting_says_where_it_may_be_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RECALL_HOME", str(tmp_path / "data"))
    told = runner(capsys)("config", "gate.threshold").out

    assert f"set it as 'threshold = ...' under [gate] in {tmp_path / '.recall' / 'config.toml'}" in told
    assert f"or for all projects in {tmp_path / 'data' / 'config.toml'}" in told


def test_the_name_of_a_section_prints_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = [key for key in defaults() if key.startswith("window.")]
    recall = runner(capsys)

    assert len(wanted) > 1
    assert [json.loads(line)["key"] for line in recall("config", "window", "--json").out.splitlines()] == wanted
    assert [line.split()[0] for line in recall("config", "window").out.split("\n\n")[0].splitlines()] == wanted
    assert recall("config", "windo").code == 1
