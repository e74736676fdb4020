"""Sentences that have nothing to do with each other: how near are the vectors of a space that mean nothing in common?

Every embedding space has its own answer: unrelated sentences have cosines about 0.05 in one and about 0.75 in another.
What a cosine says of a hit is how far it is above that. The sentences are of everyday life, on purpose without names;
each question is of another matter than every statement.
"""

# Raise it when a sentence changes: spaces are then measured again.
BACKGROUND_VERSION = 1
QUESTIONS = (
    "Which dentist did we go to last winter?",
    "How many chairs are in the meeting room?",
    "What did she say about the new school?",
    "When does the lease of the flat end?",
    "Who repaired the roof after the storm?",
    "What does he like to eat for breakfast?",
    "Where did they spend their honeymoon?",
    "Which editor do I use for writing code?",
    "How often does the cat need its medicine?",
    "What did we decide about the database?",
    "Why was the flight cancelled?",
    "What instrument does my brother play?",
    "上次體檢是在哪一家醫院做的？",
    "她最喜歡哪一種運動？",
    "會議改到星期幾了？",
    "房租每個月多少錢？",
    "他為什麼換了工作？",
    "我們什麼時候要去看外婆？",
)
STATEMENTS = (
    "The bakery on the corner closes at six in the evening.",
    "I prefer window seats on long train rides.",
    "The car needs new tyres before the inspection in March.",
    "My sister is learning to paint with watercolours.",
    "The printer on the second floor is out of toner again.",
    "We planted tomatoes and basil on the balcony.",
    "He finally finished reading that thick novel.",
    "The invoice was paid by bank transfer on Tuesday.",
    "Releases are tagged on the main branch only.",
    "She is allergic to peanuts and to bee stings.",
    "The swimming pool opens again after the holidays.",
    "Our neighbour keeps bees behind the shed.",
    "The password of the guest network changes every month.",
    "I ran ten kilometres along the river this morning.",
    "The choir rehearses in the old town hall.",
    "They adopted a greyhound from the shelter.",
    "The customer asked for a refund of the second order.",
    "Haha, that sounds great, thank you so much!",
    "My watch stopped, so I took it to be repaired.",
    "The museum shows photographs of the harbour until May.",
    "Grandfather was born in a small village in the mountains.",
    "The tests take four minutes on the build server.",
    "He takes his coffee with oat milk and no sugar.",
    "The heating was broken for the whole weekend.",
    "陽台上的花每兩天要澆一次水。",
    "這家餐廳的牛肉麵很有名。",
    "女兒下個月要參加鋼琴比賽。",
    "辦公室的影印機又壞了。",
    "他把舊腳踏車送給了鄰居。",
    "昨天晚上下了一場大雨。",
    "報告請用電子郵件寄給主管。",
    "我對海鮮過敏，尤其是蝦子。",
    "新的沙發星期五會送到家裡。",
    "哈哈，太好了，謝謝你！",
    "圖書館週一休館。",
    "程式碼合併之前要先通過測試。",
)
