CREATE TABLE "ffb_tool_calls" (
  "tool" TEXT COLLATE "C" NOT NULL,
  "started_at" TIMESTAMP WITH TIME ZONE NOT NULL,
  "duration_ms" DOUBLE PRECISION,
  "ok" BOOLEAN NOT NULL,
  "mode" TEXT COLLATE "C" NOT NULL,
  "outcome" TEXT COLLATE "C" NOT NULL,
  "id" TEXT COLLATE "C" NOT NULL,
  "error_type" TEXT COLLATE "C",
  "error_message" TEXT,
  "session_id" TEXT COLLATE "C",
  "request_id" TEXT COLLATE "C",
  "client_id" TEXT COLLATE "C",
  "user_sub" TEXT COLLATE "C",
  "caller_kind" TEXT COLLATE "C",
  "identity" JSONB,
  "server_version" TEXT COLLATE "C",
  "args_size" BIGINT,
  "result_size" BIGINT,
  "args" JSONB,
  "result" JSONB,
  "extra" JSONB,
  "sample_rate" DOUBLE PRECISION,
  "fault" TEXT COLLATE "C",
  "category" TEXT COLLATE "C",
  "fingerprint" TEXT COLLATE "C",
  "bad_arguments" JSONB,
  "conversation_key" TEXT COLLATE "C",
  "conversation_basis" TEXT COLLATE "C",
  "trace_id" TEXT COLLATE "C",
  "span_id" TEXT COLLATE "C",
  "parent_call_id" TEXT COLLATE "C",
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
  "kind" TEXT COLLATE "C" NOT NULL,
  "occurred_at" TIMESTAMP WITH TIME ZONE NOT NULL,
  "id" TEXT COLLATE "C" NOT NULL,
  "key" TEXT COLLATE "C",
  "call_id" TEXT COLLATE "C",
  "session_id" TEXT COLLATE "C",
  "user_sub" TEXT COLLATE "C",
  "caller_kind" TEXT COLLATE "C",
  "client_id" TEXT COLLATE "C",
  "server_version" TEXT COLLATE "C",
  "attrs" JSONB,
  "conversation_key" TEXT COLLATE "C",
  "conversation_basis" TEXT COLLATE "C",
  "trace_id" TEXT COLLATE "C",
  "span_id" TEXT COLLATE "C",
  PRIMARY KEY ("id")
);
CREATE INDEX "ix_ffb_events_occurred_at" ON "ffb_events" ("occurred_at");
CREATE INDEX "ix_ffb_events_kind_occurred_at" ON "ffb_events" ("kind", "occurred_at");
CREATE INDEX "ix_ffb_events_key_occurred_at" ON "ffb_events" ("key", "occurred_at") WHERE key IS NOT NULL;
CREATE INDEX "ix_ffb_events_call_id" ON "ffb_events" ("call_id") WHERE call_id IS NOT NULL;
CREATE INDEX "ix_ffb_events_conversation_key_occurred_at" ON "ffb_events" ("conversation_key", "occurred_at") WHERE conversation_key IS NOT NULL;
CREATE TABLE "ffb_feedback_call_links" (
  "feedback_ref" TEXT COLLATE "C" NOT NULL,
  "call_id" TEXT COLLATE "C" NOT NULL,
  "position" BIGINT NOT NULL,
  "rule" TEXT COLLATE "C" NOT NULL,
  "linked_at" TIMESTAMP WITH TIME ZONE NOT NULL,
  "tool" TEXT COLLATE "C",
  "started_at" TIMESTAMP WITH TIME ZONE,
  "ok" BOOLEAN,
  PRIMARY KEY ("feedback_ref", "call_id")
);
CREATE INDEX "ix_ffb_feedback_call_links_call_id" ON "ffb_feedback_call_links" ("call_id");
CREATE TABLE "ffb_embeddings" (
  "source_type" TEXT COLLATE "C" NOT NULL,
  "source_id" TEXT COLLATE "C" NOT NULL,
  "model" TEXT COLLATE "C" NOT NULL,
  "dim" BIGINT NOT NULL,
  "text" TEXT NOT NULL,
  "text_hash" TEXT COLLATE "C" NOT NULL,
  "embedding" VECTOR(1024),
  "created_at" TIMESTAMP WITH TIME ZONE NOT NULL,
  PRIMARY KEY ("source_type", "source_id", "model")
);
CREATE INDEX "ix_ffb_embeddings_created_at" ON "ffb_embeddings" ("created_at");
CREATE TABLE "ffb_feedback" (
  "id" TEXT COLLATE "C" NOT NULL,
  "type" TEXT COLLATE "C" NOT NULL,
  "title" TEXT NOT NULL,
  "description" TEXT NOT NULL,
  "status" TEXT COLLATE "C" NOT NULL,
  "submitter" TEXT,
  "submitter_kind" TEXT COLLATE "C",
  "verified" BOOLEAN NOT NULL,
  "contact_info" TEXT,
  "tool" TEXT COLLATE "C",
  "severity" TEXT COLLATE "C",
  "conversation_key" TEXT COLLATE "C",
  "session_id" TEXT COLLATE "C",
  "user_sub" TEXT COLLATE "C",
  "client_id" TEXT COLLATE "C",
  "server_version" TEXT COLLATE "C",
  "created_at" TIMESTAMP WITH TIME ZONE NOT NULL,
  "updated_at" TIMESTAMP WITH TIME ZONE NOT NULL,
  "report_count" BIGINT NOT NULL,
  "last_reported_at" TIMESTAMP WITH TIME ZONE,
  "content_hash" TEXT COLLATE "C",
  "duplicate_of" TEXT COLLATE "C",
  "notes" JSONB,
  "extra" JSONB,
  PRIMARY KEY ("id")
);
CREATE INDEX "ix_ffb_feedback_created_at" ON "ffb_feedback" ("created_at");
CREATE INDEX "ix_ffb_feedback_status_created_at" ON "ffb_feedback" ("status", "created_at");
CREATE INDEX "ix_ffb_feedback_content_hash" ON "ffb_feedback" ("content_hash") WHERE content_hash IS NOT NULL;
CREATE INDEX "ix_ffb_feedback_user_sub_created_at" ON "ffb_feedback" ("user_sub", "created_at") WHERE user_sub IS NOT NULL;
CREATE INDEX "ix_ffb_feedback_conversation_key_created_at" ON "ffb_feedback" ("conversation_key", "created_at") WHERE conversation_key IS NOT NULL;
CREATE TABLE "ffb_schema" (
  "version" BIGINT NOT NULL,
  "applied_at" TIMESTAMP WITH TIME ZONE NOT NULL,
  "package_version" TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY ("version")
);
