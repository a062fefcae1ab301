"""Thanks and greetings inject nothing; a question beside them is a question."""

import pytest

from recall.cues import read_cues


@pytest.mark.parametrize(
    "prompt",
    [
        "thanks!",
        "Thank you so much, great work",
        "perfect, thanks a lot",
        "good morning",
        "Good night, see you tomorrow",
        "wow, awesome",
        "nice job everyone",
        "Vielen lieben Dank, bis morgen!",
        "Guten Morgen",
        "merci beaucoup, bonne soirée",
        "muchas gracias, hasta luego",
        "grazie mille, a domani",
        "muito obrigado, até amanhã",
        "большое спасибо",
        "谢谢你",
        "ありがとうございます",
        "감사합니다",
    ],
)
def test_courtesy_is_silent(prompt: str) -> None:
    assert read_cues(prompt).reason == "continuation"


@pytest.mark.parametrize(
    "prompt",
    [
        "thanks, and which port did we choose?",
        "great work on the parser, does it handle tabs?",
        "good morning, where did we leave the migration",
        "how are the nightly jobs doing today",
        "hello world example in the README is broken",
        "sorry, the deploy failed again",
        "danke, und welcher Port war es?",
        "merci, où est la config ?",
        "谢谢，端口是多少？",
        "welcome page is blank",
    ],
)
def test_a_question_beside_courtesy_is_asked(prompt: str) -> None:
    assert read_cues(prompt).reason == ""
