"""Function words of the languages prompts are written in: what every text holds, and what tells a language.

On the hook path: standard library only.
"""

_ENGLISH = """
a about above after again against all also am an and any are aren as at be because been before being below between both
but by can cannot could couldn did didn do does doesn doing don done down during each few for from further get got had
hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just
let ll me more most mustn my myself no nor not now of off on once only or other our ours ourselves out over own
please re same shan she should shouldn so some such than that the their theirs them themselves then there these they
this those through to too under until up us ve very was wasn we were weren what when where which while who whom why
will with won would wouldn yes you your yours yourself yourselves
"""
_GERMAN = """
aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei bis
bist bitte da damit dann das dass dasselbe dazu dein deine deinem deinen deiner dem den denn der deren des dessen dich
die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines einig einige er es
etwas euch euer eure für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre
ihrem ihren ihrer ihres im in indem ins ist ja jede jedem jeden jeder jedes jene jetzt kann kein keine keinem keinen
keiner können könnte machen man manche mein meine meinem meinen meiner mich mir mit muss musste nach nein nicht nichts
noch nun nur ob oder ohne schon sehr sein seine seinem seinen seiner selbst sich sie sind so solche soll sollte
sondern sonst über um und uns unser unsere unter viel vom von vor war waren warst was weg weil weiter welche welchem
welchen welcher welches wenn werde werden wie wieder will wir wird wirst wo wollen wollte wurde wurden würde würden zu
zum zur zwar zwischen wieso warum wann wer wen wem
beim ins ans aufs fürs hatte hatten hattest eigentlich denn mal halt eben nochmal eh woran worum wofür dabei dafür
heraus raus eigene eigenen eigener eigenes ganz ganze ganzen gerade dort her mehr weniger kam kommt
"""
_FRENCH = """
ai aie aient ainsi alors après as au aucun aussi autre aux avaient avais avait avant avec avez avoir avons ayant ça car
ce ceci cela ces cet cette ceux chaque ci comme comment dans de des donc dont du elle elles en encore entre es est et
étaient étais était étant être eu eux faire fait faut il ils je jusque la là le les leur leurs lors lui ma mais me
même mes moi moins mon ne ni nos notre nous on ont ou où par parce pas pendant peu peut peux plus pour pourquoi pouvez
qu quand que quel quelle quelles quels qui quoi sa sans se sera ses si son sont sous sur ta te tes toi ton tous tout
toute toutes très tu un une va vers voici voilà vos votre vous été
avons avait-on a dû due quoi déjà laquelle lesquels chez certains dont venait venir vient vu faut propre
combien lorsque lequel auquel desquels tant afin alors puis rien aucune
"""
_SPANISH = """
a al algo algún alguna algunas alguno algunos ante antes aquel aquella aquellas aquellos aquí así aún aunque bajo cada
casi como cómo con contra cual cuál cuáles cuando cuándo cuanto de del desde donde dónde dos durante e el él ella ellas
ellos en entonces entre era eran eres es esa esas ese eso esos esta está estaba estaban estamos están estar estas este
esto estos estoy fue fuera fueron ha había habían habíamos hace hacemos hacer hacia han has hasta hay haya he hemos
hicimos hizo la las le les lo los luego más me mi mí mientras mis mismo misma mucho muchos muy nada ni no nos nosotros
nuestra nuestras nuestro nuestros nunca o os otra otras otro otros para pero poco por porque pues puede pueden puedo
puedes que qué quien quién quiénes se sea según ser si sí sido siempre sin sino sobre solo sólo somos son soy su sus
también tampoco tan tanto te tener tenemos tengo tenía tiene tienen tienes toda todas todavía todo todos tras tu tú tus
un una unas uno unos usted ustedes va vamos van voy y ya yo
"""
_ITALIAN = """
a abbiamo ad adesso agli ai al alla alle allo allora altra altre altri altro anche ancora avere aveva avevamo avevano
avete c'è che chi ci ciò coi col come comunque con contro cosa così cui da dagli dai dal dalla dalle dallo degli dei del
dell della delle dello dentro di dobbiamo dopo dove dovrebbe due e ed è ecco era erano essere fa fare fatto fino fra
già gli ha hai hanno ho i il in invece io la là le lei li lo loro lui ma me meno mentre mi mia mie miei mio molto ne
nei negli nel nell nella nelle nello nessun nessuna nessuno niente no noi non nostra nostre nostri nostro o ogni ora
oppure per perché però più poco poi possiamo posso può puoi prima qua qual quale quali qualche quando quanto quasi
quella quelle quelli quello questa queste questi questo qui quindi sarà se sei sembra sempre senza si sì sia siamo siete
solo sono sopra sotto sta stai stato stata su sua sue sugli sui sul sulla sulle sullo suo suoi ti tra tu tua tue tuo
tuoi tutta tutte tutti tutto un una uno va vi voi vostro
"""
_PORTUGUESE = """
a à acima agora ainda algo alguém algum alguma alguns algumas ali ante antes ao aos apenas após aquela aquelas aquele
aqueles aqui aquilo as às assim até cada com como contra da daqui das de dela dele deles depois desde dessa desse
desta deste deve devia disso disto do dois dos durante e é ela elas ele eles em então entre era eram és essa essas
esse esses esta está estamos estão estar estas estava estavam este estes estou eu fazer fez fizemos foi for foram há
isso isto já lá lhe lhes mais mas me mesma mesmo meu meus mim minha minhas muito muitos na nada não nas nem nenhum
nenhuma nessa nesse nesta neste ninguém no nos nós nossa nossas nosso nossos num numa nunca o onde os ou outra outras
outro outros para pela pelas pelo pelos pode podem podemos posso por porque porquê pouco pra quais qual quando quanto
quase que quê quem se sem sempre ser será seu seus si sido só sob sobre somos sou sua suas também tanto te tem têm
temos tenho ter teu teve tinha tinham toda todas todo todos tu tua tudo um uma umas uns vai vamos vão vez você vocês
vou
"""
_DUTCH = """
aan achter al alle alleen alles als altijd andere anders ben bij bijna boven daar daarna dan dat de deze die dit doch
doen dit door doorheen dus een eens eerst elk elke en er erg ergens even ge geen geweest haar had hadden heb hebben
hebt heeft hem hen het hier hij hoe hoeveel hun ieder iedere iemand iets ik in is ja je jij jou jouw jullie kan kunnen
kunt maar mag me meer men met mij mijn moet moeten mogen na naar niet niets nog nooit nou nu of om omdat onder ons onze
ook op over reeds sinds te tegen tijdens toch toen tot tussen u uit uw van vanaf vandaan veel voor vooral waar waarom
wanneer waren was wat we weer wel welk welke werd werden wie wij wil willen word worden wordt zal ze zeer zelf zich zij
zijn zo zoals zonder zou zouden zullen
"""
_POLISH = """
a aby albo ale ani aż bardzo bez bo bowiem był była było były być będą będzie będziemy ci cię co coś czego czemu czy
czyli dla dlaczego do dopiero gdy gdyby gdzie go i ich ile im inne inny innych iż ich ja jak jaka jaki jakie jakich jako
jakoś je jego jej jemu jest jestem jesteśmy jeszcze jeśli jeżeli już każda każde każdy kiedy kim kto która które którego
której który których którym którzy lub ma mam mamy mają masz mi między mnie mną mogą może możemy można mój moja moje mu
musi my na nad nam nami nas nasz nasza nasze nie nic nich nim niż no o od ona one oni ono oraz po pod podczas ponieważ
potem przed przez przy raz sam są się skąd sobie swoje ta tak taka taki takie tam te tego tej temu ten też tę tą to
tobie trzeba tu tutaj tych tylko tym ty u w wam was we więc wszystkie wszystko wtedy wy z za zawsze ze że żeby żaden
"""
_RUSSIAN = """
а без более бы был была были было быть в вам вас весь во вот все всё всегда всего всех всю вы где да даже два для до
его ее её ей ему если есть ещё еще же за здесь и из или им иногда их к как какая какие каким какого какой каком когда
кого который которая которое которые которых которую кто куда ли лишь мы мне много может можно мой моя моё мои на над
надо нам нас наш наша наше наши не него нее неё нет ни нибудь никогда ним них ничего но ну о об один одна он она они
оно от перед по под после потом потому почему при про раз с сам свой свои свою себя сейчас со такой такая такие там
тебя тем теперь то тогда того тоже той только том тот ту тут ты у уже хотя чего чем через что чтобы чтоб эта эти этих
это этого этой этом этому этот эту я
"""
FUNCTION_WORDS = {
    "en": frozenset(_ENGLISH.split()),
    "de": frozenset(_GERMAN.split()),
    "fr": frozenset(_FRENCH.split()),
    "es": frozenset(_SPANISH.split()),
    "it": frozenset(_ITALIAN.split()),
    "pt": frozenset(_PORTUGUESE.split()),
    "nl": frozenset(_DUTCH.split()),
    "pl": frozenset(_POLISH.split()),
    "ru": frozenset(_RUSSIAN.split()),
}
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
