"""samples/ci: the scripts against a server that answers as GitHub's or GitLab's would, and the steps of both files."""
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading

from files import PLAIN, SPILLS, machine_code
from support import MARK, ROOT, Side, Skipped, Suite, check, function

CI = ROOT / "samples" / "ci"


class Server:
    """Comments of a request at GitHub or GitLab; as a context, its address."""

    def __init__(self, comments=0):
        self.comments = [{"id": i, "body": "talk", "user": {"type": "User"}, "author": {"id": 1}} for i in range(comments)]
        self.seen, self.status = [], 200
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path, _, query = self.path.partition("?")
                token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")
                outer.seen.append((self.command, path, token))
                result = outer.comments
                if path == "/user":
                    result = {"id": 7}
                elif self.command == "GET":
                    page = int(re.search(r"page=(\d+)$", query)[1])
                    result = outer.comments[100 * page - 100:100 * page]
                elif self.command == "POST":
                    result = {"id": len(outer.comments), "user": {"type": "Bot"}, "author": {"id": 7}, **json.loads(body)}
                    outer.comments.append(result)
                else:
                    result = next(c for c in outer.comments if path.endswith(f"/{c['id']}"))
                    result.update(json.loads(body))
                answer = json.dumps(result).encode()
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
            do_GET = do_POST = do_PUT = do_PATCH = answer

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def github(self):
        return {"GITHUB_ACTIONS": "true", "GITHUB_API_URL": self.url, "GITHUB_REPOSITORY": "o/r", "GITHUB_TOKEN": "secret",
                "PULL_REQUEST": "5"}

    def gitlab(self):
        return {"GITLAB_CI": "true", "CI_API_V4_URL": self.url, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "5",
                "PTXOPT_GITLAB_TOKEN": "secret"}


class Ci(Suite):
    def environment(self, more):
        bin_folder = self.folder / "bin"
        bin_folder.mkdir(exist_ok=True)
        link = bin_folder / "ptxopt"
        if not link.exists():
            link.symlink_to(self.tool)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "CI_"))}
        return {**kept, "PATH": f"{bin_folder}:{os.environ['PATH']}", "no_proxy": "127.0.0.1", **more}

    def post(self, env, text, status=0):
        path = self.write("text.md", text)
        run = subprocess.run([sys.executable, CI / "post_comment.py", path], capture_output=True, text=True, timeout=60,
                             env=self.environment(env))
        check(run.returncode == status and "Traceback" not in run.stderr, run.stderr)
        return run.stderr

    def test_comments(self):
        for kind, edit, auth in (("github", "PATCH", "Bearer secret"), ("gitlab", "PUT", "secret")):
            with Server(comments=230) as server:
                server.comments[5]["body"] = f"{MARK}\nsomebody's quotation"
                env = getattr(server, kind)()
                self.post(env, f"{MARK}\nfirst →\n")
                check(len(server.comments) == 231 and server.comments[230]["body"] == f"{MARK}\nfirst →\n", "made")
                self.post(env, f"{MARK}\nsecond\n")
                check(len(server.comments) == 231 and server.comments[230]["body"] == f"{MARK}\nsecond\n", "written anew")
                check("somebody" in server.comments[5]["body"], "not ours")
                check([m for m, _, _ in server.seen if m != "GET"] == ["POST", edit], server.seen)
                check(all(token == auth for _, _, token in server.seen), server.seen)
                paths = {"github": "/repos/o/r/issues/comments/230", "gitlab": "/projects/3/merge_requests/5/notes/230"}
                check(server.seen[-1][1] == paths[kind], server.seen[-1])
                server.status = 403
                check("403" in self.post(env, "x", status=1), "refused")
            check("refused" in self.post(env, "x", status=1), "no server")
        check("no token" in self.post({"GITHUB_ACTIONS": "true"}, "x") and "no token" in self.post({}, "x"), "nothing to do")

    def test_compare(self):
        before = self.write("b.json", Side().unit("a.ptx", function("k")))
        sides = {0: Side().unit("a.ptx", function("k", registers=30)), 1: Side().unit("a.ptx", function("k", warps=8)), 2: Side()}
        for status, side in sides.items():
            with Server() as server:
                summary = self.folder / f"summary{status}"
                for refused in (False, True):  # whatever becomes of the comment
                    server.status = 403 if refused else 200
                    run = subprocess.run([CI / "compare.sh", before, self.write("a.json", side)], capture_output=True, text=True,
                                         cwd=self.folder, env=self.environment({**server.github(), "GITHUB_STEP_SUMMARY": str(summary)}))
                    check(run.returncode == status, f"{run.returncode} instead of {status}: {run.stderr}")
                    check(("no comment was written" in run.stderr) == refused, run.stderr)
                text = (self.folder / "ptxopt-diff.md").read_text()
                check(server.comments[0]["body"] == text and summary.read_text() == 2 * text, "table")
                check(all((self.folder / f"ptxopt-diff.{x}").exists() for x in ("json", "xml")), "reports")
        run = subprocess.run([CI / "compare.sh", before, "nowhere"], capture_output=True, cwd=self.folder,
                             env=self.environment({}))
        check(run.returncode == 2 and not (self.folder / "ptxopt-diff.md").exists(), "an old table is no table")

    def steps(self, name):
        try:
            import yaml
        except ImportError as error:
            raise Skipped("there is no python3-yaml") from error
        if not machine_code.find_ptxas():
            raise Skipped("there is no ptxas")
        job = yaml.safe_load((CI / name).read_text())
        return job["jobs"]["compare"] if "jobs" in job else job["ptxopt"]

    def sources(self, folder, text):
        self.write(f"{folder}/kernels/k.cu", text)
        for script in ("compare.sh", "post_comment.py"):
            self.write(f"{folder}/ci/ptxopt/{script}", (CI / script).read_text(), 0o755)

    def nvcc(self):
        """One that takes PTX for CUDA, called as MAKE_PTX calls it."""
        self.environment({})
        self.write("bin/nvcc", '#!/bin/sh\n[ "$1 $2 $3" = "-O3 -arch=sm_80 -ptx" ] && [ "$5" = -o ] && cp "$4" "$6"\n', 0o755)

    def test_setup(self):
        """ptxopt is built once for each commit."""
        source, out, log = self.folder / "source", self.folder / "built", self.folder / "log"
        self.write("source/cmake/install-packages.sh", "#!/bin/sh\n", 0o755)
        for program in ("apt-get", "curl", "dpkg"):
            self.write(f"stubs/{program}", "#!/bin/sh\n", 0o755)
        self.write("stubs/cmake", f"""#!/bin/sh
[ "$1" = -S ] && mkdir -p "$2/build/release" && cp "$2/version" "$2/build/release/ptxopt" && chmod +x "$2/build/release/ptxopt"
echo "$1" >> {log}
""", 0o755)
        git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-C", str(source)]
        subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
        commits = []
        for number in (1, 2):
            self.write("source/version", f"#!/bin/sh\necho {number}\n")
            for command in (["add", "."], ["commit", "-qm", str(number)]):
                subprocess.run([*git, *command], check=True)
            commits.append(subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip())
        subprocess.run([*git, "tag", "one", commits[0]], check=True)
        env = self.environment({})
        env["PATH"] = f"{self.folder}/stubs:{env['PATH']}"
        for ref, version, builds in ((commits[0], "1", 1), ("one", "1", 1), (None, "2", 2), ("main", "2", 2), ("one", "1", 3)):
            more = {"PTXOPT_SOURCE": str(source), **({"PTXOPT_REF": ref} if ref else {})}
            run = subprocess.run([CI / "setup.sh", out], env={**env, **more}, capture_output=True, text=True)
            check(run.returncode == 0, run.stderr)
            said = subprocess.run([out / "bin/ptxopt"], capture_output=True, text=True).stdout.strip()
            check((said, log.read_text().count("-S")) == (version, builds), f"{ref}: {said}, {log.read_text()}")
        run = subprocess.run([CI / "setup.sh", out], env={**env, "PTXOPT_SOURCE": str(source), "PTXOPT_REF": "COMMIT"}, capture_output=True, text=True)
        check(run.returncode != 0 and "COMMIT" in run.stderr, f"a reference that is not there: {run.stderr}")

    def test_lint(self):
        if not shutil.which("actionlint"):
            raise Skipped("there is no actionlint")
        run = subprocess.run(["actionlint", CI / "github.yml"], capture_output=True, text=True)
        check(run.returncode == 0, run.stdout)

    def test_github(self):
        job = self.steps("github.yml")
        self.sources("before", PLAIN)
        self.sources("after", SPILLS)
        self.nvcc()
        scripts = {s["name"]: s["run"] for s in job["steps"] if "run" in s}
        check(list(scripts) == ["Set up", "PTX of both", "Check", "Compare"], list(scripts))
        check(all((CI / m).is_file() for script in scripts.values() for m in re.findall(r"ci/ptxopt/(\S+)", script)), scripts)
        with Server() as server:
            env = self.environment({**server.github(), "GITHUB_WORKSPACE": str(self.folder), **job["env"]})
            for name, status in (("PTX of both", 0), ("Check", 0), ("Compare", 1)):
                run = subprocess.run(["bash", "-eo", "pipefail", "-c", scripts[name]], cwd=self.folder, env=env, capture_output=True, text=True)
                check(run.returncode == status, f"{name}: {run.stdout}{run.stderr}")
            sarif = json.loads((self.folder / "ptxopt-check.sarif").read_text())
            check(sarif["version"] == "2.1.0" and sarif["runs"][0]["tool"]["driver"]["rules"], "what the forge is given")
            check("| **REGRESSION by spills** | `k` |" in server.comments[0]["body"], server.comments)

    def test_gitlab(self):
        job = self.steps("gitlab.yml")
        self.sources("project", PLAIN)
        project = self.folder / "project"
        git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", "-C", str(project)]
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "before"]):
            subprocess.run([*git, *command], check=True)
        base = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        self.sources("project", SPILLS)
        self.nvcc()
        with Server() as server:
            env = self.environment({**server.gitlab(), "CI_PROJECT_DIR": str(project), "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
                                    **job["variables"]})
            run = subprocess.run(["bash", "-eo", "pipefail", "-c", "\n".join(job["script"])], cwd=project, env=env,
                                 capture_output=True, text=True)
            check(run.returncode == 1, run.stderr)
            check("| **REGRESSION by spills** | `k` |" in server.comments[0]["body"], server.comments)
        check((project / job["artifacts"]["reports"]["junit"]).exists(), "JUnit")
