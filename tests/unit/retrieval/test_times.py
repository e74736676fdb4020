"""Which times questions name, in English and Chinese, and how near moments are to them."""

from datetime import UTC, datetime, timedelta, tzinfo

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apps.core.domain.zones import find_zone
from apps.retrieval.domain.times.closeness import TIME_WEIGHT, closeness, time_factors
from apps.retrieval.domain.times.read import MAX_CHARS, NamedTime, read_times
from tests.timing import assert_quick

TAIPEI, BERLIN, APIA = (find_zone(name) for name in ("Asia/Taipei", "Europe/Berlin", "Pacific/Apia"))
# A Thursday.
THURSDAY = datetime(2025, 11, 20, 7, tzinfo=UTC)


def read(text: str, at: datetime = THURSDAY, zone: tzinfo = TAIPEI) -> list[str]:
    """Return the times of a text as "2025-05-01..2025-06-01" by the clocks of the zone, with the hour if it has one."""

    def say(moment: datetime | None) -> str:
        local = moment and moment.astimezone(zone)
        return "" if local is None else f"{local:%Y-%m-%dT%H}".removesuffix("T00")

    return [f"{say(one.start)}..{say(one.end)}" for one in read_times(text, at, zone)]


ENGLISH = {
    "Where did I park yesterday?": "2025-11-19..2025-11-20",
    "What did the plumber say the day before yesterday?": "2025-11-18..2025-11-19",
    "Who rang this morning?": "2025-11-20T05..2025-11-20T12",
    "What did we eat last night?": "2025-11-19T18..2025-11-20T06",
    "What do I have to do tomorrow evening?": "2025-11-21T17..2025-11-22",
    "What did I promise last week?": "2025-11-10..2025-11-17",
    "Where were we the week before last?": "2025-11-03..2025-11-10",
    "How did the party last weekend go?": "2025-11-15..2025-11-17",
    "Which bills came last month?": "2025-10-01..2025-11-01",
    "How much did I spend over the last 30 days?": "2025-10-21T15..2025-11-20T15",
    "What did I read in the past couple of weeks?": "2025-11-06T15..2025-11-20T15",
    "What is due next month?": "2025-12-01..2026-01-01",
    "Where did we travel last summer?": "2025-06-01..2025-09-01",
    "What did the vet find last winter?": "2024-12-01..2025-03-01",
    "Who came for Christmas last year?": "2024-12-24..2024-12-27",
    "Which shoes did I buy two weeks ago?": "2025-11-03T03..2025-11-10T03",
    "Which shoes did I buy 10 days ago?": "2025-11-10..2025-11-11",
    "What was my weight half a year ago?": "2025-02-19T16..2025-08-21T07",
    "What broke in May last year?": "2024-05-01..2024-06-01",
    "What did the dentist do on 3 March 2024?": "2024-03-03..2024-03-04",
    "What did the dentist do on March 3rd, 2024?": "2024-03-03..2024-03-04",
    "What was said on 2024-03-03?": "2024-03-03..2024-03-04",
    "What was said on 3.3.2024?": "2024-03-03..2024-03-04",
    "Where was the camp of June 3 to 9, 2024?": "2024-06-03..2024-06-10",
    "Where were you between August 11 and August 15 2023?": "2023-08-11..2023-08-16",
    "What did I learn from March to May 2024?": "2024-03-01..2024-06-01",
    "Which jobs did she have from 2019 to 2021?": "2019-01-01..2022-01-01",
    "Which film did I like in early 2020?": "2020-01-01..2020-05-02",
    "What did we do in the first week of April 2024?": "2024-04-01..2024-04-08",
    "What did we do at the end of last year?": "2024-09-01..2025-01-01",
    "What did I sell in the last week of June 2024?": "2024-06-24..2024-07-01",
    "What changed in Q3 2024?": "2024-07-01..2024-10-01",
    "Which music did he like in the 1990s?": "1990-01-01..2000-01-01",
    "Where did I live before 2020?": "..2020-01-01",
    "Where have I been since last Christmas?": "2024-12-24..2025-11-20T15",
    "What did I do after the summer of 2024?": "2024-09-01..",
    "What did I do two days after Christmas 2024?": "2024-12-28T12..2024-12-29T12",
    "What did Ana say last Monday?": "2025-11-17..2025-11-18",
    "What did Ana say last Tuesday night?": "2025-11-18T18..2025-11-19T06",
    "What do we plan for this weekend?": "2025-11-22..2025-11-24",
    "Who won two nights ago?": "2025-11-18T18..2025-11-19T06",
    "What was quoted for the roof a year and a half ago?": "2023-11-21T03..2024-11-20T09",
    "What is planned for this Friday?": "2025-11-21..2025-11-22",
    "What is planned for next Friday?": "2025-11-28..2025-11-29",
}
CHINESE = {
    "昨天我把車停在哪裡？": "2025-11-19..2025-11-20",
    "前天晚上吃了什麼？": "2025-11-18T17..2025-11-19",
    "今天早上誰打來？": "2025-11-20T05..2025-11-20T12",
    "上個月收到哪些帳單？": "2025-10-01..2025-11-01",
    "上上个月的旅行": "2025-09-01..2025-10-01",
    "上個月15號看了什麼？": "2025-10-15..2025-10-16",
    "上個月底買了什麼？": "2025-10-21T16..2025-11-01",
    "去年夏天我們去了哪裡？": "2024-06-01..2024-09-01",
    "去年夏天我们去了哪里？": "2024-06-01..2024-09-01",
    "三年前的冬天誰來過？": "2022-12-01..2023-03-01",
    "三天前發生了什麼事？": "2025-11-17..2025-11-18",
    "两个星期前买了什么？": "2025-11-03T03..2025-11-10T03",
    "半年前的體重": "2025-02-19T16..2025-08-21T07",
    "最近兩週讀了什麼書？": "2025-11-06T15..2025-11-20T15",
    "這幾天在忙什麼？": "2025-11-17T15..2025-11-20T15",
    "上週五的會議說了什麼？": "2025-11-14..2025-11-15",
    "下禮拜一要做什麼？": "2025-11-24..2025-11-25",
    "上週末去了哪裡？": "2025-11-15..2025-11-17",
    "2023年5月8日我做了什麼？": "2023-05-08..2023-05-09",
    "民國112年5月8號": "2023-05-08..2023-05-09",
    "二〇二三年五月八日": "2023-05-08..2023-05-09",
    "２０２３年５月的行程": "2023-05-01..2023-06-01",
    "2024年5月3日到9日的營隊": "2024-05-03..2024-05-10",
    "去年三月中旬": "2024-03-11T08..2024-03-21T16",
    "前年底搬到哪裡？": "2023-09-01T08..2024-01-01",
    "今年上半年看了幾本書？": "2025-01-01..2025-07-02T12",
    "去年聖誕節送了什麼？": "2024-12-24..2024-12-27",
    "去年暑假去了哪裡？": "2024-07-01..2024-09-01",
    "從昨天到今天": "2025-11-19..2025-11-21",
    "兩天前的晚上吃了什麼？": "2025-11-18T17..2025-11-19",
    "去年年底搬到哪裡？": "2024-09-01..2025-01-01",
    "半年來讀了什麼書？": "2025-05-22..2025-11-20T15",
    "2020年以前住在哪裡？": "..2020-01-01",
    "2024年之後的工作": "2025-01-01..",
    "三月以來": "2025-03-01..2025-11-20T15",
}
# The last one and the next.
AGAIN = {
    "What did I do in May?": ["2025-05-01..2025-06-01", "2026-05-01..2026-06-01"],
    "What happened in early March?": ["2025-03-01..2025-03-11T08", "2026-03-01..2026-03-11T08"],
    "Who calls on Monday?": ["2025-11-17..2025-11-18", "2025-11-24..2025-11-25"],
    "What did I sign on 5/8/2023?": ["2023-05-08..2023-05-09", "2023-08-05..2023-08-06"],
    "What is on the 5th?": ["2025-11-05..2025-11-06", "2025-12-05..2025-12-06"],
    "between Christmas and New Year": ["2024-12-24..2025-01-02", "2025-12-24..2026-01-02"],
    "五月初買了什麼？": ["2025-05-01..2025-05-11T08", "2026-05-01..2026-05-11T08"],
    "從五月到七月": ["2025-05-01..2025-08-01", "2026-05-01..2026-08-01"],
    "星期三誰來？": ["2025-11-19..2025-11-20", "2025-11-26..2025-11-27"],
    "週末做什麼？": ["2025-11-15..2025-11-17", "2025-11-22..2025-11-24"],
}
NO_TIMES = (
    "", "Where does Ana live?", "Who may open the door?", "What might this may mean?", "Does he march in front?",
    "Who is April?", "What did June and August think of it?", "What fell off in the fall of the wall?",
    "What do I do every Monday?", "Which tea do I like each summer?", "How many hours a day do I work?",
    "Is the code 2021 right?", "PyCharm 2024.1", "Call 2024-55", "What costs 1999 dollars?", "Who said second?",
    "What happened 9999999 years ago?", "in 999999999 weeks' time", "What was on 31 February 2024?",
    "我喜歡吃什麼？", "每週五做什麼？", "五月天的演唱會", "以前天天運動", "過去年輕的時候", "早上周先生來了",
    "999999999年前",
)  # fmt: skip


def test_what_people_say_in_english() -> None:
    assert {text: read(text) for text in ENGLISH} == {text: [span] for text, span in ENGLISH.items()}


def test_what_people_say_in_chinese() -> None:
    assert {text: read(text) for text in CHINESE} == {text: [span] for text, span in CHINESE.items()}


def test_what_comes_again_is_last_one_and_next() -> None:
    assert {text: read(text) for text in AGAIN} == AGAIN


def test_other_texts_name_no_time() -> None:
    assert {text: read(text) for text in NO_TIMES} == {text: [] for text in NO_TIMES}


def test_words_are_those_of_question() -> None:
    words = [one.words for one in read_times("What of LAST Summer, and 上個月底?", THURSDAY, TAIPEI)]
    assert words == ["LAST Summer", "上個月底"]


def test_day_is_that_of_zone() -> None:
    late = datetime(2025, 11, 20, 23, tzinfo=UTC)  # the 21st in Taipei
    assert read("yesterday", late, UTC) == ["2025-11-19..2025-11-20"]
    [taipei] = read_times("昨天", late, TAIPEI)
    assert taipei[:2] == (datetime(2025, 11, 19, 16, tzinfo=UTC), datetime(2025, 11, 20, 16, tzinfo=UTC))


def test_days_where_clocks_change() -> None:
    for day, hours in (("30 March 2025", 23), ("26 October 2025", 25), ("27 October 2025", 24)):
        [one] = read_times(day, THURSDAY, BERLIN)
        assert one.start is not None
        assert one.end is not None
        assert one.end - one.start == timedelta(hours=hours)
    # Samoa had no 30 December 2011.
    [skipped] = read_times("30 December 2011", THURSDAY, APIA)
    assert skipped.start is not None
    assert skipped.end is not None
    assert skipped.start <= skipped.end


def test_ends_of_months_and_leap_years() -> None:
    last_day = datetime(2024, 3, 31, 12, tzinfo=UTC)
    assert read("last month", last_day, UTC) == ["2024-02-01..2024-03-01"]
    assert read("上個月", datetime(2025, 1, 31, 12, tzinfo=UTC), UTC) == ["2024-12-01..2025-01-01"]
    assert read("on 29 February", last_day, UTC) == ["2024-02-29..2024-03-01", "2028-02-29..2028-03-01"]
    assert read("2月29日", datetime(2026, 1, 1, tzinfo=UTC), UTC)[0] == "2024-02-29..2024-03-01"
    assert read("29 February 2023", last_day, UTC) == []
    assert read("a year ago", datetime(2024, 2, 29, tzinfo=UTC), UTC) == ["2022-08-30T03..2023-08-30T09"]
    assert read("next month", datetime(2023, 12, 31, tzinfo=UTC), UTC) == ["2024-01-01..2024-02-01"]


def test_ends_of_calendar() -> None:
    for at in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC), datetime(9997, 12, 31, tzinfo=UTC)):
        for text in (
            "last year",
            "next decade",
            "in May",
            "yesterday",
            "100 years ago",
            "since Monday",
            "上個月",
            "三年前",
        ):
            for zone in (UTC, TAIPEI):
                read_times(text, at, zone)


PIECES = st.sampled_from(
    [
        "last",
        "next",
        "this",
        "the",
        "a",
        "few",
        "9999999999",
        "years",
        "year",
        "ago",
        "before",
        "after",
        "since",
        "between",
        "from",
        "and",
        "to",
        "of",
        "in",
        "on",
        "May",
        "march",
        "31",
        "29",
        "february",
        "2024",
        "1999",
        "week",
        "weekend",
        "first",
        "end",
        "early",
        "-",
        "–",
        ",",
        ".",
        ":",
        "'s",
        "1st",
        "q3",
        "summer",
        "fall",
        "monday",
        "every",
        "上",
        "下",
        "個",
        "月",
        "年",
        "日",
        "號",
        "前",
        "後",
        "三",
        "十",
        "半",
        "幾",
        "週",
        "五",
        "去年",
        "夏天",
        "民國",
        "二〇",
        "到",
        "底",
        "每",
        "之前",
        "以來",
        "春節",
        "²",
        "٣",
        "İ",
        "ß",
        "�",
        "\x00",
    ]
)


@given(st.lists(PIECES | st.text(max_size=4), max_size=400), st.sampled_from([" ", ""]), st.sampled_from([UTC, APIA]))
@example(["in may 3 weeks ago"] * 400, " ", UTC)
@example(["2021-"] * 400, "", UTC)
@example(["上"] * 400, "", UTC)
@example(["٣天前", "٣月٣日", "٣ days ago", "٣٣٣٣年"], " ", UTC)
def test_any_text_is_read_quickly(pieces: list[str], between: str, zone: tzinfo) -> None:
    text = between.join(pieces)
    for one in read_times(text, THURSDAY, zone):
        assert one.start is None or one.end is None or one.start <= one.end
        assert one.words
    assert_quick(lambda _: read_times(text, THURSDAY, zone), "", 0.25)


def test_only_beginning_of_long_text_is_read() -> None:
    assert read("a" * MAX_CHARS + " yesterday") == []
    assert_quick(read, "yesterday " * 100_000, 0.25)


def test_closeness_falls_with_distance_from_nearest_time() -> None:
    start, end = datetime(2025, 5, 1, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC)
    may = NamedTime(start, end, "May")
    days = [-400.0, -15.5, -1, 0, 15, 31, 32, 46.5, 400]
    moments = start.timestamp() + 86_400 * np.array(days)
    near = closeness(moments, [may])
    assert near[3:6].tolist() == [1, 1, 1]
    assert near[[1, 7]] == pytest.approx([0.5, 0.5])
    assert 0 < near[0] < near[1] < near[2] < 1
    assert 0 < near[8] < near[7] < near[6] < 1
    assert closeness(moments, [may._replace(start=None)])[:6].tolist() == [1] * 6
    assert closeness(moments, [may._replace(end=None)])[3:].tolist() == [1] * 6
    other = NamedTime(start - timedelta(days=401), start - timedelta(days=399), "then")
    assert closeness(moments, [may, other])[0] == 1


def test_scores_rise_and_never_fall() -> None:
    factors = time_factors(np.array([-0.5, 0.0, 0.4, 0.4]), np.array([1.0, 1.0, 0.0, 1.0]))
    assert factors.tolist() == [1, 1, 1, 1 + TIME_WEIGHT]
