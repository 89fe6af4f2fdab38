"""Bare Debian systems in folders of their own, and the steps of a Containerfile in them."""
import glob
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

RELEASE = "bookworm"


def missing():
    """What this machine lacks to make such systems; empty where nothing."""
    if os.geteuid() != 0:
        return "needs root, for debootstrap and chroot"
    lacking = [word for word in ("debootstrap", "chroot", "unshare", "apt-get") if not shutil.which(word)]
    return f"needs {', '.join(lacking)}" if lacking else ""


def apt_sources():
    """(site, release, component) of every Debian repository of RELEASE that this machine uses."""
    text = "$(CREATED_BY) $(ORIGIN) $(CODENAME) $(SITE) $(RELEASE) $(COMPONENT)"
    listed = subprocess.run(["apt-get", "indextargets", "--format", text], capture_output=True,
                            text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    return [tuple(row[3:]) for row in rows
            if len(row) == 6 and row[:2] == ["Packages", "Debian"] and row[2].startswith(RELEASE)]


class Debian:
    """A system in `root`. Mounts last as long as one command, so that removing it is safe."""

    def __init__(self, root):
        self.root = pathlib.Path(root)

    def path(self, inside):
        return self.root / str(inside).lstrip("/")

    def run(self, command, folder="/", check=True, timeout=3600):
        """A shell command in the system; text of stdout and stderr apart."""
        mount = ('mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" && '
                 'exec chroot "$0" /usr/bin/env -i LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive HOME=/root '
                 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c "$1"')
        inside = f"cd {shlex.quote(str(folder))} && {command}"
        result = subprocess.run(["unshare", "--mount", "sh", "-c", mount, self.root, inside],
                                capture_output=True, text=True, timeout=timeout)
        if check and result.returncode != 0:
            raise AssertionError(f"{command}: exit {result.returncode}\n{result.stdout[-4000:]}{result.stderr[-4000:]}")
        return result

    def install(self, *packages):
        self.run("apt-get install -y --no-install-recommends " + " ".join(packages))

    def copy(self, root):
        subprocess.run(["cp", "-a", "--reflink=auto", self.root, root], check=True)
        return Debian(root)


def bare(root):
    """A minimal system with this machine's repositories and their lists. TIERSIM_TEST_DEBIAN names
    the folder of one made before."""
    made = os.environ.get("TIERSIM_TEST_DEBIAN")
    sources = apt_sources()
    if made:
        system = Debian(made).copy(root)
    else:
        subprocess.run(["debootstrap", "--variant=minbase", RELEASE, root, sources[0][0]],
                       stdout=subprocess.DEVNULL, check=True)
        system = Debian(root)
    lines = [f"deb {site} {release} {component}\n" for site, release, component in sources]
    system.path("/etc/apt/sources.list").write_text("".join(lines))
    for name in ("resolv.conf", "hosts"):
        shutil.copy(f"/etc/{name}", system.path(f"/etc/{name}"))
    system.run("apt-get update")
    return system


def instructions(text):
    """(word, rest) of every line of a Containerfile; its lines are whole, without continuations."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [tuple(line.split(None, 1)) for line in lines]


class Containerfile:
    """Carries out FROM, WORKDIR, COPY, RUN and ENTRYPOINT in copies of one bare system."""

    def __init__(self, source, base, work):
        self.source, self.base, self.work = source, base, pathlib.Path(work)
        self.stages, self.entry_point, self.folder = {}, None, "/"
        self.system = None

    def run(self, only_last_stage=False):
        """With `only_last_stage` the stages before it stand in `stages` already."""
        all_ = instructions((self.source / "Containerfile").read_text())
        last = max(i for i, (word, _) in enumerate(all_) if word == "FROM")
        for word, rest in all_[last if only_last_stage else 0:]:
            getattr(self, "do_" + word.lower())(rest)
        return self.system

    def do_from(self, rest):
        image, _, name = rest.partition(" AS ")
        assert image == "debian:12", image
        name = name or "last"
        self.system = self.stages[name] = self.base.copy(self.work / name)
        self.folder = "/"

    def do_workdir(self, rest):
        self.folder = rest
        self.system.path(rest).mkdir(parents=True, exist_ok=True)

    def do_run(self, rest):
        self.system.run(rest, self.folder)

    def do_entrypoint(self, rest):
        self.entry_point = json.loads(rest)

    def do_copy(self, rest):
        match = re.fullmatch(r"(?:--from=(\w+) )?(\S+) (\S+)", rest)
        stage, what, where = match.groups()
        target = self.system.path(pathlib.PurePosixPath(self.folder) / where)
        target.mkdir(parents=True, exist_ok=True)
        if stage is None:
            assert what == ".", rest
            copy_sources(self.source, target)
            return
        found = glob.glob(str(self.stages[stage].path(what)))
        assert found, f"COPY {rest}: no such file"
        for file in found:
            shutil.copy(file, target)


def copy_sources(source, target):
    """The tree but for what .containerignore names."""
    ignored = [line.strip("/\n") for line in (source / ".containerignore").read_text(encoding="utf-8").splitlines()]
    excludes = [f"--exclude=./{name}" for name in ignored]
    packed = subprocess.Popen(["tar", "-C", source, *excludes, "-c", "."], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-C", target, "--no-same-owner", "-x"], stdin=packed.stdout, check=True)
    assert packed.wait() == 0
