"""To allow a program is not to allow the words by which it writes, deletes or runs other code."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import ToolCallId, ToolSpec
from agentkit_tools_core import ToolInvocation
from agentkit_tools_core._policies._harmless_programs import usage_of
from agentkit_tools_core._policies._program_usage import is_harmless
from agentkit_tools_core.permissions import (
    Allow,
    CommandPolicy,
    Decision,
    Deny,
    PolicyFacts,
    Rule,
    Rules,
    permission_to_run,
)

FACTS = PolicyFacts(ToolSpec("t"), ToolInvocation(ToolCallId("1"), "t"))

PLAIN = [
    "ls -la", "cat x", "find . -name '*.py'", "find src -type f -mtime -1 -not -path x -print0",
    "git log -5", "git log --oneline -n 3", "git log -p --since=yesterday -- src",
    "git diff HEAD~1",
    "git status --porcelain", "git show --stat HEAD", "git branch -a", "git -C x log",
    "git remote -v",
    "git config --get user.name", "git stash list", "grep -rn 'a b' .", "rg -n --glob '*.py' x",
    "head -n 5 x", "sort -k2 -rn x", "wc -l x", "sed -n 1,5p x", "date +%F", "uname -a",
    "tree -L 2",
    "fd -e py x", "diff -u a b", "tar -tzf x", "uniq -c x", "python3 --version", "pytest -q tests",
    "mkdir -p a/b", "jq -r .x y", "xxd -l 9 x", "hostname", "git grep -n x", "file x", "git",
]  # fmt: skip
HARMFUL = [
    "find . -delete", "find . -fprint x", "find . -fls x", "find . -exec x ;",
    "find . -name -delete",
    "find . -type f -fprintf x y", "git log --output=x", "git log --output x",
    "git diff --output=x",
    "git diff --ext-diff", "git show --output=x", "git branch -D x", "git branch x", "git tag x",
    "git config user.name x", "git config --unset x", "git config --edit", "git config edit",
    "git remote add x y", "git stash", "git stash drop", "git reflog expire --all", "git push",
    "git worktree add x", "git -c core.pager=x log", "git -p log", "git --exec-path=x log", "git x",
    "git grep -Ox y", "git cat-file --textconv x", "git submodule foreach x", "git clean -fdx",
    "git checkout .", "git reset --hard", "git commit --amend", "git rm x", "git bisect run x",
    "git --git-dir=x log", "sort -o x y", "sort --output=x y", "sort --outp=x y", "sort -ox y",
    "sort -uo x y", "sort --compress-program=x", "uniq a b", "xxd -r a b", "tree -o x",
    "tree -R -H . -L 1", "date -s x", "date --set=x", "date 010101", "hostname x", "hostname -F x",
    "file -C -m x", "rg --pre x y", "rg --hostname-bin x", "fd -x y", "fd -X y", "tar -xf a",
    "tar -cf a b", "tar tf host:a", "tar -tf a --to-command=x", "sed -i s/a/b/ x", "sed 'w x' y",
    "sed '1e x' y", "sed -n '1,5w x' y", "sed -n 1p -i x", "sed -f x y", "awk 'BEGIN{system(1)}'",
    "python x.py", "python -c x", "python -m x", "python -", "python", "python3.13 x.py",
    "node -e x",
    "perl -e x", "ruby", "sqlite3", "make x", "make -f x", "make SHELL=x", "npm run x",
    "npm install x", "npx x", "pytest -p x", "pytest --basetemp=x", "pytest @x", "ruff check --fix",
    "docker rm x", "docker ps --format=x", "kubectl delete x", "kubectl get --kubeconfig x",
    "curl x",
    "curl -o x y", "less x", "vim -c x", "cp --backup x y", "cp -t x y", "unknown x",
    "unknown --help",
    "pip install x", "printf -v x", "test -v x", "arch -x86_64 x", "uname -S x", "diff -l a b",
    "man -P x y", "env -S x", "go run x", "cargo run", "ssh x y",
]  # fmt: skip
WRAPPERS = ["{}", "env {}", "timeout 5 {}", "nice -n 5 {}", "nohup env {}", "env LANG=C {}"]


def words_of(line: str) -> list[str]:
    return shlex.split(line)


def judge(policy: CommandPolicy, argv: list[str]) -> Decision | None:
    return policy(permission_to_run(argv), FACTS)


def allowing(line: str) -> CommandPolicy:
    return CommandPolicy(allowed=[words_of(line)[0], "env", "nice", "nohup", "timeout"])


@pytest.mark.parametrize("line", PLAIN)
def test_vs03_plain_use_of_an_allowed_program_stays_allowed(line: str) -> None:
    policy = allowing(line)

    for wrapper in WRAPPERS:
        assert judge(policy, words_of(wrapper.format(line))) == Allow(), wrapper
    assert judge(policy, ["bash", "-c", line]) == Allow()
    assert judge(policy, ["sh", "-ec", f"{line} && {line} | cat x; {line}"]) == (
        Allow() if words_of(line)[0] == "cat" else judge(policy, ["cat", "x"])
    )


@pytest.mark.parametrize("line", HARMFUL)
def test_vs03_words_that_may_write_or_run_are_not_allowed_with_the_program(line: str) -> None:
    policy = allowing(line)

    for wrapper in WRAPPERS:
        argv = words_of(wrapper.format(line))
        assert not isinstance(judge(policy, argv), Allow), wrapper
        assert not isinstance(judge(policy, ["zsh", "-c", wrapper.format(line)]), Allow), wrapper
    assert not isinstance(judge(policy, ["busybox", *words_of(line)]), Allow)


@pytest.mark.parametrize("line", [line for line in HARMFUL if "git" in line[:4] and " -" in line])
def test_vl26_an_option_that_writes_is_not_allowed_by_how_the_command_begins(line: str) -> None:
    beginning = line[: line.index(" -")]

    assert not isinstance(judge(CommandPolicy(allowed=[beginning]), words_of(line)), Allow)


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ("git log --output=x", "git log --output=x"), ("find . -delete", "find . -delete"),
        ("python x.py", "python x.py"), ("git commit", "git commit -m x"), ("git add", "git add x"),
        ("git push", "git push origin main"), ("npm run build", "npm run build"),
        ("git log --output=x", "git log --output=x -5"), ("python -m pytest", "python -m pytest"),
        ("pytest *", "pytest -p x --anything"), ("unknown a *", "unknown a -b c"),
        ("unknown", "unknown"),
    ],
)  # fmt: skip
def test_vl26_what_the_list_names_is_allowed(entry: str, line: str) -> None:
    assert judge(CommandPolicy(allowed=[entry]), words_of(line)) == Allow()


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ("git log --output=x", "git log --output=y"),
        ("git log --output=x", "git log -5 --output=x"),
        ("python x.py", "python x.py y"), ("git push", "git push -f"),
        ("git push", "git push o :main"),
        ("git push", "git push o +main"), ("git commit", "git commit --amend"),
        ("git", "git commit"),
        ("git commit", "git commit -m x --no-verify"), ("unknown a *", "unknown b"),
        ("find . -name x", "find . -name x -delete"), ("pytest *", "pytest; x"),
        ("git stash", "git stash pop"),
    ],
)  # fmt: skip
def test_vl26_what_the_list_names_covers_nothing_beyond_it(entry: str, line: str) -> None:
    policy = CommandPolicy(allowed=[entry])

    assert not isinstance(judge(policy, words_of(line)), Allow)
    assert not isinstance(judge(policy, ["sh", "-c", line]), Allow)


@pytest.mark.parametrize(
    "argv",
    [
        ["bash", "-", "-c", "ls"], ["bash", "--", "-c", "ls"], ["bash", "-x", "-", "-c", "ls"],
        ["bash", "-o", "posix", "-c", "ls"], ["bash", "-opipefail", "-c", "ls"],
        ["sh", "-s", "-c", "ls"],
        ["bash", "+o", "x", "-c", "ls"], ["bash", "+x", "-c", "ls"], ["bash", "-co", "ls", "x"],
        ["bash", "--rcfile", "x", "-ic", "ls"], ["bash", "--init-file", "x", "-c", "ls"],
        ["bash", "ls"],
        ["bash", "-O", "extglob", "-c", "ls"], ["bash", "-c", "--", "ls"],
        ["bash", "-c", "-", "ls"],
        ["bash", "-c", "-x", "ls"], ["bash", "-sc", "ls"], ["bash", "-nc", "ls"], ["sh", "-c"],
        ["sh"],
        ["bash", "--posix", "-c", "ls"], ["bash", "-pc", "ls"], ["zsh", "-fc", "ls"], ["sh", "-i"],
        ["sh", "-x", "ls"], ["yash", "-c", "ls"], ["rbash", "-c", "ls"],
        ["busybox", "-", "-c", "ls"],
        ["busybox", "sh", "-", "-c", "ls"], ["env", "BASH_ENV=x", "bash", "-c", "ls"],
        ["-bash", "-c", "ls"],
        ["env", "ENV=x", "sh", "-ic", "ls"], ["exec", "-a", "rm", "busybox", "x"],
        ["fish", "-c", "ls"],
        ["exec", "-l", "bash", "-c", "ls"], ["bash", "", "-c", "ls"], ["bash", "-c ls", "ls"],
    ],
)  # fmt: skip
@pytest.mark.parametrize("wrapper", [[], ["env"], ["sh", "-c"]], ids=["plain", "env", "in a line"])
def test_vs02_a_shell_whose_line_is_read_otherwise_is_not_allowed(
    argv: list[str], wrapper: list[str]
) -> None:
    policy = CommandPolicy(
        allowed=["git status", "ls", "cat", "find", "env", "busybox", "exec"], denied=["rm"]
    )
    argv = [*wrapper, shlex.join(argv)] if wrapper[:1] == ["sh"] else [*wrapper, *argv]

    assert not isinstance(judge(policy, argv), Allow)


@pytest.mark.parametrize("shell", ["ash", "bash", "dash", "ksh", "mksh", "sh", "zsh"])
@pytest.mark.parametrize("options", [["-c"], ["-ec"], ["-lc"], ["-e", "-u", "-c"], ["-ce"]])
def test_vs02_a_plain_line_of_a_shell_stays_allowed(shell: str, options: list[str]) -> None:
    policy = CommandPolicy(allowed=["ls"], denied=["rm"])

    assert judge(policy, [shell, *options, "ls -la"]) == Allow()
    assert isinstance(judge(policy, [shell, *options, "rm x"]), Deny)


DENIED = [
    "find . -exec rm {} ;", "find . -execdir /bin/rm {} +", "find . -ok rm {} ;", "fd -x rm",
    "fd -xrm",
    "git -c alias.x=!rm x", "git -c core.pager=rm log", "git -c 'core.pager=rm -rf /' log",
    "git --exec-path=/x rm", "git grep -Orm x", "tar xf a --to-command=rm",
    "tar xf a --to-command rm",
    "xargs rm", "xargs -I{} rm {}", "xargs sh -c 'rm x'", "parallel rm ::: x", "env -S 'rm x'",
    "env rm x", "env -i A=b rm x", "sudo -s rm x", "sudo -i rm", "sh -c 'ls $(rm x)'",
    "sh -c 'eval rm x'",
    "sh -c '(rm x)'", "sh -c 'if true; then rm x; fi'", "bash -o posix -c 'rm x'", "watch rm x",
    "strace rm x", "ssh host rm x", "su -c 'rm x'", "chroot / rm", "flock x rm y",
    "timeout --foreground 5 rm",
    "rg --pre rm x", "rg --pre=/bin/rm x", "sort --compress-program=rm", "rsync -e rm a b",
    "doas -s rm",
    "busybox rm x", "busybox sh -c 'rm x'", "nice -n 5 env rm x", "bash -c 'A=1 rm x'",
    "bash <(rm x)",
]  # fmt: skip
DOUBTED = ["python -c 'os.system(\"rm x\")'", "vim -c '!rm x'", "awk 'BEGIN{system(\"rm x\")}'",
           "make SHELL=rm", "perl -e '`rm x`'", "unknown --run=rm", "npx rm",
           "man -P rm x"]  # fmt: skip


@pytest.mark.parametrize("line", DENIED + DOUBTED)
def test_vs03_a_denied_program_is_not_allowed_wherever_it_stands(line: str) -> None:
    argv = words_of(line)
    open_to_all = CommandPolicy(denied=["rm"])
    listed = CommandPolicy(allowed=[f"{argv[0]} *", "env", "nice", "sh", "bash"], denied=["rm"])

    for policy in (open_to_all, listed):
        for command in (argv, ["sh", "-c", line], ["nohup", "env", *argv]):
            decision = judge(policy, command)
            assert not isinstance(decision, Allow), (policy, command)
    if line in DENIED:
        assert isinstance(judge(open_to_all, argv), Deny)


@pytest.mark.parametrize(
    "line", ["grep rm x", "echo rm", "ls rm", "find . -name rm", "git log -- rm", "cat /x/rm"]
)
def test_vs03_a_name_in_words_that_run_nothing_is_no_denial(line: str) -> None:
    assert judge(CommandPolicy(denied=["rm"]), words_of(line)) == Allow()
    assert (
        judge(CommandPolicy(allowed=[words_of(line)[0]], denied=["rm"]), words_of(line)) == Allow()
    )


def test_vs03_a_denied_subcommand_is_not_allowed_behind_other_options() -> None:
    policy = CommandPolicy(denied=["git push"])

    assert isinstance(judge(policy, ["git", "push", "-f"]), Deny)
    assert not isinstance(judge(policy, ["git", "-C", ".", "push"]), Allow)
    assert not isinstance(judge(policy, ["ssh", "host", "git push"]), Allow)
    assert judge(policy, ["git", "-C", ".", "log"]) == Allow()


@pytest.mark.parametrize(
    "key", ["BASH_ENV", "ENV", "LD_PRELOAD", "PATH", "GIT_SSH_COMMAND", "PAGER"]
)
def test_vs02_a_variable_that_runs_code_is_not_allowed_where_programs_are_denied(key: str) -> None:
    policy = CommandPolicy(denied=["rm"])

    assert not isinstance(judge(policy, ["env", f"{key}=x", "bash", "-c", "ls"]), Allow)
    assert not isinstance(
        policy(permission_to_run(["bash", "-c", "ls"], env_keys=[key]), FACTS), Allow
    )
    assert policy(permission_to_run(["ls"], env_keys=["MY_MODE"]), FACTS) == Allow()


@pytest.mark.parametrize("line", ["git log --output=x", "bash - -c ls", "find . -delete"])
def test_vl26_a_rule_of_such_a_command_covers_that_command_only(line: str) -> None:
    argv = words_of(line)
    policy = Rules([Rule.of(permission_to_run(argv))]).over(CommandPolicy(allowed=["ls"]))

    assert policy(permission_to_run(argv), FACTS) == Allow()
    for other in ([*argv, "x"], argv[:-1], ["env", *argv], [*argv[:-1], argv[-1] + "y"]):
        assert not isinstance(policy(permission_to_run(other), FACTS), Allow)
    assert not isinstance(policy(permission_to_run(argv, env_keys=["A"]), FACTS), Allow)
    assert not isinstance(policy(permission_to_run(argv, cwd="/"), FACTS), Allow)


@given(st.lists(st.sampled_from(["-delete", "-x", "--output=x", "x", "-", "--", "-n", "5", "log"])))
def test_vs03_no_word_is_harmless_for_an_unknown_program(words: list[str]) -> None:
    assert is_harmless(usage_of("unknown"), words) == (not words or words == ["--"])
