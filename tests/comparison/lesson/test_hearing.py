from clearformer.comparison.events import Job
from clearformer.comparison.lesson.hearing import Hearing


def test_the_share_of_a_lesson_never_falls_and_ends_where_the_next_begins():
    heard = []
    ears = Hearing("text", 2.0, 2.0, 8.0, lambda doing, share: heard.append((doing, share)))
    job = Job("01-rnn-memory", "rnn", "memory")
    ears.begun(job, 1, 2)
    ears.moved(job, 0.5, None)
    ears.begun(job, 2, 2)
    ears.looking("what rnn remembers", 0.3)
    ears.looking("", 1.0)
    assert [share for _, share in heard] == [0.25, 0.3125, 0.375, 0.5]
    assert heard[0][0] == "text: rnn, memory"
    assert heard[-1][0] == "text: what rnn remembers"
