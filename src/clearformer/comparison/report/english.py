"""The report's own words in English."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "language": "en",
    "kicker": "Clearformer comparison",
    "and": " and ",
    "comma": ", ",
    "colon": ": ",
    "seed": "seed",
    # the finding
    "best_apart": "{best} does best: {value}. {next} follows with {other}.",
    "best_level": "{best} has the best mean ({value}), but is level with {names}: the intervals "
    "overlap.",
    "best_valued": "{name} ({value})",
    "best_equal": "{names} are equal: {value}.",
    "best_equal_once": "{names} are equal: {value}, trained once each, so it may be luck.",
    "best_once": "{best} does best: {value}, {next} {other}, trained once each, so it may be luck.",
    "value_accuracy": "{value} right answers",
    "best_alone": "{best} reaches {value}.",
    "models_many": "{count} models",
    "models_one": "one model",
    "under": "{models}, {parameters} parameters each (within {within}), {length}, {seeds}.",
    "seeds_many": "{count} seeds",
    "seeds_one": "one seed",
    "length_tokens": "{count} tokens read",
    "length_seconds": "{count} s of training",
    "task_text": "Text of {characters} characters",
    "task_other": "Task: {name}",
    "finding_accuracy": "share of right answers",
    "finding_alone": "{best} reaches {value} {measure}.",
    "finding_lowest": "{best} has the lowest {measure}, {value}",
    "finding_highest": "{best} has the highest {measure}, {value}",
    "finding_same": "All have the same {measure}, {value}",
    "finding_equal": "{said}.",
    "finding_once": "{said}; one seed tells of no interval, so this may be luck.",
    "finding_level_one": "{said}, but its interval overlaps that of {names}: no difference between "
    "them is shown.",
    "finding_level_many": "{said}, but its interval overlaps those of {names}: no difference "
    "between them is shown.",
    "finding_apart": "{said}, and its interval is apart from all others.",
    "finding_behind": "Behind it: {chain} (“or” where the intervals of neighbours overlap).",
    "finding_then": ", then {name}",
    "finding_or": " or {name}",
    "finding_chance": "Chance is {chance}.",
    "finding_near_one": "Chance is {chance}; {names} stays near it.",
    "finding_near_many": "Chance is {chance}; {names} stay near it.",
    "finding_entropy": "The entropy of the source is {entropy} bits, which no model can go below "
    "but by luck of the sample; {best} is {above} from it.",
    "finding_counting": "Counting alone does better than {names}.",
    # what a reader should know; begins small and has no end
    "note_edge": "the best learning rate lay at the end of those that were tried, so beyond it "
    "they may do better: {names}",
    "note_smallest": "in the short trials of the search the smallest learning rate that was tried "
    "did about as well as the best (within 2 %), so it was taken; with so little training the "
    "rates hardly differ: {names}",
    "note_smallest_of": "{name} ({chosen:g}; best at {best:g})",
    "note_vocabulary": "a vocabulary of words or byte pairs is made from the whole text, also "
    "from the part that models are judged by, so it can hold words that stand only there; "
    "beside another tokenizer that flatters it in bits per character: {names}",
    "note_tokenizers": "the models have different tokenizers: perplexity is per token and cannot "
    "be compared between them, and a token of one is another stretch of text than one of another",
    "note_counting": "{name} counts the beginning of the text, as many tokens as the others read "
    "and each once",
    # measures
    "bits_per_character": "bits per character",
    "bits_per_symbol": "bits per symbol",
    "perplexity": "perplexity",
    "loss": "loss (nats per token)",
    "accuracy": "right answers",
    "seconds": "training time (s)",
    "tokens_per_second": "tokens per second",
    "memory": "memory (MB)",
    "parameters": "parameters",
    "model": "model",
    "unknown": "–",
    "lower_better": "less is better",
    "higher_better": "more is better",
    # parts of the page
    "contents": "On this page",
    "results": "Who predicts best",
    "results_how": "Each large mark is the mean over seeds, each small one a seed. The bar is the "
    "interval that holds the true mean with 95 % confidence; where two bars overlap, no difference "
    "is shown. On {measure}, {better}.",
    "results_figure": "Mean and interval of each model: {measure}",
    "results_clock": "Beneath in small, from the lowest to the highest of the seeds: what a clock "
    "or the memory of the moment decides has no interval.",
    "chance": "chance",
    "entropy": "entropy of the source",
    "curves": "How they learned",
    "curves_how": "Loss on what was just learned from, against what was read and against the time "
    "it took. The line is the mean over seeds, the band reaches from the lowest to the highest. "
    "The steepest part at the beginning is cut off.",
    "curves_tokens": "Loss against tokens read",
    "curves_seconds": "Loss against seconds of training",
    "tokens_axis": "tokens read",
    "seconds_axis": "seconds of training",
    "loss_axis": "loss, nats per token",
    "final_loss": "last loss",
    "fading": "What reaches back",
    "fading_how": "How much does the loss at the last position depend on the input k steps before? "
    "The norm of that gradient, as a share of the norm one step before, as a mean over {windows} "
    "stretches of held-out text. A straight line downwards means that each step back keeps the "
    "same share: the gradient vanishes like a power, and what lies there can hardly be learned. "
    "Attention has one step to each position of its window, and its line ends with the window.",
    "fading_fresh": "Before training",
    "fading_trained": "After training",
    "back_axis": "k, steps back",
    "gradient_axis": "norm, as a share of k = 1",
    "steps_back": "k = {back}",
    "after": "after training",
    "before": "before",
    "seen": "What each further token is worth",
    "seen_how": "The loss of the next token against the number of tokens before it, on {windows} "
    "stretches of held-out text. All begin with nothing, a recurrent model with an empty state. "
    "Where a line still falls, the model makes use of what lies that far back. The line of a model "
    "with a window ends with it: when a long text is judged in windows, it begins anew in each. "
    "What all models lose on their first tokens lies above the picture; it is in the table.",
    "seen_figure": "Loss by tokens seen",
    "seen_axis": "tokens before it, at most",
    "growth": "What length costs",
    "growth_how": "Processor time of one training step, forwards and backwards, on one sequence "
    "and one thread, as a median. Both axes are in powers, so the slope is the exponent: 1 where "
    "twice the length takes twice the time, 2 where it takes four times. It is fitted to the "
    "{fitted} longest lengths.",
    "growth_square": "Attention alone grows with exponent {exponent}, and its interval, "
    "{low} … {high}, holds the square.",
    "growth_less": "Attention alone grows with exponent {exponent} ({low} … {high}), less than the "
    "square.",
    "growth_more": "Attention alone grows with exponent {exponent} ({low} … {high}), more than the "
    "square, as it may where its table outgrows the cache of the processor.",
    "growth_unsure": "Attention alone grows with exponent {exponent}, of which no interval is "
    "known.",
    "growth_models": "A training step of the whole model",
    "growth_attention": "Attention alone, one head",
    "attention_alone": "attention",
    "length_axis": "tokens in the sequence",
    "step_axis": "seconds",
    "exponent": "exponent",
    "interval": "interval (95 %)",
    "up_to": "at {length} tokens",
    "looking": "What attention looked at",
    "looking_how": "Seen from the last position of {windows} stretches of text: how much weight "
    "each head of {model} gives to the token so many places back, a row for each head, the darker "
    "the more. Below, of each layer the head "
    "that is most decided, on one stretch: a row for each token that looks, a square for each "
    "token that it may see, the darker the more weight.",
    "looking_strip": "Mean weight by distance",
    "looking_shown": "Layer {layer}, head {head}",
    "distance_axis": "places back",
    "weight_axis": "mean weight",
    "mean_distance": "mean distance",
    "recalling": "Who still knows, and for how long",
    "recalling_how": "Share of right answers when the symbol of k steps ago is asked for. "
    "The dotted line is chance: one who has forgotten.",
    "recalling_figure": "Recall against distance",
    "recall_axis": "right answers",
    "temperature": "What temperature does",
    "temperature_how": "Scores are divided by the temperature before one token is drawn. Below 1 "
    "the model sounds surer than it is, above 1 less sure. First how undecided it then is, then "
    "how well the same distribution predicts the held-out text: best near 1, where a model says "
    "neither more nor less than it knows.",
    "temperature_entropy": "Entropy of the next token",
    "temperature_loss": "Loss at that temperature",
    "temperature_axis": "temperature",
    "bits_axis": "bits per token",
    "short_entropy": "entropy",
    "short_loss": "loss",
    "temperature_texts": "{model} at growing temperatures",
    "samples": "What they write",
    "samples_how": "Each goes on from the same piece of held-out text (grey), at temperature "
    "{temperature}.",
    "lesson": "The textbook's table, measured",
    "lesson_how": "What textbooks say of each kind, and what was measured: each model of "
    "{parameters} parameters trained for {seconds} s on each task, {seeds}, {minutes} minutes in "
    "all.",
    "textbook": "what textbooks say",
    "lesson_rnn": "RNN",
    "lesson_gated": "LSTM, GRU",
    "lesson_seq2seq": "seq2seq with attention",
    "lesson_transformer": "Transformer",
    "claim_rnn": "passes everything through one hidden state, and forgets",
    "claim_gated": "gates decide what stays in the state",
    "claim_seq2seq": "chooses where in the source to look",
    "claim_transformer": "sees all positions at once, and pays with the square of the length",
    "column_predicts": "bits per character",
    "column_remembers": "recalls after k steps",
    "column_reaches": "gradient {back} steps back",
    "column_costs": "exponent of time",
    "column_speed": "tokens per second",
    "of_attention": "with attention",
    "of_no_attention": "without",
    "figure_bits_per_symbol": "per symbol",
    "figure_recall": "k = {at}",
    "figure_reversed": "reversed",
    "how_predicts": "Bits per character of held-out text ({text}); of seq2seq bits per symbol "
    "of the reversed letters",
    "how_remembers": "Right answers when the symbol of k steps ago is asked for; of "
    "seq2seq the share of words of 4 to 16 letters that it reverses without a mistake",
    "how_reaches": "Norm of the gradient {back} steps back, as a share of "
    "that one step back, after training; of seq2seq through the source, before training",
    "how_costs": "Exponent of the length that the time of a training step grows with",
    "how_speed": "Tokens per second in training",
    "method": "How it was measured",
    "method_how": "Every model has the same budget and the same search for a learning rate. "
    "It is trained with {batch} sequences of {context} tokens in a step, clipped at a gradient "
    "norm of {clip}; what judges it was seen by none.",
    "method_models": "Models",
    "size": "size",
    "size_layer": "{count} layer",
    "size_layers": "{count} layers",
    "size_head": "{count} head",
    "size_heads": "{count} heads",
    "size_both": "both ways",
    "size_hidden": "hidden {count}",
    "size_embed": "embed {count}",
    "size_context": "context {count}",
    "size_order": "order {count}",
    "method_search": "Search for the learning rate",
    "search_how": "Loss on a part held out for the search alone, after {share} of the budget; the "
    "chosen rate in bold: the smallest within 2 % of the best, as a short trial favours large "
    "ones. Where the best lay at the edge, one further was tried.",
    "diverged": "diverged",
    "rate": "learning rate",
    "method_data": "What was learned",
    "method_machine": "Machine and versions",
    "sources": "source",
    "characters": "characters",
    "trained_on": "characters learned from",
    "judged_on": "characters judged on",
    "fingerprint": "SHA-256 of the text",
    "task": "task",
    "settings": "settings",
    "seeds": "seeds",
    "engine": "engine",
    "device": "device",
    "workers": "workers (threads or processes), at most",
    "system": "system",
    "processor": "processor",
    "python": "Python",
    "numpy": "NumPy",
    "torch": "PyTorch",
    "clearformer": "Clearformer",
    "memory_how": "memory is",
    "memory_numpy": "bytes that Python and NumPy have allocated at the height of a training step "
    "by one worker, measured by tracemalloc apart from the timed trials",
    "memory_torch": "bytes of all tensors at the height of a training step by one worker, measured "
    "apart from the timed trials; of an n-gram model what Python and NumPy have allocated",
    "careful": "What to be careful about",
    "careful_budget": "Equal parameters and equal tokens are one way to be fair; with equal time, "
    "or with more of either, the order may be another.",
    "careful_scale": "Models of this size on this much text say little of large ones.",
    "careful_seeds": "Intervals tell of the luck of seeds, not of another text or another search.",
    "careful_one": "One seed tells nothing of luck.",
    "careful_two": "With two seeds an interval of 95 % reaches 12.7 standard errors to each side, "
    "with three 4.3, with five 2.8: two show only large differences.",
    "careful_time": "Times are of this machine while it did whatever else it did.",
    "numbers": "The numbers",
    "embedded": "The whole comparison is in this page as JSON, in the element "
    "“clearformer-comparison”. The page loads nothing and runs nothing.",
    "sources_named": "Sources: Bengio, Simard and Frasconi 1994, and Pascanu, Mikolov and Bengio "
    "2013 (gradients that vanish and explode); Vaswani and others 2017 (attention and what length "
    "costs); Ackley, Hinton and Sejnowski 1985 (temperature); Student 1908 (the interval).",
}
