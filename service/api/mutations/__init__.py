"""The root fields that write. One file for each thing that people do: its inputs, its answers, its fields."""

from service.api.mutations.attestations import AttestationMutations
from service.api.mutations.corrections import CorrectionMutations
from service.api.mutations.disputes import DisputeMutations
from service.api.mutations.ingest import IngestMutations
from service.api.mutations.issues import IssueMutations
from service.api.mutations.reruns import RerunMutations
from service.api.mutations.runners import RunnerMutations
from service.api.mutations.sources import SourceMutations
from service.api.types.described import object_type


@object_type("What can be written. Each takes one input with an idempotency key.")
class Mutation(
    IngestMutations,
    SourceMutations,
    CorrectionMutations,
    DisputeMutations,
    AttestationMutations,
    IssueMutations,
    RerunMutations,
    RunnerMutations,
):
    pass


__all__ = ["Mutation"]
