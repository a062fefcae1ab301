"""A, authority: what kind of source speaks."""

AUTHORITY = {
    "curated": 1.00,  # a recorded decision, or a memory that a person approved
    "project": 0.90,  # a file of the project as it is now
    "memory": 0.75,  # a consolidated statement, verified, not approved by a person
    "prompt": 0.60,  # a person's own message
    "final": 0.50,  # the answer that closes an exchange
    "pasted": 0.40,  # what a person put into a message: a plan, a review, a program's output
    "inference": 0.45,  # a memory that nothing quoted bears out
    "narration": 0.40,  # what the agent said on its way
    "summary": 0.35,  # written by a model about the transcript
    "tool": 0.35,  # what a tool was given or printed
    "worker": 0.30,  # a sub-agent's text
    "reasoning": 0.25,  # exposed thinking
    "external": 0.20,  # what an independent peer said on a channel: below anything of ours
}


# Where exact wording matters, what a model wrote about the record stands below any word of the record itself.
PARAPHRASED = {"memory": 0.30, "inference": 0.20, "summary": 0.15}


def authority(source: str, *, verbatim: bool = False) -> float:
    """Return the standing of a source class; with `verbatim` for a prompt that wants exact wording.

    Formula: the tables above
    Range:   [0, 1]; higher is better; an approved memory stands above any fragment of a transcript.
    Source:  LCA 5.2.4.
    """
    if verbatim and source in PARAPHRASED:
        return PARAPHRASED[source]
    try:
        return AUTHORITY[source]
    except KeyError:
        raise ValueError(f"{source!r} is no source class; known: {', '.join(sorted(AUTHORITY))}") from None
