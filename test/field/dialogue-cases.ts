import { changed, always } from '../support/camera/hostile-case.ts'
import { interleaved } from '../support/camera/hostile-camera.ts'
import type { FieldCase } from '../support/field/field-case.ts'
import { lines, pictureSection, sessionLines } from '../support/field/field-camera.ts'
import type { FieldFilm } from '../support/field/field-film.ts'
import { marked, payloadsOf } from '../support/field/packing.ts'

/** Changes the head of each answer; the body and its length stay. */
export const changedHead =
  (change: (head: string) => string) =>
  (text: string): string => {
    // Empty lines may stand before it.
    const start = text.length - text.trimStart().length
    const end = text.indexOf('\r\n\r\n', start)
    return text.slice(0, start) + change(text.slice(start, end + 2)) + text.slice(end + 2)
  }

const stray = Buffer.from([0, 0, 0, 1, 0x67, 0x42, 0xff, 0x80, 0x11])

/** A description whose last line holds the parameter sets. */
function setsLast(film: FieldFilm): string {
  const [media = '', map = '', format = '', control = ''] = pictureSection(film)
  return lines(sessionLines, media, map, control, format)
}

/** Answers of cameras that RFC 2326 does not have. */
export const dialogueCases: FieldCase[] = [
  { quirk: 'a clean stream', source: 'the test stream of GStreamer and MediaMTX' },
  // OPTIONS.
  ...[404, 405, 454, 501, 551].map(
    (status): FieldCase => ({
      quirk: `OPTIONS is answered ${status}`,
      source: 'small encoders and baby cameras; reports at go2rtc and VLC',
      script: { OPTIONS: (caller, request) => caller.answer(request, { status }) },
    }),
  ),
  {
    quirk: 'OPTIONS is not answered at all',
    source: 'cameras with the RTSP of early HiSilicon kits',
    script: { OPTIONS: () => {} },
  },
  {
    quirk: 'Public is missing',
    source: 'embedded servers that write the shortest answer',
    script: { OPTIONS: (caller, request) => caller.answer(request, { headers: { Public: undefined } }) },
  },
  // DESCRIBE.
  {
    quirk: 'DESCRIBE is answered 503 while an earlier session ends',
    source: 'encoders with the RTSP server of GStreamer',
    script: () => {
      let refusals = 2
      return {
        DESCRIBE: (caller, request) => caller.answer(request, refusals-- > 0 ? { status: 503 } : {}),
      }
    },
  },
  // CSeq.
  {
    quirk: 'no answer has a CSeq',
    source: 'Chinese dashboard cameras; report at ffmpeg',
    rewrite: changedHead((head) => head.replace(/CSeq: .*\r\n/, '')),
  },
  {
    quirk: 'each answer has CSeq 0',
    source: 'encoders with a fixed answer text',
    rewrite: changedHead((head) => head.replace(/CSeq: .*\r\n/, 'CSeq: 0\r\n')),
  },
  {
    quirk: 'CSeq is repeated',
    source: 'cameras behind a proxy that adds its own',
    rewrite: changedHead((head) => head.replace(/(CSeq: .*\r\n)/, '$1$1')),
  },
  {
    quirk: 'CSeq counts by itself',
    source: 'cameras that count their answers',
    rewrite: changedHead((head) => head.replace(/CSeq: (\d+)/, (_, number: string) => `CSeq: ${Number(number) + 100}`)),
  },
  {
    quirk: 'CSeq has words and spaces around it',
    source: 'hand-written servers',
    rewrite: changedHead((head) => head.replace(/CSeq: (\d+)/, 'Cseq :  $1  ')),
  },
  {
    quirk: 'each answer is sent twice',
    source: 'cameras that answer once from each of two processes',
    script: {
      OPTIONS: (caller, request) => [1, 2].forEach(() => caller.answer(request)),
      DESCRIBE: (caller, request) => [1, 2].forEach(() => caller.answer(request)),
    },
  },
  {
    quirk: '100 Continue before each answer',
    source: 'RTSP proxies of surveillance platforms',
    script: always((caller, request) => {
      caller.write(`RTSP/1.0 100 Continue\r\nCSeq: ${request.headers.get('cseq') ?? ''}\r\n\r\n`)
      caller.usual(request)
    }),
  },
  // Form of the head.
  {
    quirk: 'header names are in lower case',
    source: 'servers made with HTTP/2 libraries',
    rewrite: changedHead((head) => head.replace(/^[A-Za-z-]+:/gm, (name) => name.toLowerCase())),
  },
  {
    quirk: 'header names are in upper case, without spaces',
    source: 'embedded servers',
    rewrite: changedHead((head) => head.replace(/^([A-Za-z-]+): /gm, (_, name: string) => `${name.toUpperCase()}:`)),
  },
  {
    quirk: 'lines end with LF',
    source: 'shell scripts and early Grandstream cameras',
    rewrite: (text) => {
      const end = text.indexOf('\r\n\r\n') + 4
      return text.slice(0, end).replaceAll('\r\n', '\n') + text.slice(end)
    },
  },
  {
    quirk: 'fields are folded over lines',
    source: 'servers that follow RFC 822',
    rewrite: changedHead((head) => head.replace(/;/g, ';\r\n\t')),
  },
  {
    quirk: 'a line of the head is no field',
    source: 'cameras with debug output in their answers',
    rewrite: changedHead((head) => head.replace('\r\n', '\r\n[rtsp] session ok\r\n')),
  },
  {
    quirk: 'the status has no reason',
    source: 'embedded servers',
    rewrite: changedHead((head) => head.replace(/^RTSP\/1.0 (\d+) .*/, 'RTSP/1.0 $1')),
  },
  {
    quirk: 'an answer of RTSP/2.0',
    source: 'servers of GStreamer that were told to',
    rewrite: changedHead((head) => head.replace('RTSP/1.0', 'RTSP/2.0')),
  },
  {
    quirk: 'empty lines between answers',
    source: 'cameras that end a body with a line of its own',
    rewrite: (text) => `\r\n\r\n${text}`,
  },
  // Lengths and stray bytes.
  {
    quirk: 'the description has no length',
    source: 'report at go2rtc: Content-Length is missing',
    script: { DESCRIBE: (caller, request) => caller.answer(request, { headers: { 'Content-Length': undefined } }) },
  },
  {
    quirk: 'the length of the description is too large',
    source: 'cameras that count a byte at the end of the text',
    script: {
      DESCRIBE: changed((text) =>
        text.replace(/Content-Length: (\d+)/, (_, size: string) => `Content-Length: ${Number(size) + 4}`),
      ),
    },
  },
  {
    quirk: 'the length of the description is too small',
    source: 'cameras that count line ends as one byte',
    script: {
      DESCRIBE: changed((text) =>
        text.replace(/Content-Length: (\d+)/, (_, size: string) => `Content-Length: ${Number(size) - 12}`),
      ),
    },
  },
  {
    quirk: 'the description ends with zero bytes',
    source: 'cameras that send the whole buffer',
    script: {
      DESCRIBE: changed(
        (text) =>
          text.replace(/Content-Length: (\d+)/, (_, n: string) => `Content-Length: ${Number(n) + 3}`) + '\0\0\0',
      ),
    },
  },
  {
    quirk: 'the length of the description ends within its last line',
    source: 'cameras that count line ends as one byte',
    description: setsLast,
    packing: ({ units }) => marked(payloadsOf(units)),
    script: {
      DESCRIBE: changed((text) =>
        text.replace(/Content-Length: (\d+)/, (_, size: string) => `Content-Length: ${Number(size) - 20}`),
      ),
    },
  },
  {
    quirk: 'the description has no type, and two lengths',
    source: 'embedded servers behind a proxy',
    script: {
      DESCRIBE: changed((text) =>
        text.replace(/Content-Type: .*\r\n/, '').replace(/(?=Content-Length: )/, 'Content-Length: 0\r\n'),
      ),
    },
  },
  {
    quirk: 'the description has no type and no length',
    source: 'embedded servers',
    script: {
      DESCRIBE: (caller, request) =>
        caller.answer(request, { headers: { 'Content-Type': undefined, 'Content-Length': undefined } }),
    },
  },
  {
    quirk: 'the description has no type',
    source: 'embedded servers',
    script: { DESCRIBE: (caller, request) => caller.answer(request, { headers: { 'Content-Type': undefined } }) },
  },
  {
    quirk: 'the type of the description has a character set',
    source: 'servers written for HTTP',
    script: {
      DESCRIBE: (caller, request) =>
        caller.answer(request, { headers: { 'Content-Type': 'application/sdp;charset=utf-8' } }),
    },
  },
  {
    quirk: 'bytes of media between answers',
    source: 'cameras that cut a packet at a connection that is congested',
    script: {
      PLAY: (caller, request) => {
        caller.write(stray)
        caller.usual(request)
      },
    },
  },
  {
    quirk: 'stray bytes between interleaved packets',
    source: 'reports at go2rtc and Frigate of cut packets',
    packets: (packets, picture) =>
      packets.map((packet, index) => {
        const frame = interleaved(0, packet)
        return picture % 10 === 5 && index === 0 ? Buffer.concat([frame, stray]) : frame
      }),
  },
  {
    quirk: 'media comes before the answer to PLAY',
    source: 'cameras that start their encoder with SETUP',
    script: {
      PLAY: (caller, request) => {
        caller.stream()
        caller.after(200, () => caller.answer(request))
      },
    },
  },
  // Requests of the camera.
  {
    quirk: 'it sends requests of its own',
    source: 'recorders that ask for OPTIONS and set parameters',
    script: {
      PLAY: (caller, request) => {
        caller.write('OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n')
        caller.usual(request)
        caller.every(300, () =>
          caller.write(`SET_PARAMETER ${caller.url} RTSP/1.0\r\nCSeq: 2\r\nContent-Length: 4\r\n\r\na: b`),
        )
      },
    },
  },
  {
    quirk: 'it sends requests of methods that are not known',
    source: 'ANNOUNCE, REDIRECT and makers’ own methods of recorders',
    script: {
      PLAY: (caller, request) => {
        caller.usual(request)
        for (const method of ['ANNOUNCE', 'PLAY_NOTIFY', 'X_STATUS'])
          caller.write(`${method} ${caller.url} RTSP/1.0\r\nCSeq: 9\r\n\r\n`)
      },
    },
  },
]
