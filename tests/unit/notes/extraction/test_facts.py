"""Facts of conversations, found by patterns."""

from datetime import UTC, datetime

import pytest

from apps.notes.domain.extraction.extract import extract_facts
from apps.notes.domain.extraction.fact import Category, Turn
from apps.rules.domain.contradiction.judgement import DECISIVE, find_evidence

AT = datetime(2026, 3, 4, 12, tzinfo=UTC)  # a Wednesday


def contents(*texts: str, recalled: tuple[str, ...] = ()) -> list[str]:
    return [fact.content for fact in extract_facts([Turn("user", text, AT) for text in texts], recalled=recalled)]


def test_a_fact_has_its_place_and_its_reason():
    (fact,) = extract_facts([Turn("assistant", "I live in a cloud."), Turn("user", "Hi! I live in Oslo.", AT)])
    assert (fact.content, fact.category, fact.turn) == ("I live in Oslo.", Category.ABOUT, 1)
    assert (fact.quote, fact.pattern) == ("I live in Oslo.", "home")
    assert 0.5 < fact.confidence <= 1


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_only_users_are_learnt_from(role):
    assert extract_facts([Turn(role, "I live in Oslo. Always answer in French. 我住在台北。")]) == []


def test_she_is_the_sister_of_the_sentence_before():
    assert contents("My sister Ana is a nurse in Lyon. She has two kids.") == [
        "My sister Ana is a nurse in Lyon.",
        "My sister Ana has two kids.",
    ]
    assert contents("我妹妹在台北當護士。她養了兩隻貓。") == ["我妹妹在台北當護士。", "我妹妹養了兩隻貓。"]


def test_a_pronoun_without_a_person_is_left_out():
    assert contents("She lives in Lyon.", "He is my boss.", "I bought it there.", "她住在台北。", "我喜歡它。") == []


class TestDates:
    @pytest.mark.parametrize(
        ("said", "content"),
        [
            ("I fly to Rome next Friday.", "I fly to Rome next Friday (2026-03-13)."),
            ("I'm flying to Rome on Friday.", "I'm flying to Rome on Friday (2026-03-06)."),
            ("I have an exam tomorrow.", "I have an exam tomorrow (2026-03-05)."),
            ("We're moving to Bern in two weeks.", "We're moving to Bern in two weeks (2026-03-18)."),
            ("My passport expires on January 9.", "My passport expires on January 9 (2027-01-09)."),
            ("I moved to Bergen last year.", "I moved to Bergen last year (2025)."),
            ("我下週五飛去羅馬。", "我下週五（2026-03-13）飛去羅馬。"),
            ("我明天要考試。", "我明天（2026-03-05）要考試。"),
            ("我们下个月搬到杭州。", "我们下个月（2026-04）搬到杭州。"),
            ("我的面试安排在三月二十号。", "我的面试安排在三月二十号（2026-03-20）。"),
        ],
    )
    def test_a_relative_date_is_resolved(self, said, content):
        assert contents(said) == [content]

    def test_without_a_time_nothing_is_added(self):
        assert [fact.content for fact in extract_facts([Turn("user", "I fly to Rome next Friday.")])] == [
            "I fly to Rome next Friday."
        ]

    def test_dates_at_the_ends_of_time_raise_nothing(self):
        for year in (1, 9999):
            at = datetime(year, 12, 31, tzinfo=UTC)
            for said in (
                "I fly to Rome in 900 years.",
                "I have an exam tomorrow.",
                "我下週五飛去羅馬。",
                "我去年搬到台北。",
            ):
                assert extract_facts([Turn("user", said, at)])


class TestSeveralOfOneCall:
    def test_what_is_said_twice_is_taken_once(self):
        assert contents("I live in Oslo.", "As I said, I live in Oslo!") == ["I live in Oslo."]
        assert contents("我住在台北。", "對了，我住在台北") == ["我住在台北。"]

    @pytest.mark.parametrize(
        ("said", "content"),
        [
            ("I live in Oslo. Sorry, I meant Bergen.", "I live in Bergen."),
            ("I live in Oslo. Wait, no, I live in Bergen.", "I live in Bergen."),
            ("I live in Oslo. Actually, I moved to Bergen.", "I moved to Bergen."),
            ("I'm 34 years old. Correction: 35.", "I'm 35 years old."),
            ("我住在台北。抱歉，我是說台中。", "我住在台中。"),
            ("我住在台北。說錯了，我住在台中。", "我住在台中。"),
        ],
    )
    def test_the_later_correction_wins(self, said, content):
        assert contents(said) == [content]
        assert contents(*said.replace("。", "。\n").replace(". ", ".\n").split("\n")) == [content]

    def test_several_speakers_are_named(self):
        turns = [Turn("user", "I live in Oslo.", AT, "Ana"), Turn("user", "I live in Rome.", AT, "Ben")]
        assert [fact.content for fact in extract_facts(turns)] == ["Ana: I live in Oslo.", "Ben: I live in Rome."]
        assert [fact.content for fact in extract_facts(turns[:1])] == ["I live in Oslo."]


class TestRecalled:
    def test_what_only_repeats_recalled_text_is_not_learnt(self):
        recalled = ("## About\n- I live in Oslo with my sister.\n- The user likes green tea.", "我住在台北。")
        assert contents("I live in Oslo.", "I like green tea!", "我住在台北", recalled=recalled) == []

    def test_a_new_value_is_learnt(self):
        recalled = ("I live in Oslo.", "I like green tea.", "I'm 34 years old.", "我住在台北。")
        said = ("I live in Bergen.", "I don't like green tea.", "I'm 35 years old.", "我住在台中。")
        assert contents(*said, recalled=recalled) == list(said)

    def test_another_person_is_another_fact(self):
        assert contents("I live in Oslo.", recalled=("My sister Ana lives in Oslo.",)) == ["I live in Oslo."]


class TestWhoseWords:
    @pytest.mark.parametrize(
        "text",
        [
            "```\nI live in Oslo.\n```",
            "~~~\nI live in Oslo.\nunclosed",
            "> I live in Oslo.",
            'He wrote: "I live in Oslo and I like it."',
            "他寫道：「我住在台北，我喜歡這裡。」",
            "“I live in Oslo and work at a bank,” said the man.",
            "Translate to German: I live in Oslo.",
            "Please proofread this:\n\nI live in Oslo. I am a baker.",
            "幫我翻譯：我住在台北。",
            "From: Ana\nTo: Ben\n\nI live in Oslo.",
            "Ana: I live in Oslo.\nBen: I live in Rome.",
            "2026-03-04 10:00:01 INFO I live in Oslo",
            "| name | city |\n| I live in | Oslo |",
            "<p>I live in Oslo.</p>",
            "Write a story in which I live in Oslo.",
            "Pretend that I live in Oslo.",
            "I live in Oslo /s",
            "If I live in Oslo, do I pay more tax?",
            "Do I live in Oslo?",
            "Ana says I live in Oslo.",
            "Maybe I live in a dream.",
            "Vivo en Madrid y trabajo en un banco.",
        ],
    )
    def test_words_of_others_are_left_out(self, text):
        assert contents(text) == []

    def test_own_words_beside_them_are_learnt(self):
        text = "I live in Oslo.\n```\nI live in Rome.\n```\n> I live in Paris.\n\n- I work as a baker."
        assert contents(text) == ["I live in Oslo.", "I work as a baker."]

    def test_a_statement_before_a_question_is_learnt(self):
        assert contents("I live in Oslo, what's the weather like?") == ["I live in Oslo."]
        assert contents("我住在台北，這裡有什麼好吃的？") == ["我住在台北。"]

    def test_an_instruction_keeps_what_it_quotes(self):
        assert contents('Always sign my mails with "Best regards from all of us".') == [
            'Always sign my mails with "Best regards from all of us".'
        ]


@pytest.mark.parametrize(
    ("first", "second"),
    [("By the way, I live in Oslo.", "I just moved to Bergen!"), ("我住在台北啦", "跟你說，我搬到台中了！")],
)
def test_contents_can_be_compared_by_the_conflict_engine(first, second):
    evidence = find_evidence(*contents(first), *contents(second))
    assert evidence is not None
    assert evidence.score >= DECISIVE
    assert contents(first, second) == contents(second)


class TestWordsOfPeople:
    """Spec 001, 提取結果: what people say of themselves, of yesterday and of how they want to be answered."""

    @pytest.mark.parametrize(
        "said",
        ["你总是帮助我", "你總是幫我很多", "你總是用很溫柔的語氣說話", "你一直都對我很好"],
    )
    def test_praise_is_no_instruction(self, said):
        assert contents(said) == []

    @pytest.mark.parametrize(
        "said",
        [
            "今天我去了博物館",
            "今天我们去吃了火锅",
            "今天早上我去過銀行",
            "Yesterday I bought a phone",
            "Last week I had an exam.",
        ],
    )
    def test_what_was_done_is_no_plan(self, said):
        facts = extract_facts([Turn("user", said, AT)])
        assert Category.PLAN not in {fact.category for fact in facts}

    @pytest.mark.parametrize(
        "said",
        [
            "今天下午我要去面試",
            "明天我要去博物館",
            "我訂了明天的機票去東京",
            "I bought a phone, and I fly to Rome tomorrow.",
        ],
    )
    def test_what_is_ahead_is_a_plan(self, said):
        facts = extract_facts([Turn("user", said, AT)])
        assert Category.PLAN in {fact.category for fact in facts}

    @pytest.mark.parametrize(
        "said",
        [
            "Please don't use emojis when you answer",
            "Keep your lists short from now on",
            "Answer in bullet points, please.",
            "Use metric units when answering.",
            "Don't apologise so much.",
            "請用條列式",
            "請用條列式回答",
            "回答请简短一点",
            "回答的時候不要用表情符號",
            "請用繁體中文回覆",
            "请你总是用中文回答",
        ],
    )
    def test_how_to_answer_is_an_instruction(self, said):
        (fact,) = extract_facts([Turn("user", said, AT)])
        assert fact.category == Category.INSTRUCTION

    @pytest.mark.parametrize(
        "said",
        [
            "Can you use bullet points here?",
            "Don't use that function.",
            "Keep this short.",
            "Don't worry about it when you answer.",
            "請用條列式整理這篇文章",
            "請用英文翻譯這句",
        ],
    )
    def test_what_is_asked_for_now_is_no_instruction(self, said):
        assert contents(said) == []

    @pytest.mark.parametrize(
        ("said", "content"),
        [
            ("For work: we've decided to use PostgreSQL.", "We've decided to use PostgreSQL."),
            ("About the flat: we have decided to paint the walls.", "We have decided to paint the walls."),
            ("工作：我們決定用 PostgreSQL", "我們決定用 PostgreSQL。"),
        ],
    )
    def test_what_a_decision_is_about_does_not_hide_it(self, said, content):
        assert contents(said) == [content]

    def test_an_order_keeps_what_it_is_about(self):
        assert "Always use tabs." not in contents("For Go code: always use tabs.")

    @pytest.mark.parametrize("said", ["我是阿哲", "我是小美", "我是王小明", "我是陳怡君。", "大家好，我是阿哲"])
    def test_a_name_is_known_without_a_word_for_it(self, said):
        (fact,) = extract_facts([Turn("user", said, AT)])
        assert (fact.category, fact.pattern) == (Category.ABOUT, "name")

    @pytest.mark.parametrize(
        "said",
        [
            "我是說你很棒",
            "我是誰",
            "我是阿公帶大的",
            "我是真的很累",
            "我是第一次來",
            "我是小孩",
            "我是高興的",
            "我是高中生",
            "我是老闆",
            "我是常客",
        ],
    )
    def test_other_words_after_i_am_are_no_names(self, said):
        assert "name" not in {fact.pattern for fact in extract_facts([Turn("user", said, AT)])}
