CREATE TABLE "ffb_tool_calls" (
  "tool" TEXT NOT NULL,
  "started_at" TEXT NOT NULL,
  "duration_ms" DOUBLE,
  "ok" BOOLEAN NOT NULL,
  "mode" TEXT NOT NULL,
  "outcome" TEXT NOT NULL,
  "id" TEXT NOT NULL,
  "error_type" TEXT,
  "error_message" TEXT,
  "session_id" TEXT,
  "request_id" TEXT,
  "client_id" TEXT,
  "user_sub" TEXT,
  "caller_kind" TEXT,
  "identity" TEXT,
  "server_version" TEXT,
  "args_size" BIGINT,
  "result_size" BIGINT,
  "args" TEXT,
  "result" TEXT,
  "extra" TEXT,
  "sample_rate" DOUBLE,
  "fault" TEXT,
  "category" TEXT,
  "fingerprint" TEXT,
  "bad_arguments" TEXT,
  "conversation_key" TEXT,
  "conversation_basis" TEXT,
  "trace_id" TEXT,
  "span_id" TEXT,
  "parent_call_id" TEXT,
  "internal" BOOLEAN NOT NULL,
  PRIMARY KEY ("id")
);
CREATE INDEX "ix_ffb_tool_calls_started_at" ON "ffb_tool_calls" ("started_at");
CREATE INDEX "ix_ffb_tool_calls_tool_started_at" ON "ffb_tool_calls" ("tool", "started_at");
CREATE INDEX "ix_ffb_tool_calls_conversation_key_started_at" ON "ffb_tool_calls" ("conversation_key", "started_at") WHERE conversation_key IS NOT NULL;
CREATE INDEX "ix_ffb_tool_calls_user_sub_started_at" ON "ffb_tool_calls" ("user_sub", "started_at") WHERE user_sub IS NOT NULL;
CREATE INDEX "ix_ffb_tool_calls_outcome_started_at" ON "ffb_tool_calls" ("outcome", "started_at") WHERE outcome <> 'ok';
CREATE INDEX "ix_ffb_tool_calls_fingerprint_started_at" ON "ffb_tool_calls" ("fingerprint", "started_at") WHERE fingerprint IS NOT NULL;
CREATE TABLE "ffb_events" (
  "kind" TEXT NOT NULL,
  "occurred_at" TEXT NOT NULL,
  "id" TEXT NOT NULL,
  "key" TEXT,
  "call_id" TEXT,
  "session_id" TEXT,
  "user_sub" TEXT,
  "caller_kind" TEXT,
  "client_id" TEXT,
  "server_version" TEXT,
  "attrs" TEXT,
  "conversation_key" TEXT,
  "conversation_basis" TEXT,
  "trace_id" TEXT,
  "span_id" TEXT,
  PRIMARY KEY ("id")
);
CREATE INDEX "ix_ffb_events_occurred_at" ON "ffb_events" ("occurred_at");
CREATE INDEX "ix_ffb_events_kind_occurred_at" ON "ffb_events" ("kind", "occurred_at");
CREATE INDEX "ix_ffb_events_key_occurred_at" ON "ffb_events" ("key", "occurred_at") WHERE key IS NOT NULL;
CREATE INDEX "ix_ffb_events_call_id" ON "ffb_events" ("call_id") WHERE call_id IS NOT NULL;
CREATE INDEX "ix_ffb_events_conversation_key_occurred_at" ON "ffb_events" ("conversation_key", "occurred_at") WHERE conversation_key IS NOT NULL;
CREATE TABLE "ffb_feedback_call_links" (
  "feedback_ref" TEXT NOT NULL,
  "call_id" TEXT NOT NULL,
  "position" BIGINT NOT NULL,
  "rule" TEXT NOT NULL,
  "linked_at" TEXT NOT NULL,
  "tool" TEXT,
  "started_at" TEXT,
  "ok" BOOLEAN,
  PRIMARY KEY ("feedback_ref", "call_id")
);
CREATE INDEX "ix_ffb_feedback_call_links_call_id" ON "ffb_feedback_call_links" ("call_id");
CREATE TABLE "ffb_embeddings" (
  "source_type" TEXT NOT NULL,
  "source_id" TEXT NOT NULL,
  "model" TEXT NOT NULL,
  "dim" BIGINT NOT NULL,
  "text" TEXT NOT NULL,
  "text_hash" TEXT NOT NULL,
  "embedding" BLOB,
  "created_at" TEXT NOT NULL,
  PRIMARY KEY ("source_type", "source_id", "model")
);
CREATE INDEX "ix_ffb_embeddings_created_at" ON "ffb_embeddings" ("created_at");
CREATE TABLE "ffb_feedback" (
  "id" TEXT NOT NULL,
  "type" TEXT NOT NULL,
  "title" TEXT NOT NULL,
  "description" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "submitter" TEXT,
  "submitter_kind" TEXT,
  "verified" BOOLEAN NOT NULL,
  "contact_info" TEXT,
  "tool" TEXT,
  "severity" TEXT,
  "conversation_key" TEXT,
  "session_id" TEXT,
  "user_sub" TEXT,
  "client_id" TEXT,
  "server_version" TEXT,
  "created_at" TEXT NOT NULL,
  "updated_at" TEXT NOT NULL,
  "report_count" BIGINT NOT NULL,
  "last_reported_at" TEXT,
  "content_hash" TEXT,
  "duplicate_of" TEXT,
  "notes" TEXT,
  "extra" TEXT,
  PRIMARY KEY ("id")
);
CREATE INDEX "ix_ffb_feedback_created_at" ON "ffb_feedback" ("created_at");
CREATE INDEX "ix_ffb_feedback_status_created_at" ON "ffb_feedback" ("status", "created_at");
CREATE INDEX "ix_ffb_feedback_content_hash" ON "ffb_feedback" ("content_hash") WHERE content_hash IS NOT NULL;
CREATE INDEX "ix_ffb_feedback_user_sub_created_at" ON "ffb_feedback" ("user_sub", "created_at") WHERE user_sub IS NOT NULL;
CREATE INDEX "ix_ffb_feedback_conversation_key_created_at" ON "ffb_feedback" ("conversation_key", "created_at") WHERE conversation_key IS NOT NULL;
CREATE TABLE "ffb_schema" (
  "version" BIGINT NOT NULL,
  "applied_at" TEXT NOT NULL,
  "package_version" TEXT NOT NULL,
  PRIMARY KEY ("version")
);
