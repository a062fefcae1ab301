"""The keys decisions are signed with: who may read them, what replaces them, and what is never printed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support.coord import NOW

from consolidation.keys import KeyStore
from transcript.errors import KeyFault


@pytest.fixture
def keys(tmp_path: Path) -> KeyStore:
    store = KeyStore(tmp_path / "data")
    store.create()
    return store


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(KeyFault) as caught:
        act()
    return caught.value.code


def test_a_new_key_is_64_hex_digits_that_only_its_owner_can_open(keys: KeyStore) -> None:
    path = keys.folder / "approval.key"

    assert len(bytes.fromhex(path.read_text().strip())) == 32
    assert (path.stat().st_mode & 0o777, keys.folder.stat().st_mode & 0o777) == (0o600, 0o700)
    assert code_of(keys.create) == "key_exists"
    assert [entry.state for entry in keys.list()] == ["current"]


def test_no_text_of_a_key_object_or_fault_holds_the_secret(keys: KeyStore) -> None:
    """ASM-24."""
    key = keys.current()
    (keys.folder / "approval.key").chmod(0o644)
    with pytest.raises(KeyFault) as caught:
        keys.current()

    for text in (repr(key), str(key), f"{key}", str(caught.value), repr(caught.value), repr(keys.list())):
        assert key.secret.hex() not in text
        assert repr(key.secret) not in text


def test_without_a_key_the_fault_names_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(KeyFault, match="recall coord key new") as caught:
        KeyStore(tmp_path).current()

    assert caught.value.code == "key_missing"


@pytest.mark.parametrize("text", ["", "0" * 63, "0" * 65, "z" * 64, "0" * 62 + "\n"], ids=len)
def test_a_key_of_another_length_or_alphabet_is_none(keys: KeyStore, text: str) -> None:
    (keys.folder / "approval.key").write_text(text)

    assert code_of(keys.current) == "key_short"


@pytest.mark.skipif(os.name != "posix", reason="modes and owners are POSIX")
class TestOthers:
    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
    def test_a_key_that_others_may_open_is_refused(self, keys: KeyStore, mode: int) -> None:
        (keys.folder / "approval.key").chmod(mode)

        assert code_of(keys.current) == "key_exposed"

    def test_a_folder_in_which_others_may_replace_the_key_is_refused(self, keys: KeyStore) -> None:
        keys.folder.chmod(0o770)

        assert code_of(keys.current) == "key_exposed"

    def test_a_key_of_another_user_is_refused(self, keys: KeyStore, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)

        assert code_of(keys.current) == "key_owner"

    def test_a_link_a_folder_and_a_pipe_are_no_keys_and_are_not_waited_for(self, keys: KeyStore) -> None:
        path = keys.folder / "approval.key"
        path.rename(keys.folder / "elsewhere")
        path.symlink_to(keys.folder / "elsewhere")
        found = [code_of(keys.current)]
        path.unlink()
        path.mkdir()
        found.append(code_of(keys.current))
        path.rmdir()
        os.mkfifo(path, 0o600)
        found.append(code_of(keys.current))

        assert found == ["key_link"] * 3

    def test_a_link_in_place_of_the_folder_is_refused(self, keys: KeyStore) -> None:
        keys.folder.rename(keys.folder.with_name("other"))
        keys.folder.symlink_to(keys.folder.with_name("other"))

        assert code_of(keys.current) == "key_link"

    def test_what_is_no_key_is_replaced_by_one_and_a_folder_is_left(self, keys: KeyStore) -> None:
        path = keys.folder / "approval.key"
        for spoil in (lambda: path.write_text("short"), lambda: (path.unlink(), path.symlink_to("/dev/null"))):
            spoil()
            new, old = keys.rotate()
            assert (old, keys.current()) == ("", new)
            assert not path.is_symlink()
        path.unlink()
        assert code_of(keys.rotate) == "key_missing"
        path.mkdir()
        assert code_of(keys.rotate) == "key_link"

    def test_an_exposed_key_can_be_replaced_and_still_tells_what_it_signed(self, keys: KeyStore) -> None:
        old = keys.current()
        (keys.folder / "approval.key").chmod(0o644)

        new, name = keys.rotate()

        assert name == old.id != new.id == keys.current().id
        assert keys.by_id(name) == old


def test_a_replaced_key_is_found_by_its_id_and_signs_no_more(keys: KeyStore) -> None:
    old = keys.current()

    new, name = keys.rotate()

    assert (name, keys.by_id(old.id), keys.by_id(new.id)) == (old.id, old, new)
    assert [(entry.id, entry.state) for entry in keys.list()] == [(new.id, "current"), (old.id, "rotated")]


def test_a_revoked_key_neither_signs_nor_verifies_what_is_new(keys: KeyStore) -> None:
    key = keys.current()

    keys.revoke(key.id, "lost\nlaptop", now=NOW)
    keys.revoke(key.id, "again", now=NOW)

    assert code_of(keys.current) == code_of(lambda: keys.by_id(key.id)) == "key_revoked"
    assert keys.by_id(key.id, even_revoked=True) == key
    assert [(entry.state, entry.reason) for entry in keys.list()] == [("revoked", "lost laptop")]


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "0123456789abcdef", "ZZZZZZZZZZZZZZZZ", "0" * 17])
def test_an_id_of_no_key_is_unknown_and_opens_no_file(keys: KeyStore, name: str) -> None:
    assert code_of(lambda: keys.by_id(name)) == "key_unknown"
    assert code_of(lambda: keys.revoke(name, "x", now=NOW)) == "key_unknown"


def test_a_key_file_put_under_another_id_is_unknown(keys: KeyStore) -> None:
    (keys.folder / "approval-0123456789abcdef.key").write_bytes((keys.folder / "approval.key").read_bytes())
    (keys.folder / "approval-0123456789abcdef.key").chmod(0o600)

    assert code_of(lambda: keys.by_id("0123456789abcdef")) == "key_unknown"


def test_used_approvals_are_told_by_store_and_survive_in_the_data_folder(keys: KeyStore, tmp_path: Path) -> None:
    keys.burn("one", "a" * 32)
    keys.burn("one", "a" * 32)
    keys.burn("two", "b" * 32)

    again = KeyStore(tmp_path / "data")

    assert (again.used("one", "a" * 32), again.used("two", "a" * 32)) == (True, False)
    assert (keys.folder / "used").read_text() == f"one {'a' * 32}\ntwo {'b' * 32}\n"


def test_a_line_that_a_full_disk_cut_off_takes_no_other_with_it(keys: KeyStore) -> None:
    key = keys.current().id
    (keys.folder / "used").write_text(f"one {'a' * 32}\none {'b' * 12}")
    (keys.folder / "revoked").write_text("0123")

    keys.burn("one", "c" * 32)
    keys.revoke(key, "lost", now=NOW)

    assert {"a" * 32, "c" * 32} <= keys.used_nonces("one")
    assert keys.revoked() == {key: "lost"}
    assert [entry.id for entry in keys.list()] == [key]


@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
@pytest.mark.parametrize("name", ["used", "revoked"])
def test_a_list_that_is_a_link_a_folder_or_a_pipe_is_neither_believed_nor_waited_for(keys: KeyStore, name: str) -> None:
    path, key = keys.folder / name, keys.current().id
    reads = {"used": lambda: keys.used("one", "a" * 32), "revoked": keys.current}[name]
    writes = {"used": lambda: keys.burn("one", "a" * 32), "revoked": lambda: keys.revoke(key, "lost", now=NOW)}[name]

    for make in (lambda: path.symlink_to("nowhere"), path.mkdir, lambda: os.mkfifo(path)):
        make()
        assert [code_of(act) for act in (reads, writes)] == ["key_list", "key_list"]
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def test_a_file_that_is_called_like_a_key_and_is_none_is_not_listed(keys: KeyStore) -> None:
    (keys.folder / "approval-\x1b[2J.key").write_text("x")

    assert [entry.state for entry in keys.list()] == ["current"]
