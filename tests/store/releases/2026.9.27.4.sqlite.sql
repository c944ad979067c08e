-- Tables as release 2026.9.27.4 makes them on sqlite (seen in a database that it made), with made-up rows.
CREATE TABLE ffb_tool_calls (
  id VARCHAR(36) NOT NULL,
  started_at DATETIME NOT NULL,
  duration_ms FLOAT NOT NULL,
  tool VARCHAR(255) NOT NULL,
  mode VARCHAR(8) NOT NULL,
  ok BOOLEAN NOT NULL,
  outcome VARCHAR(16),
  error_type VARCHAR(255),
  error_message TEXT,
  session_id VARCHAR(255),
  request_id VARCHAR(255),
  client_id VARCHAR(255),
  user_sub VARCHAR(255),
  caller_kind VARCHAR(64),
  identity JSON,
  server_version VARCHAR(64),
  args_size INTEGER,
  result_size INTEGER,
  args JSON,
  result JSON,
  extra JSON,
  PRIMARY KEY (id)
);
CREATE INDEX ix_ffb_tool_calls_tool ON ffb_tool_calls ("tool");
CREATE INDEX ix_ffb_tool_calls_session_id ON ffb_tool_calls ("session_id");
CREATE INDEX ix_ffb_tool_calls_outcome ON ffb_tool_calls ("outcome");
CREATE INDEX ix_ffb_tool_calls_ok ON ffb_tool_calls ("ok");
CREATE INDEX ix_ffb_tool_calls_user_sub ON ffb_tool_calls ("user_sub");
CREATE INDEX ix_ffb_tool_calls_server_version ON ffb_tool_calls ("server_version");
CREATE INDEX ix_ffb_tool_calls_started_at ON ffb_tool_calls ("started_at");
CREATE TABLE ffb_feedback_call_links (
  feedback_ref VARCHAR(255) NOT NULL,
  call_id VARCHAR(36) NOT NULL,
  position INTEGER NOT NULL,
  rule VARCHAR(32) NOT NULL,
  linked_at DATETIME NOT NULL,
  PRIMARY KEY (feedback_ref, call_id)
);
CREATE INDEX ix_ffb_feedback_call_links_call_id ON ffb_feedback_call_links ("call_id");
INSERT INTO ffb_tool_calls (id, started_at, duration_ms, tool, mode, ok, outcome, error_type, error_message, session_id, request_id, user_sub, identity, args_size, result_size, args, result, extra) VALUES
  ('11111111-1111-4111-8111-111111111111', '2026-09-30 08:15:00.123456', 0.75, 'render', 'full', 1, 'ok', NULL, NULL, 's-1', '3', 'ann', '{}', 8, 8, '{"i": 0}', '{"i": 0}', '{}'),
  ('22222222-2222-4222-8222-222222222222', '2026-09-30 08:16:00.000000', 1.5, 'render', 'meta', 0, NULL, 'ValueError', 'no 1', 's-1', '4', NULL, '{"team": "x"}', 8, NULL, 'null', NULL, '{"job": 1}');
INSERT INTO ffb_feedback_call_links VALUES ('7', '22222222-2222-4222-8222-222222222222', 0, 'session', '2026-09-30 08:17:00.000000');
