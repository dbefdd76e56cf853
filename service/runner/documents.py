"""What a runner asks for, in GraphQL."""

from typing import Final

REFERENCES: Final = ("implementation", "workload", "operation", "protocol", "environment")
_ERROR: Final = "... on UserError { message code path remedy }"

STANDING: Final = """
query Standing($id: ID!) {
  stamp { logId }
  viewer { principal }
  node(id: $id) { ... on Runner { operator hardware publicKey suspension { reason } } }
}
"""

REQUESTS: Final = """
query Requests($state: RerunState!, $hardware: String!, $first: Int!, $after: String) {
  rerunRequests(filter: { state: $state, hardware: $hardware }, first: $first, after: $after) {
    nodes { rerunId leaseExpiresAt run { digest submittedBy producer environment { hardware { product } } } }
    pageInfo { hasNextPage endCursor }
  }
}
"""

MANIFESTS: Final = f"""
query Manifests($run: ID!) {{
  run(id: $run) {{ manifest {" ".join(f"{name} {{ manifest }}" for name in REFERENCES)} }}
}}
"""

REGISTERED: Final = "query Registered($id: ID!) { node(id: $id) { id } }"


def _mutation(field: str, kind: str, success: str) -> str:
    shown = f"__typename ... on {kind}Success {{ {success} }} {_ERROR}"
    return f"mutation {kind}($input: {kind}Input!) {{ {field}(input: $input) {{ {shown} }} }}"


START: Final = _mutation("startRerun", "StartRerun", "rerun { leaseExpiresAt }")
RENEW: Final = _mutation("renewRerunLease", "RenewRerunLease", "rerun { leaseExpiresAt }")
RECORD: Final = _mutation("recordRerun", "RecordRerun", "rerun { result { outcome } }")
ABANDON: Final = _mutation("abandonRerun", "AbandonRerun", "rerun { id }")
