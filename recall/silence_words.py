"""Words that ask for nothing: they move the work on, thank, greet, or order a step that every project knows.

On the hook path: standard library only.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A prompt made of nothing else carries no question of its own.
CONTINUE = _words("""
    ok okay okey k kk yes yep yeah yup y no nope n go on ahead continue proceed do it that this them all both so then
    now please pls sure right fine good great perfect nice cool thanks thank thx ty you next again retry try lgtm done
    correct exactly agreed approved approve confirm confirmed keep going carry just and the a b c d first second third
    last one option looks sounds way to me let's lets let us wait stop hold hang moment minute sec skip nevermind
    cancel resume absolutely definitely alright ready ja jo jup nein gut weiter weitermachen mach machs mache machen
    bitte danke genau stimmt passt klar super los und das es dann jetzt nochmal noch mal fertig richtig einverstanden
    warte egal vergiss abbrechen oui non si d'accord daccord vas-y vas va continuez merci parfait bien très allez
    alors fais fait le ça ca c'est cest bon encore suivant stp svp attends exact arrête sí dale vale adelante sigue
    continúa continua gracias bueno perfecto hazlo claro eso por favor listo espera siguiente exacto de acuerdo para
    sim não nao obrigado obrigada pode continuar isso vai avante certo espere próximo sì bene grazie procedi avanti
    fallo aspetta esatto d'accordo prossimo nee goed verder ga door doe het maar graag prima precies klopt wacht
    volgende tak nie dobrze dalej kontynuuj proszę zgoda jasne świetnie czekaj następny zrób evet hayır tamam devam et
    lütfen teşekkürler да нет давай продолжай дальше хорошо спасибо ладно верно ок стоп подожди пожалуйста точно
    согласен так
""")
# Thanks, praise and greetings, and the words that may stand beside them.
THANKS = _words("""
    thanks thank thx ty cheers hi hello hey bye goodbye welcome sorry good great perfect nice cool fine awesome
    wonderful brilliant excellent amazing impressive impressed appreciate appreciated wow haha lol congrats danke dank
    hallo moin servus tschüss gut guten gute super toll prima klasse perfekt merci bonjour bonsoir bonne bon salut
    bravo génial parfait gracias hola buenos buenas adiós genial perfecto bueno bien grazie ciao buongiorno buonasera
    buona ottimo perfetto prego obrigado obrigada olá bom boa ótimo perfeito bedankt dankjewel hoi goedemorgen
    goedenavond doei mooi dziękuję dzięki cześć dobry świetnie teşekkürler merhaba günaydın sağol спасибо привет
    здравствуйте доброе добрый спокойной пока отлично молодец хорошо
""")
BESIDE = _words("""
    morning evening night day weekend tomorrow later soon today again very much so really how are you i am was see
    have enjoy happy job work well done everyone team lot lots for your help of both that's looks morgen abend tag
    nacht schönen schönes bis später vielen lieben dir dank euch arbeit wochenende sehr nuit journée soirée demain à
    bientôt beaucoup de rien travail días dias tardes noches muchas mañana hasta luego pronto trabajo nada notte
    domani mille lavoro dia tarde noite até amanhã muito trabalho wel je jullie tot straks avond fijne werk bardzo
    dzień wieczór jutra do утро день вечер ночи до завтра большое
""")
# Languages without spaces: a run of signs is made of these phrases or it is not.
PHRASES = _words("""
    好 好的 继续 是 是的 行 可以 谢谢 谢谢你 谢谢您 非常感谢 对 嗯 没问题 不客气 太好了 辛苦了 你好 您好 早上好 晚上好
    晚安 再见 明天见 请 吧 就这样 下一步 下一个 不 不用 等一下 停 繼續 謝謝 可以的 没错 はい うん ええ いいえ 続けて
    続き お願いします お願い です ください どうぞ 次 次へ 待って 了解 了解です いいね いいです ありがとう
    ありがとうございます どうも こんにちは こんばんは おはよう おはようございます おやすみ おやすみなさい お疲れ様です
    また明日 네 예 아니요 계속 계속해 계속하세요 좋아 좋아요 고마워 고마워요 감사합니다 안녕 안녕하세요 수고하셨습니다
    잘자요 내일봐요 다음 잠깐 해줘 해주세요 부탁해요 부탁합니다
""")
# Orders that every project knows: a prompt of these and of words that point ("this", "all") asks nothing of the past.
STEPS = _words("""
    commit push pull merge rebase run rerun test build rebuild lint format deploy ship release publish stage stash
    install restart committe committen commite pushe pushen starte starten führe ausführen baue bauen teste testen
    lance lancer exécute exécuter pousse compile ejecuta ejecutar corre lanza compila sube esegui lancia execute rode
    roda draai bouw uruchom zbuduj запусти закоммить запушь собери прогони
""")
MAKE = _words("open create make write do mach erstelle öffne fais crée haz crea fai faz faça maak zrób сделай")
MADE = _words("commit commits pr push pull merge branch release build коммит пуш")
OBJECTS = _words("""
    tests testsuite suite unit build linter formatter checks change changes everything branch main master origin
    remote pr prs request message commit commits code status upstream änderungen alles modifications changements
    pruebas cambios modifiche alterações testes wijzigingen testy zmiany тесты коммит изменения пуш проект
""")
POINTING = _words("""
    to on in of for with my our your up out over into from these those full whole and die den der dem einen eine alle
    aus durch auf les des un une tout toutes sur los las el la todas todos il lo i gli tutti le o os as em de uit
    wszystkie все и в на
""")
ACTS = _words("""
    提交 提交代码 提交一下 推送 推送代码 运行测试 跑测试 跑一下测试 运行 构建 编译 部署 合并 提交并推送 テスト
    テストを 実行 実行して コミット コミットして プッシュ プッシュして ビルド ビルドして デプロイして マージして
    테스트 실행해 커밋해 푸시해 빌드해 배포해 커밋하고 푸시 커밋
""")
PROGRAMS = _words("""
    git gh npm npx pnpm yarn bun node deno pip pip3 uv poetry python python3 pytest tox ruff mypy black make cmake
    ninja cargo rustc go gradle mvn dotnet docker podman kubectl helm terraform ls cd pwd cat tail head grep rg find
    rm mv cp mkdir touch chmod curl wget ssh brew apt apt-get
""")
SUBCOMMANDS = _words("""
    status diff log add commit push pull fetch checkout switch branch merge rebase stash reset clean init clone tag
    show test tests install ci run build start stop restart up down ps logs lint format check fix update upgrade sync
    lock dev serve watch publish deploy compose apply plan get pods all main master origin head version help list
""")
LEAVE = _words("exit quit clear help :q :q! :wq logout bye")
