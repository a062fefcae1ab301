"""Values that rules name, and which two rules name another value of one thing."""

import pytest

from indexer.values import pairs, stated


def found(old, new):
    return pairs(stated(old), stated(new))


@pytest.mark.parametrize(
    ("old", "new", "pair"),
    [
        ("Use a timeout of 30s for the importer.", "From now on the importer has a timeout of 60s.", ("30s", "60s")),
        ("Start function names with `x_`.", "Function names now start with `q_`.", ("x_", "q_")),
        ("Decorate every function with @track.", "Decorate every function with @audit.", ("@track", "@audit")),
        ("Run the linter with --fast.", "Please run the linter with --strict.", ("--fast", "--strict")),
        ("The service must listen on port 8080.", "The service listens on port 8443.", ("8080", "8443")),
        ("Der Importer wartet immer 30s auf die Antwort.", "Der Importer wartet ab jetzt 60s auf die Antwort.",
         ("30s", "60s")),
        ("Pin pandas to 2.1.0 in the image.", "Pin pandas to 2.2.3 in the image.", ("2.1.0", "2.2.3")),
        ("Exported files go to out/reports.", "Exported files go to build/reports.", ("out/reports", "build/reports")),
        # The subject stands in the sentence before.
        ("Now to attributes. Always start them with `m_`.", "Start attributes with `k_`.", ("m_", "k_")),
    ],
)  # fmt: skip
def test_another_value_of_one_thing_is_a_pair(old, new, pair):
    assert found(old, new) == [pair]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Also decorate tests with @slow.", "Also decorate tests with @flaky."),  # both add
        ("Start function names with `x_`.", "End function names with `_x`."),  # another shape
        ("Start function names with `x_`.", "Start function argument names with `q_`."),  # another subject
        ("Use a timeout of 30s for the importer.", "Keep logs of the nightly export for 14d."),
        ("Use a timeout of 30s for the importer.", "Use a timeout of 30s for the importer!"),
        ("Use a timeout of 30s for the importer.", "Should we use a timeout of 60s for the importer?"),
        ("Use a timeout of 30s for the importer.", "1. Use a short timeout for the importer."),
        ("Never push to main.", "Always push to the fork."),
        ("", "Use a timeout of 60s."),
    ],
)
def test_other_things_and_what_holds_besides_are_none(old, new):
    assert found(old, new) == []
