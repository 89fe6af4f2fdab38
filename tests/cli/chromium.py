"""A headless Chromium for tests of pages, over the DevTools protocol with nothing but the standard
library: opens a file, runs scripts in it, sends keys and clicks, and keeps what the page complains
of and asks the network for.

    with Chromium() as browser:
        page = browser.open(path, width=400)
        page.run("document.title")
"""
import base64
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
MISSING = "chromium is not installed"
KEYS = {"Tab": 9, "Enter": 13, "Space": 32}


class Socket:
    """A client of one WebSocket (RFC 6455): text messages, whole."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                             "Sec-WebSocket-Version: 13\r\n\r\n").encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(head.decode())

    def more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise RuntimeError("chromium has closed the connection")
        return data

    def take(self, count):
        while len(self.buffer) < count:
            self.buffer += self.more()
        out, self.buffer = self.buffer[:count], self.buffer[count:]
        return out

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        head = (struct.pack("!BB", 0x81, 0x80 | size) if size < 126 else
                struct.pack("!BBH", 0x81, 0xFE, size) if size < 1 << 16 else struct.pack("!BBQ", 0x81, 0xFF, size))
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def receive(self):
        out = b""
        while True:
            first, second = self.take(2)
            size = second & 0x7F
            if size == 126:
                (size,) = struct.unpack("!H", self.take(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", self.take(8))
            data = self.take(size)
            if first & 0x0F in (0, 1, 2):
                out += data
                if first & 0x80:
                    return out.decode()
            elif first & 0x0F == 8:
                raise RuntimeError("chromium has closed the connection")


class Page:
    def __init__(self, connection, session):
        self.connection, self.session = connection, session
        self.complaints, self.requests = [], []

    def call(self, method, **parameters):
        return self.connection.call(method, parameters, self)

    def run(self, script):
        """The value of an expression, awaited."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise AssertionError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def click(self, selector):
        """Clicks in the middle of the first such element, scrolled into view."""
        x, y = self.run(f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
                        "e.scrollIntoView({block: 'center', behavior: 'instant'}); const r = e.getBoundingClientRect();"
                        "return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        self.click_at(x, y)

    def click_at(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left",
                      buttons=0 if kind == "mouseMoved" else 1, clickCount=0 if kind == "mouseMoved" else 1)

    def press(self, key, shift=False):
        text = {"text": "\r"} if key == "Enter" else {"text": " "} if key == "Space" else {}
        common = {"key": " " if key == "Space" else key, "code": key, "windowsVirtualKeyCode": KEYS[key], "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", **text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def until(self, script, seconds=20):
        end = time.monotonic() + seconds
        while not (value := self.run(script)):
            if time.monotonic() > end:
                raise AssertionError(f"never true: {script}")
            time.sleep(0.05)
        return value

    def picture(self, path, whole=False):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])


class Chromium:
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0",
             f"--user-data-dir={self.folder.name}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = pathlib.Path(self.folder.name) / "DevToolsActivePort"
        end = time.monotonic() + 60
        while not (port_file.exists() and len(port_file.read_text().split()) == 2):
            if self.process.poll() is not None or time.monotonic() > end:
                self.__exit__()
                raise RuntimeError("chromium does not start")
            time.sleep(0.05)
        port, path = port_file.read_text().split()
        self.socket, self.calls, self.pages = Socket(int(port), path), 0, {}
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()

    def call(self, method, parameters, page=None):
        self.calls += 1
        message = {"id": self.calls, "method": method, "params": parameters}
        if page:
            message["sessionId"] = page.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.hear(answer)

    def hear(self, event):
        """Every error, warning and broken rule of the page, and every request but the page itself."""
        page, method, what = self.pages.get(event.get("sessionId")), event.get("method"), event.get("params", {})
        if not page:
            return
        if method == "Runtime.exceptionThrown":
            page.complaints.append(what["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            page.complaints.append(str([argument.get("value", argument.get("description")) for argument in what["args"]]))
        elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            page.complaints.append(what["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            page.requests.append(what["request"]["url"])

    def open(self, path, width=1200, height=900, media=(), scripts=True):
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self.pages[session] = Page(self, session)
        for domain in ("Runtime", "Log", "Network", "Page"):
            page.call(f"{domain}.enable")
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        page.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        if media:
            page.call("Emulation.setEmulatedMedia", features=[{"name": name, "value": value} for name, value in media])
        page.url = pathlib.Path(path).resolve().as_uri()
        page.call("Page.navigate", url=page.url)
        page.until("document.readyState === 'complete' && location.href !== 'about:blank'", 60)
        return page
