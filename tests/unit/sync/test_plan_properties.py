"""Whatever happened to state and pointers, a sync leaves them as one that begins with nothing does."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from apps.sync.domain.knowledge import ItemStatus, Layer
from apps.sync.domain.plan import allowed_resolutions, detect_conflicts, make_plan
from apps.sync.domain.state import ConflictType, PointerAction, Resolution, SeenPointer, StoredItem, detect_delta
from tests.effort import examples
from tests.unit.sync.examples import NOW, items_of, make_item

STATUSES = st.sampled_from([ItemStatus.PROPOSED, ItemStatus.ACCEPTED, ItemStatus.SUPERSEDED])
LAYERS = st.sampled_from([Layer.TEAM, Layer.ORG])
ANY_ITEM = st.builds(make_item, st.sampled_from("abcd"), text=st.sampled_from("12"), status=STATUSES, layer=LAYERS)
ITEMS = st.lists(ANY_ITEM, unique_by=lambda item: item.item_id).map(lambda items: items_of(*items))
UUIDS = st.integers(0, 9).map(lambda number: UUID(int=number))
MOMENTS = st.integers(0, 3).map(lambda seconds: NOW + timedelta(seconds=seconds))


@st.composite
def rows(draw):
    """Return rows of any items, some of them damaged."""
    found = {}
    for item in draw(st.lists(ANY_ITEM)):
        status = draw(st.just(item.status) | STATUSES)
        found[item.item_id] = StoredItem(item.item_id, item.hash, status, item.layer, draw(st.none() | UUIDS))
    return found


@st.composite
def memories(draw):
    """Return pointers to any items, several to some of them; what was changed in some of them fits none."""
    found = []
    for uuid in draw(st.lists(UUIDS, unique=True)):
        item = draw(ANY_ITEM)
        values = {"hash": item.hash, "status": item.status.value, "layer": item.layer.value}
        values |= draw(st.just({}) | st.sampled_from([{"hash": ""}, {"status": "x"}, {"layer": "x"}]))
        found.append(SeenPointer(uuid, item.item_id, created_at=draw(MOMENTS), updated_at=draw(MOMENTS), **values))
    return found


STORED = rows()
POINTERS = memories()
RESOLUTIONS = st.fixed_dictionaries(
    {}, optional={one.value: st.sampled_from(allowed_resolutions(one)) for one in ConflictType}
)
LIMITS = st.none() | st.integers(1, 3)


class Simulation:
    """A source whose pointers and rows are in memory, changed as plans say and in no other way."""

    def __init__(self, stored, pointers):
        self.stored = dict(stored)
        self.pointers = {pointer.uuid: pointer for pointer in pointers}
        self.made = 100
        self.former = {}

    def plan(self, items, resolutions, limit=None, decided=()):
        delta = detect_delta(self.stored, items)
        seen = list(self.pointers.values())
        found = detect_conflicts(self.stored, items, seen)
        return make_plan(
            delta,
            found,
            resolutions,
            stored=self.stored,
            pointers=seen,
            limit=limit,
            decided=decided,
            former=self.former,
        )

    def write(self, uuid, item):
        now = NOW + timedelta(seconds=self.made)
        created = self.pointers[uuid].created_at if uuid in self.pointers else now
        self.pointers[uuid] = SeenPointer(
            uuid, item.item_id, item.hash, item.status.value, item.layer.value, created, now
        )

    def apply(self, plan, items):
        kept = dict(plan.pointers)
        for change in plan.changes:
            self.made += 1
            if change.action is PointerAction.DELETE:
                self.former[change.item_id] = self.pointers.pop(change.pointer).uuid
            else:
                assert (change.pointer in self.pointers) is (change.action is PointerAction.UPDATE)
                uuid = change.pointer or UUID(int=self.made)
                self.write(uuid, items[change.item_id])
                kept[change.item_id] = uuid
        for item_id in plan.forgotten:
            del self.stored[item_id]
        for item_id in items.keys() - plan.held - plan.left:
            item = items[item_id]
            self.stored[item_id] = StoredItem(item_id, item.hash, item.status, item.layer, kept[item_id])

    def sync(self, items, resolutions=None, limit=None):
        """Sync until nothing is left for later; each run has to bring it nearer to its end."""
        plan = self.plan(items, resolutions or {}, limit)
        self.apply(plan, items)
        while plan.left:
            following = self.plan(items, resolutions or {}, limit)
            assert following.left < plan.left
            assert {change.item_id for change in following.changes} <= plan.left
            plan = following
            self.apply(plan, items)

    def content(self):
        return sorted((one.item_id, one.hash, str(one.status), str(one.layer)) for one in self.pointers.values())

    def rows(self):
        return {item_id: replace(row, pointer=None) for item_id, row in self.stored.items()}


def fresh(items):
    simulation = Simulation({}, [])
    simulation.sync(items)
    return simulation


@settings(max_examples=examples(60))
@given(ITEMS, STORED, POINTERS, LIMITS)
def test_any_state_becomes_that_of_a_fresh_start(items, stored, pointers, limit):
    simulation = Simulation(stored, pointers)
    simulation.sync(items, limit=limit)
    assert simulation.content() == fresh(items).content()
    assert simulation.rows() == fresh(items).rows()
    assert {row.pointer for row in simulation.stored.values()} == simulation.pointers.keys()
    assert detect_conflicts(simulation.stored, items, list(simulation.pointers.values())) == []
    again = simulation.plan(items, {})
    assert (again.changes, again.resolved, again.held, again.forgotten) == ((), (), frozenset(), frozenset())


@settings(max_examples=examples(60))
@given(ITEMS, STORED, POINTERS, st.randoms(use_true_random=False), LIMITS)
def test_plans_do_not_depend_on_the_order_of_what_they_are_made_of(items, stored, pointers, random, limit):
    def shuffled(values):
        values = list(values)
        random.shuffle(values)
        return values

    one = Simulation(stored, pointers)
    other = Simulation(dict(shuffled(stored.items())), shuffled(pointers))
    assert one.plan(items, {}, limit) == other.plan(dict(shuffled(items.items())), {}, limit)


@settings(max_examples=examples(60))
@given(ITEMS, STORED, POINTERS, RESOLUTIONS, LIMITS)
def test_any_resolutions_come_to_rest_and_hold_what_waits(items, stored, pointers, resolutions, limit):
    simulation = Simulation(stored, pointers)
    plan = simulation.plan(items, resolutions)
    simulation.sync(items, resolutions, limit)
    for pointer in pointers:
        if pointer.item_id in plan.held:
            assert simulation.pointers[pointer.uuid] == pointer
    for item_id in plan.held:
        assert simulation.stored.get(item_id) == stored.get(item_id)
    again = simulation.plan(items, resolutions)
    assert (again.changes, again.held) == ((), plan.held)
    assert all(resolution in (Resolution.KEEP_MEMORY, Resolution.MANUAL) for _, resolution in again.resolved)
    assert items.keys() <= {pointer.item_id for pointer in simulation.pointers.values()}
    decided = simulation.plan(items, resolutions, decided=[conflict for conflict, _ in again.resolved])
    assert (decided.changes, decided.resolved, decided.held) == ((), (), frozenset())
    simulation.sync(items)
    assert simulation.content() == fresh(items).content()


@settings(max_examples=examples(60))
@given(ITEMS, STORED, POINTERS, RESOLUTIONS)
def test_each_pointer_is_changed_at_most_once_and_each_item_has_one_that_stays(items, stored, pointers, resolutions):
    plan = Simulation(stored, pointers).plan(items, resolutions)
    named = [change.pointer for change in plan.changes if change.pointer]
    assert len(named) == len(set(named))
    seen = {pointer.uuid for pointer in pointers}
    assert all((change.pointer in seen) is (change.action is not PointerAction.CREATE) for change in plan.changes)
    written = [change.item_id for change in plan.changes if change.action is not PointerAction.DELETE]
    assert len(written) == len(set(written))
    assert set(written) <= set(items)
    assert not {change.item_id for change in plan.changes} & plan.held


@settings(max_examples=examples(60))
@given(st.lists(ITEMS, min_size=1, max_size=5), LIMITS)
def test_a_history_ends_where_its_last_state_does(history, limit):
    simulation = Simulation({}, [])
    for items in history:
        simulation.apply(simulation.plan(items, {}, limit), items)
    simulation.sync(history[-1], limit=limit)
    assert simulation.content() == fresh(history[-1]).content()
