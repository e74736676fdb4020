"""Restatements: other notation, order, opener or phrasing; and what only looks like one."""

import pytest

from apps.rules.domain.contradiction.restatement.notation import rewrite
from apps.rules.domain.contradiction.restatement.phrasings import without_opener
from apps.rules.domain.contradiction.restatement.restated import says_the_same

SAME = (
    ("My flight leaves at 6:15 am.", "My flight departs at quarter past six in the morning."),
    ("The rent is 950 euros a month.", "I pay €950 in rent every month."),
    ("My daughter is 12 years old.", "My daughter is twelve."),
    ("Tom's birthday is on July 4.", "Tom was born on the 4th of July."),
    ("The invoice is due on 2026-05-01.", "The invoice is due 1 May 2026."),
    ("My office is on floor 5.", "My office is on the fifth floor."),
    ("The budget is $1.5 million.", "The budget is 1,500,000 dollars."),
    ("The build takes 120 seconds.", "The build takes two minutes."),
    ("I run 10 km every week.", "I run ten kilometres a week."),
    ("User is 180 cm tall.", "User's height is 1.80 m."),
    ("Half of the team works remotely.", "50% of the team works remotely."),
    ("The course costs 300 dollars.", "The price of the course is $300."),
    ("Meeting with Ana on Tuesday at 3 pm.", "The meeting with Ana is on Tuesday at 15:00."),
    ("Ben is my brother.", "My brother is Ben."),
    ("My dentist is Dr Weber.", "Dr. Weber is my dentist."),
    ("My cat's name is Milo.", "I have a cat called Milo."),
    ("User works as a nurse.", "User is a nurse."),
    ("I can't eat gluten.", "I'm unable to eat gluten."),
    ("User is allergic to penicillin.", "User has a penicillin allergy."),
    ("I speak French fluently.", "I am fluent in French."),
    ("We deploy with Ansible.", "Ansible is what we deploy with."),
    ("My favourite colour is green.", "Green is my favourite colour."),
    ("I prefer trains to planes.", "I prefer trains over planes."),
    ("User likes hiking and climbing.", "User enjoys climbing and hiking."),
    ("The office wifi password is tulip42.", "The password for the office wifi is tulip42."),
    ("The ingredients are flour, sugar and eggs.", "Eggs, flour and sugar are the ingredients."),
    ("My kids are Mia and Leo.", "My children are Leo and Mia."),
    ("User has been living in Hamburg since 2019.", "User has lived in Hamburg since 2019."),
    ("I've worked at Bosch for five years.", "I have been working for Bosch for 5 years."),
    ("My wife is a vegetarian.", "My wife is vegetarian."),
    ("By the way, our landlord is Mr. Novak.", "Our landlord is Mr Novak."),
    ("Actually, my sister lives in Lyon.", "My sister lives in Lyon."),
    ("As I said, I work night shifts.", "I work night shifts."),
    ("Remember that the gym closes at 10 pm.", "The gym closes at 22:00."),
    ("User takes metformin twice a day.", "User takes metformin two times per day."),
    ("The shop is closed on Sundays.", "On Sundays the shop is closed."),
    ("Every Friday I have piano lessons.", "I have piano lessons on Fridays."),
    ("In winter I swim indoors.", "I swim indoors in winter."),
    ("The tests must pass before merging.", "Before merging, the tests must pass."),
    ("Lena is married to Paul.", "Paul is married to Lena."),
    ("The car belongs to my father.", "The car is my father's."),
    ("Our product is used by 40 hospitals.", "40 hospitals use our product."),
    ("The report was written by Nadia.", "Nadia wrote the report."),
    ("The fence was painted by my uncle last May.", "My uncle painted the fence last May."),
    ("User studies biology in Ghent.", "User is studying biology in Ghent."),
    ("User is studying at the University of Ghent.", "User studies at Ghent University."),
    ("My phone number is 555-123-4567.", "My phone number is 5551234567."),
    ("The train takes 1 h 30 min.", "The train takes 90 minutes."),
    ("The warranty lasts two years.", "The warranty lasts 24 months."),
    ("Grandma turns 80 on 5 June.", "Grandma is turning eighty on June 5th."),
    ("It's my mother who does the cooking.", "My mother does the cooking."),
    ("I'm scared of dogs.", "I am afraid of dogs."),
    ("My e-mail address is kim@post.example.", "My email is kim@post.example."),
    ("The sprint ends on Friday, 7 March.", "The sprint ends on March 7."),
    ("Standup is at half past nine.", "Standup is at 9:30."),
    ("User doesn't eat meat.", "User does not eat any meat."),
    ("User lives alone.", "User lives by himself."),
    ("I have two brothers.", "I've got two brothers."),
    ("My boss is called Ingrid.", "My manager's name is Ingrid."),
    ("Please answer in short sentences.", "Answer in short sentences, please."),
    ("Use tabs, not spaces.", "Please use tabs instead of spaces."),
    ("The capacity of the tank is 50 litres.", "The tank holds 50 l."),
    ("The parcel weighs 2 kg.", "The weight of the parcel is 2000 g."),
    ("Our flat has three rooms.", "There are three rooms in our flat."),
    ("The client's headquarters are in Zurich.", "The client is headquartered in Zurich."),
    ("The warehouse is located in Essen.", "The warehouse is in Essen."),
    ("My doctor told me I have asthma.", "I have asthma."),
    ("User's hometown is Porto.", "User comes from Porto."),
    ("User is from Porto.", "User comes from Porto."),
    ("We meet each Monday at noon.", "We meet on Mondays at 12:00."),
    ("The recipe needs 250 g of butter.", "The recipe calls for 250 grams of butter."),
    ("User is on leave from 2 to 13 June.", "User's leave: June 2 - June 13."),
    ("We have four grandchildren.", "We've got 4 grandkids."),
    ("The jury consists of Ewa, Malik and Hugo.", "Hugo, Ewa and Malik are the jury."),
    ("User can't eat gluten or soy.", "User can't eat soy or gluten."),
    ("User suffers from asthma.", "User is asthmatic."),
    ("User purchased a used piano.", "User bought a second-hand piano."),
    ("We're open from 9 am to 5 pm.", "We are open 9:00-17:00."),
)
APART = (
    ("Ana owes Ben 20 euros.", "Ben owes Ana 20 euros."),
    ("Ana's manager is Ben.", "Ana manages Ben."),
    ("I work at Aldi.", "I worked at Aldi."),
    ("My sister lives in Lyon.", "My brother lives in Lyon."),
    ("My cat is called Milo.", "My dog is called Milo."),
    ("I take the train to Oslo.", "I take the train from Oslo."),
    ("I have 3 cats and 2 dogs.", "I have 2 cats and 3 dogs."),
    ("Ana likes tea and Ben likes coffee.", "Ana likes coffee and Ben likes tea."),
    ("I drink coffee with milk.", "I drink coffee without milk."),
    ("I take the pill before breakfast.", "I take the pill after breakfast."),
    ("The meeting with Ana is at 3 pm.", "The meeting with Ben is at 3 pm."),
    ("The shop opens at 9.", "The shop closes at 9."),
    ("The meeting starts at 9:00.", "The meeting ends at 9:00."),
    ("I prefer tea to coffee.", "I prefer coffee to tea."),
    ("My wife's brother lives in Rome.", "My brother's wife lives in Rome."),
    ("Ana teaches Ben French.", "Ben teaches Ana French."),
    ("The book about Ana is by Ben.", "The book about Ben is by Ana."),
    ("The 7 am train goes to Bonn.", "The 7 pm train goes to Bonn."),
    ("Mia is taller than Leo.", "Leo is taller than Mia."),
    ("I paid 20 euros for lunch.", "I paid 20 dollars for lunch."),
    ("The rent is 950 euros per month.", "The rent is 950 euros per week."),
    ("I run 10 km every day.", "I run 10 km every week."),
    ("The client likes the design.", "The designer likes the client."),
    ("I have a red bike and a blue car.", "I have a blue bike and a red car."),
    ("Ana was born in Rome.", "Ana's birthday party is in Rome."),
    ("My flight to Rome leaves Paris at 8:00.", "My flight to Paris leaves Rome at 8:00."),
    ("Tom gave the book to Kim.", "Kim gave the book to Tom."),
    ("The book was given to Tom by Kim.", "Tom gave the book to Kim."),
    ("I want to live in Oslo.", "I live in Oslo."),
    ("He lives in Oslo.", "She lives in Oslo."),
    ("I live in Oslo.", "You live in Oslo."),
    ("Some of my friends are vegan.", "All of my friends are vegan."),
    ("I like most fruits.", "I like few fruits."),
    ("The server is in the box.", "The server is on the box."),
    ("The key is under the mat.", "The key is near the mat."),
    ("My appointment is on 3 May 2025.", "My appointment is on 3 May 2026."),
    ("My appointment is on 5 March.", "My appointment is on 3 May."),
    ("I'm 30.", "I have 30."),
    ("I have two meetings on Monday.", "I have meetings on two Mondays."),
    ("The dog bites the man.", "The man bites the dog."),
    (
        "The tea is in the blue jar and the coffee in the red jar.",
        "The coffee is in the blue jar and the tea in the red jar.",
    ),
    ("I will visit Oslo.", "I visited Oslo."),
    ("I have visited Oslo.", "I have to visit Oslo."),
    ("My mother's doctor is Dr Weber.", "My doctor is Dr Weber's mother."),
    ("I play tennis with Ken on Monday.", "I play tennis against Ken on Monday."),
    ("Ana called Ben on Monday.", "Ben called Ana on Monday."),
    ("I need a visa for Japan.", "I have a visa for Japan."),
    ("I take a visa.", "I own a visa."),
    ("I own a car.", "I take a car."),
    ("The call takes 20 minutes.", "The call is in 20 minutes."),
    ("The bus comes in 20 minutes.", "The bus takes 20 minutes."),
    ("I sold my car.", "I bought my car."),
    ("Lunch is at 12.", "Lunch costs 12."),
    ("The ticket costs 12 euros.", "The ticket was reduced by 12 euros."),
    ("I earn 3000 euros.", "I pay 3000 euros."),
    ("The team's budget is 50000 dollars.", "The budget team has 50000 dollars."),
    ("Staging runs on Kubernetes, production on ECS.", "Production runs on Kubernetes, staging on ECS."),
    ("Ana is Ben's mother.", "Ben is Ana's mother."),
    ("Ana's cousin lives with Ben.", "Ben's cousin lives with Ana."),
    ("I met Ana's husband.", "Ana met my husband."),
    ("Do not use tabs, use spaces.", "Do not use spaces, use tabs."),
    ("Use tabs, not spaces.", "Use spaces, not tabs."),
    ("Never merge without review.", "Never review without merge."),
    ("We host in Frankfurt.", "We host for Frankfurt."),
    ("Up to 50 users can log in.", "50 users can log in."),
    ("At least 50 users log in.", "At most 50 users log in."),
    ("About 30 people came on Monday.", "Not 30 people came on Monday."),
    ("My son started school.", "My son finished school."),
    ("I'm from Porto.", "I'm in Porto."),
    ("I moved from Oslo to Bergen.", "I moved from Bergen to Oslo."),
    ("The price rose from 10 to 20 euros.", "The price rose from 20 to 10 euros."),
    ("I get up at 7.", "I get down at 7."),
    ("She takes after her father.", "She takes her father."),
    ("Our train is the 8:15 to Bonn.", "Our train to Bonn is at 18:15."),
    ("My wife is allergic to cats.", "My cat is allergic to wives."),
    ("Log in with GitHub.", "Log out with GitHub."),
    ("Deploys go to prod after staging.", "Deploys go to staging after prod."),
    ("The child of my sister is ill.", "My child's sister is ill."),
    ("My boss hired Ana.", "Ana hired my boss."),
    ("Ben is the owner of the cafe in Lund.", "The owner of Ben's cafe is in Lund."),
    ("The house of my aunt has a garden.", "The garden of my aunt has a house."),
    ("Mia visits her grandmother on Sundays.", "Her grandmother visits Mia on Sundays."),
    ("I ate the cake.", "The cake ate me."),
    ("The password of the router is the name of my dog.", "The name of the router is the password of my dog."),
    ("My son plays the piano and my daughter the violin.", "My daughter plays the piano and my son the violin."),
    ("I used to like tea.", "I like tea."),
    ("I often forget my keys.", "I never forget my keys."),
    ("Only Ana has the key.", "Ana has only the key."),
    ("Ana alone has the key.", "Ana has the key."),
    ("The flight is on 2 June and the hotel from 5 June.", "The flight is on 5 June and the hotel from 2 June."),
    ("Open from 9:00 to 17:00.", "Open from 17:00 to 9:00."),
    ("The flight leaves at 9:00 and lands at 11:00.", "The flight leaves at 11:00 and lands at 9:00."),
    ("User can't eat gluten but soy.", "User can't eat soy but gluten."),
    ("I see Ana on Monday and Ben on Tuesday.", "I see Ben on Monday and Ana on Tuesday."),
)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_other_words_say_the_same(one: str, other: str) -> None:
    assert says_the_same(one, other, None)
    assert says_the_same(other, one, 0.9)


@pytest.mark.parametrize(("one", "other"), APART)
def test_what_is_not_the_same_stays_apart(one: str, other: str) -> None:
    assert not says_the_same(one, other, None)
    assert not says_the_same(other, one, 1.0)


def test_texts_that_are_far_apart_are_not_believed_to_say_the_same() -> None:
    assert says_the_same("I work at Aldi.", "I work for Aldi.", 0.9)
    assert not says_the_same("I work at Aldi.", "I work for Aldi.", 0.3)


@pytest.mark.parametrize(
    "other",
    ["Do I live in Oslo?", "I also live in Oslo.", "I might live in Oslo.", "I lived in Oslo.", "I will live in Oslo."],
)
def test_what_is_not_asserted_of_the_present_restates_nothing(other: str) -> None:
    assert not says_the_same("I live in Oslo.", other, 1.0)


@pytest.mark.parametrize("text", ["", " ", "?", "Oslo", "5", "and, and and", "a" * 5000, "\x00", "我住在東京。"])
def test_any_text_is_read(text: str) -> None:
    assert not says_the_same(text, "I live in Oslo.", None)
    assert not says_the_same("I live in Oslo.", text, None)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("at half past two in the afternoon", "at 14:30"),
        ("at twenty minutes to six in the evening", "at 17:40"),
        ("at 8 in the morning", "at 8:00"),
        ("at noon", "at 12:00"),
        ("at five past eleven at night", "at 23:05"),
        ("on March 3", "on 3 March"),
        ("on the 3rd of March", "on 3 March"),
        ("on 2026-03-03", "on 3 March 2026"),
        ("on 13/03/2026", "on 13 March 2026"),
        ("on 03/04/2026", "on 03/04/2026"),
        ("two hundred and five", "205"),
        ("half a dozen eggs", "6 eggs"),
        ("EUR 20", "20 EUR"),
        ("call 0800 555 0199", "call 08005550199"),
        ("twice a day", "2 times every day"),
        ("from 10 to 12 people", "from 10 to 12 people"),
        ("room 5 in the morning", "room 5 in the morning"),
        ("version 3.2.1", "version 3.2.1"),
        ("I may go", "I may go"),
    ],
)
def test_values_are_written_in_one_way(text: str, written: str) -> None:
    assert rewrite(text) == written


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Just for the record: my locker is 118", "my locker is 118"),
        ("As I may have mentioned, I have a dog", "I have a dog"),
        ("Before, I lived in Oslo", "Before, I lived in Oslo"),
        ("For lunch, I eat soup", "For lunch, I eat soup"),
    ],
)
def test_only_what_opens_a_sentence_is_left_out(text: str, rest: str) -> None:
    assert without_opener(text) == rest
