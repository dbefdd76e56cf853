"""Finding what a command is about: it is there, or the reader learns that it isn't."""

from domain.errors import ErrorCode, Forbidden, InvalidInput, NotFound
from domain.principals import Principal
from domain.streams import ManifestState, RerunState, RunnerState, RunState, World


def run_of(world: World, digest: str, path: str = "run") -> RunState:
    """The run of that digest. Raises :class:`NotFound`."""
    state = world.get(RunState, f"run/{digest}")
    if state is None:
        raise NotFound.because(f"no run {digest} is recorded", path=path, remedy="look its digest up with run(id:)")
    return state


def rerun_of(world: World, rerun: str) -> RerunState:
    """The request of that id. Raises :class:`NotFound`."""
    state = world.get(RerunState, f"rerun/{rerun}")
    if state is None:
        raise NotFound.because(f"no rerun {rerun} was requested", path="rerun", remedy="take an id from rerunRequests")
    return state


def own_runner(world: World, runner: str, principal: Principal) -> RunnerState:
    """The approved runner of that id, which acts with its operator's key. Raises what is wrong about that."""
    state = world.get(RunnerState, f"runner/{runner}")
    if state is None:
        raise NotFound.because(
            f"no runner {runner} is approved", path="runner", remedy="ask an administrator to approve it"
        )
    if state.approved.operator != principal.id:
        raise Forbidden.because(
            f"runner {runner} belongs to another operator", path="runner", remedy="use a key of its operator"
        )
    if state.suspended:
        raise Forbidden.because(
            f"runner {runner} is suspended",
            code=ErrorCode.RUNNER_SUSPENDED,
            path="runner",
            remedy="a suspended runner stays so; ask an administrator to approve another",
        )
    return state


def environment_of(world: World, digest: str) -> ManifestState | None:
    """The environment of that digest, where it is registered."""
    return world.get(ManifestState, f"manifest/{digest}")


def require_same(stated: str, wanted: str, path: str, what: str) -> None:
    """Refuse a manifest that is about something else."""
    if stated != wanted:
        raise InvalidInput.because(
            f"names {stated}, the claim names {wanted}",
            code=ErrorCode.DIGEST_MISMATCH,
            path=path,
            remedy=f"measure the same {what} as the claim does",
        )
