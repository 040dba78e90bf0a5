"""How people word what is worth keeping, in eight languages: the rules of capture without a model, as data.

A rule has words of which one must stand in the sentence (looked up first: most rules are never tried), and a
pattern. Patterns of Latin scripts are matched ignoring case, {w} stands for one word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memtui.engine.capture.recipes.memtui.more_languages import PORTUGUESE, RUSSIAN, Kind


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to say something worth keeping. `durable` overrides a sentence that is an order of the moment."""

    kind: Kind
    language: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]
    durable: bool = False


_WORDS = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")


def spoken_in(sentence: str) -> list[str]:
    """The words of a sentence in lower case, in order."""
    return _WORDS.findall(sentence.lower())


def words_in(sentence: str, spoken: Sequence[str]) -> frozenset[str] | None:
    """The words of a sentence of ASCII; None for any other, whose words are not looked up.

    `spoken` is `spoken_in` it; what stands before and behind an apostrophe counts, too.
    """
    if not sentence.isascii():
        return None
    if "'" not in sentence:
        return frozenset(spoken)
    return frozenset(part for word in spoken for part in word.split("'"))


class Worded:
    """A pattern of which every match in ASCII holds one of some words: without one it is not tried."""

    def __init__(self, pattern: str, words: str) -> None:
        self.pattern = re.compile(pattern, re.IGNORECASE)
        self.words = frozenset(words.split())

    def search(self, sentence: str, words: frozenset[str] | None = None) -> bool:
        """Whether it stands anywhere in the sentence; `words` are `words_in` it."""
        if words is not None and words.isdisjoint(self.words):
            return False
        return self.pattern.search(sentence) is not None

    def match(self, sentence: str) -> bool:
        """Whether the sentence begins with it."""
        return self.pattern.match(sentence) is not None


class Opening:
    """A pattern of which every match in ASCII is at the beginning: elsewhere it is not tried."""

    def __init__(self, pattern: str) -> None:
        self.pattern = re.compile(pattern, re.IGNORECASE)

    def search(self, sentence: str) -> bool:
        """Whether the sentence has it."""
        look = self.pattern.match if sentence.isascii() else self.pattern.search
        return look(sentence) is not None


_WORD = r"[^\W\d_][\w'’-]*"

_NAME = r"(?-i:[A-ZÄÖÜÀ-Ý][\w'’-]+)"

_MON = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"

_ENGLISH: tuple[tuple[Kind, str, str, bool], ...] = (
    # correction
    ("correction", "no nope sorry actually wait wrong oops", r"^(?:no+|nope|sorry|actually|wait|wrong|oops)\b[,:;.]?\s.*\b(?:is|are|it's|he's|she's|was|not|meant|should be|called|goes by|has|have)\b", False),
    ("correction", "wrong incorrect mistaken right", r"^(?:that|this|it)(?:'s| is| was) (?:wrong|incorrect|mistaken|not (?:right|correct|true))\b[,:;. ]+\S+ \S+ \S+", False),
    ("correction", "correction scratch corrected correcting fix erratum amendment", r"^(?:(?:small|one|minor|quick|another) )?(?:correction|scratch that|let me correct|(?:fix|erratum|amendment)(?=\s*:))\b.{8,}", False),
    ("correction", "backwards mixed wrong", r"\b(?:you|i|we)(?:'ve|'d| have| had| got)? (?:have |had |got |gotten |mixed )?(?:it|that|this|those|them)(?: the)? (?:backwards|wrong|up|mixed up|wrong way)\b.{6,}", False),
    ("correction", "told said wrote", r"\b(?:i|we) (?:told you|said|wrote)\b.{3,60}\b(?:but|it (?:has to|should|must) be|make that|i meant)\b", False),
    ("correction", "spelled spelt written pronounced", r"\b(?:spelled|spelt|written|pronounced)\b.{2,40}\b(?:not|without|with an?)\b", False),
    ("correction", "meant", r"\b(?:i|we) (?:really |actually )?meant\b|\bbut (?:i|we) meant\b", False),
    ("correction", "longer anymore", r"\b(?:is|are|am|does|do|has|have|was|work|live)(?:n't| not)?\b.{0,40}\b(?:no longer|any ?more)\b|\bno longer\b", False),
    ("correction", "not", r"\b(?:is|are|was|'s|starts?|ends?|on|at|in|called|named)\b.{2,60},\s*(?:and )?not (?!sure|yet|only|bad|really|too)\S+(?: \S+){0,3}[.!]?$", False),
    ("correction", "not", r"\b(?:is|are|was|'s)(?: not|n't) .{1,40}(?:,|;)? (?:but|it's|it is) ", False),
    ("correction", "instead", r"\b(?:it|that|this|the {w}) should (?:be|read|say) .{1,60}\binstead\b", False),
    # decision
    ("decision", "decided agreed chosen chose settled picked opted voted resolved concluded approved committed", r"\b(?:i|we|they|he|she|team|board|everyone|everybody|council|group|family|of (?:us|them)|{n})(?:'ve| have| has|'s)?(?: all| both| finally| now| just| also| already| jointly| unanimously)* (?:decided|agreed|chosen|chose|settled|picked|opted|voted|resolved|concluded|committed|approved)\b(?! with you)", False),
    ("decision", "mind", r"\bmade up (?:my|our) mind", False),
    ("decision", "lets let's", r"^(?:ok(?:ay)?,? |so,? |then,? )?let'?s (?:go with|use|stick (?:with|to)|switch|move|drop|adopt|keep|make it|settle on|standardi[sz]e|migrate|ban|stop)\b", True),
    ("decision", "will we'll i'll going", r"\b(?:i|we)(?:'ll| will|'re going to| are going to|'m going to| am going to) (?:(?:only|always|all|never|now|just) )?(?:use|switch|move|adopt|keep|drop|migrate|stop|start using|stick|go with|host|ship|replace|retire|support|run|rename|require|charge|pay|publish|sell|rent|hire|standardi[sz]e|deprecate|store|split)\b", False),
    ("decision", "sticking staying moving switching dropping migrating adopting replacing keeping retiring going sunsetting renaming deprecating closing standardizing standardising", r"\b(?:i|we|they|the team|the company)(?:'re| are|'m| am| is)(?: now| also| all)? (?:moving|switching|dropping|migrating|adopting|replacing|keeping|retiring|sticking with|sticking to|staying with|going with|going to go with|sunsetting|renaming|deprecating|closing|standardi[sz]ing)\b(?! (?:on|ahead)\b)", False),
    ("decision", "won't wont will not aren't", r"\b(?:we|they|the team|the company)(?: won't| wont| will not| will no longer|(?:'re| are) not going to| aren't going to) (?:renew|extend|use|support|adopt|switch|move|migrate|hire|sell|publish|continue|attend|replace|rewrite|deploy|accept|offer|charge|host|ship|sponsor|pursue|maintain)\b", False),
    ("decision", "forward now henceforth effective starting", r"\b(?:from now on|going forward|moving forward|henceforth|from here on|effective (?:immediately|from|{w}day|today)|as of (?:now|today|tomorrow|next|{w}day|january|february|march|april|may|june|july|august|september|october|november|december)|starting (?:today|tomorrow|next|on|in|this|{w}day|january|february|march|april|may|june|july|august|september|october|november|december))\b", True),
    ("decision", "decided settled agreed final decision verdict official", r"\bit(?:'s| is)(?: now)? official\b.{6,}|\b(?:it|that|this)(?:'s| is| was| has been)(?: now| finally)? (?:decided|settled|agreed|final)\b|\b(?:is|are) (?:now |hereby )?(?:final|decided|settled|official)\b[:,.;]?|\bthe (?:final )?(?:decision|verdict) (?:is|was)\b", False),
    # preference
    ("preference", "prefer prefers like likes love loves hate hates dislike dislikes enjoy enjoys adore detest loathe favor favour appreciate likewise", r"\b(?:i|we|he|she|they|{n}|my {w})(?: and i| and my {w})?(?: really| also| usually| always| generally| strongly| much| absolutely| still| just| honestly| personally| only| never| do| both| all| mostly| quite| truly| deeply| secretly|'ve always| have always)* (?:prefers?|likes?|loves?|hates?|dislikes?|enjoys?|adores?|detests?|loathes?|favou?rs?|appreciates?)\b(?! (?:it|this|that|these|those|the (?:idea|result|output|answer)|how)\b(?: \w+){0,2}[.!]*$)(?! to (?:see|know|have) (?:the|a|some|what|how)\b)", False),
    ("preference", "like want enjoy need care dont don't not", r"\b(?:i|we)(?: really| just)? (?:don'?t|do not)(?: really| ever| particularly)? (?:like|want|enjoy|need|care for|care about|trust|appreciate)\b(?! (?:it|this|that)\b(?: \w+)?[.!]*$)", False),
    ("preference", "stand bear", r"\b(?:can(?:'?t|not)|could never) (?:stand|bear)\b", False),
    ("preference", "can't cant cannot", r"\bi (?:can'?t|cannot)(?: really| ever)? (?:work|concentrate|focus|think|sleep|read|relax) (?:with|without|in|when|while|if)\b", False),
    ("preference", "annoy annoys bother bothers irritate irritates distract distracts drive drives nerves", r"\b(?:annoys?|bothers?|irritates?|distracts?) me\b|\bdrives? me (?:crazy|mad|nuts|up the wall)\b|\bon my nerves\b", False),
    ("preference", "only always never please", r"^(?!.{0,24}\b(?:i|you|he|she|it|this|that)\b).{4,60}(?:\b(?:only|always|never),? please\b|, (?:always|please, always|only)[.!]?$)", True),
    ("preference", "rather", r"\b(?:i|we|he|she)(?:'d| would)(?: much)? rather\b|\brather than\b.*\b(?:please|for me)\b", True),
    ("preference", "prefer", r"\b(?:'d| would)(?: much)? prefer\b", True),
    ("preference", "favourite favorite favourites favorites", r"\bmy (?:all[- ]time )?(?:{w} )?favou?rites?\b", False),
    ("preference", "find finds", r"\b(?:i|we|she|he)(?: always| really| personally)? finds? .{2,50}\b(?:easier|better|nicer|annoying|distracting|relaxing|hard|harder|tiring|difficult|exhausting|soothing|confusing|more {w}|too {w})\b(?! to (?:see|tell))", False),
    ("preference", "avoid", r"\b(?:i|we)(?: always| usually| try to| generally)? avoid\b", False),
    ("preference", "work works best suits", r"\b(?:works?|suits?|fits?) (?:me |us )?(?:best|better)\b", False),
    ("preference", "give send tell start put list show", r"^(?:please )?(?:give|send|tell|start|put|list|show)\b.{4,80}\b(?:whenever|every time|each time|in every|for every|by default|when you (?:report|write|answer|reply|summari[sz]e))\b", True),
    ("preference", "over beats", r"\b{w} (?:over|beats) {w}\b.{0,24}\b(?:any (?:day|time)|every time|hands down|always)\b", False),
    ("preference", "fan", r"\b(?:not|no|never|huge|big|great)(?: been)?(?: a| an)?(?: big| huge| great)? fan of\b|\bi(?:'m| am) a (?:{w} )?fan of\b", False),
    ("preference", "fond keen partial into", r"\bi(?:'m| am) (?:(?:very|really|quite|not|so) )?(?:fond of|keen on|partial to|into|more of an?|used to)\b", False),
    ("preference", "want", r"\bi(?:'d)? (?:only |always )?want (?:you to|all|every|my|the (?:answers?|reports?|code|replies)|answers?|replies|no|short|long)\b", True),
    ("preference", "always never ever", r"^(?:(?:and |but |so |also |please |note: )*)(?:always|never|do ?n[o']t ever)\b \S+ \S+", True),
    ("preference", "keep answer reply respond use write address spell format avoid stick stop skip put call give explain", r"^(?:please )?(?:keep|answer|reply|respond|use|write|address|spell|format|avoid|stick|stop|skip|put|give|explain)\b.{0,50}\b(?:(?:your |my |all |every )(?:answers?|repl(?:y|ies)|responses?|messages?|e-?mails?|reports?|code|texts?|letters?|dates?|numbers?|time|commits?|{w} files?)|answers|replies|in (?:english|german|french|spanish|dutch|italian|portuguese|chinese|japanese|metric|celsius|british)|when (?:you|talking|writing|answering)|whenever|every time|each time)\b", True),
    ("preference", "call", r"^(?:please |just |you can )?call me {n}", True),
    ("preference", "works suits for", r"\b(?:works|suits|is) (?:best|better|easier) for me\b|^for me,? .{10,}\b(?:best|better|matters|works)\b", False),
    ("preference", "don't dont avoid please", r"^(?:please )?(?:don'?t|do not) (?:use|send|call|write|put|add|show|give|start|end|book|schedule|mention|share)\b.{0,60}\b(?:any ?more|ever|my|me|to me|before|after|unless|without|when|in the|on|again)\b", True),
    # fact
    ("fact", "am i'm im", r"\bi(?:'m| am|m)(?: also| still| now| not| originally| actually| currently)? (?:an? |the |from |based |allergic|vegetarian|vegan|married|single|divorced|engaged|retired|left-handed|right-handed|diabetic|born|pregnant|colou?r-?blind|deaf|blind|lactose|gluten|jewish|muslim|christian|catholic|hindu|buddhist|dyslexic|bilingual|self-employed|responsible for|in charge|\d+\b)(?!.{0,20}\b(?:bit|little|moment|second|minute|lot|coffee|break)\b)", False),
    ("fact", "work live study teach own have run play speak moved drive grew graduated manage lead eat drink take suffer wear commute volunteer joined quit started was collect sing", r"\bi(?:'ve)?(?: also| still| now| mostly| usually| only| currently| already| mainly)? (?:work(?:ed)? (?:as|at|for|in|on|from|with|part|full|nights?|days?|weekends|shifts|remote)|live in|live with|live on|study|teach|own|have (?:an?|two|three|four|five|six|seven|eight|no|\d+|been|celiac|coeliac|asthma|diabetes|severe|my)|run (?:an?|the|my)|play|speak|was born|was diagnosed|moved (?:to|from|here|in)|drive an?|grew up|graduated|manage|lead|eat|drink|take (?:my|an?|insulin|the)|suffer|wear|commute|volunteer|joined|quit|started (?:at|as|my|learning)|collect|sing|bought an?|don't (?:eat|drink|drive|have|speak|own|smoke))\b(?!.{0,12}\b(?:question|problem|idea|issue|look|bug|error|doubt|minute|moment|second)\b)", False),
    ("fact", "don't dont can't cant cannot", r"\bi (?:(?:don'?t|do not) (?:eat|drink|drive|speak|own|smoke|work on|have (?:a car|children|kids|pets))|can(?:'?t|not) (?:eat|drink|drive|swim|digest|tolerate|smoke))\b", False),
    ("fact", "have own run use are live host rent employ sell keep ship serve", r"\bwe(?:'ve)?(?: also| still| now| only| all| currently| already| mostly)? (?:have (?:an?|two|three|four|five|six|seven|eight|nine|ten|no|\d+|got)|own|run (?:on|an?|two|three|four|our|\d+)|use|are an? |live in|host|rent|employ|sell|keep|ship|serve)\b(?!.{0,12}\b(?:question|problem|idea|issue|look|bug|error)\b)", False),
    ("fact", "my our", r"\b(?:my|our) (?:[\w'’-]+ ){0,4}?[\w'’-]+ (?:is|are|was|were|has|have|works?|lives?|speaks?|closes?|opens?|takes?|runs?|needs?|costs?|starts?|ends?|goes|plays?|owns?|weighs?|expires?|studies|attends?|turns?|comes?|died|uses?|sits?|stands?|supports?|belongs?|celebrates?|was born|moved|retired|teaches|drives?|meets?|died|serves?|handles?|consists?|holds?|begins?|leaves?|arrives?|loves?|hates?|likes?|prefers?|only|got married)\b(?!.{0,10}\b(?:broken|failing|wrong|fine|ok(?:ay)?|done|ready|slow|down|missing|weird|empty|stuck|hungry|tired)\b)", False),
    ("fact", "name names named called", r"\bmy name is\b|\b(?:is|are) (?:named|called) {n}", False),
    ("fact", "key code prefix handle alias codename hostname nickname callsign abbreviation", r"\b(?<!error )(?<!exit )(?<!status )(?<!return )(?:key|code|prefix|handle|alias|code ?name|hostname|nickname|callsign|abbreviation) (?:is|was set to) [\"“']?(?-i:[A-Z0-9])", False),
    ("fact", "runs leads owns works manages handles lives speaks maintains teaches heads coaches studies reports is has approves covers reviews", r"^(?:(?:dr|mr|mrs|ms|prof)\.? )?(?-i:(?!The\b|This\b|That\b|It\b|There\b|What\b|He\b|She\b|Here\b|Which\b|Everything\b|Nothing\b|Someone\b|God\b|Today\b|If\b|In\b)[A-ZÀ-Ý][\w'’-]+)(?: (?-i:[A-ZÀ-Ý][\w'’-]+))?(?: also| still| now| only| usually)? (?:runs|leads|owns|works|manages|handles|lives|speaks|maintains|teaches|heads|coaches|studies|reports to|approves|covers|reviews|is (?:our|my|the new|in charge|responsible|allergic|the (?:{w} )?(?:owner|lead|manager|contact|head|admin|maintainer)|on call)|has (?:two|three|four|an? |the (?:keys?|pager)))\b", False),
    ("fact", "has have takes close closes opens runs costs located expires starts consists holds needs weighs lasts serves supports contains belongs meets departs leaves arrives fits measures requires operates", r"^the (?:[\w'’-]+ ){1,5}?(?:has|have|takes?|closes?|opens?|runs? (?:on|every|at|in|from|nightly|daily|weekly|(?-i:[A-Z]\w*))|costs?|(?:is|are) located|expires?|starts?|consists?|holds?|needs? (?:a|an|two|at least|\d)|weighs?|lasts?|serves?|supports?|contains?|belongs?|meets?|departs?|leaves?|arrives?|fits?|measures?|requires?|operates?)\b(?!.{0,12}\b(?:been fixed|error|problem|bug|issue|failed|typo)\b)", False),
    ("fact", "birthday anniversary deadline", r"\b(?:birthday|anniversary|deadline|due date|appointment) (?:is|falls|was moved|moved)\b", False),
    ("fact", "remember note fyi mind", r"^(?:please )?(?:remember(?: that|:)|note(?: that|:)|fyi[:,]?|keep in mind(?: that|:)?|for the record[:,]?|don't forget(?: that|:))\s+(?!to\b).{12,}", True),
    # identifier: the sentence must also hold one
    ("identifier", "is are at under lives stored called reach answers runs listens ends on in reads points has sits found hosted resolves uses", r"\b(?:is|are|at|under|lives|stored|called|named|reach|answers on|runs on|listens|ends in|points to|has|sits|found|hosted|resolves|uses)\b|:", False),
)  # fmt: skip

_GERMAN: tuple[tuple[Kind, str, str, bool], ...] = (
    ("correction", "nein falsch quatsch moment sorry entschuldigung eigentlich", r"^(?:nein|nee|falsch|quatsch|moment|sorry|entschuldigung|eigentlich)\b[,:;.]?\s.*\b(?:ist|sind|heißt|heißen|war|nicht|meinte|liegt|lautet|hat|findet|kommt|beginnt)\b", False),
    ("correction", "verdreht verwechselt missverstanden hoppla", r"\b(?:verdreht|verwechselt|missverstanden|falsch verstanden)\b.{5,}|^hoppla\b.{8,}", False),
    ("correction", "sagte schrieb", r"\bich (?:sagte|schrieb)\b.{3,60}\b(?:aber|muss|müssen|ist|sind|meinte)\b", False),
    ("correction", "schreibt", r"\bschreibt (?:sich|man)\b.{2,40}\b(?:nicht|ohne|mit)\b", False),
    ("correction", "stimmt", r"^(?:(?:das|dies) )?stimmt (?:so |ja )?(?:nicht|nimmer)\b.{8,}", False),
    ("correction", "korrektur berichtigung richtigstellung", r"^(?:kleine )?(?:korrektur|berichtigung|richtigstellung)\b.{6,}", False),
    ("correction", "meinte gemeint meinten vertan versprochen verwechselt", r"\b(?:ich|wir) (?:meinten?|habe? mich (?:vertan|verschrieben|versprochen|geirrt)|haben? .{1,30} verwechselt)\b|\bgemeint (?:war|ist|habe)", False),
    ("correction", "mehr", r"\b(?:ist|sind|heißt|gilt|wohne|wohnt|arbeite|arbeitet|habe|hat|läuft|nutzen|verwenden)\b.{0,40}\bnicht mehr\b|\b(?:ist|sind|habe|hat)\b.{0,30}\bkeine?[rnm]? .{1,25}mehr\b", False),
    ("correction", "sondern", r"\b(?:nicht|kein(?:e[nmrs]?)?)\b.{1,60}\bsondern\b(?! auch)", False),
    ("correction", "nicht", r"\b(?:ist|sind|heißt|war|findet|liegt|beginnt|kommt|am|um|in|im|auf)\b.{2,60}(?:,|\bund) nicht (?!sicher|mehr|nur|so|ganz|schlecht|wahr)\S+(?: \S+){0,3}[.!]?$", False),
    ("decision", "beschlossen entschieden geeinigt einig ausgewählt festgelegt vereinbart abgemacht beschloss gewählt abgestimmt", r"\b(?:habe?n?|hat|sind|ist|wurde|wird|haben)\b.{0,80}\b(?:beschlossen|entschieden|geeinigt|einig|ausgewählt|festgelegt|vereinbart|abgemacht|gewählt|abgestimmt)\b|\bbeschlossen ist\b", False),
    ("decision", "ab sofort jetzt künftig zukünftig zukunft fortan nun", r"\b(?:ab (?:anfang |mitte |ende )?(?:{w}er woche|{w}em (?:monat|jahr|quartal)|sommer|herbst|winter|frühjahr|dienstags)|ab sofort|ab jetzt|von jetzt an|ab heute|ab morgen|ab (?:montag|dienstag|mittwoch|donnerstag|freitag|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)|künftig|zukünftig|in zukunft|fortan|von nun an)\b", True),
    ("decision", "nehmen verzichten setzen wechseln steigen stellen ziehen bleiben streichen kündigen behalten ersetzen schaffen verwenden nutzen lassen verlegen mieten", r"^(?:also |gut, |ok(?:ay)?, |dann )?wir (?:nehmen|verzichten auf|setzen auf|wechseln|steigen .{1,40} um|stellen .{1,40} (?:um|ein)|ziehen .{0,40}\bum\b|bleiben (?:bei|dabei)|streichen|kündigen|behalten|ersetzen|schaffen .{1,40} ab|verwenden (?:nur|statt|künftig)|verlegen|mieten)\b(?!.{0,10}\bmal\b)", False),
    ("decision", "fest endgültig beschlossene", r"\b(?:steht|stehen)\b.{0,20}\bfest\b|\b(?:ist|sind) (?:jetzt |nun )?endgültig\b", False),
    ("decision", "hören höre", r"\b(?:wir hören|ich höre) auf\b", False),
    ("decision", "gestimmt stimmte stimmten", r"\bfür\b.{3,80}\bgestimmt\b|\bstimmten? für\b", False),
    ("decision", "nächstem nächster nächsten kommendem kommender kommenden", r"\bab (?:dem |der )?(?:nächste[mnr]|kommende[mnr])\b", True),
    ("decision", "gebucht bestellt gekündigt unterschrieben", r"\b(?:das|alles) ist (?:schon |bereits )?(?:gebucht|bestellt|unterschrieben)\b|\bich habe\b.{2,50}\b(?:gekündigt|gebucht|unterschrieben)\b", False),
    ("decision", "bleibt", r"\b(?:es|dabei) bleibt (?:dabei|es)\b|^es bleibt bei\b", False),
    ("decision", "steige wechsle ziehe kündige höre", r"^ich (?:steige .{1,40} um|wechsle (?:zu|auf|nach|zum|zur)|ziehe .{0,40}\b(?:um|nach)\b|kündige|höre .{1,40} auf)\b", False),
    ("preference", "mag mögen mochte bevorzuge bevorzugt bevorzugen hasse hasst liebe liebt schätze verabscheue", r"\b(?:ich|wir|er|sie|{n}|mein(?:e)? {w}) (?:\S+ ){0,2}?(?:mag|mögen|bevorzugen?|bevorzugt|hasse[nt]?|liebe[nt]?|schätzen?|verabscheuen?)\b|\b(?:mag|bevorzuge|hasse|liebe|schätze|verabscheue) ich\b", False),
    ("preference", "lieber liebsten", r"\b(?:lieber|am liebsten)\b", True),
    ("preference", "gern gerne ungern", r"\b(?:un)?gerne?\b(?! (?:geschehen|doch)\b)", False),
    ("preference", "besten", r"\bam besten\b.{2,60}\b(?:mich|mir|bei mir|passt)\b|\b(?:passt|geht|erreichst)\b.{0,30}\bam besten\b", False),
    ("preference", "meide meiden vermeide strengt strengen", r"\b(?:ich )?(?:ver)?meide(?:n)?\b(?: ich)?|\bstreng(?:t|en) (?:mich|meine augen)\b", False),
    ("preference", "gib schick schicke nenne zeig beginne", r"^(?:bitte )?(?:gib|schicke?|nenne?|zeige?|beginne)\b.{4,90}\b(?:wenn du|jedes mal|immer wenn|bei jede[mnr]|grundsätzlich)\b", True),
    ("preference", "lieblings", r"\bliebling", False),
    ("preference", "gefällt gefallen stört nervt", r"\b(?:gefällt|gefallen|stört|stören|nervt|nerven)\b.{0,40}\b(?:besser|nicht|mich|mir)\b|\bmir (?:gefällt|gefallen)\b.{8,}|\bmich (?:stört|stören|nervt|nerven)\b", False),
    ("preference", "immer nie niemals stets", r"^(?:bitte )?{w}(?: \S+){0,9} (?:immer|nie(?:mals)?|stets)\b", True),
    ("preference", "duz duze siez sieze nenn nenne sag", r"^(?:bitte )?(?:duze?|sieze?|nenne?|sag(?:e)?) (?:mich|du|zu mir)\b", True),
    ("preference", "möchte will wünsche", r"\bich (?:möchte|will|wünsche mir)\b.{0,60}\b(?:keine?[nrs]?|immer|nie|nur|alle|jede[nrs]?|grundsätzlich)\b", True),
    ("preference", "antworte schreib schreibe halte verwende benutze nutze vermeide formuliere", r"^(?:bitte )?(?:antworte|schreibe?|halte|verwende|benutze?|nutze?|vermeide|formuliere)\b.{0,50}\b(?:antworten|in meinen|meine[nr]?|auf (?:deutsch|englisch)|mit mir|jedes mal|wenn|kurz|knapp|keine)\b(?!.{0,40}\b(?:gedicht|brief an|funktion|skript)\b)", True),
    ("preference", "fan freund gewohnt gewöhnt", r"\bich bin (?:kein(?:e)?|ein(?:e)?) (?:großer |echter )?(?:fan|freund(?:in)?) von\b|\bich bin (?:es )?(?:gewohnt|gewöhnt)\b", False),
    ("preference", "leiden ausstehen", r"\bkann\b.{1,60}\bnicht (?:leiden|ausstehen|ertragen)\b", False),
    ("preference", "anfangen", r"\bkann\b.{1,60}\bnichts anfangen\b", False),
    ("preference", "möchte will wünsche", r"\b(?:möchte|will|wünsche) ich (?:mir )?(?:\S+ ){0,3}?(?:keine?[nrs]?|nie|immer|nur)\b", True),
    ("fact", "ich", r"\bich (?:\S+ )?(?:arbeite|wohne|lebe|studiere|spreche|heiße|besitze|spiele|komme aus|stamme|esse|leite|unterrichte|pendle|trage|vertrage|rauche|trinke|sammle|singe|nehme (?:täglich|jeden)|fahre (?:ein|jeden|täglich)|betreue|verwalte|führe (?:ein|den|die))\b(?!.{0,15}\b(?:gerade|kurz|gleich|jetzt gleich|dran)\b)", False),
    ("fact", "bin", r"\bich bin (?:von beruf |seit .{1,20} |in .{1,30} (?:geboren|aufgewachsen)|verheiratet|ledig|geschieden|vegetarier|veganer|allergisch|linkshänder|diabetiker|schwanger|rentner|ein(?:e)? |\d+ jahre|gegen .{1,30} allergisch|aus {w}|zuständig|verantwortlich|farbenblind|laktose|student|lehrer|ärztin|arzt|{w}in\b[.,])", False),
    ("fact", "habe haben", r"\b(?:ich habe|wir haben) (?:(?:auch|noch|nur|insgesamt|zu hause) )*(?:ein(?:e[nmrs]?)?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|keine?[nrs]?|\d+|asthma|diabetes|zöliakie) \S+(?!.{0,12}\b(?:frage|problem|idee|fehler|bitte|ahnung|zeit|lust)\b)", False),
    ("fact", "mein meine meinen meiner unser unsere unserem unseren", r"\b(?:mein|unser)(?:e[rmns]?)? (?:\S+ ){1,4}?(?:ist|sind|war|hat|haben|heißt|arbeitet|wohnt|lebt|spricht|schließt|öffnet|dauert|läuft|braucht|kostet|beginnt|endet|geht|spielt|gehört|studiert|besucht|steht|liegt|kommt|isst|trinkt|fährt|leitet|stammt|wird|umfasst|nutzt|verwendet|unterrichtet|feiert|mag|liebt|hasst)\b(?!.{0,10}\b(?:kaputt|fertig|leer|langsam|falsch|ok|müde)\b)", False),
    ("fact", "leitet arbeitet wohnt heißt spricht kümmert betreut unterrichtet führt verantwortet ist hat verwaltet prüft", r"^(?:(?:frau|herr|dr\.?|prof\.?) )?(?-i:(?!Das|Der|Die|Es|Was|Wer|Wie|Da|Hier|Dies|Jetzt|Heute|Alles|Nichts|Berlin|Vielleicht|Jemand|Gott)[A-ZÄÖÜ][\w-]+)(?: (?-i:[A-ZÄÖÜ][\w-]+))? (?:leitet|arbeitet|wohnt|spricht|kümmert sich|betreut|unterrichtet|führt|verantwortet|verwaltet|prüft|ist (?:unser|mein|zuständig|verantwortlich|allergisch|neu(?:e|er)? )|hat (?:zwei|drei|ein|den schlüssel))\b", False),
    ("fact", "schließt öffnet dauert hat haben kostet liegt läuft gehört braucht besteht endet beginnt steht umfasst fasst wiegt misst fährt tagt hält", r"^(?:das|der|die) (?:\S+ ){1,5}?(?:schließt|öffnet|dauert|hat|haben|kostet|liegt|läuft|gehört|braucht|besteht aus|endet|beginnt|steht|umfasst|fasst|wiegt|misst|fährt|tagt|hält)\b(?!.{0,12}\b(?:fehler|problem|nicht|gerade)\b)", False),
    ("fact", "merk merke denk beachte vergiss", r"^(?:bitte )?(?:merke? dir|denke? daran|beachte|vergiss nicht)[,:]?\s.{12,}", True),
    ("fact", "geburtstag hochzeitstag frist termin", r"\b(?:geburtstag|hochzeitstag|frist|termin) (?:ist|habe|hat|fällt|liegt)\b|\b(?:ich habe|hat) am .{1,25} geburtstag\b", False),
    ("identifier", "ist sind lautet hat liegt liegen unter heißt steht stehen erreichst erreichen findest endet läuft hört auf zeigt", r"\b(?:ist|sind|lautet|lauten|hat|liegt|liegen|unter|heißt|stehen?|erreich\w+|findest|endet|läuft|hört|auf|zeigt)\b|:", False),
)  # fmt: skip

_SPANISH: tuple[tuple[Kind, str, str, bool], ...] = (
    ("correction", "no perdón error realidad mentira", r"^(?:no|perdón|error|en realidad|mentira)\b[,:;.]\s.*\b(?:es|son|era|no|se llama|está|quise|tiene)\b", False),
    ("correction", "sino", r"\bno\b.{1,60}\bsino\b(?! también)", False),
    ("correction", "realidad", r"^en realidad,? .{0,40}\b(?:es|son|era|eran|fue|fueron|se llama|está|están|tiene)\b", False),
    ("correction", "corrección equivoqué refería decir", r"^corrección\b.{6,}|\bme equivoqué\b.{6,}|\bme refería a\b|\bquise decir\b", False),
    ("correction", "ya", r"\bya no (?:es|vivo|trabajo|tengo|usamos|está|se usa|son)\b", False),
    ("correction", "no", r"\b(?:es|son|era|empieza|en|el)\b.{2,50}, (?:y )?no (?:el |la |en |a )?\S+(?: \S+){0,2}[.!]?$", False),
    ("decision", "decidido decidimos decidí acordamos acordado elegimos elegido quedamos optamos", r"\b(?:hemos|he|ha|han) (?:decidido|acordado|elegido|optado)\b|\b(?:decidimos|decidí|acordamos|elegimos|elegí|optamos|quedamos en)\b", False),
    ("decision", "partir ahora adelante", r"\b(?:a partir de (?:ahora|hoy|mañana|{w})|de ahora en adelante|en adelante|desde hoy|desde ahora)\b", True),
    ("decision", "vamos usaremos cambiaremos dejamos pasamos", r"\bvamos a (?:usar|cambiar|dejar|migrar|mover|adoptar)\b|\b(?:usaremos|cambiaremos a|dejamos de|pasamos a|nos quedamos con)\b", False),
    ("decision", "está queda quedó", r"\b(?:está|queda|quedó)(?: ya)? (?:decidid[oa]|acordad[oa]|aprobad[oa]|fijad[oa])\b", False),
    ("preference", "prefiero gusta gustan encanta encantan odio detesto favorito favorita soporto aguanto", r"\b(?:prefiero|preferimos|me gustan?|me encantan?|odio|detesto|no soporto|no aguanto)\b(?! (?:esto|eso)[.!]*$)|\bmi {w} (?:favorit[oa]|preferid[oa])\b|\bmi favorit[oa]\b", False),
    ("preference", "como bebo tomo fumo uso trabajo", r"\bno (?:como|bebo|tomo|fumo|uso|trabajo) \S+", False),
    ("preference", "siempre nunca", r"^(?:por favor,? )?(?:siempre|nunca)\b \S+ \S+|^(?:por favor,? )?{w}(?: \S+){0,6} (?:siempre|nunca)\b", True),
    ("preference", "llámame responde contesta", r"^(?:por favor,? )?(?:llámame|responde(?:me)?|contesta(?:me)?)\b \S+", True),
    ("fact", "soy vivo trabajo nací tengo estudio hablo tenemos", r"\b(?:soy (?:una? |de |(?:alérgic|vegetarian|vegan|diabétic)[oa]|{w}(?=[.,]))|vivo en|trabajo (?:en|como|de|para)|nací|tengo (?:una?|dos|tres|cuatro|\d+|alergia)|estudio {w}|hablo|tenemos (?:una?|dos|tres|cuatro|\d+)|no como|no bebo)\b(?!.{0,12}\b(?:pregunta|problema|duda|idea)\b)", False),
    ("fact", "mi mis nuestro nuestra nuestros nuestras", r"\b(?:mis?|nuestr[oa]s?) (?:\S+ ){1,4}?(?:es|son|está|tiene|tienen|vive|trabaja|habla|se llama|cierra|abre|tarda|empieza|termina|cuesta|usa|nació)\b(?!.{0,10}\b(?:roto|lento|vacío|mal)\b)", False),
    ("fact", "dirige trabaja vive lleva cierra abre tarda cuesta empieza dura", r"^(?:el|la|los|las) (?:\S+ ){1,5}?(?:cierra|abre|tarda|cuesta|empieza|termina|dura|funciona con|pertenece)\b|^(?-i:[A-ZÁÉÍÓÚ]\w+) (?:dirige|trabaja|vive|lleva|coordina|enseña)\b", False),
    ("identifier", "es son está en se", r"\b(?:es|son|está|están|se llama|en|bajo)\b|:", False),
)  # fmt: skip

_FRENCH: tuple[tuple[Kind, str, str, bool], ...] = (
    ("correction", "non pardon erreur fait faux", r"^(?:non|pardon|erreur|en fait|c'est faux|faux)\b[,:;.]\s.*\b(?:est|sont|était|pas|s'appelle|a|commence)\b|^(?:non|pardon|en fait|faux), c['’]est\b", False),
    ("correction", "mais", r"\b(?:n['’]est|ne sont|n['’]était) pas\b.{1,60}\b(?:mais|c['’]est)\b", False),
    ("correction", "correction trompé dire", r"^(?:petite )?correction\b.{6,}|\bje me suis trompée?\b.{6,}|\bje voulais dire\b", False),
    ("correction", "plus", r"\b(?:n['’]est|n['’]habite|ne travaille|n['’]utilisons|ne sont)\b.{0,10}\bplus\b", False),
    ("correction", "pas", r"\b(?:est|sont|commence|à|le|c['’]est)\b.{2,50}, (?:et )?(?:non )?pas \S+(?: \S+){0,2}[.!]?$", False),
    ("decision", "décidé choisi convenu opté tranché retenu", r"\b(?:avons|ai|a|ont|est|sommes|suis)(?: tous| finalement| enfin)? (?:décidé|choisi|convenus?|opté|tranché|retenu)\b", False),
    ("decision", "désormais dorénavant partir", r"\b(?:désormais|dorénavant|à partir de (?:maintenant|demain|{w})|à partir du|dès (?:maintenant|demain|aujourd'hui|lundi))\b", True),
    ("decision", "passons utiliserons gardons allons abandonnons", r"\b(?:nous|on) (?:passons à|passe à|utiliserons|gardons|garde|abandonnons|abandonne|allons (?:utiliser|passer|garder|abandonner))\b", False),
    ("preference", "préfère préférons aime aimons déteste adore supporte préféré préférée", r"\bje (?:préfère|déteste|adore|n['’]aime pas|ne supporte pas)\b|\bj['’](?:aime|adore)\b(?! (?:ça|bien ça)\b)|\bmon? {w} préférée?\b|\bma {w} préférée\b", False),
    ("preference", "toujours jamais", r"^(?:s['’]il te plaît,? |merci de )?{w}(?: \S+){0,8} (?:toujours|jamais)\b|^(?:toujours|jamais)\b", True),
    ("preference", "appelle tutoie vouvoie réponds", r"^(?:appelle|tutoie|vouvoie)[- ]moi\b|^(?:tutoie|vouvoie|réponds)[- ]moi?\b", True),
    ("fact", "suis habite travaille née né ai avons parle", r"\bje (?:suis (?:une? |née? |allergique|végétarien(?:ne)?|végane|diabétique|mariée?|{w}[.,])|travaille (?:à|chez|comme|dans|pour)|parle|vis à|ne mange pas|ne bois pas)|\bj['’](?:habite|ai (?:une?|deux|trois|quatre|\d+)|étudie|enseigne)\b|\bnous avons (?:une?|deux|trois|\d+)\b(?!.{0,12}\b(?:question|problème|idée)\b)", False),
    ("fact", "mon ma mes notre nos", r"\b(?:mon|ma|mes|notre|nos) (?:\S+ ){1,4}?(?:est|sont|a|ont|habite|travaille|parle|s['’]appelle|ferme|ouvre|dure|commence|coûte|utilise)\b(?!.{0,10}\b(?:cassé|lent|vide|faux)\b)", False),
    ("fact", "dirige travaille habite ferme ouvre dure coûte commence", r"^(?:le|la|les|l['’]) ?(?:\S+ ){1,5}?(?:ferme|ouvre|dure|coûte|commence|appartient|contient)\b|^(?-i:[A-ZÀ-Ý]\w+) (?:dirige|travaille|habite|gère|enseigne)\b", False),
    ("identifier", "est sont à sous se", r"\b(?:est|sont|à|sous|se trouve|s['’]appelle|dans)\b|:", False),
)  # fmt: skip

# Chinese and Japanese are written without spaces: the words are looked for as pieces of the sentence.
_CHINESE: tuple[tuple[Kind, str, str, bool], ...] = (
    ("correction", "不是 不在 不叫", r"不是.{1,30}(?:[，,]?\s*(?:而)?是).+|(?:是|在|叫|为).{1,30}[，,]\s*(?:而)?不(?:是|在|叫).{1,20}", False),
    ("correction", "错了 錯了 说错 說錯 更正 纠正 糾正 搞错 记错 弄错 作废 有误", r"(?:错了|錯了|说错|說錯|更正|纠正|糾正|搞错|记错|弄错|作废|有误).{2,}", False),
    ("correction", "弄反 搞反 说反 写作 写成 其实要 其实是", r"(?:弄反|搞反|说反|理解错).{3,}|(?:写作|写成|读作).{1,20}不(?:是|写).{1,}|说的是.{1,30}(?:其实|实际|应该|但).{2,}|其实(?:要|是|有|叫).{1,}", False),
    ("correction", "已经不 搬到", r"已经不.{1,20}了", False),
    ("correction", "不对 不對 应该是 應該是 其实 其實", r"^(?:不对|不對|应该是|應該是).{3,}|应该是.{1,20}(?:不是|才对)|^(?:其实|其實).{0,12}(?:是|叫|在|不).{1,}", False),
    ("correction", "不再是 已经不 已經不 改成了 改为了", r"(?:不再是|已经不(?:在|是|用|住)|已經不(?:在|是|用|住)|改成了|改为了).{1,}", False),
    ("decision", "决定 決定 选定 選定 选了 選了 选择了 敲定 确定用 定了 定为 定下来", r"(?:决定|決定|选定|選定|选了|選了|选择了|敲定|确定(?:用|采用)|(?:已经)?定了|定为|定下来)(?!吗|没|吧)", False),
    ("decision", "从现在 從現在 今后 今後 往后 从今 以后都 以后就 以後都 以后一律 从下 从明", r"(?:从现在(?:开始|起)|從現在(?:開始|起)|今后|今後|往后|从今(?:天|往后|以后)|以后(?:都|就|一律|全部)|以後都|从(?:下周|下个?月|明天|明年|周[一二三四五六日])(?:开始|起))", True),
    ("decision", "改用 换成 換成 采用 採用 放弃 放棄 不再用 不再使用 不再支持 停用 迁移到 切换到", r"(?:改用|换成|換成|采用|採用|放弃|放棄|不再(?:用|使用|支持|写)|停用|迁移到|切换到)(?!.{0,6}(?:吗|吧|试试))", False),
    ("decision", "通过 投票 定在 定好 最终确定 不改 继续用 不再 我选 我们选", r"(?:投票|表决).{0,4}(?:通过|决定)|通过(?:了)?(?:决议|出售|提案|方案)|定在.{1,}|定好|最终确定|不改了|继续(?:用|使用|沿用).{2,}|(?:我|我们)不再.{2,}|(?:我|我们)选(?!了吗|择吗).{1,}", False),
    ("decision", "否决 批准 驳回 取消", r"^[^我你他她它这那谁如]{2,12}(?:否决|批准|驳回|取消)了.{2,}", False),
    ("decision", "同意 商量好 说好 达成一致 约好 一致", r"(?:一致同意|大家同意|都同意|商量好|说好|达成一致|约好了)", False),
    ("preference", "喜欢 喜歡 讨厌 討厭 最爱 最愛 偏好 更愿意 宁愿 寧願 宁可 受不了 偏爱 不爱 爱吃 爱喝 爱用 倾向", r"(?:喜欢|喜歡|讨厌|討厭|最爱|最愛|偏好|更愿意|宁愿|寧願|宁可|受不了|偏爱|不爱|爱[吃喝用看听]|倾向(?:于)?)(?!你的?(?:回答|主意)|这个$|这样$)", False),
    ("preference", "对我来说 合适 爱 尽量 千万 一直用 舒服 先", r"对我来说.{0,12}(?:合适|方便|好|舒服|重要)|最合适|(?:我|我们|都|爱人|家人).{0,8}(?:爱(?!人).{2,}|更爱)|我.{0,6}尽量.{2,}|.{2,}我尽量.{1,}|千万(?:别|不要|要).{3,}|我.{0,4}一直(?:用|喝|吃|穿|坐|买).{1,}|(?:汇报|回答|写|回复|总结).{0,6}(?:时候|时|的话)?.{0,6}(?:先|要).{2,}", True),
    ("preference", "习惯 習慣", r"我.{0,6}(?:习惯|習慣).{3,}|(?:习惯|習慣)(?:用|于|早)", True),
    ("preference", "叫我 称呼我 稱呼我 喊我", r"(?:请|可以|以后|就|都)?(?:叫|称呼|稱呼|喊)我.{1,}", True),
    ("preference", "统一 一律", r"(?:统一|一律)(?:用|使用|采用|写成|写作|改成|放在).{1,}", True),
    ("preference", "请一直 请总是 请始终 以后请 以后不要 以后别 每次都 永远不要 总是用 一律用 请不要 请别 不要用 别用 不要再 别再 请用 请尽量", r"(?:请(?:你)?(?:一直|总是|始终|尽量)|以后(?:请|不要|别|要)|每次都|永远(?:不要|别)|总是用|一律用|(?:请)?(?:不要|别)(?:再|用|给我|在).{2,}|请用.{1,10}(?:回答|回复|写|说)|(?:回答|回复|写|说|说话|总结|汇报)(?:的)?(?:时候?|的话)?.{0,4}请?用.{2,})", True),
    ("fact", "我", r"(?:我|我们|咱们|咱)(?!.{0,4}(?:觉得|想|看看|再|先|刚|马上|去|要|不知道|不确定|试试)).{0,6}(?:是(?!不是).{2,}|住在?|来自|出生|毕业|当.{2,}|做.{2,}(?:工作|生意)|有(?:一|两|二|三|四|五|六|七|八|九|十|\d|个|只).{1,}|养了?|姓|名叫|叫(?!我).{1,}|过敏|吃素|不吃|不喝|不会(?:开车|游泳)|会说|在.{2,}(?:工作|上班|上学|读书|教|当)|戴|患有|结婚|怀孕|今年\d+岁|从事|属)", False),
    ("fact", "我女儿 我儿子 我妈 我爸 我妻子 我老婆 我丈夫 我老公 我家 我哥 我姐 我弟 我妹 我的 我们的 我们家 我孩子 我奶奶 我爷爷 我公司 我们公司 我们团队 我同事", r"我(?:女儿|儿子|妈妈?|爸爸?|妻子|老婆|丈夫|老公|家|哥哥?|姐姐?|弟弟?|妹妹?|孩子|奶奶|爷爷|同事|(?:们)?(?:的|家|公司|团队)).{1,}(?:是|在|有|叫|对|只|会|不|住|来|养|做|当|喜|爱|每|今|从|已|用|到|要|过|分|占|开|关)", False),
    ("fact", "负责 負責 管理 带领 担任 主管", r"^[^我你他她它这那谁]{2,12}(?:负责|負責|管理|带领|担任|主管).{2,}", False),
    ("fact", "代号 暗号 昵称 别名 网名 缩写 简称 绰号", r"(?:代号|暗号|昵称|别名|网名|缩写|简称|绰号)(?:是|叫|为).{1,}", False),
    ("fact", "每周 每週 每天 每月 每年 需要 耗时 关门 关闭 开门 营业 位于 属于 容量 共有 一共 截止 有效期 到期 生日", r"^(?!.{0,3}(?:请|帮|把|再|你)).{2,16}(?:每(?:周|週|天|月|年|个?星期).{2,}|(?:大约|大概|一般|至少)?(?:需要|耗时).{0,3}[一二三四五六七八九十百\d]|关门|开门|营业|位于|属于|共有|一共|截止|有效期|到期|生日(?:是|在)|容量)", False),
    ("fact", "记住 記住 别忘了 記得 记得 记一下 备注", r"^(?:请|帮我)?(?:记住|記住|别忘了|记得|記得|记一下|备注)[：:,，]?.{5,}", True),
    ("identifier", "是 在 叫 为 ： : 端口 地址 邮箱 电话 编号 号", r"是|在|叫|为|：|:|端口|地址|邮箱|电话|编号|号", False),
)  # fmt: skip

_JAPANESE: tuple[tuple[Kind, str, str, bool], ...] = (
    ("correction", "ではなく じゃなく でなく", r"(?:では|じゃ|で)なく.{1,}", False),
    ("correction", "訂正 正しくは 間違い 間違え まちがい 誤り 違います 違う 実は", r"^(?:訂正|いいえ|いや|違い?ます|違う|すみません).{4,}|正しくは.{2,}|(?:の|が|は)(?:間違い|まちがい|誤り)(?:でした|です|だった)|間違えました.{0,}|と言いましたが.{2,}|^実は.{2,}(?:ではな|じゃな)", False),
    ("correction", "逆です しまった 言ったけど 言ったけれど 言いましたが", r"^(?:逆です|逆だ|しまった).{4,}|と言った(?:けれ?ど|が).{2,}", False),
    ("correction", "もう", r"もう.{0,12}(?:いません|いない|ありません|使っていません|住んでいません)[、。].{0,}", False),
    ("correction", "もう では なくなり 変わり 変更", r"もう.{1,20}(?:では|じゃ)(?:ありません|ない)|に(?:変わりました|変更になりました|変更しました)", False),
    ("decision", "決め 決ま 決定 ことにし ことになり ことになっ 合意 採用", r"(?:決めました|決めた|決まりました|決まった|に決定|決定し|決定です|ことにしました|ことにした|ことにします|ことになりました|ことになった|合意し|採用(?:しました|した|します))(?!か)", False),
    ("decision", "今後 これから 今日から 明日から 来月から 来週から 以後 今から", r"(?:今後は?|これからは|今日から|明日から|来月から|来週から|以後|今から).{3,}(?:ます|る|した|です|にする|ない)", True),
    ("decision", "可決 確定 予約済み 否決", r"可決(?:した|しました|され)|確定(?:です|しました|した)|予約済み", False),
    ("decision", "選びました 選んだ 選ぶ やめる やめます 移行し 切り替え 廃止", r"(?:を選びました|を選んだ|(?:を|は)(?:もう)?やめ(?:ます|る|ました|た)|に移行(?:します|しました|する)|に切り替え(?:ます|ました|る)|を廃止)", False),
    ("preference", "好き 嫌い 苦手 好み お気に入り 好む 大好き", r"(?:好き(?:です|だ|な|で|じゃ|では|なの)|嫌い(?:です|だ|な|で)?|苦手(?:です|だ|な|で)?|好み(?:です|だ)|お気に入り(?:は|です|の)|好む|好みます)", False),
    ("preference", "ありがたい 楽 なるべく できれば 避けて 見やすい", r"が(?:ありがたい|助かり?ます|嬉しい|うれしい)|(?:ほう|方)が.{0,8}(?:楽|見やすい|読みやすい|落ち着)|(?:なるべく|できるだけ|できれば).{2,}|避けて(?:い)?ます", False),
    ("preference", "ほうがいい 方がいい ほうが好 方が好 がいいです のが楽", r"(?:ほう|方)が(?:いい|好き|楽|よい|良い)(?!と思い?ますか|かも|のでは)|(?:書き|表|箇条書き|説明|返事|答え|[ァ-ヶー]{2,}).{0,6}がいい(?:です)?[。.]?$", True),
    ("preference", "呼んで いつも 常に 必ず 毎回 使わないで しないで 避けて 二度と 絶対に", r"と?呼んで(?:ください|ね|ほしい)?|(?:いつも|常に|必ず|毎回|絶対に|二度と).{1,}(?:ください|て[。.]?$|で[。.]?$|ほしい)|(?:使わ|し|書か|送ら|入れ|省か)ないで(?:ください|ほしい|ね)?|は避けて", True),
    ("preference", "たくない てほしい", r"(?:は|を|に)[^。]{0,10}たくない(?:です)?|てほしい(?:です)?[。.]?$", False),
    ("fact", "私 わたし 僕 俺 うち 弊社 我が家 当社 娘 息子 妻 夫 母 父 兄 弟 姉 妹 家族 祖母 祖父 子ども 会社", r"(?:私|わたし|僕|俺|うち|弊社|我が家|当社|我々|私たち|娘|息子|妻|夫|母|父|兄|弟|姉|妹|家族|祖母|祖父|子ども|会社)(?:の[^。はが]{1,12})?(?:は|も|には|では|が|、).{2,}(?:です|ます|ません|ました|だ|いる|ある|た|ない|ています|でいます|歳)[。.!！]?$", False),
    ("fact", "住んで 働いて 勤めて 勤務 生まれ 飼って 通って アレルギー 出身", r"(?:住んで(?:い)?(?:ます|る)|働いて(?:い)?(?:ます|る)|勤めて|勤務して|生まれ(?:ました|た|です|、)|飼って(?:い)?(?:ます|る)|通って(?:い)?(?:ます|る)|アレルギー(?:が|です)|出身です)", False),
    ("fact", "さん", r"さん(?:は|が).{2,}(?:担当|率いて|責任者|管理して|働いて|住んで|部長|課長|リーダー|話せ|好き|教えて(?:い)?(?:ます|る))", False),
    ("fact", "毎週 毎日 毎月 毎年 かかります かかる 閉まり 開き あります 締め切り 期限 誕生日 あり", r"^(?!.{0,4}(?:その|この|あの|エラー|問題|質問)).{2,20}(?:は|には|が).{0,20}(?:毎(?:週|日|月|年).{2,}|かかります|かかる[。.]?$|閉まり(?:ます)?|開き(?:ます)|(?:[一二三四五六七八九十\d]+)(?:つ|台|匹|人|個|室|区画|階)?(?:が)?(?:あります|います|ある)|つあります|締め切り(?:は|です)|期限(?:は|です)|誕生日)", False),
    ("fact", "覚えて メモ", r"^(?:.{6,}(?:と|を|を)(?:覚えて(?:おいて)?|メモして)|(?:覚えて(?:おいて)?|メモ)[：:、,].{4,})", True),
    ("identifier", "は の です に が ： :", r"は|です|にあります|が|：|:", False),
)  # fmt: skip


def _rules(language: str, table: Sequence[tuple[Kind, str, str, bool]]) -> list[Rule]:
    return [
        Rule(
            kind,
            language,
            tuple(words.split()),
            re.compile(pattern.replace("{w}", _WORD).replace("{n}", _NAME), re.IGNORECASE),
            durable,
        )
        for kind, words, pattern, durable in table
    ]


LATIN = tuple(
    rule
    for language, table in (
        ("en", _ENGLISH),
        ("de", _GERMAN),
        ("es", _SPANISH),
        ("fr", _FRENCH),
        ("pt", PORTUGUESE),
        ("ru", RUSSIAN),
    )
    for rule in _rules(language, table)
)
"""Rules of languages with spaces between words."""

CHINESE, JAPANESE = tuple(_rules("zh", _CHINESE)), tuple(_rules("ja", _JAPANESE))

OWN = re.compile(
    r"\b(?:my|our|mine|ours|mein(?:e[rnms]?)?|unser(?:e[rnms]?)?|mis?|nuestr[oa]s?|mon|ma|mes|notre|nos)\b"
    r"|(?:我|咱|本人)|(?:私|わたし|僕|俺|うち|弊社|当社|我が家)|^(?:娘|息子|妻|夫|母|父|兄|弟|姉|妹|祖母|祖父)",
    re.IGNORECASE,
)
"""A word that says whose it is."""

LASTING = Worded(
    r"\b(?:since|every|each|daily|weekly|monthly|yearly|once a|twice a|times a|per (?:day|week|month|year)|always|on (?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|until|valid|permanently|(?:in|at the end of) (?:january|february|march|april|may|june|july|august|september|october|november|december)"
    r"|seit|jede[nrsm]?|täglich|wöchentlich|monatlich|jährlich|einmal|zweimal|dreimal|(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs|im (?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)"
    r"|cada|desde|siempre|todos los|chaque|depuis|tous les|toujours)\b"
    r"|每|一直|从.{1,10}(?:开始|到现在|起)|[一二三两四五六七八九十\d]+(?:次|月)|星期[一二三四五六日天]|周[一二三四五六日]"
    r"|毎|ずっと|以来|から.{1,10}(?:ます|まで)|一日|[一二三四五六七八九十\d]+(?:月|回)|[月火水木金土日]曜日?は",
    "since every each daily weekly monthly yearly monatlich once twice times per always monday mondays tuesday tuesdays "
    "wednesday wednesdays thursday thursdays friday fridays saturday saturdays sunday sundays until valid "
    "permanently january february march april may june july august september october november december seit jede "
    "jeden jeder jedes jedem einmal zweimal dreimal montags dienstags donnerstags freitags samstags sonntags "
    "mittwochs januar februar mai juni juli oktober dezember cada desde siempre todos chaque depuis tous toujours",
)
"""A word that says it holds for longer than today."""

PLACED = Worded(
    r"\b(?:hangs?|sits?|stands?|lies|is kept|are kept|is stored|are stored|lives?|is hidden)\b.{0,12}\b(?:behind|under|in|next to|above|at|on|inside|below|beside)\b"
    r"|\b(?:hängt|hängen|steht|stehen|liegt|liegen|lagern?)\b.{0,12}\b(?:hinter|unter|im|in|neben|über|am|an|auf|beim)\b"
    r"|\b(?:cuelga|está guardad[oa]|se guarda)\b|\b(?:se trouve|est rangée?|est accrochée?)\b"
    r"|(?:挂|放|藏|锁|存|收)在.{2,}|(?:に|へ)(?:掛けて|置いて|しまって|隠して|保管して)(?:あり|い)",
    "hang hangs sit sits stand stands lies kept stored live lives hidden steht stehen liegt liegen lager lagern "
    "cuelga guarda trouve",
)
"""Where something is kept."""

TROUBLE = Worded(
    r"\b(?:errors?|fails?|failed|failing|failure|crash(?:ed|es)?|broken|broke|bugs?|doesn'?t|didn'?t|won'?t|can'?t|not working|compiles?|exception|stuck|hangs up|freezes|frozen|slow|weird|wrong|missing|problems?|issues?|questions?|ideas?|timeout|warning"
    r"|let me|give me|said|says|told|wondering|trying|tried|looking|working on|waiting|thinking|guess|wait|about to|think"
    r"|fehler|fehlgeschlagen|scheitert|gescheitert|abgestürzt|kaputt|geht nicht|funktioniert|problem|frage|idee|lass mich|meinte|sagte|gerade dabei|versuche|warte|denke"
    r"|falla|falló|error|problema|pregunta|échoue|échoué|erreur|problème|question)\b"
    r"|失败|报错|错误|坏了|不行|问题|提示|让我|想想|他说|她说|不懂|正在|在等|エラー|失敗|動かない|動きません|壊れ|質問|問題|考えさせ|と言って|待って|試し|しています[。.]?$",
    "error errors fail fails failed failing failure crash crashed crashes broken broke bug bugs doesn doesnt didn "
    "didnt won wont can cant working compile compiles exception stuck hangs freezes frozen slow weird wrong "
    "missing problem problems issue issues question questions idea ideas timeout warning let give said says told "
    "wondering trying tried looking waiting thinking guess wait about think fehler fehlgeschlagen scheitert "
    "gescheitert kaputt geht funktioniert frage idee lass meinte sagte gerade versuche warte denke falla problema "
    "pregunta erreur",
)
"""What stands in the way just now: work in progress, not something to remember."""

QUESTION = re.compile(
    r"[?？]\s*[”\"')）」』]*$|(?:吗|呢|嗎)[。.!！]?$|(?:です|ます|でしょう|ません|した)か[。.]?$"
    r"|^(?:what|why|how|when|where|who|which|whose|is|are|was|were|do|does|did|can|could|would|should|will|have you"
    r"|was(?! ich)|wer|wie|wann|wo|warum|wieso|weshalb|welche[rsn]?|kannst|könntest|könnte|weißt|hast du|gibt es"
    r"|qué|cómo|cuándo|dónde|quién|puedes|comment|quand|où|pourquoi|peux-tu|est-ce)\b[^.!,;]*$",
    re.IGNORECASE,
)
"""A question, by its mark, its ending or its first word."""


def is_question(sentence: str) -> bool:
    """Whether a sentence asks; without a mark, one of ASCII can only begin so."""
    plain = sentence.isascii() and "?" not in sentence
    return (QUESTION.match(sentence) if plain else QUESTION.search(sentence)) is not None


HEDGED = Worded(
    r"\b(?:maybe|perhaps|might|possibly|not sure|unsure|i guess|i suppose|i think|probably|presumably|could be|i wonder|we could|we should probably"
    r"|considering|thinking (?:about|of)|tentatively"
    r"|vielleicht|eventuell|möglicherweise|vermutlich|wahrscheinlich|glaube|bin (?:mir )?nicht sicher|könnten wir|denke ich|überlege"
    r"|quizás?|tal vez|a lo mejor|creo que|probablemente|no estoy segur[oa]|peut-être|sans doute|je crois|je pense que|probablement"
    r"|talvez|acho que|provavelmente|может быть|возможно|наверное?|наверно|кажется|похоже|вроде|вероятно|не уверена?)\b"
    r"|也许|或许|可能(?!性)|大概是|应该会吧|不确定|我觉得|说不定|估计|考虑|かもしれ|たぶん|多分|おそらく|もしかし|と思います|と思う|自信がな|検討",
    "maybe perhaps might possibly sure unsure guess suppose think probably presumably could wonder considering "
    "thinking tentatively vielleicht eventuell vermutlich wahrscheinlich glaube sicher denke vez mejor creo "
    "probablement probablemente estoy doute crois pense talvez acho provavelmente",
)
"""Words by which a person says that it is not certain."""

UNREAL = Opening(
    r"^(?:if (?:i|we|you|it|he|she|they) (?:were|was|had|could)|imagine|suppose|pretend|in the (?:story|novel|game|book|film|movie|dream)|in my (?:story|novel|game|dream)|once upon"
    r"|let's say|hypothetically|say the character|as a pirate"
    r"|wenn (?:ich|wir|er|sie|man) .{1,40}(?:wäre|hätte|könnte|würde)|stell dir vor|angenommen|(?:im|in (?:der|meiner|dem|einem)) (?:geschichte|roman|spiel|märchen|traum|buch|film)|es war einmal"
    r"|si (?:fuera|tuviera)|imagina|en (?:el cuento|la historia|la novela)|si j['’]étais|imagine|dans (?:l['’]histoire|le roman|le jeu))"
    r"|^(?:如果|假如|要是|假设|想象|比如说).{1,}|^(?:故事|小说|游戏|电影|梦)(?:里|中)|(?:だったら|たら).{1,}(?:のに|だろう)|^(?:物語|小説|ゲーム|映画|夢)(?:の中)?(?:の|で|では|に)|^もし.{1,}(?:たら|なら|ば)",
)
"""What is only imagined."""

PASSING = Worded(
    r"\b(?:right now|at the moment|just now|in a (?:minute|moment|second|sec|bit)|be right back|brb|so tired|today i|i am so|i'm so|i'm just|i am just|this morning|tonight|a second ago"
    r"|(?:on|in) the (?:train|bus|subway|tram|metro|car)|give it a (?:minute|sec)|im (?:zug|bus|auto)|en el (?:bus|tren|metro|coche)|dans le (?:train|bus|métro)|no (?:ônibus|onibus|metrô|trem)"
    r"|gerade|gleich|kurz|heute|im moment|momentan|eben|ahora mismo|hoy|en este momento|tout de suite|en ce moment|aujourd'hui)\b"
    r"|в (?:метро|автобусе|поезде|электричке)|щас|(?:现在|正|还)?在(?:地铁|高铁|公交|火车|飞机|车|路)上|信号(?:不|断)|電車の中|バスの中"
    r"|今天|今晚|刚刚|刚才|马上|这会儿|待会|一会儿|等一下|等一等|稍等|等我|我再(?:试|看|查|想|问|找)|今日は|今夜|ちょっと|さっき|今から.{0,6}(?:行|出)",
    "now moment minute second sec bit back brb tired today so just morning tonight ago train bus subway tram metro car zug auto "
    "tren coche onibus trem gerade gleich kurz heute "
    "momentan eben ahora hoy momento suite aujourd",
)
"""What holds for the moment only: facts with such a word are not kept."""

REQUEST = Opening(
    r"^(?:(?:ok(?:ay)?|so|now|then|and|great|hey|hi|thanks)[,!. ]+)*(?:please|pls|can you|could you|would you|i(?:'d| would) like (?:you to|to see)|i want to see|i need you to"
    r"|show|write|translate|try|run|open|fix|make|create|add|remove|delete|rename|list|find|search|explain|summari[sz]e|check|look|tell|give|send|change|update|install|test|help|draft"
    r"|compare|convert|calculate|generate|remind|start|stop|restart|go ahead|continue|print|read|refactor|implement|review|build|deploy|commit|push|merge|use|put|set|move|turn|let me|let's (?:continue|start|see|try|begin|look|talk))\b"
    r"|^(?:(?:ok(?:ay)?|so|gut|dann|und|jetzt)[,!. ]+)*(?:bitte|kannst du|könntest du|zeig|schreib|übersetz|versuch|starte|öffne|mach|erstelle|lösche|nenne|such|finde|erklär|fasse|prüf|schau|sag|gib|sende"
    r"|schick|ändere|installiere|teste|hilf|vergleiche|rechne|weiter|führ|lies|benenn)\w*\b"
    r"|^(?:por favor|puedes|muéstra|escribe|traduce|intenta|ejecuta|abre|haz|crea|borra|busca|explica|dame|montre|écris|traduis|essaie|lance|ouvre|fais|crée|supprime|cherche|explique|donne|s['’]il te plaît)\w*\b"
    r"|^(?:por favor|rod[ae]|mostr[ae]|escrev[ae]|traduz\w*|explique|corrij[ae]|abr[ae]|пожалуйста|запусти|покажи|напиши|переведи|объясни|исправь|открой|удали|найди|проверь|переименуй|сделай)\w*\b"
    r"|^(?:请|麻烦|帮我?|帮忙|给我|把|再|试|去掉|跑一?下|你能|能不能|可以帮|继续|翻译|写|运行|打开|删|查|看一?下|解释|总结)"
    r"|(?:てください|て下さい|してくれ|てくれる|てもらえ|て|ましょう|お願いします|してみて|見せて|書いて|訳して|試して|始めて)[。.!！]?$",
)
"""What is to be done now."""

GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|hiya|yo|good (?:morning|evening|afternoon|night)|morning|evening|bye|goodbye|see you|cheers|hallo|moin|servus|guten (?:morgen|tag|abend)|gute nacht|tschüss|bis (?:morgen|bald|später|dann)"
    r"|hola|buenos días|buenas|adiós|bonjour|bonsoir|salut|au revoir|你好|您好|早上好|早安|晚安|再见|明天见|おはよう(?:ございます)?|こんにちは|こんばんは|またね|また明日|お疲れ様(?:です|でした)?|さようなら)[!,.。！、~ ]*(?:\w+[!.]*)?)$",
    re.IGNORECASE,
)
"""Nothing but a greeting."""

THANKS = re.compile(
    r"^(?:ok(?:ay)?|k|yes|no|yep|yup|nope|sure|fine|thanks|thank you|thx|ty|got it|understood|cool|nice|great|good|perfect|awesome|alright|right|exactly|lol|haha+|hmm+|sounds good|works for me|done"
    r"|ja|nein|jo|danke|super|prima|passt|klar|alles klar|genau|gut|keine ahnung|verstanden|sí|vale|gracias|perfecto|oui|merci|d'accord|parfait"
    r"|好|好的|嗯|行|可以|收到|了解|明白|谢谢|感谢|没问题|不知道|我不知道|哈哈|はい|いいえ|うん|了解|わかりました|わかりません|ありがとう(?:ございます)?|なるほど|笑)"
    r"(?:[!,.。！、~… ]+.{0,30})?$",
    re.IGNORECASE,
)
"""Nothing but an assent or a thank-you, with a few words behind it."""

STATE = re.compile(
    r"^(?:it|this|that|everything|the (?:build|test|tests|error|bug|page|output|result|command|script))(?:'s| is| are| was| works| looks| seems| fails| failed| still)\b",
    re.IGNORECASE,
)
"""How things stand while working."""

REVOKED = Opening(
    r"^(?:(?:ah|oh|uh|ups|oops|uy|ay|ой|hm+|ach|oye|hey|ok)[,.! ]+)*(?:no,? wait|wait,? no|hang on|hold on|scratch that|actually,? no|nope|change of plans?|forget (?:that|about|the)|we(?:['’]ve| have) (?:flipped|changed|moved)|i told you (?:wrong|the wrong)"
    r"|n(?:e|ee|ein|ö),? stimmt nicht mehr|stimmt (?:so )?nicht mehr|halt,? falsch|doch nicht|doch(?=[:,])|planänderung|inzwischen|vergiss (?:das|die|den)"
    r"|no,? (?:mentira|perd[oó]n|espera)|mentira|me equivoqu[eé]|mir[eé] mal|cambio de planes|me adelantaron|me atrasaron"
    r"|(?:ah )?non,? pardon|en fait non|changement de programme|je me suis plantée?|n[ãa]o,? (?:pera|espera)|mudança de planos|olhei errado|deu ruim"
    r"|поправка|стоп|нет,? (?:стой|погоди)|я ошиб|не,? (?:стой|погоди))(?!\w)[,:;. ]*.{8,}"
    r"|^(?:啊|哦|诶)?[，, ]*(?:不对|不對|等等|我记错了|搞错了|说错了|改了|计划变了)[，,。 ].{3,}|^(?:いや|ごめん|あ)?[、, ]*(?:違った|違う|間違えた|やっぱり?違|訂正)[、。, ].{3,}"
    r"|^.{6,}(?:我的信息过时|我(?:之前)?(?:记错|说错|搞错)了).{0,6}$",
)
"""What takes back something said before, whatever the new value."""

SETTLED = re.compile(
    r"\b(?:we(?:['’]re| are)|i(?:['’]?m| am)) done with\b.{6,}|\b(?:we|they|everybody|the (?:team|board|class))(?: all)? voted\b.{6,}|\bagreed with (?-i:[A-Z])\w+.{6,}"
    r"|\bwir ham\b.{0,40}\b(?:entschieden|beschlossen|geeinigt)\b|\b(?:dann|also) wird['’]?s\b.{4,}|\bes wird (?:jetzt )?(?-i:[A-ZÄÖÜ])\w+"
    r"|\b(?:ya qued[oó]|est[aá] decidido|nos (?:vamos|quedamos) con|hemos votado|votamos|se qued[oó] en)\b.{4,}"
    r"|\b(?:c['’]est acté|c['’]est décidé|on a voté|on quitte .{2,30} pour|c['’]est validé)\b.{4,}|\b(?:votamos|ficou fechado|batemos o martelo)\b.{4,}"
    r"|(?:拍板|定了|定下来|说定了|商量好了|碰过了)[：:，,].{3,}|(?:明年|下个?月|下周|以后)起?.{0,4}(?:全|都)?(?:改成|换成|改用)|(?:に|で)決まり(?:です|だ|ね)?",
    re.IGNORECASE,
)
"""A decision by what is said around it."""

ADDRESSED = re.compile(
    r"\b(?:du kannst|kannst) (?:du )?mich (?:\w+ )?duzen\b|\b(?:tu peux|vous pouvez|on peut) (?:me |se )?tutoyer\b|\bno me trates? de (?:usted|tú|vos)\b|\b(?:trat|tut)[eé]ame\b"
    r"|\bno me (?!digas|jodas)\w+[ae]s \w+|\b(?:pode|podes) me (?:chamar|tratar)\b|(?<!\w)на ты(?!\w)|(?:敬語|箇条書き|絵文字|長文).{0,6}(?:やめ|なし|禁止|いらない|少なめ|多め)|タメ口"
    r"|\bno [\w ]{2,30} ever\b|\bnever (?:set up|schedule|book|order|suggest|send|put) [\w ]{2,40} for me\b|\bwhen you (?:explain|write|send|answer)\b.{8,}\b(?:think of|use|keep|start|always)\b"
    r"|\b(?:pour|dans) tout ce que tu (?:m['’]écris|écris|fais)\b.{4,}|\bpara todo lo que (?:me )?(?:escribas|mandes)\b.{4,}|\b(?:schreib|schick) mir \w+ (?:an \w+ )?(?:bitte )?in (?:einfacher|kurzer|leichter)\b",
    re.IGNORECASE,
)
"""How a person wants to be spoken to, and what they never want."""

COMMON = Worded(
    r"\b(?:capital of|is a (?:type|kind) of|was invented|was discovered|in general|by definition|hauptstadt von|ist eine art|capital de|capitale de)\b|首都|は.{1,12}の首都",
    "capital type kind invented discovered general definition hauptstadt art capitale",
)
"""What everybody knows."""

LEAD = re.compile(
    r"^(?:(?:and|but|so|also|well|oh|ah|btw|by the way|fyi|just so you know|note(?: that)?|remember(?: that)?|for the record|please (?:remember|note)(?: that)?|keep in mind(?: that)?|don't forget(?: that)?"
    r"|übrigens|und|aber|also|nur dass du es weißt|merke? dir(?: bitte)?|bitte merke? dir|por cierto|recuerda que|au fait|d'ailleurs)[,:]?\s+)+"
    r"|^(?:对了|顺便说一下|顺便说|另外|还有|(?:请|帮我)?(?:记住|記住|记一下|记得))[，,：:]?\s*|^(?:ちなみに|あと|それと|そういえば)[、,]?\s*",
    re.IGNORECASE,
)
"""What leads up to a statement and is no part of it."""
