"""The language of a prompt: by script and function words, and not by a name or a path in it."""

import pytest

from recall.language import detect, stop_words


@pytest.mark.parametrize(
    ("prompt", "language"),
    [
        ("why did the deployment fail last night", "en"),
        ("the man in the middle of the die casting", "en"),
        ("Why was Müller's branch für-release dropped?", "en"),
        ("warum ist der Build gestern fehlgeschlagen", "de"),
        ("Testabdeckung erhöhen", "de"),
        ("pourquoi la construction est si lente", "fr"),
        ("¿por qué falla la copia de seguridad?", "es"),
        ("perché il test fallisce ogni tanto", "it"),
        ("por que o teste falha às vezes", "pt"),
        ("waarom faalt de test soms", "nl"),
        ("dlaczego test czasem pada", "pl"),
        ("почему тест иногда падает", "ru"),
        ("为什么测试有时失败", "zh"),
        ("テストが時々失敗するのはなぜ", "ja"),
        ("테스트가 가끔 실패하는 이유", "ko"),
        ("warum schlägt `the_test_of_the_importer()` in /usr/share/the/of/is fehl, und wie lange", "de"),
        ("deploy 部署失败的原因", "zh"),
        ("fix retry_loop in /srv/die/der/das.py", ""),
        ("0x7f 12 !!", ""),
        ("", ""),
    ],
)
def test_a_prompt_is_known_by_its_script_and_function_words(prompt: str, language: str) -> None:
    assert detect(prompt) == language


def test_only_the_function_words_of_the_prompts_own_language_are_dropped() -> None:
    assert "die" in stop_words("de")
    assert not {"die", "man", "son"} & stop_words("en")
    assert "son" in stop_words("fr")
