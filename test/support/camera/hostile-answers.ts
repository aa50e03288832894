import { type Act, always, answering, changed, type HostileCase } from './hostile-case.ts'

/** Asks for credentials until they come. */
const asking =
  (field: (count: number) => string | readonly string[]): Act =>
  (caller, request) =>
    caller.answer(request, { status: 401, headers: { 'WWW-Authenticate': field(caller.requests.length) }, body: '' })

/** Removes carriage returns from the head: the length of the body stays as announced. */
const withoutReturns = (text: string): string => {
  const head = text.indexOf('\r\n\r\n') + 4
  return text.slice(0, head).replaceAll('\r\n', '\n') + text.slice(head)
}

const lengthOf = (text: string): Act => answering({ headers: { 'Content-Length': text } })

/** Invalid answers of cameras. */
export const hostileAnswers: HostileCase[] = [
  // Sequence numbers.
  {
    what: 'answers without CSeq',
    script: { OPTIONS: answering({ headers: { CSeq: undefined } }) },
    outcome: 'stays',
  },
  {
    what: 'answers with the CSeq of another request',
    script: { PLAY: answering({ headers: { CSeq: '999' } }) },
    outcome: 'refused: timeout',
  },
  {
    what: 'has a CSeq that is not a number',
    script: { DESCRIBE: answering({ headers: { CSeq: '1e0' } }) },
    outcome: 'stays',
  },
  {
    what: 'repeats its CSeq',
    script: always(changed((text) => text.replace(/(CSeq: \d+\r\n)/, '$1CSeq: 77\r\n'))),
    outcome: 'stays',
  },
  {
    what: 'answers everything twice',
    script: always((caller, request) => {
      caller.usual(request)
      if (request.method !== 'SETUP') caller.answer(request)
    }),
    outcome: 'stays',
  },
  // Status lines.
  {
    what: 'sends 100 Continue before each answer',
    script: always((caller, request) => {
      caller.write(`RTSP/1.0 100 Continue\r\nCSeq: ${request.headers.get('cseq') ?? ''}\r\n\r\n`)
      caller.usual(request)
    }),
    outcome: 'stays',
  },
  {
    what: 'sends 100 Continue for ever',
    script: { DESCRIBE: (caller, request) => caller.every(5, () => caller.answer(request, { status: 100, body: '' })) },
    outcome: 'refused: protocol',
  },
  { what: 'sends only 100 Continue', script: { PLAY: answering({ status: 100 }) }, outcome: 'refused: timeout' },
  { what: 'has a status of 999', script: { DESCRIBE: answering({ status: 999 }) }, outcome: 'refused: protocol' },
  {
    what: 'has a status of four digits',
    script: { DESCRIBE: answering({ status: 2000 }) },
    outcome: 'refused: protocol',
  },
  { what: 'has no status', script: { DESCRIBE: answering({ startLine: 'RTSP/1.0' }) }, outcome: 'refused: protocol' },
  { what: 'answers 500', script: { SETUP: answering({ status: 500 }) }, outcome: 'refused: rejected' },
  {
    what: 'answers 461 to every transport',
    script: { SETUP: answering({ status: 461 }) },
    outcome: 'refused: noTransport',
  },
  {
    what: 'answers like a web server',
    script: { OPTIONS: answering({ startLine: 'HTTP/1.1 200 OK' }) },
    outcome: 'refused: protocol',
  },
  {
    what: 'speaks RTSP 2.0',
    script: always(changed((text) => text.replace('RTSP/1.0', 'RTSP/2.0'))),
    outcome: 'stays',
  },
  {
    what: 'answers with a request',
    script: { OPTIONS: answering({ startLine: 'PLAY_NOTIFY * RTSP/1.0' }) },
    outcome: 'stays',
  },
  {
    what: 'sends a TLS alert',
    script: { connect: (caller) => caller.write(Buffer.from([0x15, 3, 1, 0, 2, 2, 40])) },
    outcome: 'refused: protocol',
  },
  // Authentication.
  {
    what: 'requires a login without a challenge',
    script: { DESCRIBE: answering({ status: 401, body: '' }) },
    outcome: 'refused: auth',
  },
  {
    what: 'requires a login for ever',
    script: { DESCRIBE: asking(() => 'Digest realm="r", nonce="n"') },
    outcome: 'refused: auth',
  },
  {
    what: 'always answers with a new stale nonce',
    script: always(asking((count) => `Digest realm="r", nonce="n${count}", stale=true`)),
    outcome: 'refused: auth',
  },
  {
    what: 'requires an unknown algorithm',
    script: { DESCRIBE: asking(() => 'Digest realm="r", nonce="n", algorithm=WHIRLPOOL') },
    outcome: 'refused: auth',
  },
  {
    what: 'sends a challenge of 8 KB',
    script: { DESCRIBE: asking(() => `Digest ${'a'.repeat(8_000)}`) },
    outcome: 'refused: auth',
  },
  {
    what: 'sends a challenge with an unclosed quote',
    script: { DESCRIBE: asking(() => `Digest realm="${'\\"'.repeat(1_900)}`) },
    outcome: 'refused: auth',
  },
  {
    what: 'sends 90 challenges at once',
    script: { DESCRIBE: asking(() => Array.from({ length: 90 }, (_, i) => `Digest realm="r", nonce="${i}"`)) },
    outcome: 'refused: auth',
  },
  {
    what: 'requires a login for TEARDOWN',
    script: { PLAY: asking(() => 'Basic realm="r"') },
    outcome: 'refused: auth',
  },
  // Redirects.
  {
    what: 'redirects to itself',
    script: always((caller, request) => caller.answer(request, { status: 302, headers: { Location: caller.url } })),
    outcome: 'refused: redirected',
  },
  {
    what: 'redirects to an internal port',
    script: { DESCRIBE: answering({ status: 301, headers: { Location: 'rtsp://127.0.0.1:22/' } }) },
    outcome: 'refused: refused',
  },
  {
    what: 'names a base of another host',
    script: { DESCRIBE: answering({ headers: { 'Content-Base': 'rtsp://u:p@127.0.0.9:22/x/' } }) },
    outcome: 'stays',
  },
  {
    what: 'names a base of 7 KB',
    script: { DESCRIBE: answering({ headers: { 'Content-Base': `rtsp://127.0.0.1/${'x'.repeat(7_000)}` } }) },
    outcome: 'stays',
  },
  {
    what: 'names an invalid base',
    script: { DESCRIBE: answering({ headers: { 'Content-Base': 'rtsp://[::1:99999/%zz' } }) },
    outcome: 'stays',
  },
  // Lengths and headers.
  ...['-1', '0x10', '1e3', '18446744073709551616', '5, 6'].map(
    (length): HostileCase => ({
      what: `announces a body of ${length} bytes`,
      script: { DESCRIBE: lengthOf(length) },
      outcome: 'stays',
    }),
  ),
  {
    what: 'announces a body of 999999999 bytes',
    script: { DESCRIBE: lengthOf('999999999') },
    outcome: 'refused: protocol',
  },
  {
    what: 'names two lengths',
    script: { DESCRIBE: answering({ headers: { 'Content-Length': ['5', '6'] } }) },
    outcome: 'stays',
  },
  {
    what: 'omits the length of its description',
    script: { DESCRIBE: answering({ headers: { 'Content-Length': undefined } }) },
    outcome: 'stays',
  },
  { what: 'truncates its description', script: { DESCRIBE: lengthOf('5000') }, outcome: 'stays' },
  {
    what: 'truncates its description and closes',
    script: {
      DESCRIBE: (caller, request) => {
        caller.answer(request, { headers: { 'Content-Length': '5000' } })
        caller.socket.end()
      },
    },
    outcome: 'refused: closed',
  },
  {
    what: 'sends an endless header',
    script: { OPTIONS: (caller) => caller.flood(Buffer.from('X: y\r\n'.repeat(99))) },
    outcome: 'refused: protocol',
  },
  {
    what: 'sends an endless line',
    script: { OPTIONS: (caller) => caller.flood(Buffer.alloc(1_000, 'x')) },
    outcome: 'refused: protocol',
  },
  {
    what: 'sends a line of 9 KB',
    script: { OPTIONS: answering({ headers: { 'X-Long': 'x'.repeat(9_000) } }) },
    outcome: 'refused: protocol',
  },
  {
    what: 'sends 1,000 header fields',
    script: { OPTIONS: answering({ headers: { X: Array.from({ length: 1_000 }, () => '1') } }) },
    outcome: 'refused: protocol',
  },
  {
    what: 'sends NUL bytes in its header',
    script: { OPTIONS: answering({ headers: { Server: 'a\0b' } }) },
    outcome: 'stays',
  },
  {
    what: 'sends a header that is not UTF-8',
    script: always(changed((text) => text.replace('CSeq', 'Server: \xff\xfe\xc0\r\nCSeq'))),
    outcome: 'stays',
  },
  {
    what: 'folds its header lines',
    script: always(changed((text) => text.replace('CSeq', 'X: a\r\n Session: folded\r\nCSeq'))),
    outcome: 'stays',
  },
  {
    what: 'ends its lines with LF alone',
    script: always(changed(withoutReturns)),
    outcome: 'stays',
  },
  {
    what: 'knows 4,000 methods',
    script: { OPTIONS: answering({ headers: { Public: 'A,'.repeat(4_000) } }) },
    outcome: 'stays',
  },
  {
    what: 'answers byte by byte',
    script: { OPTIONS: (caller, request) => caller.trickle(caller.message(request), 1) },
    outcome: 'stays',
  },
  {
    what: 'answers byte by byte without end',
    script: { DESCRIBE: (caller) => caller.trickle(Buffer.alloc(9_000, 'R'), 5) },
    outcome: 'refused: timeout',
  },
]
