"""Source hosts, code review, CI and developer tools."""

from __future__ import annotations

from typing import Final

from .model import Kind

_F = "source hosts"
_GHT = "https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/"
_GLT = "https://docs.gitlab.com/security/tokens/"
_TH = "https://github.com/trufflesecurity/trufflehog/tree/main/pkg/detectors"
_KF = "https://github.com/mongodb/kingfisher/tree/main/crates/kingfisher-rules/data/rules"

KINDS: Final = (
    Kind("github-personal-token", _F, ("ghp_",), "w30", _GHT),
    Kind("github-oauth-token", _F, ("gho_",), "w30", _GHT),
    Kind("github-user-token", _F, ("ghu_",), "w30", _GHT),
    Kind("github-server-token", _F, ("ghs_",), "x30", _GHT),
    Kind("github-refresh-token", _F, ("ghr_",), "w36", _GHT),
    Kind("github-fine-grained-token", _F, ("github_pat_",), "w20 '_' w40", _GHT),
    Kind("gitlab-personal-token", _F, ("glpat-",), "x20", _GLT),
    Kind("gitlab-deploy-token", _F, ("gldt-",), "s18", _GLT),
    Kind("gitlab-runner-token", _F, ("glrt-", "glrtr-"), "x18", _GLT),
    Kind("gitlab-runner-registration-token", _F, ("GR1348941",), "s20", _GLT),
    Kind("gitlab-ci-job-token", _F, ("glcbt-",), "x20", _GLT),
    Kind("gitlab-pipeline-trigger-token", _F, ("glptt-",), "s30", _GLT),
    Kind("gitlab-oauth-secret", _F, ("gloas-",), "s40", _GLT),
    Kind("gitlab-agent-token", _F, ("glagent-",), "s40", _GLT),
    Kind("gitlab-feed-token", _F, ("glft-",), "s18", _GLT),
    Kind("gitlab-incoming-mail-token", _F, ("glimt-",), "s20", _GLT),
    Kind("gitlab-scim-token", _F, ("glsoat-",), "s18", _GLT),
    Kind("gitlab-feature-flags-token", _F, ("glffct-",), "s18", _GLT),
    Kind("gitlab-workspace-token", _F, ("glwt-",), "s18", _GLT),
    Kind("bitbucket-app-password", _F, ("ATBB",), "w28", "https://support.atlassian.com/bitbucket-cloud/docs/app-passwords/"),
    Kind("bitbucket-access-token", _F, ("ATCTT3xFfGN0",), "m40", "https://support.atlassian.com/bitbucket-cloud/docs/access-tokens/"),
    Kind("atlassian-api-token", _F, ("ATATT3",), "m60", "https://support.atlassian.com/atlassian-account/docs/manage-api-tokens-for-your-atlassian-account/"),
    Kind("atlassian-oauth-secret", _F, ("ATOA",), "s50", _KF),
    Kind("trello-token", _F, ("ATTA",), "h60", "https://developer.atlassian.com/cloud/trello/"),
    Kind("sourcegraph-token", _F, ("sgp_",), "h16 '_' h40", "https://sourcegraph.com/docs/cli/how-tos/creating_an_access_token"),
    Kind("sourcegraph-plain-token", _F, ("sgp_", "sgd_", "slk_"), "h40", "https://sourcegraph.com/docs/cli/how-tos/creating_an_access_token"),
    Kind("sourcegraph-local-token", _F, ("sgp_local_",), "h40", "https://sourcegraph.com/docs/cli/how-tos/creating_an_access_token"),
    Kind("gerrit-cookie", _F, ("git-",), "w4 '.' w10 '=1//' s30", _KF),
    Kind("circleci-personal-token", _F, ("CCIPAT_", "CCIPRJ_"), "w20 '_' h40", "https://circleci.com/docs/managing-api-tokens/"),
    Kind("buildkite-token", _F, ("bkua_", "bkat_", "bkct_", "bkaj_", "bkpt_"), "w32", "https://buildkite.com/docs/apis/managing-api-tokens"),
    Kind("sonar-token", _F, ("sqp_", "squ_", "sqa_", "sqb_"), "h40", "https://docs.sonarsource.com/sonarqube-server/user-guide/managing-tokens/"),
    Kind("harness-token", _F, ("pat.", "sat."), "s22 '.' w24 '.' w20", "https://developer.harness.io/docs/platform/automation/api/api-permissions-reference"),
    Kind("jfrog-reference-token", _F, ("cmVmdGtu",), "w56", "https://jfrog.com/help/r/jfrog-platform-administration-documentation/access-tokens"),
    Kind("jfrog-api-key", _F, ("AKCp",), "w60", "https://jfrog.com/help/r/jfrog-platform-administration-documentation/api-key"),
    Kind("postman-key", _F, ("PMAK-",), "h24 '-' h34", "https://learning.postman.com/docs/developer/postman-api/authentication/"),
    Kind("postman-collection-key", _F, ("PMAT-",), "u26", "https://learning.postman.com/docs/sharing-your-work/sharing/"),
    Kind("figma-token", _F, ("figd_", "figu_", "figo_", "figoh_", "figor_"), "s38", "https://www.figma.com/developers/api"),
    Kind("linear-key", _F, ("lin_api_", "lin_oauth_", "lin_wh_"), "w30", "https://linear.app/developers"),
    Kind("launchdarkly-key", _F, ("sdk-", "mob-", "api-", "rel-"), "i1", "https://launchdarkly.com/docs/api"),
    Kind("unleash-token", _F, ("*:", "default:"), "l4-20 '.' h40", "https://docs.getunleash.io/reference/api-tokens-and-client-keys"),
    Kind("configcat-key", _F, ("configcat-sdk-1/",), "s22 '/' s22", "https://configcat.com/docs/"),
    Kind("readme-key", _F, ("rdme_",), "l60", "https://docs.readme.com/main/reference/intro/authentication"),
    Kind("gitbook-token", _F, ("gb_api_",), "w40", "https://gitbook.com/docs/developers/gitbook-api"),
    Kind("wakatime-key", _F, ("waka_",), "i1", "https://wakatime.com/developers"),
)  # fmt: skip
