// Reads patterns with texts, and writes which texts each pattern matches, with and without the flag u.
let input = ''
for await (const part of process.stdin) input += part
const matches = ({ Pattern, Texts }, flags) => {
  const pattern = new RegExp(Pattern, flags)
  return Texts.map(text => pattern.test(text))
}
console.log(JSON.stringify(JSON.parse(input).map(one => ({ Unicode: matches(one, 'u'), Plain: matches(one, '') }))))
