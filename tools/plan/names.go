package plan

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// forbidNames refuses JSON in which a name, at any depth, could stand for a secret or
// for raw output. What is under such a name is not looked at: it must not be there.
func forbidNames(text []byte) error {
	decoder := jsontext.NewDecoder(strings.NewReader(string(text)))
	for {
		token, err := decoder.ReadToken()
		if err != nil {
			return nil // the end: the text is canonical
		}
		// Within an object, every odd value is a name.
		if kind, values := decoder.StackIndex(decoder.StackDepth()); kind != '{' || values%2 == 0 {
			continue
		}
		if token.Kind() == '"' && forbidden(token.String()) {
			return malformed("%s could hold a secret or raw output, and has no place in it", place(decoder, token.String()))
		}
	}
}

// place is the path of the name that was read last.
func place(decoder *jsontext.Decoder, name string) string {
	pointer := string(decoder.StackPointer())
	if len(pointer) > 200 {
		return strconv.Quote(clip(name)) + ", deep in it,"
	}
	return strconv.Quote(strings.ToValidUTF8(pointer, "\ufffd"))
}

// forbidden reports whether a name could stand for a secret or raw output, in whatever
// case, with whatever between its words, and in letters or digits that look the same.
func forbidden(name string) bool {
	words := words(plain(name))
	flat := strings.Join(words, "")
	anywhere := []string{
		"credential", "token", "password", "passwd", "passphrase", "passcode", "secret", "cookie", "authorization", "bearer", "oauth",
		"apikey", "privatekey", "accesskey", "signingkey", "encryptionkey", "sshkey", "connectionstring",
		"stdout", "stderr", "stdin", "environment", "environ", "dotenv",
	}
	whole := []string{
		"env", "envs", "envvar", "envvars", "auth", "authentication", "pwd", "pass", "pin", "otp", "jwt", "cred", "creds", "dsn",
		"output", "outputs", "transcript",
	}
	digits := strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t")
	return slices.ContainsFunc(anywhere, func(part string) bool {
		return strings.Contains(flat, part) || strings.Contains(digits.Replace(flat), part)
	}) ||
		slices.ContainsFunc(append(words, flat), func(word string) bool { return slices.Contains(whole, strings.TrimRight(word, "0123456789")) })
}

// plain is a name in the letters that it looks to be in: compatible forms (NFKC),
// accents and what nobody sees are gone, and of Greek and Cyrillic those letters that
// are Latin ones to the eye (Unicode TR 39, confusables).
func plain(name string) string {
	if !strings.ContainsFunc(name, func(c rune) bool { return c >= utf8.RuneSelf }) {
		return name
	}
	const theirs, ours = "аеорсухіјѕԁһԛԝкмтнвгпАВЕЗКМНОРСТУХІЈЅԌԚԜαβγεικνορτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑɡſ", "aeopcyxijsdhqwkmthbrnABE3KMHOPCTYXIJSGQWabyeikvoptuxwABEZHIKMNOPTYXiags"
	look := []rune(ours)
	places := map[rune]rune{}
	for i, c := range []rune(theirs) {
		places[c] = look[i]
	}
	return strings.Map(func(c rune) rune {
		switch latin, alike := places[c]; {
		case alike:
			return latin
		case unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf):
			return -1
		}
		return c
	}, norm.NFKD.String(name))
}

// words takes a name apart at humps and at whatever is no letter or digit, in lower
// case.
func words(name string) []string {
	var words []string
	var word []rune
	letters := []rune(name)
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = nil
		}
	}
	for i, c := range letters {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			flush()
			continue
		}
		hump := i > 0 && unicode.IsUpper(c) && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if hump {
			flush()
		}
		word = append(word, c)
	}
	flush()
	return words
}
