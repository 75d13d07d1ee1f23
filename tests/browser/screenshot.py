# SPDX-License-Identifier: Apache-2.0
"""A picture of a report, e.g. the README's:

python tests/browser/screenshot.py out/quickstart/report.html docs/report.png --height 1180
"""

import argparse
import sys

from chromium import Browser, BrowserError, find


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", help="an HTML report")
    parser.add_argument("picture", help="the PNG to write")
    parser.add_argument("--width", type=int, default=1280, help="CSS pixels (1280)")
    parser.add_argument("--height", type=int, help="only so much from the top; else all of it")
    parser.add_argument("--scheme", choices=("light", "dark"), default="light")
    parser.add_argument("--media", choices=("screen", "print"), default="screen")
    options = parser.parse_args()
    path = find()
    if path is None:
        sys.exit("screenshot: no Chromium found")
    try:
        with Browser(path) as browser:
            browser.open(options.report, options.width, scheme=options.scheme, media=options.media)
            browser.screenshot(options.picture, options.height)
    except BrowserError as error:
        sys.exit(f"screenshot: {error}")


if __name__ == "__main__":
    main()
