#!/usr/bin/env python3
"""post_comment.py FILE: puts a text into the comment of ours at the pull or merge request that this job is for.

The comment is told by the first line of the text; where there is none yet, it is made. On GitHub it needs GITHUB_TOKEN and
PULL_REQUEST (the number), on GitLab PTXOPT_GITLAB_TOKEN; without these it says so and does nothing.
"""
import json
import os
import sys
import urllib.request

MOST_PAGES = 30  # of 100 comments


def request(method, url, headers, body=None):
    data = None if body is None else json.dumps({"body": body}).encode()
    call = urllib.request.Request(url, data, {**headers, "Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(call, timeout=60) as answer:
        return json.load(answer)


def github(env):
    if not env.get("GITHUB_TOKEN") or not env.get("PULL_REQUEST"):
        return None
    base = f"{env['GITHUB_API_URL']}/repos/{env['GITHUB_REPOSITORY']}/issues"
    headers = {"Authorization": f"Bearer {env['GITHUB_TOKEN']}", "Accept": "application/vnd.github+json"}
    # Somebody's quotation of the comment is not ours.
    return (f"{base}/{env['PULL_REQUEST']}/comments", lambda note: f"{base}/comments/{note['id']}", "PATCH", headers,
            lambda note: note["user"]["type"] == "Bot")


def gitlab(env):
    if not env.get("PTXOPT_GITLAB_TOKEN") or not env.get("CI_MERGE_REQUEST_IID"):
        return None
    notes = f"{env['CI_API_V4_URL']}/projects/{env['CI_PROJECT_ID']}/merge_requests/{env['CI_MERGE_REQUEST_IID']}/notes"
    headers = {"PRIVATE-TOKEN": env["PTXOPT_GITLAB_TOKEN"]}
    me = request("GET", f"{env['CI_API_V4_URL']}/user", headers)["id"]
    return notes, lambda note: f"{notes}/{note['id']}", "PUT", headers, lambda note: note["author"]["id"] == me


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    mark = text.split("\n", 1)[0]
    place = github(os.environ) if os.environ.get("GITHUB_ACTIONS") else gitlab(os.environ)
    if place is None:
        print("post_comment.py: no pull request, or no token to comment with", file=sys.stderr)
        return 0
    notes, url_of, edit, headers, is_ours = place
    for page in range(1, MOST_PAGES + 1):
        found = request("GET", f"{notes}?per_page=100&page={page}", headers)
        for note in found:
            if note["body"].startswith(mark) and is_ours(note):
                request(edit, url_of(note), headers, text)
                return 0
        if len(found) < 100:
            break
    request("POST", notes, headers, text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, KeyError) as error:  # urllib's are OSErrors
        print(f"post_comment.py: {error}", file=sys.stderr)
        sys.exit(1)
