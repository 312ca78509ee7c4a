#!/usr/bin/env python3
# Copyright (C) by the FaultLoc authors
#     See COPYRIGHT in top-level directory
"""redfish.py CERTIFICATE USER PASSWORD: a BMC that speaks Redfish, after DMTF's schemas.

It prints its port.  Its state is read from standard input, a word a line, and acknowledged by that word:
on, off, hot, log, two, slow, garbage, truncated, huge, deep, array, redirect, elsewhere, error.
"""
import base64, http.server, json, ssl, sys, threading, time

certificate, user, password = sys.argv[1:4]
state = "on"
sessions = {}
ROOT = "/redfish/v1"


def ref(path):
    return {"@odata.id": ROOT + path}


def documents():
    hot = state == "hot"
    return {
        "/Systems": {"Members": [ref("/Systems/1") if state != "elsewhere"
                                 else {"@odata.id": "@127.0.0.2:1/redfish/v1/Systems/1"}] +
                                [ref("/Systems/2")] * (state == "two")},
        "/Systems/1": {"@odata.type": "#ComputerSystem.v1_20_0.ComputerSystem", "Id": "1",
                       "PowerState": "Off" if state == "off" else "On",
                       "Status": {"State": "Enabled", "Health": "OK"},
                       "Links": {"Chassis": [ref("/Chassis/1")]},
                       "LogServices": ref("/Systems/1/LogServices")},
        "/Chassis/1": {"Thermal": ref("/Chassis/1/Thermal")},
        "/Chassis/1/Thermal": {
            "Temperatures": [
                {"Name": "Ambient", "ReadingCelsius": None, "UpperThresholdCritical": None},
                {"Name": "CPU1 Temp", "ReadingCelsius": 101 if hot else 55, "UpperThresholdCritical": 100,
                 "Status": {"Health": "Critical" if hot else "OK"}}],
            "Fans": [{"Name": "Fan 2", "Reading": 0 if hot else 4000, "ReadingUnits": "RPM",
                      "Status": {"State": "Enabled", "Health": "Critical" if hot else "OK"}}]},
        "/Systems/1/LogServices": {"Members": [ref("/Systems/1/LogServices/SEL")]},
        "/Systems/1/LogServices/SEL": {"Entries": ref("/Systems/1/LogServices/SEL/Entries")},
        "/Systems/1/LogServices/SEL/Entries": {"Members": [
            {"Severity": "OK", "Created": "2026-01-31T12:00:00Z", "Message": "Power on"},
            {"Severity": "Critical", "Created": "2026-01-31T13:00:00+01:00",
             "Message": "Uncorrectable ECC error at DIMM B1"},
            {"Severity": "Critical", "Created": "2026-01-31T11:59:20Z", "Message": "Fan 2 has failed"},
            {"Severity": "Critical", "Created": "2026-01-30T12:00:00Z", "Message": "Fan 1 has failed"},
            {"Severity": "Critical", "Created": "2026-01-30T12:00:00Z", "Message": "Other"},
        ] if state == "log" else []},
    }


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *unused):
        pass

    def answer(self, code, body=b"{}", headers=()):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) * 2 if state == "truncated" else len(body)))
        self.end_headers()
        self.wfile.write(body)
        if state == "truncated":
            self.close_connection = True

    def known(self):
        basic = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        return self.headers.get("Authorization") == basic or self.headers.get("X-Auth-Token") in sessions

    def do_POST(self):
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if (given["UserName"], given["Password"]) != (user, password):
            return self.answer(401)
        token = f"token{len(sessions) + 1}"
        sessions[token] = path = ROOT + "/SessionService/Sessions/" + token
        self.answer(201, b"{}", [("X-Auth-Token", token), ("Location", path)])

    def do_DELETE(self):
        token = self.path.rsplit("/", 1)[1]
        sessions.pop(token, None)
        self.answer(204, b"")
        print("ended" if not sessions else "left", flush=True)

    def do_GET(self):
        if not self.known():
            return self.answer(401)
        special = {"garbage": b"<html>", "huge": b"[" + b"1," * (1 << 20) + b"1]", "deep": b'{"a":' * 100,
                   "array": b"[]"}
        if state == "slow":
            time.sleep(10)
        if state == "redirect":
            return self.answer(302, b"{}", [("Location", "https://127.0.0.1:1/")])
        if state == "error":
            return self.answer(503)
        if state in special:
            return self.answer(200, special[state])
        found = documents().get(self.path[len(ROOT):])
        self.answer(200 if found else 404, json.dumps(found or {}).encode())


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
server.daemon_threads = True
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
for line in sys.stdin:
    state = line.strip()
    print(state, flush=True)
