"""The report's own words in Japanese."""

from collections.abc import Mapping

JAPANESE: Mapping[str, str] = {
    "language": "ja",
    "kicker": "Clearformer モデル比較",
    "and": "と",
    "comma": "、",
    "colon": "：",
    "seed": "シード",
    "best_apart": "最も良いのは {best}（{value}）。次は {next}（{other}）。",
    "best_level": "平均が最も良いのは {best}（{value}）だが、{names}とは互角：区間が重なっている。",
    "best_valued": "{name}（{value}）",
    "best_equal": "{names}は等しい：{value}。",
    "best_equal_once": "{names}は等しい：{value}。学習は各 1 回なので、偶然かもしれない。",
    "best_once": "最も良いのは {best}（{value}）、次は {next}（{other}）。"
    "学習は各 1 回なので、偶然かもしれない。",
    "value_accuracy": "正答率 {value}",
    "best_alone": "{best} は {value} に達した。",
    "models_many": "{count} モデル",
    "models_one": "1 モデル",
    "under": "{models}、各 {parameters} パラメータ（差は {within} 以内）、{length}、{seeds}。",
    "seeds_many": "シード {count} 個",
    "seeds_one": "シード 1 個",
    "length_tokens": "学習 {count} トークン",
    "length_seconds": "学習 {count} s",
    "task_text": "{characters} 文字のテキスト",
    "task_other": "課題：{name}",
    "finding_accuracy": "正答率",
    "finding_alone": "{best} の{measure}は {value}。",
    "finding_lowest": "{measure}が最も小さいのは {best}（{value}）",
    "finding_highest": "{measure}が最も高いのは {best}（{value}）",
    "finding_same": "{measure}はどのモデルも同じ（{value}）",
    "finding_equal": "{said}。",
    "finding_once": "{said}。シードが一つでは区間が分からないので、偶然かもしれない。",
    "finding_level_one": "{said}。ただし区間が {names} の区間と重なり、差があるとは言えない。",
    "finding_level_many": "{said}。ただし区間が {names} の区間と重なり、差があるとは言えない。",
    "finding_apart": "{said}。その区間はほかのどの区間とも離れている。",
    "finding_behind": "続いて {chain}（隣どうしの区間が重なるところは「または」）。",
    "finding_then": "、次に {name}",
    "finding_or": " または {name}",
    "finding_chance": "当てずっぽうなら {chance}。",
    "finding_near_one": "当てずっぽうなら {chance} で、{names} はそれに近い。",
    "finding_near_many": "当てずっぽうなら {chance} で、{names} はそれに近い。",
    "finding_entropy": "情報源のエントロピーは {entropy} ビットで、標本の偶然を除けばどのモデルも"
    "これを下回れない。{best} との差は {above}。",
    "finding_counting": "数えるだけのモデルのほうが {names} より良い。",
    "note_edge": "最も良い学習率が、試した範囲の端にあった。さらに先ではもっと良くなるかも"
    "しれない：{names}",
    "note_smallest": "探索の短い試行では、試した最小の学習率が最良のものとほぼ同じ（差は 2 % 以内）"
    "だったので、それを採った。学習がこれほど短いと、学習率による差はほとんど出ない：{names}",
    "note_smallest_of": "{name}（{chosen:g}、最良は {best:g}）",
    "note_vocabulary": "単語やバイト対の語彙は、評価に使う部分も含む文章全体から作るので、評価"
    "する部分にしかない単語も載りうる。ほかのトークナイザと並べると、ビット／文字はその分だけ良く"
    "見える：{names}",
    "note_tokenizers": "モデルによってトークナイザが違う。パープレキシティは 1 トークンあたりの値"
    "なので比べられず、1 トークンが表す文字の長さも違う",
    "note_counting": "{name} は文章の初めから、ほかのモデルが読むのと同じ数のトークンを"
    "一度ずつ数える",
    "bits_per_character": "ビット／文字",
    "bits_per_symbol": "ビット／記号",
    "perplexity": "パープレキシティ",
    "loss": "損失（ナット／トークン）",
    "accuracy": "正答率",
    "seconds": "学習時間（s）",
    "tokens_per_second": "トークン／秒",
    "memory": "メモリ（MB）",
    "parameters": "パラメータ数",
    "model": "モデル",
    "unknown": "–",
    "lower_better": "小さいほど良い",
    "higher_better": "大きいほど良い",
    "contents": "目次",
    "results": "最もよく予測するのは",
    "results_how": "大きな印は全シードの平均、小さな印は各シード。横棒は真の平均を 95 % の信頼度で"
    "含む区間で、二つの棒が重なるときは差があるとは言えない。{measure}は{better}。",
    "results_figure": "各モデルの平均と区間：{measure}",
    "results_clock": "下の小さな数字は、シードの中の最小から最大まで。時計やそのときの"
    "メモリが決める値には区間を付けない。",
    "chance": "当てずっぽう",
    "entropy": "情報源のエントロピー",
    "curves": "どう学んだか",
    "curves_how": "学習中の損失を、読んだトークン数と、かかった時間に対して示す。線は全シードの"
    "平均、帯は最小から最大まで。最初の急な部分は切ってある。",
    "curves_tokens": "読んだトークン数と損失",
    "curves_seconds": "学習時間と損失",
    "tokens_axis": "読んだトークン数",
    "seconds_axis": "学習時間（秒）",
    "loss_axis": "損失（ナット／トークン）",
    "final_loss": "最後の損失",
    "fading": "どこまで届くか",
    "fading_how": "最後の位置の損失は、k ステップ前の入力にどれだけ左右されるか。"
    "その勾配のノルムを 1 ステップ前のノルムに対する割合で示す（学習に使わない文章 "
    "{windows} 区間の平均）。右下がりの直線は、1 ステップ戻るごとに同じ割合だけが"
    "残ること、つまり勾配が累乗で消え、"
    "そこにあるものを学べないことを表す。アテンションは窓の中のどの位置にも一歩で届き、線は窓とともに終わる。",
    "fading_fresh": "学習前",
    "fading_trained": "学習後",
    "back_axis": "k（何ステップ前か）",
    "gradient_axis": "ノルム（k = 1 に対する割合）",
    "steps_back": "k = {back}",
    "after": "学習後",
    "before": "学習前",
    "seen": "トークンが一つ増えるごとの価値",
    "seen_how": "次のトークンの損失を、その前に読んだトークンの数に対して示す（学習に使わない文章 "
    "{windows} 区間の平均）。どのモデルも何も読んでいない所から、再帰型は空の状態から始める。線が"
    "まだ下がっているなら、モデルはそこまで前のものを使っている。窓のあるモデルの線は窓とともに"
    "終わる：長い文章を窓ごとに評価すると、窓のたびに初めからになる。最初の数トークンの損失は図の上に"
    "はみ出すので、表に示す。",
    "seen_figure": "読んだトークンの数と損失",
    "seen_axis": "前に読んだトークンの数（最大）",
    "growth": "長さの代償",
    "growth_how": "1 系列・1 スレッドでの学習 1 ステップ（順伝播と逆伝播）のプロセッサ時間の"
    "中央値。両軸とも対数なので、傾きが指数になる：長さが 2 倍で時間が 2 倍なら 1、4 倍なら 2。"
    "指数は長いほうから {fitted} 点に当てはめた。",
    "growth_square": "アテンションだけを測った指数は {exponent} で、その区間 {low} … {high} は "
    "2 乗を含む。",
    "growth_less": "アテンションだけを測った指数は {exponent}（{low} … {high}）で、"
    "2 乗より小さい。",
    "growth_more": "アテンションだけを測った指数は {exponent}（{low} … {high}）で、2 乗より大きい。"
    "表がプロセッサのキャッシュに収まらなくなると、そうなりうる。",
    "growth_unsure": "アテンションだけを測った指数は {exponent} で、区間は分からない。",
    "growth_models": "モデル全体の学習 1 ステップ",
    "growth_attention": "アテンションだけ（ヘッド 1 個）",
    "attention_alone": "アテンション",
    "length_axis": "系列のトークン数",
    "step_axis": "秒",
    "exponent": "指数",
    "interval": "区間（95 %）",
    "up_to": "{length} トークンで",
    "looking": "アテンションは何を見たか",
    "looking_how": "文章 {windows} 区間の最後の位置から見て、{model} の各ヘッドが何個前のトークンに"
    "どれだけ重みを置くか。1 行が 1 ヘッドで、濃いほど重みが大きい。その下は、"
    "各層で最もはっきり選ぶヘッドの例：行は見る側のトークン、"
    "マスは見られる側のトークンで、濃いほど重みが大きい。",
    "looking_strip": "距離ごとの平均の重み",
    "looking_shown": "第 {layer} 層、ヘッド {head}",
    "distance_axis": "何個前か",
    "weight_axis": "平均の重み",
    "mean_distance": "平均距離",
    "recalling": "いつまで覚えているか",
    "recalling_how": "k ステップ前の記号を問われたときの正答率。点線は当てずっぽう、つまり忘れて"
    "しまった場合。",
    "recalling_figure": "距離と正答率",
    "recall_axis": "正答率",
    "temperature": "温度の働き",
    "temperature_how": "スコアを温度で割ってから 1 トークンを引く。1 より低いと実際より確信が"
    "強く、高いと弱くなる。初めの図はそのときの迷いの大きさ、次の図は同じ分布が学習に使わない文章をどれだけ"
    "よく予測するか。知っていることを過不足なく言う 1 の近くで最も良い。",
    "temperature_entropy": "次のトークンのエントロピー",
    "temperature_loss": "その温度での損失",
    "temperature_axis": "温度",
    "bits_axis": "ビット／トークン",
    "short_entropy": "エントロピー",
    "short_loss": "損失",
    "temperature_texts": "{model} の文章（温度を上げていく）",
    "samples": "どんな文章を書くか",
    "samples_how": "学習に使わない同じ文章（灰色）の続きを、温度 {temperature} で書いたもの。",
    "lesson": "教科書の表を測る",
    "lesson_how": "教科書の言うことと、測った値。どのモデルも {parameters} パラメータで、課題ごとに"
    " {seconds} s 学習した（{seeds}、全部で {minutes} 分）。",
    "textbook": "教科書の言うこと",
    "lesson_rnn": "RNN",
    "lesson_gated": "LSTM、GRU",
    "lesson_seq2seq": "アテンション付き seq2seq",
    "lesson_transformer": "Transformer",
    "claim_rnn": "すべてを一つの隠れ状態に通し、忘れる",
    "claim_gated": "状態に何を残すかをゲートが決める",
    "claim_seq2seq": "入力文のどこを見るかを選ぶ",
    "claim_transformer": "すべての位置を一度に見て、長さの 2 乗の代償を払う",
    "column_predicts": "ビット／文字",
    "column_remembers": "k ステップ後の正答率",
    "column_reaches": "{back} ステップ前の勾配",
    "column_costs": "時間の指数",
    "column_speed": "トークン／秒",
    "of_attention": "アテンションあり",
    "of_no_attention": "アテンションなし",
    "figure_bits_per_symbol": "1 記号あたり",
    "figure_recall": "k = {at}",
    "figure_reversed": "逆順",
    "how_predicts": "学習に使わない文章（{text}）のビット／文字。seq2seq は逆順にした文字の"
    "ビット／記号",
    "how_remembers": "k ステップ前の記号を問われたときの正答率。seq2seq は 4〜16 文字の語を"
    "誤りなく逆順にできた割合",
    "how_reaches": "{back} ステップ前の勾配のノルムを、1 ステップ前に対する割合で示す"
    "（学習後）。seq2seq は入力文を通る勾配（学習前）",
    "how_costs": "学習 1 ステップの時間が長さの何乗で増えるか",
    "how_speed": "学習時のトークン／秒",
    "method": "どう測ったか",
    "method_how": "どのモデルも予算と学習率の探し方は同じ。1 ステップに {context} トークンの系列を "
    "{batch} 本使い、勾配のノルムは {clip} で切り詰める。評価に使う部分はどのモデルも見ていない。",
    "method_models": "モデル",
    "size": "大きさ",
    "size_layer": "{count} 層",
    "size_layers": "{count} 層",
    "size_head": "{count} ヘッド",
    "size_heads": "{count} ヘッド",
    "size_both": "双方向",
    "size_hidden": "隠れ状態 {count}",
    "size_embed": "埋め込み {count}",
    "size_context": "文脈 {count}",
    "size_order": "次数 {count}",
    "method_search": "学習率の探索",
    "search_how": "予算の {share} だけ学習したときの、探索専用に取り分けた部分での損失。選んだ値は"
    "太字：短い試行は大きな値に有利なので、最良から 2 % 以内で"
    "最も小さいもの。端の値が最も良いときは、その先をもう一つ試した。",
    "diverged": "発散",
    "rate": "学習率",
    "method_data": "学んだもの",
    "method_machine": "計算機と版",
    "sources": "出所",
    "characters": "文字数",
    "trained_on": "学習した文字数",
    "judged_on": "評価した文字数",
    "fingerprint": "テキストの SHA-256",
    "task": "課題",
    "settings": "設定",
    "seeds": "シード",
    "engine": "エンジン",
    "device": "デバイス",
    "workers": "ワーカー数（スレッドまたはプロセス、最大）",
    "system": "OS",
    "processor": "プロセッサ",
    "python": "Python",
    "numpy": "NumPy",
    "torch": "PyTorch",
    "clearformer": "Clearformer",
    "memory_how": "メモリの測り方",
    "memory_numpy": "1 ワーカーでの学習 1 ステップの途中で、Python と NumPy が確保していたメモリの"
    "最大値（バイト）。時間を測る試行とは別に、tracemalloc で測った",
    "memory_torch": "1 ワーカーでの学習 1 ステップの途中で、全テンソルが占めていたメモリの"
    "最大値（バイト）。時間を測る試行とは別に測った。n-gram モデルでは Python と NumPy が"
    "確保していたもの",
    "careful": "気をつけること",
    "careful_budget": "パラメータ数とトークン数を等しくするのは公平さの一つの形にすぎない。時間を"
    "等しくしたり、どちらかを増やしたりすれば、順位は変わりうる。",
    "careful_scale": "この大きさのモデルとこの量の文章から、大きなモデルについて言えることは"
    "少ない。",
    "careful_seeds": "区間はシードの運を表すだけで、別の文章や別の探索については何も言わない。",
    "careful_one": "シードが一つでは、運について何も分からない。",
    "careful_two": "シードが二つのとき、95 % の区間は標準誤差の 12.7 倍ずつ両側に広がる（三つなら "
    "4.3 倍、五つなら 2.8 倍）。二つでは大きな差しか見えない。",
    "careful_time": "時間は、ほかの仕事もしていたかもしれないこの計算機でのもの。",
    "numbers": "数値",
    "embedded": "比較の全体が、このページの要素「clearformer-comparison」に JSON として入っている。"
    "このページは何も読み込まず、何も実行しない。",
    "sources_named": "出典：Bengio ほか 1994、Pascanu ほか 2013（勾配の消失と爆発）、"
    "Vaswani ほか 2017（アテンションと長さの代償）、Ackley ほか 1985（温度）、"
    "Student 1908（区間）。",
}
