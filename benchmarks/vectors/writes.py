"""Single rows written without MemoryHub and with it, into the scope that was searched."""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from psycopg import Connection

from apps.core.domain.scope import Scope, system_access
from apps.retrieval.domain.vectors.cosines import Vectors
from apps.retrieval.domain.vectors.synthetic import Clusters
from apps.semantic.domain.memory import MemoryDraft
from apps.semantic.services import memory_save
from benchmarks.api import HubClient
from benchmarks.texts import synthetic_texts
from benchmarks.vectors.data import TAGGED, ScopeData
from benchmarks.vectors.figures import Written
from benchmarks.vectors.hub import CLIENTS, at_once
from benchmarks.vectors.raw import TABLE, HnswlibWay, raw_connection

SAVE = "/api/semantic/memories"
_SEED = 26
_FIRST_ID = 10**15


@dataclass(frozen=True, eq=False)
class NewRows:
    """What is written: texts that are not there yet, and vectors of clusters of their own."""

    texts: Sequence[str]
    vectors: Vectors

    @classmethod
    def made(cls, count: int, dimension: int) -> "NewRows":
        """So many."""
        texts = [f"{text} It cost {number} pounds." for number, text in enumerate(synthetic_texts(count, _SEED))]
        return cls(texts, Clusters(count, dimension, _SEED).draw(count).vectors)

    def parts(self, count: int) -> Iterator["NewRows"]:
        """Equal shares."""
        for part in np.array_split(np.arange(len(self.texts)), count):
            yield NewRows([self.texts[row] for row in part], self.vectors[part])

    def __iter__(self) -> Iterator[tuple[str, Vectors]]:
        return zip(self.texts, self.vectors, strict=True)


def written(data: ScopeData, raw: HnswlibWay, url: str, key: str, calls: int) -> dict[str, Written]:
    """Write by every way; return the figures by its name. The raw table exists."""
    new = NewRows.made(5 * calls, data.vectors.shape[1]).parts(5)
    with raw_connection() as database:
        return {
            "sql": by_sql(database, next(new)),
            "hnswlib": by_hnswlib(raw, len(data), next(new)),
            "service": by_service(data.user, next(new)),
            "http": by_http(url, key, data.user, next(new)),
            "http_many": by_many(url, key, data.user, next(new)),
        }


def by_sql(database: "Connection[Any]", new: NewRows) -> Written:
    """Return one transaction a row, on the disk when it returns; the table has the graph and the indexes on tags."""
    columns = ", ".join(("id", "vector", *(column for _, column in TAGGED)))
    places = ", ".join(("%s", "%b", *("'new'" for _ in TAGGED)))
    statement = f"INSERT INTO {TABLE} ({columns}) VALUES ({places})"  # noqa: S608
    return each(
        [(number, vector) for number, (_, vector) in enumerate(new, _FIRST_ID)],
        lambda row: database.execute(statement, row, prepare=True),
    )


def by_hnswlib(raw: HnswlibWay, first: int, new: NewRows) -> Written:
    rows = [(vector, number) for number, (_, vector) in enumerate(new, first)]
    return each(rows, lambda row: raw.index.add_items(row[0], [row[1]], num_threads=1))


def by_service(user: str, new: NewRows) -> Written:
    access, actions = system_access("bench"), Counter[str]()

    def save(draft: MemoryDraft) -> None:
        actions[memory_save(access=access, draft=draft).action] += 1

    done = each([MemoryDraft(text, scope=Scope(user), embedding=vector) for text, vector in new], save)
    done.actions = actions
    return done


def by_http(url: str, key: str, user: str, new: NewRows) -> Written:
    client, answers = HubClient(url, key), list[bytes]()
    done = each(_bodies(user, new), lambda body: answers.append(client.send(SAVE, body)))
    done.actions = _actions(answers)
    return done


def by_many(url: str, key: str, user: str, new: NewRows) -> Written:
    gathered, answers, errors, lock = Written(), list[bytes](), list[Exception](), threading.Lock()

    def save(mine: Sequence[str]) -> None:
        try:
            client, own = HubClient(url, key), list[bytes]()
            done = each(mine, lambda body: own.append(client.send(SAVE, body)))
        except (OSError, RuntimeError) as error:
            errors.append(error)
            return
        with lock:
            gathered.times.extend(done.times)
            answers.extend(own)

    bodies = _bodies(user, new)
    gathered.seconds = at_once(save, [bodies[number::CLIENTS] for number in range(CLIENTS)])
    if errors:
        raise RuntimeError(f"{len(errors)} of {CLIENTS} clients failed") from errors[0]
    gathered.actions = _actions(answers)
    return gathered


def _bodies(user: str, new: NewRows) -> list[str]:
    return [
        json.dumps({"user_id": user, "content": text, "embedding": [round(float(x), 6) for x in vector]})
        for text, vector in new
    ]


def _actions(answers: Sequence[bytes]) -> Counter[str]:
    return Counter(json.loads(answer)["action"] for answer in answers)


def each(rows: Sequence[Any], write: Callable[[Any], object]) -> Written:
    done = Written()
    for row in rows:
        started = time.perf_counter()
        write(row)
        done.times.append(time.perf_counter() - started)
    done.seconds = sum(done.times)
    return done
