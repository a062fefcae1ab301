"""A prompt in another language, word by word in English: inflections, compounds and phrases; names and code stay."""

from pathlib import Path

import pytest

from recall.cues import read_cues
from recall.gloss import gloss, load
from recall.language import GLOSSED

FOLDER = Path(__file__).parents[2] / "recall" / "languages"


@pytest.mark.parametrize(
    ("language", "prompt", "english"),
    [
        ("de", "warum wurden die Verbindungen getrennt?", "why were the connection split?"),
        ("de", "Datenbankverbindungen", "database connection"),
        ("de", "Fehlermeldung beim Hochladen", "error message at upload"),
        ("de", "die geaenderten Einstellungen", "the change settings"),
        ("de", "die geänderten Einstellungen", "the change settings"),
        ("de", "umbenannt", "rename"),
        ("de", "mehrere Vorschläge", "several proposal"),
        ("de", "der Zeitstempel in der Beschreibung", "the timestamp in the description"),
        ("de", "die Ansicht der Dokumente", "the view the document"),  # as programs have them: no opinion
        ("de", "tragen", "tragen"),  # not "träge"
        ("fr", "plusieurs sessions", "several session"),
        ("fr", "l'erreur n'a pas été corrigée", "the error has no was fix"),
        ("fr", "les sauvegardes de la base de données", "the backup of the database"),
        ("fr", "l'horodatage et le préfixe", "the timestamp and the prefix"),
        ("es", "las contraseñas guardadas", "password save"),
        ("es", "las contrasenas guardadas", "password save"),
        ("it", "i messaggi di errore", "error message"),
        ("pt", "os arquivos apagados", "file delete"),
        ("nl", "zoekindex", "search index"),
        ("pl", "wyciek pamięci", "memory leak"),
        ("ru", "утечка памяти", "memory leak"),
        ("zh", "数据库连接数", "database connection number"),
        ("ja", "パスワードを保存する", "password save"),
        ("ko", "비밀번호를 저장", "password save"),
    ],
)
def test_a_gloss_finds_inflected_words_compounds_and_phrases(language: str, prompt: str, english: str) -> None:
    assert gloss(prompt, language).text == english


@pytest.mark.parametrize(
    "kept", ["retry_loop", "src/importer/main.py", "HTTP-502", "`wird gespeichert`", "parseHeader()", "v2.4", "--force"]
)
def test_code_paths_and_versions_stand_in_a_gloss_as_they_were_typed(kept: str) -> None:
    assert kept in gloss(f"warum wird {kept} nicht gespeichert", "de").text


def test_names_the_dictionary_does_not_know_stay_in_their_place() -> None:
    text = gloss("warum hat Celery den Speicher von Kubernetes gefüllt", "de").text

    assert text == "why has Celery the memory of Kubernetes fill"


@pytest.mark.parametrize("language", sorted(GLOSSED))
def test_every_dictionary_is_well_formed_and_no_headword_is_named_twice(language: str) -> None:
    lines = (FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    heads = [head for line in lines for head in line.split("\t")[1].split(", ")]

    assert all(line.count("\t") == 1 and line.split("\t")[0].isascii() for line in lines)
    assert all(head and head == head.strip() for head in heads)
    assert len(heads) == len(set(heads))
    assert len(load(language)) >= 900


def test_a_dictionary_is_read_only_for_a_prompt_in_its_language() -> None:
    load.cache_clear()
    read_cues("why did the backup fail")
    assert load.cache_info().currsize == 0

    read_cues("warum ist die Sicherung fehlgeschlagen")
    assert load.cache_info().currsize == 1


def test_cues_hold_the_words_of_a_prompt_and_their_english() -> None:
    cues = read_cues("warum ist die Sicherung auf kestrel fehlgeschlagen")

    assert cues.language == "de"
    assert {"sicherung", "kestrel", "fehlgeschlagen", "backup", "fail"} <= set(cues.terms)
    assert not {"warum", "ist", "die", "auf"} & set(cues.terms)
    assert cues.meaning == "why is the backup on kestrel fail"


def test_an_english_prompt_is_its_own_meaning() -> None:
    cues = read_cues("why did the man drop the die")

    assert cues.meaning == cues.text
    assert {"man", "die"} <= set(cues.terms)


def test_without_the_step_a_prompt_keeps_to_its_own_words() -> None:
    cues = read_cues("warum ist die Sicherung fehlgeschlagen", gloss=False)

    assert cues.terms == ("sicherung", "fehlgeschlagen")
    assert cues.meaning == cues.text


@pytest.mark.parametrize("language", sorted(GLOSSED))
def test_any_text_can_be_glossed(language: str) -> None:
    for text in ("", " ", "''", "l'", "-", "é", "。", "…?!", "a" * 5000, "ge" * 3000, "x-y'z " * 900, "\ud800"):
        assert isinstance(gloss(text, language).text, str)


def test_a_language_without_a_dictionary_has_no_gloss() -> None:
    assert gloss("miksi testi epäonnistui", "fi").words == ()
