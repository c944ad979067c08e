"""Databases, storage and backends."""

from __future__ import annotations

from typing import Final

from .model import Kind

_F = "databases"
_KF = "https://github.com/mongodb/kingfisher/tree/main/crates/kingfisher-rules/data/rules"

KINDS: Final = (
    Kind("supabase-token", _F, ("sbp_",), "h40", "https://supabase.com/docs/reference/api/introduction"),
    Kind("supabase-secret-key", _F, ("sb_secret_",), "s20", "https://supabase.com/docs/guides/api/api-keys"),
    Kind("supabase-oauth-token", _F, ("sbp_oauth_", "sba_"), "h40", "https://supabase.com/docs/guides/platform/oauth-apps/build-a-supabase-integration"),
    Kind("neon-key", _F, ("napi_",), "l40", "https://neon.com/docs/manage/api-keys"),
    Kind("neon-password", _F, ("npg_",), "w12", "https://neon.com/docs/"),
    Kind("databricks-token", _F, ("dapi",), "h32", "https://docs.databricks.com/en/dev-tools/auth/pat.html"),
    Kind("databricks-other-token", _F, ("dose", "dkea", "doaj"), "h32!", "https://docs.databricks.com/en/dev-tools/auth/"),
    Kind("snowflake-token", _F, ("ver:1-hint:",), "m20", _KF),
    Kind("cockroachdb-key", _F, ("CCDB1_",), "w22 '_' w40", "https://www.cockroachlabs.com/docs/cockroachcloud/managing-access"),
    Kind("clickhouse-key", _F, ("4b1d",), "w38!", "https://clickhouse.com/docs/cloud/manage/openapi"),
    Kind("confluent-key", _F, ("cflt",), "b50 m0", "https://docs.confluent.io/cloud/current/security/authenticate/workload-identities/service-accounts/api-keys/overview.html"),
    Kind("aiven-password", _F, ("AVNS_",), "s16", "https://aiven.io/docs/"),
    Kind("aiven-token", _F, ("aivenv1",), "m40", "https://aiven.io/docs/"),
    Kind("mongodb-atlas-secret", _F, ("mdb_sa_sk_", "mdb_sa_id_"), "s40", "https://www.mongodb.com/docs/atlas/api/service-accounts/generate-oauth2-token/"),
    Kind("xata-key", _F, ("xau_",), "w30", "https://xata.io/docs/"),
    Kind("fauna-key", _F, ("fnA",), "s36", "https://docs.fauna.com/"),
    Kind("convex-key", _F, ("prod:", "dev:"), "l6-40 '|' m40", "https://docs.convex.dev/"),
    Kind("influxdb-token", _F, ("apiv3_",), "s60", "https://docs.influxdata.com/influxdb3/core/admin/tokens/"),
    Kind("tinybird-token", _F, ("p.eyJ",), "m60", "https://www.tinybird.co/docs/"),
    Kind("astra-db-token", _F, ("AstraCS:",), "m40", "https://docs.datastax.com/en/astra-db-serverless/administration/manage-application-tokens.html"),
    Kind("elastic-cloud-key", _F, ("essu_",), "m40", "https://www.elastic.co/docs/api/doc/cloud/authentication"),
    Kind("dropbox-short-lived-token", _F, ("sl.",), "s60", "https://developers.dropbox.com/oauth-guide"),
    Kind("dropbox-user-token", _F, ("sl.u.",), "s60", "https://developers.dropbox.com/oauth-guide"),
    Kind("backblaze-key", _F, ("K00",), "w28!", "https://www.backblaze.com/docs/cloud-storage-application-keys"),
)  # fmt: skip
