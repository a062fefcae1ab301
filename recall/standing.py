"""Whether a prompt is about to act, so that a person's standing wishes and corrections should be looked at.

On the hook path: standard library only. An order that names its work ("add a column to the export", "schreib einen
Test") acts; a question looks something up. A turn's hook prefers what was laid down for the act; a deliberate search
does not.
"""

import re

MOST_WISHES = 20  # of each search, besides the best passages

_POLITE = (
    r"(?:(?:please|pls|ok(?:ay)?|now|next|then|and|also|great|good|thanks|perfect|so|yes|no|just|go ahead and|"
    r"can you|could you|would you|will you|i want you to|i'd like you to|i need you to|we need to|we should|you should|"
    r"let'?s|let us|time to|bitte|jetzt|dann|und|ok|kannst du|könntest du|lass uns|wir müssen|du sollst|"
    r"s'il te plaît|maintenant|ensuite|et|peux-tu|tu peux|pourrais-tu|il faut|por favor|ahora|luego|y|puedes|"
    r"vamos a|hay que)[\s,.!:-]+)*"
)
_VERBS = (
    "add append apply adjust archive attach automate back build bump change check clean commit configure convert copy "
    "create cut delete deploy design disable document download draft drop edit enable expand export expose extend "
    "extract fill finish fix format generate handle hook implement import improve include insert install integrate "
    "introduce keep log make merge migrate move open optimize optimise package paste patch polish port prepare print "
    "publish push put raise rebase rebuild redo reduce refactor release remove rename reorganize replace reply rerun "
    "reset restart restore restructure revert rewrite run scaffold send set setup ship show simplify solve sort split "
    "squash start stop style submit switch sync tag test tidy translate try tune turn undo update upgrade upload use "
    "validate wire wrap write "
    "füge schreib schreibe erstelle mach mache baue bau ändere benenne lösche entferne ersetze verschiebe aktualisiere "
    "implementiere teste starte führe committe merge behebe korrigiere übersetze setze leg lege räum räume "
    "ajoute ajouter écris écrire crée créer modifie modifier corrige corriger supprime supprimer remplace remplacer "
    "renomme renommer déplace mets mettre fais faire lance lancer génère traduis implémente refactorise teste publie "
    "añade agrega crea escribe cambia corrige borra elimina reemplaza renombra mueve actualiza implementa ejecuta haz "
    "pon genera traduce publica añadir agregar crear escribir cambiar corregir borrar eliminar"
)
_ORDERS = re.compile(_POLITE + r"(?:" + "|".join(sorted(set(_VERBS.split()))) + r")\b(?!['’])", re.IGNORECASE)
_INFINITIVE = re.compile(
    r"\b(?:hinzufügen|schreiben|erstellen|machen|bauen|ändern|umbenennen|löschen|entfernen|ersetzen|verschieben|"
    r"aktualisieren|implementieren|testen|starten|ausführen|committen|beheben|korrigieren|übersetzen|einbauen|"
    r"anlegen|aufräumen|umschreiben)[\s.!]*$",
    re.IGNORECASE,
)
_ASKED_TO = re.compile(r"\s*(?:can|could|would|will) you\b|\s*(?:kannst|könntest) du\b|\s*(?:peux|pourrais)-tu\b|"
                       r"\s*puedes\b", re.IGNORECASE)  # fmt: skip
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
_FIRST_CHARS = 600


def about_to_act(text: str) -> bool:
    """Tell whether a sentence at the head of a prompt orders work, in English, German, French or Spanish."""
    for sentence in _SENTENCE.split(text.strip()[:_FIRST_CHARS].replace("’", "'")):
        sentence = sentence.strip(" \t-*>")
        if sentence.endswith("?") and not _ASKED_TO.match(sentence):
            continue
        if _ORDERS.match(sentence) or _INFINITIVE.search(sentence):
            return True
    return False
