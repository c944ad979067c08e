-- Tables as release 2026.10.5 makes them on sqlite (seen in a database that it made), with made-up rows.
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
  sample_rate FLOAT,
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
CREATE TABLE ffb_events (
  id VARCHAR(36) NOT NULL,
  occurred_at DATETIME NOT NULL,
  kind VARCHAR(128) NOT NULL,
  "key" VARCHAR(255),
  call_id VARCHAR(36),
  session_id VARCHAR(255),
  user_sub VARCHAR(255),
  caller_kind VARCHAR(64),
  client_id VARCHAR(255),
  server_version VARCHAR(64),
  attrs JSON,
  PRIMARY KEY (id)
);
CREATE INDEX ix_ffb_events_kind ON ffb_events ("kind");
CREATE INDEX ix_ffb_events_call_id ON ffb_events ("call_id");
CREATE INDEX ix_ffb_events_occurred_at ON ffb_events ("occurred_at");
CREATE INDEX ix_ffb_events_key ON ffb_events ("key");
CREATE INDEX ix_ffb_events_user_sub ON ffb_events ("user_sub");
CREATE TABLE ffb_embeddings (
  id VARCHAR(36) NOT NULL,
  source_type VARCHAR(16) NOT NULL,
  source_id VARCHAR(255) NOT NULL,
  model VARCHAR(128) NOT NULL,
  dim INTEGER NOT NULL,
  text_hash VARCHAR(64) NOT NULL,
  text TEXT NOT NULL,
  created_at DATETIME NOT NULL,
  embedding JSON NOT NULL,
  PRIMARY KEY (id),
  CONSTRAINT ffb_embeddings_source_uq UNIQUE (source_type, source_id, model)
);
CREATE INDEX ix_ffb_embeddings_source_id ON ffb_embeddings ("source_id");
CREATE INDEX ix_ffb_embeddings_source_type ON ffb_embeddings ("source_type");
CREATE INDEX ix_ffb_embeddings_created_at ON ffb_embeddings ("created_at");
INSERT INTO ffb_tool_calls (id, started_at, duration_ms, tool, mode, ok, outcome, error_type, error_message, session_id, request_id, user_sub, identity, args_size, result_size, args, result, extra) VALUES
  ('11111111-1111-4111-8111-111111111111', '2026-09-30 08:15:00.123456', 0.75, 'render', 'full', 1, 'ok', NULL, NULL, 's-1', '3', 'ann', '{}', 8, 8, '{"i": 0}', '{"i": 0}', '{}'),
  ('22222222-2222-4222-8222-222222222222', '2026-09-30 08:16:00.000000', 1.5, 'render', 'meta', 0, NULL, 'ValueError', 'no 1', 's-1', '4', NULL, '{"team": "x"}', 8, NULL, 'null', NULL, '{"job": 1}');
INSERT INTO ffb_feedback_call_links VALUES ('7', '22222222-2222-4222-8222-222222222222', 0, 'session', '2026-09-30 08:17:00.000000');
INSERT INTO ffb_events (id, occurred_at, kind, "key", call_id, attrs) VALUES ('33333333-3333-4333-8333-333333333333', '2026-09-30 08:15:00.200000', 'step', 'k', '11111111-1111-4111-8111-111111111111', '{"i": 0}');
INSERT INTO ffb_embeddings VALUES ('44444444-4444-4444-8444-444444444444', 'feedback', '7', 'm', 4, 'h', 'text', '2026-09-30 08:17:00.000000', '[0.5, -1.0, 2.0, 0.25]');
