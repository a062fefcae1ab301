"""Signs the head of the record, and holds the record against what was signed.

The chain says that no event was changed since the head; a signature says that this head was ours: who rewrites the
record and its chain cannot sign it. The key is not the one of approvals, which nothing unattended may use: it is one of
the data folder that is made by itself, for an HMAC, or an ssh key (`signing.kind`), which can lie outside this machine.
"""

import base64
import binascii
import hmac
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from consolidation import child
from consolidation.keys import FOLDER, Key, make_key, read_key
from recall.governance_settings import SigningSettings
from transcript.canonical import b32id, canonical
from transcript.coord_codes import Refusal
from transcript.errors import KeyFault
from transcript.event import Draft, Event, stamp
from transcript.log import Log
from transcript.paths import secure_dir, user_path, write_atomic
from transcript.sieve import Sieve, type_field
from transcript.workspace import Workspace

TYPE, HEAD = "signature", "head"
HMAC, SSH = "hmac-sha256", "ssh"
ALGORITHMS = {"hmac": HMAC, "ssh": SSH}  # by the setting signing.kind
KEY, SIGNERS = "head.key", "head-signers"  # files of the keys' folder; the second lists public ssh keys that signed
CODES = {
    "signature_bad": "the record is not the one that was signed here, or somebody else signed it",
    "signature_unknown_key": "signed with a key that is not here (any more)",
    "signature_none": "nothing in this record is signed yet; recall verify --sign",
}
_DOMAIN = b"recall-head/1\n"
_SECONDS = 20.0
_NAMESPACE = _IDENTITY = "recall"  # of ssh signatures


@dataclass(frozen=True, slots=True)
class Problem:
    """A signature that does not hold: the code, and at which event it stands."""

    code: str
    where: str

    @property
    def message(self) -> str:
        """What the code means."""
        return CODES[self.code]


@dataclass(frozen=True, slots=True)
class Checked:
    """How many signatures of the kind in force there are, through which event one holds (0: none), and all faults."""

    count: int
    through: int
    problems: tuple[Problem, ...]


def sign_head(workspace: Workspace, settings: SigningSettings, now: datetime) -> Draft | None:
    """Return the event that signs the record as it stands, None for an empty one.

    KeyFault where the key cannot be used: `sign_failed` for ssh, with what to look at.
    """
    at = Log(workspace).head().position
    if at.seq == 0:
        return None
    through = {"segment": at.segment, "offset": at.offset, "seq": at.seq, "hash": at.hash}
    data = _signed(workspace.id, through)
    folder = workspace.data / FOLDER
    if settings.kind == SSH:
        algorithm, name, value = SSH, *_ssh_sign(folder, user_path(settings.key), data)
    else:
        key = _head_key(folder)
        algorithm, name, value = HMAC, key.id, hmac.new(key.secret, data, sha256).hexdigest()
    body = {"of": HEAD, "through": through, "algorithm": algorithm, "key_id": name, "value": value}
    return Draft(
        type=TYPE,
        id=b32id(TYPE, workspace.id, at.hash, algorithm, name),
        ts=stamp(now),
        ts_source="record",
        session="recall:signatures",
        agent="recall",
        actor="system",
        origin="internal",
        native={"adapter": "signatures"},
        body=body,
    )


def add(workspace: Workspace, settings: SigningSettings, now: datetime) -> Event | None:
    """Sign the record as it stands and append the signature; None where it stands there already. KeyFault as above."""
    draft = sign_head(workspace, settings, now)
    written = Log(workspace).append([draft], now=now) if draft is not None else []
    return written[0] if written else None


def check(log: Log, settings: SigningSettings) -> Checked:
    """Hold the record against every signature in it. Reads only; the chain itself is what `recall verify` checks."""
    signatures = [event for event in log.read(sieve=Sieve((type_field(TYPE),))) if event.type == TYPE]
    bodies = [(event, log.body(event)) for event in signatures]
    wanted = {body["through"].get("seq") for _, body in bodies if body}
    hashes = {event.seq: event.position.hash for event in log.read() if event.seq in wanted} if wanted else {}
    keys = _Keys(log.workspace.data / FOLDER, settings)
    problems, through, count = [], 0, 0
    for event, body in bodies:
        code = _fault(log.workspace.id, body, event.seq, hashes, keys)
        in_force = body.get("algorithm") == ALGORITHMS[settings.kind]
        count += in_force
        if code:
            problems.append(Problem(code, f"event {event.seq}"))
        elif in_force:
            through = max(through, int(body["through"]["seq"]))
    if not count:
        problems.append(Problem("signature_none", "the record"))
    return Checked(count, through, tuple(problems))


def newest(log: Log) -> tuple[int, str]:
    """Return through which event the last signature goes, and what is wrong with it; (0, "") where there is none.

    Reads back from the end: nothing of the record that lies before what was signed last.
    """
    event = next(log.read_back(only=TYPE), None)
    if event is None:
        return 0, ""
    body = log.body(event)
    seq = (body.get("through") or {}).get("seq")
    hashes = {}
    for other in log.read_back(event.position):
        if other.seq == seq:
            hashes = {seq: other.position.hash}
        if type(seq) is not int or other.seq <= seq:
            break
    keys = _Keys(log.workspace.data / FOLDER, SigningSettings())
    code = _fault(log.workspace.id, body, event.seq, hashes, keys)
    return (seq if type(seq) is int else 0), code


def _fault(store: str, body: Mapping[str, Any], place: int, hashes: Mapping[int, str], keys: "_Keys") -> str:
    """Return the code of what is wrong with a signature at a place of the record, "" for nothing."""
    through = body.get("through")
    if not isinstance(through, dict) or body.get("of") != HEAD:
        return "signature_bad"
    seq = through.get("seq")
    if type(seq) is not int or seq >= place or hashes.get(seq) != through.get("hash"):
        return "signature_bad"
    holds = keys.holds(str(body["algorithm"]), str(body["key_id"]), _signed(store, through), str(body["value"]))
    return "signature_unknown_key" if holds is None else "" if holds else "signature_bad"


def _signed(store: str, through: Mapping[str, Any]) -> bytes:
    return _DOMAIN + canonical({"store_id": store, "of": HEAD, "through": dict(through)})


def _head_key(folder: Path) -> Key:
    """Return the key of the head, made where there is none."""
    try:
        return read_key(folder / KEY)
    except KeyFault as fault:
        if fault.code != "key_missing":
            raise
    try:
        return make_key(folder / KEY)
    except KeyFault as fault:
        if fault.code != "key_exists":
            raise
    return read_key(folder / KEY)


class _Keys:
    """The keys that signatures here are held against, each read once."""

    def __init__(self, folder: Path, settings: SigningSettings) -> None:
        self._secrets: dict[str, bytes] = {}
        for path in (folder / KEY, *sorted(folder.glob("head-*.key"))):
            try:
                key = read_key(path)
            except KeyFault:
                continue
            self._secrets[key.id] = key.secret
        self._signers = {name: line for line in _signers(folder) if (name := fingerprint(line))}
        if settings.kind == SSH and (line := _public(user_path(settings.key))):
            self._signers[fingerprint(line)] = line

    def holds(self, algorithm: str, name: str, data: bytes, value: str) -> bool | None:
        """Say whether a signature is one of this key over these bytes; None where the key is not here."""
        if algorithm == HMAC:
            secret = self._secrets.get(name)
            if secret is None:
                return None
            return hmac.compare_digest(hmac.new(secret, data, sha256).hexdigest().encode(), value.encode())
        line = self._signers.get(name)
        return None if line is None else _ssh_holds(line, data, value)


# -- ssh -----------------------------------------------------------------------------------


def fingerprint(public: str) -> str:
    """Return a public ssh key's fingerprint as ssh prints it (`SHA256:...`), "" for what is none."""
    parts = public.split()
    try:
        blob = base64.b64decode(parts[1], validate=True)
    except (IndexError, binascii.Error):
        return ""
    return "SHA256:" + base64.b64encode(sha256(blob).digest()).decode("ascii").rstrip("=")


def _public(key: Path) -> str:
    """Return the public half of a key: the file beside it that ends with `.pub`, or itself; "" for none."""
    path = key if key.suffix == ".pub" else key.with_name(f"{key.name}.pub")
    try:
        return " ".join(path.read_text("utf-8").split()[:2])
    except (OSError, UnicodeDecodeError):
        return ""


def _signers(folder: Path) -> list[str]:
    try:
        return (folder / SIGNERS).read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []


def _ssh_sign(folder: Path, key: Path, data: bytes) -> tuple[str, str]:
    """Return the fingerprint of an ssh key and its signature; the public half is kept, so that it can be verified."""
    public = _public(key)
    name = fingerprint(public)
    if not name:
        raise _failed(f"there is no public key at {key}.pub")
    try:
        value = child.run(
            ["ssh-keygen", "-Y", "sign", "-f", str(key), "-n", _NAMESPACE],
            data,
            timeout_s=_SECONDS,
            passed=("SSH_AUTH_SOCK",),
        ).decode("ascii", "replace")
    except child.ChildFailed as error:
        raise _failed(f"ssh-keygen {error}; a key with a passphrase needs an ssh agent") from None
    held = _signers(folder)
    if public not in held:
        secure_dir(folder)
        write_atomic(folder / SIGNERS, "".join(f"{line}\n" for line in [*held, public]).encode())
    return name, value


def _ssh_holds(public: str, data: bytes, value: str) -> bool:
    with tempfile.TemporaryDirectory(prefix="recall-signature-") as name:
        folder = Path(name)
        (folder / "allowed").write_text(f"{_IDENTITY} {public}\n", "utf-8")
        (folder / "value").write_text(value, "utf-8")
        try:
            files = ("-f", str(folder / "allowed"), "-s", str(folder / "value"))
            names = ("-I", _IDENTITY, "-n", _NAMESPACE)
            child.run(["ssh-keygen", "-Y", "verify", *files, *names], data, timeout_s=_SECONDS)
        except child.ChildFailed:
            return False
    return True


def _failed(note: str) -> KeyFault:
    error = Refusal("sign_failed", "signing.key", note)
    return KeyFault(error.code, error.field, error.message)
