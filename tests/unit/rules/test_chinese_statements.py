"""What kind of statement a Chinese sentence is, in simplified and in traditional characters."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.rules.domain.contradiction.judgement import read_in
from apps.rules.domain.statements.chinese import fold_chinese, read_chinese, split_chinese
from apps.rules.domain.statements.statement import Mood, Tense
from tests.effort import examples

MOODS = [
    ("我吃素吗？", Mood.QUESTION),
    ("会议是不是周三", Mood.QUESTION),
    ("你住哪里", Mood.QUESTION),
    ("我們住三晚還是四晚?", Mood.QUESTION),
    ("我哪里都不去。", Mood.ASSERTION),
    ("还没付呢。", Mood.ASSERTION),
    ("如果下雨，婚礼改到室内。", Mood.CONDITION),
    ("換成飛書的話，我們能省錢。", Mood.CONDITION),
    ("我想搬到海邊。", Mood.WISH),
    ("我希望能养狗。", Mood.WISH),
    ("我打算明年考驾照。", Mood.PLAN),
    ("我可能去微软工作。", Mood.PLAN),
    ("同学说我没交作业。", Mood.REPORT),
    ("聽說公司要搬家。", Mood.REPORT),
    ("我以为会议在周三。", Mood.REPORT),
    ("使用者會說客家話。", Mood.ASSERTION),
    ("我在写小说。", Mood.ASSERTION),
    ("医生说我不能喝酒。", Mood.ASSERTION),
]


@pytest.mark.parametrize(("text", "mood"), MOODS)
def test_mood(text, mood):
    assert read_chinese(text).mood is mood


@pytest.mark.parametrize(
    ("text", "tense"),
    [
        ("我以前住在台南。", Tense.PAST),
        ("小時候我住在嘉義。", Tense.PAST),
        ("我去过日本。", Tense.PAST),
        ("我對蝦過敏。", Tense.PRESENT),
        ("我住在台南。", Tense.PRESENT),
        ("我打算搬家。", Tense.FUTURE),
    ],
)
def test_tense(text, tense):
    assert read_chinese(text).tense is tense


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("我不吃辣。", "negative"),
        ("我還沒付錢。", "negative"),
        ("我也喜歡狗。", "additive"),
        ("我还养了一只兔子。", "additive"),
        ("我看錯了，會議在週四。", "corrects"),
        ("我现在住在北京。", "changes"),
        ("我搬到上海了。", "changes"),
    ],
)
def test_flags(text, field):
    assert getattr(read_chinese(text), field) is True


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("这个不错。", "negative"),
        ("我不得不去。", "negative"),
        ("我还没吃。", "additive"),
        ("我不再抽烟。", "additive"),
        ("我住在北京。", "changes"),
    ],
)
def test_words_that_only_look_like_one_are_none(text, field):
    assert getattr(read_chinese(text), field) is False


def test_times_bound_a_statement():
    assert read_chinese("早餐我不吃辣。").bounds == ("早餐",)
    assert read_chinese("平日店裡十一點開門。").bounds == ("平日",)


def test_who_reports_it_is_named():
    assert read_chinese("表哥到处说我考了三次。").holder == "表哥"


def test_traditional_and_simplified_characters_are_one():
    assert fold_chinese("使用者對蝦過敏，週三開會。") == fold_chinese("用户对虾过敏，周三开会。")


def test_a_text_is_split_at_the_ends_of_its_sentences():
    assert split_chinese("我住在北京。你呢？好！\n走了；再见") == ["我住在北京。", "你呢？", "好！", "走了；", "再见"]
    assert [one.mood for one in read_in("zh", "我住在北京。你呢？")] == [Mood.ASSERTION, Mood.QUESTION]


@given(st.text(alphabet="我不在了吗如果说，。？!:3点周 \n\ud800a.过", max_size=80) | st.text(max_size=80))
@settings(max_examples=examples(200))
def test_any_text_can_be_read(text):
    for one in read_in("zh", text):
        assert one.language == "zh"
    read_chinese(text)
