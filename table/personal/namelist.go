package personal

import (
	"strings"
	"sync"
)

// The lists hold common names only. Words that are common words, places or
// months too (Brown, King, Jackson, June) are left out: a column is found by a
// share of its values, which the other names make up.

const givenNames = `
james john robert michael david william richard joseph thomas christopher charles daniel matthew anthony donald steven andrew kenneth joshua kevin brian
george timothy ronald edward jason jeffrey ryan jacob gary nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory alexander
patrick raymond jerry tyler dennis jose aaron nathan henry zachary douglas peter adam kyle noah ethan jeremy walter christian keith roger terry sean
gerald carl harold dylan arthur lawrence jesse bryan bruce gabriel logan alan juan albert willie elijah wayne vincent philip louis bobby johnny
mary patricia jennifer linda elizabeth barbara susan jessica karen sarah lisa nancy sandra betty ashley emily kimberly margaret donna michelle carol amanda
melissa deborah stephanie dorothy rebecca sharon laura cynthia amy kathleen angela shirley brenda emma anna pamela nicole samantha katherine christine helen
debra rachel carolyn janet maria catherine heather diane olivia julie joyce ruth kelly lauren christina joan evelyn judith andrea hannah megan
cheryl jacqueline martha madeline theresa beverly denise marilyn amber danielle brittany natalie sophia isabella alice jane judy abigail julia marie kathryn
liam lucas mason oliver jayden aiden luke isaac owen caleb connor hunter julian levi evan ian colin simon graham stuart nigel trevor geoffrey ben tom
jim mike dave bob steve chris matt dan tony joe nick alex sam max leo theo oscar harry charlie alfie freddie archie jake kate lucy ellie
mia ava chloe zoe ella lily sophie molly isla freya evie poppy daisy phoebe erin niamh siobhan aoife ciara saoirse sinead padraig liam cormac
hans peter klaus wolfgang jürgen juergen dieter manfred uwe günter guenter heinz werner gerhard helmut bernd rainer jens sven lars stefan matthias sebastian
florian tobias moritz felix lukas jonas niklas ursula monika petra sabine renate helga karin brigitte ingrid claudia susanne gisela anja katrin silke birgit
pierre jean jacques françois francois michel philippe nicolas laurent olivier thierry bernard gérard gerard henri luc antoine guillaume sylvie isabelle nathalie
monique valérie valerie brigitte chantal hélène helene céline celine aurélie camille manon élodie elodie mathilde
luis carlos javier miguel jesus alejandro fernando rafael pedro pablo sergio jorge alberto ramon enrique diego manuel ricardo roberto eduardo carmen
pilar dolores josefa antonia francisca rosario lucia sofia elena raquel beatriz consuelo guadalupe
giovanni giuseppe antonio mario luigi francesco angelo vincenzo pietro salvatore carlo paolo marco luca matteo lorenzo giulia francesca chiara alessia
sergei sergey ivan dmitri dmitry vladimir alexei alexey nikolai mikhail andrei boris igor oleg olga natalia tatiana irina svetlana ekaterina anastasia
mohammed muhammad mohamed ahmed ali omar hassan hussein ibrahim khalid youssef mustafa abdul abdullah fatima aisha maryam zainab khadija layla
wei fang min jing li na xiu ying lei jun yang yong jie qiang ping hui mei ling xin yan hong
raj rahul amit vijay sanjay anil sunil ravi suresh ramesh arjun rohan priya anita sunita pooja neha deepa lakshmi kavita ananya
minh anh linh thuy huong tuan dung hoa thanh nguyet
jin-woo min-jun ji-hoon seo-yeon ji-woo hye-jin young-ho
taro jiro saburo ichiro kenji hiroshi takashi kenta daisuke shota yuki haruto sota ren yuto takumi kaito naoki makoto satoshi akira kazuo masao tadashi
hanako yoko keiko sachiko kazuko michiko akiko yumiko naoko tomoko kyoko mayumi megumi ayaka misaki sakura yui aoi hina mio rin miyu nanami emi
`

const surnames = `
smith johnson williams jones garcia miller davis rodriguez martinez hernandez lopez gonzalez wilson anderson thomas taylor moore martin lee perez thompson
harris sanchez clark ramirez lewis robinson walker allen wright scott torres nguyen flores adams nelson hall rivera campbell mitchell
carter roberts gomez phillips evans turner diaz parker cruz edwards collins reyes stewart morris morales murphy rogers gutierrez ortiz
cooper peterson reed bailey kelly howard ramos kim cox richardson watson brooks chavez james bennett mendoza ruiz hughes
price alvarez castillo sanders patel myers foster jimenez powell jenkins perry russell sullivan
coleman butler henderson barnes gonzales fisher vasquez simmons romero patterson hamilton griffin wallace
mueller müller schmidt schneider fischer weber meyer wagner becker schulz hoffmann schäfer schaefer koch bauer richter klein schröder schroeder neumann schwarz zimmermann krüger krueger hartmann lange
krause lehmann köhler koehler maier huber
bernard dubois durand leroy moreau laurent lefebvre bertrand fournier girard bonnet dupont lambert fontaine rousseau mercier
rossi russo ferrari esposito bianchi romano colombo ricci marino greco bruno gallo conti mancini costa giordano
fernandez dominguez vazquez alonso navarro molina delgado ortega rubio marin
silva santos oliveira souza pereira ferreira almeida ribeiro carvalho gomes lopes
ivanov ivanova petrov petrova sidorov smirnov smirnova kuznetsov kuznetsova popov popova volkov sokolov novak kowalski kowalska nowak wisniewski kaminski
hansen johansen olsen larsen andersen pedersen nilsen kristiansen jensen nielsen sorensen johansson andersson karlsson nilsson eriksson larsson olsson persson svensson gustafsson
korhonen virtanen makinen nieminen jansen janssen visser bakker smit meijer mulder de vries
wang li zhang liu chen yang huang zhao wu zhou xu sun ma zhu hu guo lin gao luo
park choi jung kang cho yoon jang lim
tran pham hoang phan vu vo dang bui ngo duong
singh kumar sharma gupta khan das verma reddy nair iyer mehta shah rao joshi mishra chopra kapoor
ahmed hassan hussain mohamed ibrahim abdullah yilmaz kaya demir sahin celik
o'brien o'connor o'neill o'sullivan mccarthy macdonald mcdonald campbell macleod byrne doyle kavanagh
cohen levy katz goldberg friedman rosenberg shapiro
okafor adeyemi mensah nkosi dlamini mwangi otieno
`

// Japanese surnames: kanji, katakana, Latin letters.
const japaneseSurnames = `
佐藤 サトウ sato 鈴木 スズキ suzuki 高橋 タカハシ takahashi 田中 タナカ tanaka 伊藤 イトウ ito 渡辺 ワタナベ watanabe 渡邊 ワタナベ watanabe 山本 ヤマモト yamamoto
中村 ナカムラ nakamura 小林 コバヤシ kobayashi 加藤 カトウ kato 吉田 ヨシダ yoshida 山田 ヤマダ yamada 佐々木 ササキ sasaki 山口 ヤマグチ yamaguchi 松本 マツモト matsumoto
井上 イノウエ inoue 木村 キムラ kimura 林 ハヤシ hayashi 斎藤 サイトウ saito 斉藤 サイトウ saito 清水 シミズ shimizu 山崎 ヤマザキ yamazaki 森 モリ mori 池田 イケダ ikeda
橋本 ハシモト hashimoto 阿部 アベ abe 石川 イシカワ ishikawa 山下 ヤマシタ yamashita 中島 ナカジマ nakajima 石井 イシイ ishii 小川 オガワ ogawa 前田 マエダ maeda
岡田 オカダ okada 長谷川 ハセガワ hasegawa 藤田 フジタ fujita 後藤 ゴトウ goto 近藤 コンドウ kondo 村上 ムラカミ murakami 遠藤 エンドウ endo 青木 アオキ aoki
坂本 サカモト sakamoto 福田 フクダ fukuda 太田 オオタ ota 西村 ニシムラ nishimura 藤井 フジイ fujii 金子 カネコ kaneko 岡本 オカモト okamoto 藤原 フジワラ fujiwara
三浦 ミウラ miura 中野 ナカノ nakano 中川 ナカガワ nakagawa 原田 ハラダ harada 松田 マツダ matsuda 竹内 タケウチ takeuchi 小野 オノ ono 田村 タムラ tamura
中山 ナカヤマ nakayama 和田 ワダ wada 石田 イシダ ishida 森田 モリタ morita 上田 ウエダ ueda 原 ハラ hara 内田 ウチダ uchida 柴田 シバタ shibata
酒井 サカイ sakai 宮崎 ミヤザキ miyazaki 横山 ヨコヤマ yokoyama 高木 タカギ takagi 安藤 アンドウ ando 宮本 ミヤモト miyamoto 大野 オオノ ono 小島 コジマ kojima
工藤 クドウ kudo 谷口 タニグチ taniguchi 今井 イマイ imai 高田 タカダ takada 増田 マスダ masuda 丸山 マルヤマ maruyama 杉山 スギヤマ sugiyama 村田 ムラタ murata
大塚 オオツカ otsuka 新井 アライ arai 小山 オヤマ oyama 平野 ヒラノ hirano 藤本 フジモト fujimoto 河野 コウノ kono 上野 ウエノ ueno 野口 ノグチ noguchi
武田 タケダ takeda 松井 マツイ matsui 千葉 チバ chiba 菅原 スガワラ sugawara 岩崎 イワサキ iwasaki 久保 クボ kubo 木下 キノシタ kinoshita 佐野 サノ sano
野村 ノムラ nomura 松尾 マツオ matsuo 市川 イチカワ ichikawa 菊地 キクチ kikuchi 杉本 スギモト sugimoto 古川 フルカワ furukawa 大西 オオニシ onishi 島田 シマダ shimada
水野 ミズノ mizuno 桜井 サクライ sakurai 高野 タカノ takano 渡部 ワタナベ watanabe 吉川 ヨシカワ yoshikawa 山内 ヤマウチ yamauchi 西田 ニシダ nishida 飯田 イイダ iida
菊池 キクチ kikuchi 西川 ニシカワ nishikawa 小松 コマツ komatsu 北村 キタムラ kitamura 安田 ヤスダ yasuda 五十嵐 イガラシ igarashi 川口 カワグチ kawaguchi 平田 ヒラタ hirata
関 セキ seki 中田 ナカタ nakata 久保田 クボタ kubota 服部 ハットリ hattori 東 アズマ azuma 岩田 イワタ iwata 土屋 ツチヤ tsuchiya 川崎 カワサキ kawasaki
福島 フクシマ fukushima 本田 ホンダ honda 辻 ツジ tsuji 樋口 ヒグチ higuchi 秋山 アキヤマ akiyama 田口 タグチ taguchi 永井 ナガイ nagai 山中 ヤマナカ yamanaka
中西 ナカニシ nakanishi 吉村 ヨシムラ yoshimura 川上 カワカミ kawakami 石原 イシハラ ishihara 大橋 オオハシ ohashi 松岡 マツオカ matsuoka 浜田 ハマダ hamada 馬場 ババ baba
森本 モリモト morimoto 矢野 ヤノ yano 浅野 アサノ asano 松下 マツシタ matsushita 星野 ホシノ hoshino 大久保 オオクボ okubo 吉岡 ヨシオカ yoshioka 小池 コイケ koike
野田 ノダ noda 荒木 アラキ araki 熊谷 クマガイ kumagai 松浦 マツウラ matsuura 大谷 オオタニ otani 内藤 ナイトウ naito 黒田 クロダ kuroda 尾崎 オザキ ozaki
川村 カワムラ kawamura 永田 ナガタ nagata 望月 モチヅキ mochizuki 堀 ホリ hori 田辺 タナベ tanabe 松村 マツムラ matsumura 荒井 アライ arai 菅野 カンノ kanno
平井 ヒライ hirai 大島 オオシマ oshima 西山 ニシヤマ nishiyama 早川 ハヤカワ hayakawa 栗原 クリハラ kurihara 広瀬 ヒロセ hirose 横田 ヨコタ yokota 石橋 イシバシ ishibashi
`

// Japanese given names: kanji (or hiragana), katakana.
const japaneseGiven = `
太郎 タロウ 次郎 ジロウ 三郎 サブロウ 一郎 イチロウ 健二 ケンジ 健一 ケンイチ 浩 ヒロシ 博 ヒロシ 隆 タカシ 健太 ケンタ 大輔 ダイスケ 翔太 ショウタ 翔 ショウ 陽翔 ハルト 蓮 レン
悠斗 ユウト 拓海 タクミ 海斗 カイト 直樹 ナオキ 誠 マコト 聡 サトシ 明 アキラ 和夫 カズオ 正男 マサオ 正 タダシ 清 キヨシ 茂 シゲル 勇 イサム 実 ミノル 進 ススム 勝 マサル 豊 ユタカ
修 オサム 学 マナブ 剛 ツヨシ 哲也 テツヤ 達也 タツヤ 和也 カズヤ 拓也 タクヤ 雄太 ユウタ 裕介 ユウスケ 大樹 ダイキ 亮 リョウ 涼太 リョウタ 颯太 ソウタ 湊 ミナト 樹 イツキ
花子 ハナコ 洋子 ヨウコ 陽子 ヨウコ 恵子 ケイコ 幸子 サチコ 和子 カズコ 美智子 ミチコ 明子 アキコ 由美子 ユミコ 直子 ナオコ 智子 トモコ 京子 キョウコ 久美子 クミコ 真由美 マユミ
恵 メグミ 彩花 アヤカ 美咲 ミサキ 桜 サクラ 結衣 ユイ 葵 アオイ 陽菜 ヒナ 凛 リン 美優 ミユ 七海 ナナミ 優子 ユウコ 裕子 ユウコ 典子 ノリコ 節子 セツコ 文子 フミコ 千代子 チヨコ
静子 シズコ 美穂 ミホ 香織 カオリ 麻衣 マイ 愛 アイ 舞 マイ 遥 ハルカ 真央 マオ 莉子 リコ 結菜 ユナ 芽依 メイ 紬 ツムギ さくら サクラ ひなた ヒナタ あおい アオイ
`

// hanSurnames are one-character surnames of Chinese names.
const hanSurnames = "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧程曹袁邓鄧许許傅沈曾彭吕呂苏蘇卢盧蒋蔣蔡贾丁魏薛叶葉阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武" +
	"乔" +
	"贺赖龚文"

// hangulSurnames begin Korean names.
const hangulSurnames = "김이박최정강조윤장임한오서신권황안송류유홍전고문양손배백허남심노하곽성차주우구나민진지엄채원천방공현함변염여추도소석선설마길연위표명기반왕금옥육인맹제모"

// names are the lists, in small letters and katakana.
type names struct {
	latin        map[string]bool
	kanji, kana  map[string]bool // surnames
	given        map[string]bool // Japanese given names, kanji and kana
	han, hangul  map[rune]bool
	longestKanji int // characters
}

// known are the lists, made once and not changed after.
var known = sync.OnceValue(func() *names {
	n := &names{
		latin: map[string]bool{}, kanji: map[string]bool{}, kana: map[string]bool{}, given: map[string]bool{}, han: map[rune]bool{},
		hangul: map[rune]bool{},
	}
	for _, w := range strings.Fields(givenNames + surnames) {
		if len(w) > 2 {
			n.latin[w] = true
		}
	}
	three := strings.Fields(japaneseSurnames)
	for i := 0; i+2 < len(three); i += 3 {
		n.kanji[three[i]], n.kana[three[i+1]], n.latin[three[i+2]] = true, true, true
		n.longestKanji = max(n.longestKanji, len([]rune(three[i])))
	}
	for _, w := range strings.Fields(japaneseGiven) {
		n.given[w] = true
	}
	for _, r := range hanSurnames {
		n.han[r] = true
	}
	for _, r := range hangulSurnames {
		n.hangul[r] = true
	}
	return n
})
