"""A command is judged with all that it runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from agentkit_core import ToolCallId, ToolSpec
from agentkit_tools_core import ToolInvocation
from agentkit_tools_core.permissions import (
    Allow,
    Ask,
    CommandPolicy,
    Decision,
    Deny,
    PermissionRequest,
    PolicyFacts,
    UnlistedAction,
    permission_to_read,
    permission_to_run,
)

FACTS = PolicyFacts(ToolSpec("t"), ToolInvocation(ToolCallId("1"), "t"))
LISTS = CommandPolicy(allowed=("git status", "ls", "echo"), denied=("rm",))


def judge(policy: CommandPolicy, *argv: str, **facts: Any) -> Decision | None:
    return policy(permission_to_run(argv, **facts), FACTS)


def line(policy: CommandPolicy, text: str) -> Decision | None:
    return judge(policy, "sh", "-c", text)


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of PATH, with `ls`, `rm` and `git` that do nothing."""
    folder = tmp_path.resolve() / "bin"
    folder.mkdir()
    for name in ("ls", "rm", "git", "sh"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.mark.parametrize(
    "argv", [["ls"], ["ls", "-l", "x"], ["git", "status"], ["git", "status", "-s"]]
)
def test_t25_what_is_listed_is_allowed(argv: list[str]) -> None:
    assert judge(LISTS, *argv) == Allow()


@pytest.mark.parametrize("argv", [["lsof"], ["git", "statusx"], ["git", "push"], ["git"], ["cat"]])
def test_z04_what_is_not_listed_is_asked_for_or_denied(argv: list[str]) -> None:
    strict = CommandPolicy(allowed=LISTS.allowed, unknown=UnlistedAction.DENY)

    assert isinstance(judge(LISTS, *argv), Ask)
    assert isinstance(judge(strict, *argv), Deny)


@pytest.mark.parametrize(
    "text",
    [
        "git status && reboot", "ls; reboot", "ls | sh", "ls $(touch x)", "ls `touch x`",
        "ls > ~/.profile", "ls <(touch x)", "ls\nreboot", "ls & reboot", "A=1 reboot", "lsof",
        "git statusx", "sh -c reboot", "ls; eval reboot", "find . -exec reboot ;", "./ls",
    ],
)  # fmt: skip
def test_z04_an_allowed_beginning_allows_nothing_behind_it(text: str) -> None:
    wide = CommandPolicy(allowed=(*LISTS.allowed, "sh", "eval", "find"))

    assert isinstance(line(LISTS, text), Ask)
    assert isinstance(line(wide, text), Ask)


@pytest.mark.parametrize("text", ['echo "a && b"', "ls; git status", "ls | ls -l 2>&1", "sh -c ls"])
def test_z04_a_line_of_which_every_part_is_allowed_is_allowed(text: str) -> None:
    assert line(LISTS, text) == Allow()


@pytest.mark.parametrize("text", ["git status && rm -rf x", "r'm' x", "ls | xargs rm", "env rm"])
def test_z04_a_denied_program_is_denied_in_every_part(text: str) -> None:
    assert isinstance(line(LISTS, text), Deny)
    assert isinstance(line(CommandPolicy(denied=("rm",)), text), Deny)


WRAPPERS: list[list[str]] = [
    ["env"], ["env", "-i"], ["env", "-u", "X"], ["sudo"], ["sudo", "-n", "-u", "me"], ["nohup"],
    ["xargs"], ["xargs", "-0", "-n1"], ["timeout", "5"], ["timeout", "-k", "1", "5"], ["nice"],
    ["nice", "-n", "5"], ["busybox"], ["stdbuf", "-oL"], ["env", "LANG=C", "nice"],
]  # fmt: skip


@pytest.mark.parametrize("wrapper", WRAPPERS, ids=" ".join)
def test_z04_to_allow_a_wrapper_is_not_to_allow_what_it_runs(wrapper: list[str]) -> None:
    policy = CommandPolicy(allowed=(wrapper[0], "nice", "ls"), denied=("rm",))

    assert judge(policy, *wrapper, "ls", "-l") == Allow()
    assert isinstance(judge(policy, *wrapper, "reboot"), Ask)
    assert isinstance(judge(policy, *wrapper, "/bin/rm", "x"), Deny)
    assert isinstance(judge(CommandPolicy(denied=("rm",)), *wrapper, "rm", "x"), Deny)
    assert isinstance(judge(CommandPolicy(allowed=("ls",)), *wrapper, "ls"), Ask)


@pytest.mark.parametrize(
    "argv",
    [
        ["env", "-S", "rm x"], ["env", "--split-string=rm x"], ["sudo", "-s"], ["xargs", "nice"],
        ["xargs", "-I{}", "{}", "x"], ["xargs", "sh", "-c"], ["xargs", "find", "."],
        ["bash", "script.sh"], ["bash"], ["bash", "-o", "x", "-c", "ls"], ["ssh", "host", "ls"],
        ["sh", "-c"], ["timeout", "--foreground", "5", "rm"], ["xargs", "timeout", "5"],
        ["sh", "-c", "eval rm"], ["cmd", "/c", "ls"], ["env", "-", "rm", "x"],
        ["sudo", "LANG=C", "-n", "rm", "x"], ["sh", "-c", "--", "rm x"], ["bash", "-c", "-x", "rm"],
        ["bash", "-c", "+x", "rm x"], ["xargs", "tar"], ["strace", "ls"], ["sh", "-c", "read ls"],
        ["sh", "-c", "alias ls=rm\nls x"], ["bash", "-c", "hash -p /bin/rm ls; ls x"],
        ["sh", "-c", "export PATH=/x; ls"], ["zsh", "-c", "repeat 3 rm x"], ["zsh", "-c", "- rm x"],
        ["builtin", "command", "rm"],
    ],
)  # fmt: skip
def test_z04_what_cannot_be_read_is_asked_for_whatever_is_listed(argv: list[str]) -> None:
    allowed = ("env", "sudo", "nice", "find", "ls", "bash", "sh", "xargs", "timeout", "ssh", "cmd",
               "tar", "strace", "alias", "hash", "read", "export", "builtin")  # fmt: skip

    assert isinstance(judge(CommandPolicy(allowed=allowed), *argv), Ask)
    assert isinstance(judge(CommandPolicy(denied=("rmdir",)), *argv), Ask)
    assert judge(CommandPolicy(), *argv) == Allow()


def test_z04_wrappers_in_wrappers_end_somewhere() -> None:
    policy = CommandPolicy(allowed=("env", "ls"))

    assert judge(policy, *["env"] * 5, "ls") == Allow()
    assert isinstance(judge(policy, *["env"] * 50, "ls"), Ask)


def test_t26_a_denied_program_is_denied_under_every_name(bin_folder: Path) -> None:
    policy = CommandPolicy(denied=("rm",))
    (bin_folder.parent / "harmless").symlink_to(bin_folder / "rm")
    (bin_folder / "also").symlink_to("rm")
    named = ["rm", "/bin/rm", "./rm", "RM", "rm.exe", "C:\\bin\\rm.EXE", "also"]

    for program in [*named, str(bin_folder / "rm"), str(bin_folder.parent / "harmless")]:
        assert isinstance(judge(policy, program, "x"), Deny), program
    assert isinstance(judge(policy, "./harmless", cwd=bin_folder.parent), Deny)
    assert judge(policy, "rmdir", "x") == Allow()


@pytest.mark.parametrize("program", ["sh", "env", "strace"])
def test_t26_a_link_to_what_runs_others_is_not_seen_through(bin_folder: Path, program: str) -> None:
    (bin_folder / program).touch()
    (bin_folder.parent / "harmless").symlink_to(bin_folder / program)

    run = permission_to_run(["./harmless", "-c", "reboot"], cwd=bin_folder.parent)
    assert isinstance(CommandPolicy(denied=("rm",))(run, FACTS), Ask)


def test_t26_a_link_to_a_program_with_running_options_is_judged_by_them(bin_folder: Path) -> None:
    (bin_folder / "find").touch()
    (bin_folder.parent / "harmless").symlink_to(bin_folder / "find")
    policy = CommandPolicy(denied=("rm",))

    assert judge(policy, "./harmless", ".", cwd=bin_folder.parent) == Allow()
    run = permission_to_run(["./harmless", ".", "-exec", "x", ";"], cwd=bin_folder.parent)
    assert isinstance(policy(run, FACTS), Ask)


def test_t26_a_name_that_path_finds_where_the_program_is_run_is_not_known(
    bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = CommandPolicy(allowed=("ls", "tool"))
    monkeypatch.setenv("PATH", f"{bin_folder}:.")
    assert judge(policy, "ls") == Allow()
    assert isinstance(judge(policy, "tool"), Ask)

    monkeypatch.setenv("PATH", f".:{bin_folder}")
    assert isinstance(judge(policy, "ls"), Ask)


def test_t26_a_link_to_a_denied_program_that_path_does_not_find_is_denied(tmp_path: Path) -> None:
    (tmp_path / "wipe").write_text("")
    (tmp_path / "harmless").symlink_to("wipe")

    policy = CommandPolicy(denied=("wipe",))
    assert isinstance(judge(policy, "./harmless", cwd=tmp_path), Deny)


def test_t26_a_file_by_another_name_is_denied_by_where_the_name_leads(bin_folder: Path) -> None:
    (bin_folder / "vim").write_text("")
    (bin_folder / "vim").chmod(0o755)
    (bin_folder / "vi").symlink_to("vim")

    assert isinstance(judge(CommandPolicy(denied=("vi",)), "vim"), Deny)


def test_t26_one_file_of_many_programs_is_judged_by_name(bin_folder: Path) -> None:
    (bin_folder / "busybox").write_text("")
    (bin_folder / "busybox").chmod(0o755)
    for name in ("ls", "rm"):
        (bin_folder / name).unlink()
        (bin_folder / name).symlink_to("busybox")

    assert judge(LISTS, "ls") == Allow()
    assert judge(LISTS, str(bin_folder / "ls")) == Allow()
    assert isinstance(judge(LISTS, "rm"), Deny)
    (bin_folder / "reboot").symlink_to("busybox")
    assert isinstance(judge(LISTS, str(bin_folder / "reboot")), Ask)


def test_t26_an_allowed_name_is_what_path_finds_and_nothing_else(bin_folder: Path) -> None:
    other = bin_folder.parent / "ls"
    other.write_text("")
    other.chmod(0o755)

    assert judge(LISTS, str(bin_folder / "ls")) == Allow()
    assert isinstance(judge(LISTS, str(other)), Ask)
    assert isinstance(judge(LISTS, "./ls", cwd=other.parent), Ask)
    assert isinstance(judge(LISTS, str(other.parent / "sh"), "-c", "ls"), Ask)
    assert judge(CommandPolicy(allowed=(str(other),)), "./ls", cwd=other.parent) == Allow()
    assert isinstance(judge(CommandPolicy(allowed=(str(other),)), "ls"), Ask)


def test_the_program_that_is_really_run_is_judged_too(bin_folder: Path) -> None:
    assert isinstance(judge(LISTS, "ls", executable="/bin/rm"), Deny)
    assert isinstance(judge(LISTS, "rm", executable=bin_folder / "ls"), Deny)
    assert isinstance(judge(LISTS, "ls", executable="/bin/reboot"), Ask)
    assert judge(LISTS, "ls", executable=str(bin_folder / "ls")) == Allow()


@pytest.mark.parametrize(
    "key", ["PATH", "LD_PRELOAD", "BASH_ENV", "path", "BASH_FUNC_ls%%", "GIT_SSH_COMMAND", "X"]
)
def test_an_allowed_name_means_nothing_once_variables_choose_the_program(key: str) -> None:
    assert isinstance(judge(LISTS, "ls", env_keys=[key]), Ask)
    assert isinstance(judge(CommandPolicy(allowed=("env", "ls")), "env", f"{key}=x", "ls"), Ask)


@pytest.mark.parametrize("key", ["LANG", "LC_ALL", "TZ", "MY_MODE"])
def test_variables_that_choose_nothing_or_are_listed_may_be_set(key: str) -> None:
    policy = CommandPolicy(allowed=("env", "ls"), allowed_env=("MY_MODE",))

    assert judge(policy, "ls", env_keys=[key]) == Allow()
    assert judge(policy, "env", f"{key}=x", "ls") == Allow()


def test_t25_denied_variables_are_denied_wherever_they_are_set() -> None:
    policy = CommandPolicy(denied_env=("AWS_KEY",))

    assert isinstance(judge(policy, "ls", env_keys=["AWS_KEY"]), Deny)
    assert isinstance(judge(policy, "env", "AWS_KEY=1", "ls"), Deny)
    assert isinstance(judge(policy, "sh", "-c", "env aws_key=1 ls"), Deny)
    assert judge(policy, "ls", env_keys=["LANG"]) == Allow()


def test_t26_the_folder_is_compared_by_where_it_is(tmp_path: Path) -> None:
    folder = tmp_path.resolve() / "ws"
    folder.mkdir()
    (tmp_path / "ws-evil").mkdir()
    (folder / "out").symlink_to(tmp_path)
    policy = CommandPolicy(allowed=("ls", "cd"), allowed_cwds=(folder,))

    assert judge(policy, "ls", cwd=folder) == Allow()
    assert judge(policy, "ls", cwd=folder / "new") == Allow()
    for outside in (tmp_path, tmp_path / "ws-evil", folder / "out", folder / ".."):
        assert isinstance(judge(policy, "ls", cwd=outside), Ask)
    assert isinstance(judge(policy, "ls"), Ask), "this process does not stand there"
    assert isinstance(judge(policy, "ls", cwd=folder / "nope/../x"), Deny)
    assert isinstance(judge(policy, "sh", "-c", "cd / && ls", cwd=folder), Ask)


def test_a_program_of_a_folder_that_is_entered_first_is_not_known(bin_folder: Path) -> None:
    entered = bin_folder.parent / "x"
    entered.mkdir()
    (entered / "harmless").symlink_to(bin_folder / "rm")
    policy = CommandPolicy(denied=("rm",))

    run = permission_to_run(["sh", "-c", "cd x && ./harmless"], cwd=bin_folder.parent)
    assert isinstance(policy(run, FACTS), Ask)


def test_t25_without_a_list_what_is_not_denied_is_allowed() -> None:
    assert judge(CommandPolicy(denied=("rm",)), "reboot") == Allow()
    assert isinstance(judge(CommandPolicy(denied=("git push",)), "git", "push", "-f"), Deny)
    assert judge(CommandPolicy(denied=("git push",)), "git", "pull") == Allow()


def test_other_kinds_are_no_business_of_it() -> None:
    assert LISTS(permission_to_read("/x"), FACTS) is None


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"shell.argv": []},
        {"shell.argv": "ls"},
        {"shell.argv": ["ls", 1]},
        {"shell.argv": ["ls"], "shell.env_keys": "A"},
        {"shell.argv": ["ls"], "shell.cwd": 1},
        {"shell.argv": ["ls"], "shell.executable": 1},
    ],
)
def test_a_request_that_cannot_be_read_is_denied(facts: dict[str, Any]) -> None:
    for policy in (LISTS, CommandPolicy()):
        assert isinstance(policy(PermissionRequest("shell.command", "s", facts), FACTS), Deny)


@pytest.mark.parametrize(
    "settings",
    [
        {"allowed": "ls"},
        {"denied": [1]},
        {"allowed": [""]},
        {"allowed": ["ls 'x"]},
        {"allowed": ["./build.sh"]},
        {"allowed_cwds": "/w"},
        {"allowed_env": "LANG"},
        {"allowed_cwds": ["/nope/../x"]},
        {"unknown": "maybe"},
    ],
)
def test_a_bad_setting_is_refused_when_the_policy_is_made(settings: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        CommandPolicy(**settings)


def test_nothing_is_run(bin_folder: Path) -> None:
    trap = bin_folder / "trap"
    trap.write_text(f"#!/bin/sh\n: > {bin_folder}/sprung\n")
    trap.chmod(0o755)

    judge(CommandPolicy(allowed=("trap",)), str(trap))
    assert not (bin_folder / "sprung").exists()
    assert os.environ["PATH"] == str(bin_folder)
